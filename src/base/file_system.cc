// The system calls themselves.
#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "base/file.h"

namespace capstan {
namespace {

/// Calls again when a signal interrupted the call; gives minus errno on failure.
template <class Call>
auto restarting(Call call) -> decltype(call()) {
  for (;;) {
    const auto result = call();
    if (result >= 0) return result;
    if (errno != EINTR) return -errno;
  }
}

int take_status(int result, const struct stat& from, FileStatus& to) {
  if (result < 0) return -errno;
  to.size = static_cast<std::uint64_t>(from.st_size);
  to.device = from.st_dev;
  to.inode = from.st_ino;
  to.modified_ns = from.st_mtim.tv_sec * 1'000'000'000LL + from.st_mtim.tv_nsec;
  to.is_directory = S_ISDIR(from.st_mode);
  to.is_special = !S_ISDIR(from.st_mode) && !S_ISREG(from.st_mode);
  return 0;
}

int zero_or_error(int result) { return result < 0 ? -errno : 0; }

}  // namespace

FileSystem::~FileSystem() = default;

FileSystem& FileSystem::system() {
  static FileSystem* const instance = new FileSystem;  // never destroyed: files may be open at exit
  return *instance;
}

int FileSystem::open(const std::string& path, int flags, int mode) {
  return restarting([&] { return ::open(path.c_str(), flags | O_CLOEXEC, mode); });
}

// The descriptor is free after an interrupted close as well: calling again could close somebody else's file.
int FileSystem::close(int file) { return ::close(file) < 0 && errno != EINTR ? -errno : 0; }

std::int64_t FileSystem::read_at(int file, void* bytes, std::size_t count, std::uint64_t offset) {
  return restarting([&] { return static_cast<std::int64_t>(::pread(file, bytes, count, static_cast<off_t>(offset))); });
}

std::int64_t FileSystem::read(int file, void* bytes, std::size_t count) {
  return restarting([&] { return static_cast<std::int64_t>(::read(file, bytes, count)); });
}

std::int64_t FileSystem::write(int file, const void* bytes, std::size_t count) {
  return restarting([&] { return static_cast<std::int64_t>(::write(file, bytes, count)); });
}

int FileSystem::sync(int file) {
  return restarting([&] { return ::fsync(file); });
}

int FileSystem::lock(int file) {
  return restarting([&] { return ::flock(file, LOCK_EX); });
}

int FileSystem::try_lock(int file) {
  return restarting([&] { return ::flock(file, LOCK_EX | LOCK_NB); });
}

int FileSystem::status(const std::string& path, FileStatus& status) {
  struct stat found {};
  return take_status(::stat(path.c_str(), &found), found, status);
}

int FileSystem::status(int file, FileStatus& status) {
  struct stat found {};
  return take_status(::fstat(file, &found), found, status);
}

int FileSystem::rename(const std::string& from, const std::string& to) {
  return zero_or_error(::rename(from.c_str(), to.c_str()));
}

int FileSystem::remove(const std::string& path) { return zero_or_error(::remove(path.c_str())); }

int FileSystem::make_directory(const std::string& path) { return zero_or_error(::mkdir(path.c_str(), 0777)); }

int FileSystem::list(const std::string& path, std::vector<std::string>& names) {
  DIR* directory = ::opendir(path.c_str());
  if (!directory) return -errno;
  errno = 0;
  while (const dirent* entry = ::readdir(directory)) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
    errno = 0;
  }
  const int error = errno;
  ::closedir(directory);
  return -error;
}

}  // namespace capstan
