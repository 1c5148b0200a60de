#include "harness.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>

namespace bench {
namespace {

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, ',');)
    if (!part.empty()) parts.push_back(part);
  return parts;
}

void pin(int threads) {
  cpu_set_t all, chosen;
  CPU_ZERO(&chosen);
  sched_getaffinity(0, sizeof all, &all);
  for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&chosen) < threads; ++cpu)
    if (CPU_ISSET(cpu, &all)) CPU_SET(cpu, &chosen);
  sched_setaffinity(0, sizeof chosen, &chosen);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

double scale_of(const std::string& unit) {
  if (unit == "ns") return 1e9;
  if (unit == "us") return 1e6;
  if (unit == "ms") return 1e3;
  return 1;
}

double divisor_of(const std::string& rate) {
  if (rate == "GFLOP/s" || rate == "GB/s") return 1e9;
  if (rate == "MB/s") return 1e6;
  return 1;
}

bool is_rate(const std::string& unit) { return unit.size() > 2 && unit.substr(unit.size() - 2) == "/s"; }

}  // namespace

Options read_options(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (i + 1 >= argc) {
      std::cerr << name << " needs a value\n";
      std::exit(2);
    }
    const std::string value = argv[++i];
    if (name == "--threads")
      options.threads = std::stoi(value);
    else if (name == "--budget")
      options.budget = std::stod(value);
    else if (name == "--only")
      options.only = split(value);
    else if (name == "--json")
      options.json = value;
    else if (name == "--child")
      options.child = value;
    else if (name == "--t0")
      options.started = std::stod(value);
    else {
      std::cerr << "unknown option " << name << "; known: --threads --budget --only --json\n";
      std::exit(2);
    }
  }
  pin(options.threads);
  for (const char* name : {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "CAPSTAN_NUM_THREADS"})
    setenv(name, std::to_string(options.threads).c_str(), 1);
  return options;
}

double now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

double peak_resident_mb() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind("VmHWM:", 0) == 0) return std::stod(line.substr(6)) / 1024;
  return 0;
}

bool Bench::wants(const std::string& workload) const {
  return options_.only.empty() ||
         std::find(options_.only.begin(), options_.only.end(), workload) != options_.only.end();
}

void Bench::time(const std::string& name, const std::string& unit, const std::function<void(std::int64_t)>& run,
                 double per) {
  const auto once = [&](std::int64_t n) {
    const double t = now();
    run(n);
    return now() - t;
  };
  const double first = once(1);
  double t = once(1);
  const double warm_until = now() + std::min(0.5, options_.budget / 3);
  while (now() < warm_until) t = std::min(t, once(1));
  constexpr double kSample = 0.03;
  const auto inner_for = [&](double each) {
    return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(kSample / std::max(each, 1e-9))));
  };
  std::int64_t inner = inner_for(t);
  t = once(inner) / static_cast<double>(inner);
  inner = inner_for(t);
  std::vector<double> values;
  const double end = now() + options_.budget;
  while ((now() < end || values.size() < 5) && values.size() < 400) {
    const double each = once(inner) / static_cast<double>(inner);
    values.push_back(is_rate(unit) ? per / each / divisor_of(unit) : each / per * scale_of(unit));
  }
  emit(name, unit, std::move(values), first);
}

void Bench::emit(const std::string& name, const std::string& unit, std::vector<double> values, double first_call) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  std::ostringstream line;
  line.precision(10);
  line << "{\"framework\": \"" << framework_ << "\", \"threads\": " << options_.threads << ", \"name\": \"" << name
       << "\", \"unit\": \"" << unit << "\", \"median\": " << median(values) << ", \"min\": " << *least
       << ", \"best\": " << (is_rate(unit) ? *most : *least) << ", \"n\": " << values.size() << ", \"clock\": \"wall\"";
  if (first_call >= 0) line << ", \"first_call_s\": " << first_call;
  line << "}";
  std::cout << line.str() << std::endl;
  if (!options_.json.empty()) std::ofstream(options_.json, std::ios::app) << line.str() << '\n';
}

std::vector<std::string> run_children(const Options& options, const std::string& what, int count) {
  std::vector<std::string> lines;
  char path[4096];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  path[std::max<ssize_t>(length, 0)] = 0;
  for (int i = 0; i < count; ++i) {
    std::ostringstream command;
    command.precision(12);
    command << path << " --threads " << options.threads << " --child " << what << " --t0 " << now();
    FILE* child = popen(command.str().c_str(), "r");
    char buffer[4096];
    std::string last;
    while (child && std::fgets(buffer, sizeof buffer, child)) last = buffer;
    if (!child || pclose(child) != 0) throw std::runtime_error("the process for '" + what + "' failed");
    lines.push_back(last);
  }
  return lines;
}

}  // namespace bench
