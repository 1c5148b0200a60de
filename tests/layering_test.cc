// The order of the folders, checked on every include. A folder may include itself and what stands on a line above it;
// folders on one line do not know each other.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace capstan {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = CAPSTAN_SOURCE_DIR;
const fs::path kPublic = kRoot / "include" / "capstan";

// docs/architecture.md, section 2.
const std::vector<std::vector<std::string>> kLines = {
    {"base"},
    {"tensor"},
    {"op"},
    {"ops"},
    {"cpu", "autodiff", "graph"},
    {"function"},
    {"state"},
    {"optim", "nn", "data", "summary"},
    {"wire"},
    {"checkpoint"},
    {"saved_model"},
    {"distribute"},
    {"cli"},
};
/// Folders that may include less than what stands above them.
const std::map<std::string, std::set<std::string>> kNarrow = {{"wire", {"base", "tensor"}}};

int line_of(const std::string& folder) {
  for (std::size_t line = 0; line < kLines.size(); ++line)
    if (std::ranges::count(kLines[line], folder)) return static_cast<int>(line);
  return -1;
}

bool may_include(const std::string& from, const std::string& to) {
  if (from == to) return true;
  if (const auto narrow = kNarrow.find(from); narrow != kNarrow.end()) return narrow->second.contains(to);
  return line_of(to) >= 0 && line_of(to) < line_of(from);
}

struct Include {
  std::string target;
  bool is_quoted;
  int line;
};

std::vector<Include> includes_of(const std::string& text) {
  std::vector<Include> found;
  std::istringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::istringstream words(line);
    std::string directive, target;
    words >> directive;
    if (directive == "#") {
      words >> directive;
      directive.insert(0, 1, '#');
    }
    words >> target;
    if (directive.starts_with("#include\"") || directive.starts_with("#include<")) {
      target = directive.substr(8);
      directive.resize(8);
    }
    if (directive != "#include" || target.size() < 3) continue;
    const auto end = target.find_first_of("\">", 1);
    found.push_back({target.substr(1, end - 1), target[0] == '"', number});
  }
  return found;
}

std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<fs::path> sources_below(const fs::path& root) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::recursive_directory_iterator(root))
    if (entry.path().extension() == ".h" || entry.path().extension() == ".cc") found.push_back(entry.path());
  std::ranges::sort(found);
  return found;
}

/// "tensor" for "capstan/tensor/shape.h" and for "tensor/storage.h"; nothing for headers that are no folder's.
std::optional<std::string> folder_of_target(std::string target) {
  if (target.starts_with("capstan/")) target.erase(0, std::string("capstan/").size());
  const auto slash = target.find('/');
  if (slash == std::string::npos) return std::nullopt;
  return target.substr(0, slash);
}

std::string folder_of_file(const fs::path& path, const fs::path& root) {
  return (*path.lexically_relative(root).begin()).string();
}

bool is_for_tests(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.ends_with("_test.cc") || name.starts_with("test_") || name == "faulty_files.h";
}

/// What is wrong with the includes of one file; empty if nothing is.
std::string complaint_about(const fs::path& path, const std::string& folder, const std::string& text) {
  std::string complaint;
  for (const Include& include : includes_of(text)) {
    if (!include.is_quoted) continue;
    const auto target = folder_of_target(include.target);
    const auto where = path.lexically_relative(kRoot).string() + ":" + std::to_string(include.line) + ": ";
    if (!target)
      complaint += where + "\"" + include.target + "\" names no folder\n";
    else if (!may_include(folder, *target))
      complaint += where + folder + " may not include " + *target + " (\"" + include.target + "\")\n";
  }
  return complaint;
}

std::string complaints_below(const fs::path& root) {
  std::string complaints;
  for (const fs::path& path : sources_below(root)) {
    const std::string folder = folder_of_file(path, root);
    if (folder == "capstan.h" || is_for_tests(path)) continue;
    if (line_of(folder) < 0)
      complaints += path.string() + " stands in a folder that has no line in the order\n";
    else
      complaints += complaint_about(path, folder, content_of(path));
  }
  return complaints;
}

TEST(Layering, SourcesIncludeWhatStandsAboveThem) { EXPECT_EQ(complaints_below(kRoot / "src"), ""); }

TEST(Layering, PublicHeadersIncludeWhatStandsAboveThem) { EXPECT_EQ(complaints_below(kPublic), ""); }

// `<...>` of the C++ and C library has no slash but for the system's headers.
TEST(Layering, PublicHeadersShowNothingOfOthers) {
  const std::set<std::string> allowed_system = {"sys/single_threaded.h"};
  for (const fs::path& path : sources_below(kPublic))
    for (const Include& include : includes_of(content_of(path))) {
      const std::string where = path.lexically_relative(kRoot).string() + ":" + std::to_string(include.line);
      if (include.is_quoted) {
        EXPECT_TRUE(include.target.starts_with("capstan/") && fs::exists(kRoot / "include" / include.target))
            << where << ": public headers include public headers only, got \"" << include.target << '"';
      } else {
        EXPECT_TRUE(include.target.find_first_of("./") == std::string::npos || allowed_system.contains(include.target))
            << where << ": public headers show no third-party header, got <" << include.target << '>';
      }
    }
}

TEST(Layering, TheUmbrellaForgetsNoHeader) {
  std::set<std::string> included, there;
  for (const Include& include : includes_of(content_of(kPublic / "capstan.h"))) included.insert(include.target);
  for (const fs::path& path : sources_below(kPublic))
    if (path.parent_path().filename() != "detail" && path.filename() != "capstan.h")
      there.insert(path.lexically_relative(kRoot / "include").string());
  EXPECT_EQ(included, there);
}

// The check itself: what it must find, and what it must let pass.
TEST(Layering, SeesAnArrowThatPointsDown) {
  const auto complaint = [](const std::string& folder, const std::string& text) {
    return complaint_about(kRoot / "src" / folder / "x.cc", folder, text);
  };
  EXPECT_EQ(complaint("tensor", "#include <vector>\n#include \"base/file.h\"\n#include \"capstan/tensor/shape.h\"\n"),
            "");
  EXPECT_EQ(complaint("tensor", "\n#include \"op/runtime.h\"\n"),
            "src/tensor/x.cc:2: tensor may not include op (\"op/runtime.h\")\n");
  EXPECT_NE(complaint("base", "#  include \"capstan/tensor/shape.h\"\n"), "");
  EXPECT_NE(complaint("cpu", "# include\"autodiff/tape.h\"\n"), "");  // on one line
  EXPECT_NE(complaint("wire", "#include \"op/runtime.h\"\n"), "");    // above, but not for wire
  EXPECT_NE(complaint("cli", "#include \"elsewhere/x.h\"\n"), "");
  EXPECT_NE(complaint("cli", "#include \"x.h\"\n"), "");
  EXPECT_EQ(complaint("checkpoint", "#include \"state/x.h\"\n#include \"wire/x.h\"\n"), "");
}

}  // namespace
}  // namespace capstan
