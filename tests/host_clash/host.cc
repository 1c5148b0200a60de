// A host program that exports functions named as those of our dependencies. Loading, using and unloading the library
// must call none of them, start no thread before there is work, print nothing, leave nothing loaded, and end.
//
//   host_clash PLUGIN DIRECTORY
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace {

const char* called = nullptr;

long note(const char* name) {
  called = name;
  return -77;
}

}  // namespace

extern "C" {
long dnnl_sgemm() { return note("dnnl_sgemm"); }
long dnnl_primitive_create() { return note("dnnl_primitive_create"); }
long dnnl_primitive_execute() { return note("dnnl_primitive_execute"); }
long dnnl_engine_create() { return note("dnnl_engine_create"); }
long dnnl_stream_create() { return note("dnnl_stream_create"); }
long inflate() { return note("inflate"); }
long inflateInit2_() { return note("inflateInit2_"); }
long deflate() { return note("deflate"); }
long deflateInit2_() { return note("deflateInit2_"); }
long crc32() { return note("crc32"); }
long crc32_z() { return note("crc32_z"); }
}

namespace tbb::detail::r1 {
long max_concurrency() { return note("tbb::detail::r1::max_concurrency"); }
long execute_and_wait() { return note("tbb::detail::r1::execute_and_wait"); }
long spawn() { return note("tbb::detail::r1::spawn"); }
}  // namespace tbb::detail::r1

namespace {

int terminal = 2;  // where to complain: the standard streams are being watched

[[noreturn]] void fail(const std::string& what) {
  dprintf(terminal, "host_clash: %s\n", what.c_str());
  std::_Exit(1);
}

long threads() { return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {}); }

bool is_loaded(const char* library) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    if (line.find(library) != std::string::npos) return true;
  return false;
}

/// Sends both standard streams to a file.
void watch_output(const std::string& path) {
  terminal = dup(2);
  const int file = open(path.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_APPEND, 0600);
  if (file < 0 || dup2(file, 1) < 0 || dup2(file, 2) < 0) fail("the standard streams cannot be redirected");
  close(file);
}

std::string content_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

void load_use_and_unload(const char* plugin, const std::string& directory) {
  void* handle = dlopen(plugin, RTLD_NOW | RTLD_LOCAL);
  if (!handle) fail(dlerror());
  if (!is_loaded("libcapstan.so")) fail("the plugin does not bring the library");
  if (threads() != 1) fail("loading the library started a thread");
  using Use = const char* (*)(const char*);
  const auto use = reinterpret_cast<Use>(dlsym(handle, "use_capstan"));
  if (!use) fail(dlerror());
  const char* error = use(directory.c_str());
  if (called) fail(std::string("the library called the host's ") + called);
  if (error) fail(error);
  if (threads() > 3) fail("three threads were asked for, there are more");
  if (dlclose(handle)) fail(dlerror());
  if (is_loaded("libcapstan.so")) fail("the library stays loaded");
  if (threads() != 1) fail("a thread outlives the library");
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) fail("usage: host_clash PLUGIN DIRECTORY");
  alarm(30);  // a signal ends what would hang
  const std::string directory = arguments[2], output = directory + "/printed";
  std::filesystem::create_directories(directory);
  watch_output(output);
  load_use_and_unload(arguments[1], directory);
  load_use_and_unload(arguments[1], directory);  // again, in the same process
  std::fflush(nullptr);
  if (const std::string printed = content_of(output); !printed.empty()) fail("the library printed: " + printed);
  dprintf(terminal, "host_clash: nothing clashed\n");
  std::exit(0);
}
