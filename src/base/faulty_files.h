// For tests: a file system on which one call, the n-th, goes wrong.
#pragma once

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "base/file.h"

namespace capstan {

/// What happens at the chosen call. A "stop" is the end of the process: nothing that is called later has an effect.
/// `lost_power` also takes back what was not flushed: the content of files, renames in directories, new directories.
enum class Fault { fails, fails_but_happened, stops_before, stops_after, lost_power };

class FaultyFiles : public FileSystem {
 public:
  FaultyFiles() = default;
  /// `lost_renames`: bit i says whether the i-th rename that is not flushed yet is lost with the power.
  FaultyFiles(Fault fault, int call, unsigned lost_renames = ~0u)
      : fault_(fault), call_(call), lost_renames_(lost_renames) {}

  /// Was the chosen call reached?
  bool has_struck() const { return has_struck_; }
  int calls() const { return calls_; }

  int open(const std::string& path, int flags, int mode) override {
    const int file = act<int>([&] { return FileSystem::open(path, flags, mode); });
    if (file >= 0) names_[file] = path;
    if (file >= 0 && (flags & O_CREAT)) unflushed_.insert(path);
    return file;
  }
  // The descriptor is closed in any case: the process that runs the test needs it.
  int close(int file) override {
    const int result = FileSystem::close(file);
    names_.erase(file);
    return act<int>([&] { return result; });
  }
  std::int64_t read_at(int file, void* bytes, std::size_t count, std::uint64_t offset) override {
    return act<std::int64_t>([&] { return FileSystem::read_at(file, bytes, count, offset); });
  }
  std::int64_t read(int file, void* bytes, std::size_t count) override {
    return act<std::int64_t>([&] { return FileSystem::read(file, bytes, count); });
  }
  // Writes a few bytes at a time, so that stops leave files that are half there.
  std::int64_t write(int file, const void* bytes, std::size_t count) override {
    return act<std::int64_t>([&] {
      unflushed_.insert(names_[file]);
      return FileSystem::write(file, bytes, std::min<std::size_t>(count, 50));
    });
  }
  int sync(int file) override {
    return act<int>([&] {
      const std::string& path = names_[file];
      unflushed_.erase(path);
      std::erase_if(renames_, [&](const Rename& one) { return parent_directory(one.to) == path; });
      std::erase_if(directories_, [&](const std::string& one) { return parent_directory(one) == path; });
      return 0;
    });
  }
  int lock(int file) override {
    return act<int>([&] { return FileSystem::lock(file); });
  }
  int try_lock(int file) override {
    return act<int>([&] { return FileSystem::try_lock(file); });
  }
  int status(const std::string& path, FileStatus& status) override {
    return act<int>([&] { return FileSystem::status(path, status); });
  }
  int status(int file, FileStatus& status) override {
    return act<int>([&] { return FileSystem::status(file, status); });
  }
  int rename(const std::string& from, const std::string& to) override {
    return act<int>([&] {
      renames_.push_back({from, to, content_of(to)});
      if (unflushed_.erase(from)) unflushed_.insert(to);
      return FileSystem::rename(from, to);
    });
  }
  int remove(const std::string& path) override {
    return act<int>([&] { return FileSystem::remove(path); });
  }
  int make_directory(const std::string& path) override {
    return act<int>([&] {
      const int result = FileSystem::make_directory(path);
      if (result >= 0) directories_.insert(path);
      return result;
    });
  }
  int list(const std::string& path, std::vector<std::string>& names) override {
    return act<int>([&] { return FileSystem::list(path, names); });
  }

  /// Takes back what was not flushed.
  void lose_power() {
    for (const std::string& path : unflushed_)
      if (std::filesystem::is_regular_file(path))
        std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
    for (std::size_t i = renames_.size(); i-- > 0;) {
      if (!(lost_renames_ >> i & 1u)) continue;
      const auto& [from, to, replaced] = renames_[i];
      if (std::filesystem::exists(to)) std::filesystem::rename(to, from);
      if (replaced) std::ofstream(to, std::ios::binary) << *replaced;
    }
    for (const std::string& path : directories_) std::filesystem::remove_all(path);
  }

 private:
  struct Rename {
    std::string from;
    std::string to;
    std::optional<std::string> replaced;
  };

  template <class Result, class Call>
  Result act(Call call) {
    if (is_stopped_) return -EIO;
    if (calls_++ != call_) return call();
    has_struck_ = true;
    if (fault_ != Fault::fails && fault_ != Fault::stops_before) call();
    is_stopped_ = fault_ != Fault::fails && fault_ != Fault::fails_but_happened;
    if (fault_ == Fault::lost_power) lose_power();
    return -EIO;
  }

  static std::optional<std::string> content_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) return std::nullopt;
    std::ostringstream content;
    content << file.rdbuf();
    return content.str();
  }

  Fault fault_ = Fault::fails;
  int call_ = -1;
  unsigned lost_renames_ = 0;
  int calls_ = 0;
  bool has_struck_ = false;
  bool is_stopped_ = false;
  std::map<int, std::string> names_;
  std::set<std::string> unflushed_;
  std::vector<Rename> renames_;
  std::set<std::string> directories_;  // made, and their names not flushed
};

}  // namespace capstan
