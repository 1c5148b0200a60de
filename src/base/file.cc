#include "base/file.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <random>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "capstan/base/error.h"

namespace capstan {
namespace {

constexpr std::size_t kBufferBytes = 1 << 20;

int check(int result, std::string_view what, const std::string& path) {
  if (result < 0) throw_file_error(-result, what, path);
  return result;
}

constexpr std::string_view kTemporaryMark = ".tempstate";
constexpr std::string_view kLockedMark = ".locked";  // whoever writes the file holds a lock on it

std::string temporary_name(const std::string& path) {
  std::random_device random;
  const std::uint64_t number = static_cast<std::uint64_t>(random()) << 32 | random();
  return fmt::format("{}{}{}{}", path, kTemporaryMark, number, kLockedMark);
}

/// Is `name` what `temporary_name` makes of `base`?
bool is_temporary_of(std::string_view name, std::string_view base) {
  if (!name.starts_with(base) || !name.ends_with(kLockedMark)) return false;
  name.remove_prefix(base.size());
  if (!name.starts_with(kTemporaryMark) || name.size() <= kTemporaryMark.size() + kLockedMark.size()) return false;
  const std::string_view number =
      name.substr(kTemporaryMark.size(), name.size() - kTemporaryMark.size() - kLockedMark.size());
  return number.find_first_not_of("0123456789") == std::string_view::npos;
}

bool is_without_locks(int result) {
  return result == -EOPNOTSUPP || result == -ENOSYS || result == -ENOLCK || result == -EBADF || result == -EINVAL;
}

/// Does the path still lead to the open file?
bool leads_to(const std::string& path, int file, FileSystem& files) {
  FileStatus there, open;
  return files.status(path, there) >= 0 && files.status(file, open) >= 0 && there.device == open.device &&
         there.inode == open.inode;
}

// The lock tells whether the writer is alive: the system drops it with the process. It is kept while the file goes, so
// that a writer who has made the file and not yet locked it finds out.
void remove_if_abandoned(const std::string& path, FileSystem& files) {
  const int file = files.open(path, O_RDWR, 0);
  if (file < 0) return;
  if (files.try_lock(file) >= 0 && leads_to(path, file, files)) files.remove(path);
  files.close(file);
}

/// Removes what processes that were killed left under temporary names of `path`. Failing to do so harms nobody.
void remove_abandoned(const std::string& path, FileSystem& files) {
  const std::string directory = parent_directory(path);
  std::vector<std::string> names;
  if (files.list(directory, names) < 0) return;
  for (const std::string& name : names)
    if (is_temporary_of(name, base_name(path))) remove_if_abandoned(join_path(directory, name), files);
}

void write_fully(int file, std::span<const std::byte> bytes, const std::string& path, FileSystem& files) {
  while (!bytes.empty()) {
    const std::int64_t count = files.write(file, bytes.data(), bytes.size());
    if (count < 0) throw_file_error(static_cast<int>(-count), "cannot write", path);
    if (count == 0) throw_file_error(ENOSPC, "cannot write", path);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

/// Closes a descriptor on every way out.
class Descriptor {
 public:
  Descriptor(int file, FileSystem& files) : file_(file), files_(files) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (file_ >= 0) files_.close(file_);
  }
  int get() const { return file_; }
  int close() { return files_.close(std::exchange(file_, -1)); }

 private:
  int file_;
  FileSystem& files_;
};

}  // namespace

void throw_file_error(int error_number, std::string_view what, const std::string& path) {
  std::string message = fmt::format("{} '{}': {}", what, path, std::generic_category().message(error_number));
  switch (error_number) {
    case ENOENT:
      throw NotFound(std::move(message));
    case EEXIST:
      throw AlreadyExists(std::move(message));
    case EACCES:
    case EPERM:
    case EROFS:
      throw PermissionDenied(std::move(message));
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case EMLINK:
      throw ResourceExhausted(std::move(message));
    case EINVAL:
    case ENAMETOOLONG:
    case ELOOP:
      throw InvalidArgument(std::move(message));
    case EISDIR:
    case ENOTDIR:
    case ENOTEMPTY:
    case EXDEV:
    case EBADF:
      throw FailedPrecondition(std::move(message));
    default:
      throw Unavailable(std::move(message));
  }
}

ReadableFile::ReadableFile(std::string path, FileSystem& files) : path_(std::move(path)), files_(files) {
  file_ = check(files_.open(path_, O_RDONLY, 0), "cannot open", path_);
  int result = files_.status(file_, status_);
  if (result >= 0 && status_.is_directory) result = -EISDIR;
  if (result >= 0) return;
  files_.close(file_);
  throw_file_error(-result, "cannot open", path_);
}

ReadableFile::~ReadableFile() { files_.close(file_); }

void ReadableFile::read_at(std::uint64_t offset, std::span<std::byte> bytes) const {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const std::int64_t count = files_.read_at(file_, bytes.data() + done, bytes.size() - done, offset + done);
    if (count < 0) throw_file_error(static_cast<int>(-count), "cannot read", path_);
    if (count == 0)
      throw OutOfRange(
          fmt::format("Read less bytes than requested from '{}': {} bytes from offset {} on are needed, the "
                      "file ends after {} of them; it may be cut short",
                      path_, bytes.size(), offset, done));
    done += static_cast<std::size_t>(count);
  }
}

TemporaryFile::TemporaryFile(const std::string& path, FileSystem& files) : files_(files) {
  remove_abandoned(path, files_);
  while (!create(path)) {
  }
}

/// False if somebody who took the new file for an abandoned one removed it before it was locked.
bool TemporaryFile::create(const std::string& path) {
  path_ = temporary_name(path);
  file_ = check(files_.open(path_, O_RDWR | O_CREAT | O_EXCL, 0666), "cannot create", path_);
  const int result = files_.lock(file_);
  if (result >= 0 && leads_to(path_, file_, files_)) return true;
  if (is_without_locks(result)) return true;
  FileStatus status;
  const bool is_gone = result >= 0 && files_.status(path_, status) == -ENOENT;
  files_.close(std::exchange(file_, -1));
  if (is_gone) return false;
  files_.remove(path_);
  throw_file_error(result < 0 ? -result : EIO, "cannot lock", path_);
}

TemporaryFile::~TemporaryFile() {
  if (!is_published_) files_.remove(path_);
  if (file_ >= 0) files_.close(file_);
}

void TemporaryFile::append(std::span<const std::byte> bytes) {
  size_ += bytes.size();
  if (buffer_.size() + bytes.size() > kBufferBytes) flush();
  if (bytes.size() >= kBufferBytes) return write_all(bytes);
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
}

void TemporaryFile::flush() {
  write_all(buffer_);
  buffer_.clear();
}

void TemporaryFile::write_all(std::span<const std::byte> bytes) {
  if (is_synced_) throw FailedPrecondition(fmt::format("cannot write '{}': it is complete", path_));
  write_fully(file_, bytes, path_, files_);
}

void TemporaryFile::sync() {
  flush();
  check(files_.sync(file_), "cannot flush to disk", path_);
  is_synced_ = true;
}

// The file is closed last, for the lock on it goes with that. Some file systems report a failed write only there.
void TemporaryFile::publish(const std::string& path) {
  if (!is_synced_) throw FailedPrecondition(fmt::format("cannot rename '{}': it is not on the disk yet", path_));
  check(files_.rename(path_, path), fmt::format("cannot rename '{}' to", path_), path);
  is_published_ = true;
  check(files_.close(std::exchange(file_, -1)), "cannot close", path);
}

DirectoryLock::DirectoryLock(const std::string& path, FileSystem& files) : files_(files) {
  file_ = check(files_.open(path, O_RDONLY | O_DIRECTORY, 0), "cannot open directory", path);
  const int result = files_.lock(file_);
  if (result >= 0 || is_without_locks(result)) return;
  files_.close(file_);
  throw_file_error(-result, "cannot lock directory", path);
}

DirectoryLock::~DirectoryLock() { files_.close(file_); }

namespace {

std::string buffer_for(std::uint64_t size, const std::string& path) {
  try {
    return std::string(size, '\0');
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {
  }
  throw ResourceExhausted(fmt::format("cannot read '{}': its {} bytes do not fit into memory", path, size));
}

}  // namespace

std::string read_file(const std::string& path, FileSystem& files) {
  const ReadableFile file(path, files);
  std::string content = buffer_for(file.size(), path);
  file.read_at(0, std::as_writable_bytes(std::span(content)));
  return content;
}

std::vector<std::byte> read_bytes(const std::string& path, FileSystem& files) {
  const Descriptor file(check(files.open(path, O_RDONLY, 0), "cannot open", path), files);
  FileStatus status;
  check(files.status(file.get(), status), "cannot open", path);
  if (status.is_directory) throw_file_error(EISDIR, "cannot open", path);
  constexpr std::size_t kPiece = 1 << 16;
  // One byte more than a regular file has: the read that finds its end needs room.
  std::vector<std::byte> bytes(status.is_special ? kPiece : static_cast<std::size_t>(status.size) + 1);
  for (std::size_t end = 0;;) {
    const std::int64_t count = files.read(file.get(), bytes.data() + end, bytes.size() - end);
    if (count < 0) throw_file_error(static_cast<int>(-count), "cannot read", path);
    end += static_cast<std::size_t>(count);
    if (count == 0) {
      bytes.resize(end);
      return bytes;
    }
    if (end == bytes.size()) bytes.resize(end + std::max(end, kPiece));
  }
}

void write_file(const std::string& path, const std::function<void(const FileSink&)>& fill, FileSystem& files) {
  FileStatus status;
  if (files.status(path, status) >= 0 && status.is_special) {
    Descriptor file(check(files.open(path, O_WRONLY, 0), "cannot open", path), files);
    fill([&](std::span<const std::byte> bytes) { write_fully(file.get(), bytes, path, files); });
    check(file.close(), "cannot close", path);
    return;
  }
  TemporaryFile file(path, files);
  fill([&](std::span<const std::byte> bytes) { file.append(bytes); });
  file.sync();
  file.publish(path);
  sync_directory(parent_directory(path), files);
}

void replace_file(const std::string& path, std::string_view content, FileSystem& files) {
  write_file(
      path, [&](const FileSink& sink) { sink(std::as_bytes(std::span(content))); }, files);
}

void remove_file(const std::string& path, FileSystem& files) { check(files.remove(path), "cannot remove", path); }

bool path_exists(const std::string& path, FileSystem& files) {
  FileStatus status;
  const int result = files.status(path, status);
  if (result == -ENOENT || result == -ENOTDIR) return false;
  check(result, "cannot look up", path);
  return true;
}

std::vector<std::string> list_directory(const std::string& path, FileSystem& files) {
  std::vector<std::string> names;
  check(files.list(path, names), "cannot list directory", path);
  std::ranges::sort(names);
  return names;
}

void make_directories(const std::string& path, FileSystem& files) {
  FileStatus status;
  if (files.status(path, status) >= 0) {
    if (!status.is_directory) throw_file_error(ENOTDIR, "cannot make directory", path);
    return;
  }
  const std::string above = parent_directory(path);
  if (above != path) make_directories(above, files);
  const int result = files.make_directory(path);
  if (result != -EEXIST) check(result, "cannot make directory", path);  // else somebody was faster
  sync_directory(above, files);
}

void sync_directory(const std::string& path, FileSystem& files) {
  const int file = check(files.open(path, O_RDONLY | O_DIRECTORY, 0), "cannot open directory", path);
  const int result = files.sync(file);
  files.close(file);
  if (result == -EINVAL) return;  // a file system whose directories need no flush
  check(result, "cannot flush directory to disk", path);
}

std::string parent_directory(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return ".";
  const std::size_t last = path.find_last_not_of('/', slash);
  return std::string(last == std::string_view::npos ? "/" : path.substr(0, last + 1));
}

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::string join_path(std::string_view directory, std::string_view name) {
  if (directory.empty() || name.starts_with('/')) return std::string(name);
  return fmt::format("{}{}{}", directory, directory.ends_with('/') ? "" : "/", name);
}

}  // namespace capstan
