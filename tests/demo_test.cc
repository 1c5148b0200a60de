// The README's demo as its user meets it: run, interrupted, killed, taken up again. On a small data set of its own.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <thread>
#include <vector>

#include "../examples/progress_bar.h"

namespace {

constexpr int kImages = 1280;  // 40 steps in an epoch: 200 of the dense network, 160 of the convolutional one

std::string big_endian(int number) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(number >> shift & 0xff);
  return bytes;
}

/// The demo as a process whose output is read line by line.
class Demo {
 public:
  Demo(const std::string& directory, bool resume) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    child_ = fork();
    if (child_ == 0) {
      dup2(ends[1], STDOUT_FILENO);
      const std::string data = directory + "/data", output = directory + "/run";
      execl(CAPSTAN_DEMO, CAPSTAN_DEMO, "--data", data.c_str(), "--output", output.c_str(),
            resume ? "--resume" : nullptr, nullptr);
      _exit(127);
    }
    close(ends[1]);
    output_ = fdopen(ends[0], "r");
  }
  ~Demo() {
    if (child_ > 0) {
      kill(child_, SIGKILL);
      wait();
    }
    fclose(output_);
  }
  Demo(const Demo&) = delete;
  Demo& operator=(const Demo&) = delete;

  /// Empty at the end.
  std::string line() {
    char text[1000];
    return fgets(text, sizeof text, output_) ? text : "";
  }
  std::string rest() {
    std::string all;
    for (std::string next = line(); !next.empty(); next = line()) all += next;
    return all;
  }
  void send(int signal) const { kill(child_, signal); }
  /// As waitpid gives it.
  int wait() {
    int status = -1;
    waitpid(child_, &status, 0);
    child_ = -1;
    return status;
  }

 private:
  pid_t child_ = -1;
  FILE* output_ = nullptr;
};

class DemoTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "capstan-demo-XXXXXX";
    directory_ = mkdtemp(pattern.data());
    std::filesystem::create_directory(directory_ + "/data");
    for (const char* part : {"train", "t10k"}) {
      std::string pixels(kImages * 28 * 28, '\0'), labels;
      for (int i = 0; i < kImages; ++i) {
        const int label = i * 7 % 10;
        labels += static_cast<char>(label);
        for (int x = 0; x < 28; ++x) pixels[static_cast<std::size_t>((i * 28 + 2 * label) * 28 + x)] = '\xff';
      }
      write(std::string(part) + "-images-idx3-ubyte",
            std::string("\0\0\x08\x03", 4) + big_endian(kImages) + big_endian(28) + big_endian(28) + pixels);
      write(std::string(part) + "-labels-idx1-ubyte", std::string("\0\0\x08\x01", 4) + big_endian(kImages) + labels);
    }
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }
  void write(const std::string& name, const std::string& content) const {
    std::ofstream(directory_ + "/data/" + name, std::ios::binary) << content;
  }
  /// Lets the demo go on to its end and looks at what it prints there.
  static void expect_finish(Demo& demo) {
    const std::string rest = demo.rest();
    EXPECT_EQ(demo.wait(), 0);
    for (const std::string name : {"dense", "convolutional"}) {
      const std::regex lines(name + ": test accuracy (0|1)(\\.[0-9]{4})\n" + name +
                             ": test accuracy (0|1)(\\.[0-9]{4}) after restoring \\S+/run/" + name +
                             " into a fresh model\n");
      std::smatch found;
      ASSERT_TRUE(std::regex_search(rest, found, lines)) << rest;
      EXPECT_EQ(found[1], found[3]);
      EXPECT_EQ(found[2], found[4]);
    }
  }

  std::string directory_;
};

TEST_F(DemoTest, IsInterruptedAndTakenUpAgain) {
  Demo first(directory_, false);
  EXPECT_TRUE(
      std::regex_match(first.line(), std::regex("dense step 1 of 200, [0-9]+ steps/s, loss [0-9.]+, [0-9]+ s left\n")));
  first.send(SIGINT);
  const std::string rest = first.rest();
  const int status = first.wait();
  ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 130) << status << rest;
  std::smatch found;
  ASSERT_TRUE(
      std::regex_search(rest, found,
                        std::regex("interrupted after step ([0-9]+); saved \\S+/run/dense\\. To go on: the same "
                                   "command with --resume")))
      << rest;
  Demo second(directory_, true);
  const std::string line = second.line();
  const int next = std::stoi(found[1]) + 1;
  EXPECT_EQ(line.rfind("dense step " + std::to_string(next) + " of 200,", 0), 0u) << line;
  expect_finish(second);
}

// Killed without warning, mostly while it saves.
TEST_F(DemoTest, SurvivesBeingKilled) {
  for (int round = 0; round < 6; ++round) {
    Demo demo(directory_, round > 0);
    EXPECT_EQ(demo.line().rfind("dense step ", 0), 0u);
    demo.send(SIGINT);
    std::this_thread::sleep_for(std::chrono::milliseconds(round));
    demo.send(SIGKILL);
    demo.wait();
  }
  Demo last(directory_, true);
  EXPECT_EQ(last.line().rfind("dense step ", 0), 0u);
  expect_finish(last);
  for (const auto& file : std::filesystem::directory_iterator(directory_ + "/run"))
    EXPECT_EQ(file.path().string().find(".tempstate"), std::string::npos) << file.path() << " was left behind";
}

TEST(ProgressBar, CountsTheStepsOfThisRunOnly) {
  ProgressBar bar("work", 1'000'000, 999'000);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  testing::internal::CaptureStdout();
  bar.show(999'001, 0.5f);
  const std::string line = testing::internal::GetCapturedStdout();
  std::smatch found;
  ASSERT_TRUE(std::regex_search(line, found, std::regex("([0-9]+) steps/s"))) << line;
  EXPECT_LE(std::stoi(found[1]), 50);  // one step in 20 ms or more
}

}  // namespace
