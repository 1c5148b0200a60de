// A line that shows how far a long piece of work is: a bar that is redrawn on a terminal, a plain line now and then
// elsewhere.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>

class ProgressBar {
 public:
  /// `before` of the steps were done earlier, by another run: they do not count for the speed.
  ProgressBar(std::string title, std::int64_t total, std::int64_t before = 0)
      : title_(std::move(title)), total_(total), before_(before) {}

  /// `done` of the total steps are done; `loss` is the latest.
  void show(std::int64_t done, float loss) {
    const double seconds = elapsed();
    const bool is_last = done == total_;
    if (!is_last && seconds - shown_ < (is_terminal_ ? 0.1 : 5.0)) return;
    shown_ = seconds;
    const double rate = static_cast<double>(done - before_) / std::max(seconds, 1e-9);
    const double left = static_cast<double>(total_ - done) / std::max(rate, 1e-9);
    if (is_terminal_)
      std::printf("\r%s %s %3.0f%%  %.0f steps/s  loss %.4f  %.0f s left ", title_.c_str(), bar(done).c_str(),
                  100.0 * static_cast<double>(done) / static_cast<double>(total_), rate, loss, left);
    else
      std::printf("%s step %lld of %lld, %.0f steps/s, loss %.4f, %.0f s left", title_.c_str(),
                  static_cast<long long>(done), static_cast<long long>(total_), rate, loss, left);
    if (is_last || !is_terminal_) std::printf("\n");
    std::fflush(stdout);
  }

 private:
  double elapsed() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }
  std::string bar(std::int64_t done) const {
    constexpr std::int64_t kWidth = 30;
    const std::int64_t filled = done * kWidth / total_;
    return "[" + std::string(static_cast<std::size_t>(filled), '=') +
           std::string(static_cast<std::size_t>(kWidth - filled), ' ') + "]";
  }

  const std::string title_;
  const std::int64_t total_;
  const std::int64_t before_;
  const bool is_terminal_ = isatty(STDOUT_FILENO);
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  double shown_ = -10;
};
