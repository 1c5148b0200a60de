// The guide's snippets are parts of programs that run: a code block of docs/*.md after "<!-- FILE: PART -->" must be
// what stands between "// [PART]" and "// [end]" in FILE.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace capstan {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = CAPSTAN_SOURCE_DIR;

std::vector<std::string> lines_of(const fs::path& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

std::size_t indent_of(const std::string& line) { return std::min(line.find_first_not_of(' '), line.size()); }

std::string without_indent(const std::vector<std::string>& lines) {
  std::size_t indent = std::string::npos;
  for (const std::string& line : lines)
    if (!line.empty()) indent = std::min(indent, indent_of(line));
  std::string text;
  for (const std::string& line : lines) text += line.substr(std::min(indent, line.size())) + "\n";
  return text;
}

/// The marked parts of a program.
std::map<std::string, std::string> parts_of(const fs::path& path) {
  std::map<std::string, std::string> parts;
  std::string name;
  std::vector<std::string> lines;
  for (const std::string& line : lines_of(path)) {
    const std::string text = line.substr(indent_of(line));
    if (text.starts_with("// [") && text.ends_with("]")) {
      if (!name.empty()) parts[name] = without_indent(lines);
      name = text == "// [end]" ? "" : text.substr(4, text.size() - 5);
      lines.clear();
    } else if (!name.empty()) {
      lines.push_back(line);
    }
  }
  EXPECT_EQ(name, "") << path << ": a part has no end";
  return parts;
}

struct Quotation {
  std::string file, part, text;  // file and part are empty if the block does not say where it comes from
};

/// The C++ blocks of a page.
std::vector<Quotation> quotations_in(const fs::path& page) {
  std::vector<Quotation> found;
  const auto lines = lines_of(page);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i] != "```cpp") continue;
    Quotation quotation;
    const std::string mark = i ? lines[i - 1] : "";
    if (const auto colon = mark.find(": "); mark.starts_with("<!-- ") && colon != std::string::npos) {
      quotation.file = mark.substr(5, colon - 5);
      quotation.part = mark.substr(colon + 2, mark.find(" -->") - colon - 2);
    }
    for (++i; i < lines.size() && lines[i] != "```"; ++i) quotation.text += lines[i] + "\n";
    found.push_back(quotation);
  }
  return found;
}

TEST(Guide, SnippetsAreParts) {
  std::size_t count = 0;
  for (const auto& entry : fs::directory_iterator(kRoot / "docs")) {
    if (entry.path().extension() != ".md") continue;
    for (const Quotation& quotation : quotations_in(entry.path())) {
      if (quotation.file.empty()) continue;
      const auto parts = parts_of(kRoot / quotation.file);
      ASSERT_TRUE(parts.contains(quotation.part)) << entry.path() << " quotes " << quotation.part;
      EXPECT_EQ(quotation.text, parts.at(quotation.part)) << entry.path() << ", " << quotation.part;
      ++count;
    }
  }
  EXPECT_GE(count, 10u);
}

TEST(Guide, DerivativesQuotesAllAndOnlyParts) {
  std::set<std::string> quoted;
  for (const Quotation& quotation : quotations_in(kRoot / "docs" / "derivatives.md")) {
    EXPECT_EQ(quotation.file, "examples/derivatives.cc") << quotation.text;
    quoted.insert(quotation.part);
  }
  for (const auto& [part, text] : parts_of(kRoot / "examples" / "derivatives.cc"))
    EXPECT_TRUE(quoted.contains(part)) << part << " is not quoted";
}

}  // namespace
}  // namespace capstan
