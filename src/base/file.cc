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

std::string temporary_name(const std::string& path) {
  std::random_device random;
  const std::uint64_t number = static_cast<std::uint64_t>(random()) << 32 | random();
  return fmt::format("{}.tempstate{}", path, number);
}

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

TemporaryFile::TemporaryFile(const std::string& path, FileSystem& files) : path_(temporary_name(path)), files_(files) {
  file_ = check(files_.open(path_, O_WRONLY | O_CREAT | O_EXCL, 0666), "cannot create", path_);
}

TemporaryFile::~TemporaryFile() {
  if (file_ >= 0) files_.close(file_);
  if (!is_published_) files_.remove(path_);
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
  if (file_ < 0) throw FailedPrecondition(fmt::format("cannot write '{}': it is closed", path_));
  while (!bytes.empty()) {
    const std::int64_t count = files_.write(file_, bytes.data(), bytes.size());
    if (count < 0) throw_file_error(static_cast<int>(-count), "cannot write", path_);
    if (count == 0) throw_file_error(ENOSPC, "cannot write", path_);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

void TemporaryFile::sync_and_close() {
  flush();
  check(files_.sync(file_), "cannot flush to disk", path_);
  close();
}

// Some file systems report a failed write only here.
void TemporaryFile::close() { check(files_.close(std::exchange(file_, -1)), "cannot close", path_); }

void TemporaryFile::publish(const std::string& path) {
  check(files_.rename(path_, path), fmt::format("cannot rename '{}' to", path_), path);
  is_published_ = true;
}

DirectoryLock::DirectoryLock(const std::string& path, FileSystem& files) : files_(files) {
  file_ = check(files_.open(path, O_RDONLY | O_DIRECTORY, 0), "cannot open directory", path);
  const int result = files_.lock(file_);
  const bool has_no_locks =
      result == -EOPNOTSUPP || result == -ENOSYS || result == -ENOLCK || result == -EBADF || result == -EINVAL;
  if (result >= 0 || has_no_locks) return;
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

void replace_file(const std::string& path, std::string_view content, FileSystem& files) {
  TemporaryFile file(path, files);
  file.append(content);
  file.sync_and_close();
  file.publish(path);
  sync_directory(parent_directory(path), files);
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
  if (result == -EEXIST) return;  // somebody else was faster
  check(result, "cannot make directory", path);
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
