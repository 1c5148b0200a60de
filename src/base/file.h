// Files. Every system call passes `FileSystem`, so that a test can make the n-th one fail or pretend that the process
// died there. Every error carries the path and the code that fits its errno.
//
// Files are read with pread and never mapped: if somebody truncates a mapped file, touching it ends the process with a
// signal, while a short read is an error that a caller can handle. The copy costs little beside the checksum that is
// taken over the same bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace capstan {

/// What the system knows of a path. Two equal values mean that the same, unchanged file stands there.
struct FileStatus {
  std::uint64_t size = 0;
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::int64_t modified_ns = 0;
  bool is_directory = false;
  bool is_special = false;  // a pipe, a device: neither directory nor regular file
  bool operator==(const FileStatus&) const = default;
};

/// The system calls, one virtual function each: the result, or minus errno. The base class asks the operating system.
/// Implementations are called from any thread.
class FileSystem {
 public:
  virtual ~FileSystem();
  static FileSystem& system();

  virtual int open(const std::string& path, int flags, int mode);
  virtual int close(int file);
  virtual std::int64_t read_at(int file, void* bytes, std::size_t count, std::uint64_t offset);
  /// From where the last `read` ended; 0 at the end.
  virtual std::int64_t read(int file, void* bytes, std::size_t count);
  virtual std::int64_t write(int file, const void* bytes, std::size_t count);
  virtual int sync(int file);
  /// Waits for the one exclusive lock on an open file or directory; `close` gives it back.
  virtual int lock(int file);
  /// The same without waiting: -EWOULDBLOCK if somebody holds it.
  virtual int try_lock(int file);
  virtual int status(const std::string& path, FileStatus& status);
  virtual int status(int file, FileStatus& status);
  virtual int rename(const std::string& from, const std::string& to);
  virtual int remove(const std::string& path);
  virtual int make_directory(const std::string& path);
  virtual int list(const std::string& path, std::vector<std::string>& names);
};

/// Throws the error that belongs to `error_number`: "`what` `path`: No such file or directory".
[[noreturn]] void throw_file_error(int error_number, std::string_view what, const std::string& path);

/// An open file that is read by position. Any number of threads may read at once. It goes on reading the same file when
/// the name is given to another one.
class ReadableFile {
 public:
  explicit ReadableFile(std::string path, FileSystem& files = FileSystem::system());
  ReadableFile(const ReadableFile&) = delete;
  ReadableFile& operator=(const ReadableFile&) = delete;
  ~ReadableFile();

  const std::string& path() const { return path_; }
  /// The length when the file was opened.
  std::uint64_t size() const { return status_.size; }
  const FileStatus& status() const { return status_; }
  /// Fills `bytes` from `offset` on; throws OutOfRange if the file ends before.
  void read_at(std::uint64_t offset, std::span<std::byte> bytes) const;

 private:
  std::string path_;
  FileSystem& files_;
  int file_ = -1;
  FileStatus status_;
};

/// A new file that is appended to, through a buffer. It bears a temporary name until `publish`; without that, or after
/// an error, the destructor removes it.
class TemporaryFile {
 public:
  /// The name is `path` with ".tempstate", a random number and ".locked": the file is locked for as long as it bears
  /// that name. What processes that were killed left under such names of the same path is removed first; nothing is
  /// removed that anybody still writes, or that other programs made.
  explicit TemporaryFile(const std::string& path, FileSystem& files = FileSystem::system());
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile();

  const std::string& path() const { return path_; }
  /// Bytes appended so far.
  std::uint64_t size() const { return size_; }
  void append(std::span<const std::byte> bytes);
  void append(std::string_view bytes) { append(std::as_bytes(std::span(bytes))); }
  /// Writes what is buffered and waits until all is on the disk; nothing can be appended after it.
  void sync();
  /// Gives the file its name, in place of whatever bears it now, and closes it. After `sync`; durable after
  /// `sync_directory`.
  void publish(const std::string& path);

 private:
  bool create(const std::string& path);
  void flush();
  void write_all(std::span<const std::byte> bytes);

  std::string path_;
  FileSystem& files_;
  int file_ = -1;
  bool is_synced_ = false;
  bool is_published_ = false;
  std::uint64_t size_ = 0;
  std::vector<std::byte> buffer_;
};

/// Keeps others, in this process and outside, from holding the lock on the same directory. Does nothing on file systems
/// without locks.
class DirectoryLock {
 public:
  explicit DirectoryLock(const std::string& path, FileSystem& files = FileSystem::system());
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;
  ~DirectoryLock();

 private:
  FileSystem& files_;
  int file_ = -1;
};

/// The whole content of a file.
std::string read_file(const std::string& path, FileSystem& files = FileSystem::system());
/// The same, of a pipe or device too.
std::vector<std::byte> read_bytes(const std::string& path, FileSystem& files = FileSystem::system());

using FileSink = std::function<void(std::span<const std::byte>)>;
/// Lets `fill` write the file at `path`, which takes its name when it is complete: a reader sees the old content or the
/// new one, also after a crash. A pipe or device is written into instead.
void write_file(const std::string& path, const std::function<void(const FileSink&)>& fill,
                FileSystem& files = FileSystem::system());
/// Puts `content` into the file at `path`: a reader sees the old content or the new one, also after a crash.
void replace_file(const std::string& path, std::string_view content, FileSystem& files = FileSystem::system());
void remove_file(const std::string& path, FileSystem& files = FileSystem::system());
/// Does a file or directory stand there? Throws if the system cannot tell.
bool path_exists(const std::string& path, FileSystem& files = FileSystem::system());
/// The names in a directory, sorted, without "." and "..".
std::vector<std::string> list_directory(const std::string& path, FileSystem& files = FileSystem::system());
/// Makes a directory and those above it, durably; no error if it is there.
void make_directories(const std::string& path, FileSystem& files = FileSystem::system());
/// Makes renames in a directory durable.
void sync_directory(const std::string& path, FileSystem& files = FileSystem::system());

/// "a/b" for "a/b/c", "." for "c", "/" for "/c"; and what follows the last slash.
std::string parent_directory(std::string_view path);
std::string_view base_name(std::string_view path);
/// `name` in `directory`; an absolute name stays as it is.
std::string join_path(std::string_view directory, std::string_view name);

}  // namespace capstan
