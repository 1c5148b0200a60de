// What the shared library exports: a host program may carry any other library, our dependencies in other versions too,
// and neither may see the other.
#include <gtest/gtest.h>
#include <stdio.h>

#include <sstream>
#include <string>
#include <vector>

namespace capstan {
namespace {

/// The lines that a command prints.
std::vector<std::string> lines_of(const std::string& command) {
  FILE* pipe = popen(command.c_str(), "r");
  if (!pipe) return {};
  std::string text;
  char piece[4096];
  for (std::size_t count; (count = fread(piece, 1, sizeof piece, pipe)) > 0;) text.append(piece, count);
  EXPECT_EQ(pclose(pipe), 0) << command;
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string symbol_table() { return std::string(CAPSTAN_NM) + " -D -C '" CAPSTAN_LIBRARY "'"; }

/// The name of a symbol that is called `text`, without what the compiler puts in front of it.
std::string name_in(std::string text) {
  for (const char* prefix : {"typeinfo for ", "typeinfo name for ", "vtable for ", "VTT for ", "guard variable for ",
                             "construction vtable for "})
    if (text.starts_with(prefix)) text.erase(0, std::string(prefix).size());
  return text;
}

/// Does a demangled symbol belong to namespace capstan? A template's name begins with the type that it returns.
bool is_ours(const std::string& symbol) {
  const std::string name = name_in(symbol);
  if (name.starts_with("capstan::")) return true;
  const std::string before_arguments = name.substr(0, name.find('('));
  int depth = 0;
  std::size_t start = 0;
  for (std::size_t i = 0; i < before_arguments.size(); ++i) {
    const char c = before_arguments[i];
    if (c == '<') ++depth;
    if (c == '>') --depth;
    if (c == ' ' && depth == 0) start = i + 1;
  }
  return start > 0 && before_arguments.compare(start, 9, "capstan::") == 0;
}

TEST(Symbols, OnlyNamespaceCapstanIsExported) {
  const auto lines = lines_of(symbol_table() + " --defined-only");
  EXPECT_GT(lines.size(), 100u);
  for (const std::string& line : lines) {
    ASSERT_GT(line.size(), 19u) << line;
    const std::string symbol = line.substr(19);  // after the address and the kind
    EXPECT_TRUE(is_ours(symbol)) << line;
  }
}

// A unique symbol would keep the library loaded for ever.
TEST(Symbols, NoneIsUnique) {
  for (const std::string& line : lines_of(symbol_table() + " --defined-only"))
    EXPECT_NE(line.substr(17, 1), "u") << line;
}

// A `thread_local` with a destructor keeps the library loaded as long as its thread lives (base/thread_exit.h has hooks
// that do not).
TEST(Symbols, NoThreadLocalHasADestructor) {
  for (const std::string& line : lines_of(symbol_table() + " --undefined-only"))
    EXPECT_EQ(line.find("__cxa_thread_atexit"), std::string::npos) << line;
}

// What a dependency is called by is bound inside the library or looked up in the dependency alone.
TEST(Symbols, NoDependencyIsLookedUpInTheHost) {
  for (const std::string& line : lines_of(symbol_table() + " --undefined-only")) {
    const std::string symbol = line.substr(line.find(" U ") == std::string::npos ? 19 : line.find(" U ") + 3);
    for (const char* foreign : {"dnnl_", "inflate", "deflate", "crc32", "fmt::", "tbb::", "omp_", "GOMP_", "hwy::"})
      EXPECT_FALSE(symbol.starts_with(foreign)) << line;
  }
}

TEST(Symbols, TellsOursFromOthers) {
  EXPECT_TRUE(is_ours("capstan::add(capstan::Operand, capstan::Operand)"));
  EXPECT_TRUE(is_ours("vtable for capstan::Error"));
  EXPECT_TRUE(is_ours("capstan::Tensor capstan::constant<float>(std::span<float const, 4ul>)"));
  EXPECT_TRUE(is_ours("std::vector<int, std::allocator<int> > capstan::read<int>(int)"));
  EXPECT_FALSE(is_ours("inflate"));
  EXPECT_FALSE(is_ours("std::vector<capstan::Tensor, std::allocator<capstan::Tensor> >::push_back(capstan::Tensor&&)"));
  EXPECT_FALSE(is_ours("typeinfo for std::function<void (capstan::Tensor)>"));
  EXPECT_FALSE(is_ours("void std::swap<capstan::Tensor>(capstan::Tensor&, capstan::Tensor&)"));
}

}  // namespace
}  // namespace capstan
