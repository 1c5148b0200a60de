// Times workloads as `rivals` define them: one first call, a warm-up, then samples of about 30 ms for a budget of
// seconds; prints one JSON line per variant. Used by our own benchmarks and by the LibTorch twin.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace bench {

struct Options {
  int threads = 1;
  double budget = 1.5;            // seconds of samples per variant
  std::vector<std::string> only;  // names of workloads; empty: all
  std::string json;               // file to append lines to
  std::string child;              // internal: a measurement in a fresh process
  double started = 0;             // internal: seconds on the monotonic clock when the parent started the child
};

/// Reads the command line and pins the process to its first `threads` CPUs. Ends the process with 2 on bad use.
Options read_options(int argc, char** argv);

class Bench {
 public:
  Bench(std::string framework, Options options) : framework_(std::move(framework)), options_(std::move(options)) {}

  bool wants(const std::string& workload) const;
  const Options& options() const { return options_; }
  /// `run(n)` runs the workload n times; `per` is the number of counted units in one run. Rates end in "/s".
  void time(const std::string& name, const std::string& unit, const std::function<void(std::int64_t)>& run,
            double per = 1);
  /// Values measured otherwise.
  void emit(const std::string& name, const std::string& unit, std::vector<double> values, double first_call = -1);

 private:
  std::string framework_;
  Options options_;
};

double now();               // seconds, monotonic
double peak_resident_mb();  // VmHWM of this process
/// Runs this program in `count` fresh processes with `--child what` and returns the lines they print last.
std::vector<std::string> run_children(const Options& options, const std::string& what, int count);

}  // namespace bench
