#include "base/file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <functional>
#include <thread>

#include "base/faulty_files.h"
#include "base/memory.h"
#include "capstan/base/error.h"

namespace capstan {
namespace {

class File : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "capstan-file-XXXXXX";
    directory_ = mkdtemp(pattern.data());
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }
  std::string path(std::string_view name) const { return join_path(directory_, name); }

  std::string directory_;
};

template <class E>
std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const E& error) {
    return error.what();
  }
  return "no error of that type";
}

TEST_F(File, ReplacesAndReads) {
  replace_file(path("a"), "one");
  EXPECT_EQ(read_file(path("a")), "one");
  replace_file(path("a"), "two and more");
  EXPECT_EQ(read_file(path("a")), "two and more");
  EXPECT_EQ(list_directory(directory_), std::vector<std::string>{"a"});
}

TEST_F(File, ErrorsCarryThePath) {
  EXPECT_EQ(message_of<NotFound>([&] { read_file(path("gone")); }),
            "cannot open '" + path("gone") + "': No such file or directory");
  EXPECT_NE(message_of<FailedPrecondition>([&] { read_file(directory_); }).find("Is a directory"), std::string::npos);
  EXPECT_THROW(TemporaryFile(path("gone/a")), NotFound);
  EXPECT_THROW(remove_file(path("gone")), NotFound);
  EXPECT_THROW(list_directory(path("gone")), NotFound);
  EXPECT_THROW(sync_directory(path("gone")), NotFound);
}

TEST_F(File, ErrnoBecomesATypedError) {
  const auto code = [](int number) {
    try {
      throw_file_error(number, "cannot read", "f");
    } catch (const Error& error) {
      return error.code();
    }
  };
  EXPECT_EQ(code(ENOENT), Code::not_found);
  EXPECT_EQ(code(EEXIST), Code::already_exists);
  EXPECT_EQ(code(EACCES), Code::permission_denied);
  EXPECT_EQ(code(EROFS), Code::permission_denied);
  EXPECT_EQ(code(ENOSPC), Code::resource_exhausted);
  EXPECT_EQ(code(EMFILE), Code::resource_exhausted);
  EXPECT_EQ(code(ENAMETOOLONG), Code::invalid_argument);
  EXPECT_EQ(code(ENOTDIR), Code::failed_precondition);
  EXPECT_EQ(code(EIO), Code::unavailable);
}

TEST_F(File, AReadPastTheEndIsOutOfRange) {
  replace_file(path("a"), "four");
  ReadableFile file(path("a"));
  std::byte bytes[3];
  EXPECT_THROW(file.read_at(2, bytes), OutOfRange);
  EXPECT_THROW(file.read_at(1ull << 40, bytes), OutOfRange);
  file.read_at(1, bytes);
  EXPECT_EQ(bytes[2], std::byte{'r'});
}

TEST_F(File, AFileTruncatedWhileOpenIsAnErrorNotASignal) {
  replace_file(path("a"), std::string(1 << 16, 'x'));
  ReadableFile file(path("a"));
  std::filesystem::resize_file(path("a"), 10);
  std::vector<std::byte> bytes(1 << 16);
  EXPECT_THROW(file.read_at(0, bytes), OutOfRange);
}

TEST_F(File, AnUnpublishedFileDisappears) {
  {
    TemporaryFile file(path("a"));
    file.append("text");
    EXPECT_EQ(list_directory(directory_).size(), 1u);
  }
  EXPECT_TRUE(list_directory(directory_).empty());
}

TEST_F(File, AppendsPiecesLargerThanTheBuffer) {
  const std::string large(9 << 20, 'l');
  TemporaryFile file(path("a"));
  file.append("head");
  file.append(large);
  file.append("tail");
  EXPECT_EQ(file.size(), large.size() + 8);
  file.sync();
  file.publish(path("a"));
  EXPECT_EQ(read_file(path("a")), "head" + large + "tail");
}

TEST_F(File, MakesDirectoriesOnce) {
  make_directories(path("x/y/z"));
  make_directories(path("x/y/z"));
  EXPECT_TRUE(path_exists(path("x/y/z")));
  EXPECT_FALSE(path_exists(path("x/z")));
  replace_file(path("f"), "");
  EXPECT_FALSE(path_exists(path("f/g")));
  EXPECT_THROW(make_directories(path("f/g")), FailedPrecondition);
}

TEST_F(File, NewDirectoriesSurviveLostPower) {
  FaultyFiles files;
  make_directories(path("x/y/z"), files);
  files.lose_power();
  EXPECT_TRUE(path_exists(path("x/y/z")));
}

TEST_F(File, RemovesWhatAKilledProcessLeft) {
  const pid_t child = fork();
  if (child == 0) {
    TemporaryFile file(path("a"));
    _exit(0);  // as if killed
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_EQ(list_directory(directory_).size(), 1u);
  replace_file(path("b"), "");  // of another path: not touched
  EXPECT_EQ(list_directory(directory_).size(), 2u);
  replace_file(path("a"), "");
  EXPECT_EQ(list_directory(directory_), (std::vector<std::string>{"a", "b"}));
}

TEST_F(File, LeavesTemporaryFilesOfTheLivingAndOfOthersAlone) {
  replace_file(path("a.tempstate12"), "of a program without locks");
  replace_file(path("a.tempstate12x.locked"), "of somebody else");
  TemporaryFile alive(path("a"));
  alive.append("one");
  alive.sync();  // complete, but not published
  replace_file(path("a"), "two");
  EXPECT_EQ(list_directory(directory_).size(), 4u);
  alive.publish(path("a"));
  EXPECT_EQ(read_file(path("a")), "one");
  EXPECT_EQ(list_directory(directory_), (std::vector<std::string>{"a", "a.tempstate12", "a.tempstate12x.locked"}));
}

TEST_F(File, ManyWritersOfOnePath) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([this, i] {
      FaultyFiles files;  // does not wait for the disk
      for (int round = 0; round < 50; ++round)
        replace_file(path("a"), std::string(1000, static_cast<char>('a' + i)), files);
    });
  for (std::thread& thread : threads) thread.join();
  const std::string content = read_file(path("a"));
  EXPECT_EQ(content, std::string(1000, content.at(0)));
  EXPECT_EQ(list_directory(directory_), std::vector<std::string>{"a"});
}

// Whoever makes a temporary file and has not locked it yet may lose it to a cleaner.
TEST_F(File, AWriterWhoseNewFileIsTakenMakesAnother) {
  class Taking : public FileSystem {
    int lock(int file) override {
      if (++locks == 1)
        for (const std::string& name : list_directory(directory)) FileSystem::remove(join_path(directory, name));
      return FileSystem::lock(file);
    }

   public:
    int locks = 0;
    std::string directory;
  } files;
  files.directory = directory_;
  replace_file(path("a"), "text", files);
  EXPECT_EQ(files.locks, 2);
  EXPECT_EQ(read_file(path("a")), "text");
}

TEST_F(File, WorksWhereFilesHaveNoLocks) {
  class Lockless : public FileSystem {
    int lock(int) override { return -EOPNOTSUPP; }
    int try_lock(int) override { return -EOPNOTSUPP; }
  } files;
  TemporaryFile alive(path("a"), files);
  replace_file(path("a"), "text", files);
  EXPECT_EQ(list_directory(directory_).size(), 2u);
}

TEST_F(File, TheLockIsGivenBack) {
  { DirectoryLock lock(directory_); }
  DirectoryLock lock(directory_);
  EXPECT_THROW(DirectoryLock(path("gone")), NotFound);
}

/// Says that files have more bytes than any memory.
class EndlessFiles : public FileSystem {
 public:
  int status(const std::string& path, FileStatus& status) override { return FileSystem::status(path, status); }
  int status(int file, FileStatus& status) override {
    const int result = FileSystem::status(file, status);
    status.size = size;
    return result;
  }
  std::uint64_t size = 0;
};

TEST_F(File, LargerThanMemoryIsATypedError) {
  if (CAPSTAN_POOLS_OFF) GTEST_SKIP() << "sanitizers end the process where memory is refused";
  replace_file(path("huge"), "x");
  EndlessFiles files;
  for (int bits : {60, 62}) {
    files.size = std::uint64_t{1} << bits;
    try {
      read_file(path("huge"), files);
      ADD_FAILURE() << "nothing was thrown";
    } catch (const ResourceExhausted& error) {
      EXPECT_NE(error.message().find(path("huge")), std::string::npos) << error.what();
    }
  }
}

TEST(Path, Parts) {
  EXPECT_EQ(parent_directory("a/b/c"), "a/b");
  EXPECT_EQ(parent_directory("c"), ".");
  EXPECT_EQ(parent_directory("/c"), "/");
  EXPECT_EQ(parent_directory("a//c"), "a");
  EXPECT_EQ(parent_directory("a/"), "a");
  EXPECT_EQ(base_name("a/b"), "b");
  EXPECT_EQ(base_name("b"), "b");
  EXPECT_EQ(join_path("a", "b"), "a/b");
  EXPECT_EQ(join_path("a/", "b"), "a/b");
  EXPECT_EQ(join_path("a", "/b"), "/b");
  EXPECT_EQ(join_path("", "b"), "b");
}

}  // namespace
}  // namespace capstan
