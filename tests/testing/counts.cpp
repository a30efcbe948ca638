#include "tests/testing/counts.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <filesystem>
#include <mutex>
#include <set>
#include <sstream>

#include "core/base/checkout.h"

namespace stormcell::testing {
namespace {

namespace fs = std::filesystem;

std::atomic<int64_t> drawn_cases = 0;

/// Names of fixtures, from any thread of a test.
class NamedFixtures {
 public:
  void add(const std::string& path) {
    const std::lock_guard lock(mutex_);
    paths_.insert(path);
  }
  std::set<std::string> paths() {
    const std::lock_guard lock(mutex_);
    return paths_;
  }

 private:
  std::mutex mutex_;
  std::set<std::string> paths_;
};
NamedFixtures& named_fixtures() {
  static NamedFixtures fixtures;
  return fixtures;
}

struct Column {
  std::string_view name;
  int64_t Counts::*value;
};
constexpr std::array kColumns = {Column{"functions", &Counts::functions}, Column{"drawn", &Counts::drawn},
                                 Column{"fixtures", &Counts::fixtures},
                                 Column{"fixture_bytes", &Counts::fixture_bytes}};

/// The counts of drawn cases and of fixtures.
Counts counts_of(int64_t drawn, const std::set<std::string>& named) {
  std::set<std::string> files;
  for (const std::string& path : named) {
    std::error_code unreadable;  // a test may name what is not there
    if (fs::is_regular_file(path, unreadable)) files.insert(path);
    if (!fs::is_directory(path, unreadable)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(path, unreadable))
      if (entry.is_regular_file()) files.insert(entry.path().string());
  }
  Counts counts;
  counts.drawn = drawn;
  counts.fixtures = std::ssize(files);
  for (const std::string& file : files) counts.fixture_bytes += static_cast<int64_t>(fs::file_size(file));
  return counts;
}

}  // namespace

void count_drawn_case() { ++drawn_cases; }

std::string reference_path(std::string_view name) {
  const std::string path = checkout_source_folder() + "/tests/reference/" + std::string(name);
  named_fixtures().add(path);
  return path;
}

Counts counts_so_far() { return counts_of(drawn_cases, named_fixtures().paths()); }

std::string part_text(int64_t functions) {
  std::string text = "functions " + std::to_string(functions) + "\ndrawn " + std::to_string(drawn_cases.load()) + "\n";
  for (const std::string& path : named_fixtures().paths()) text += "fixture " + path + "\n";
  return text;
}

Counts counts_of_parts(const std::vector<std::string>& parts) {
  int64_t functions = 0, drawn = 0;
  std::set<std::string> named;
  for (const std::string& part : parts) {
    std::istringstream lines(part);
    std::string key, value;
    while (lines >> key && std::getline(lines >> std::ws, value)) {
      if (key == "functions") functions += std::stoll(value);
      if (key == "drawn") drawn += std::stoll(value);
      if (key == "fixture") named.insert(value);
    }
  }
  Counts counts = counts_of(drawn, named);
  counts.functions = functions;
  return counts;
}

std::string to_text(const Counts& counts, std::string_view program) {
  std::string text = "counts " + std::string(program);
  for (const Column& column : kColumns)
    text += " " + std::string(column.name) + " " + std::to_string(counts.*column.value);
  return text;
}

std::string fallen(const Counts& counts, std::string_view program, std::string_view table) {
  std::istringstream lines{std::string(table)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string key, name, column;
    if (!(words >> key >> name) || key != "counts" || name != program) continue;
    std::string found;
    while (words >> column) {
      int64_t least = 0;
      const auto known =
          std::find_if(kColumns.begin(), kColumns.end(), [&](const Column& c) { return c.name == column; });
      if (known == kColumns.end() || !(words >> least))
        return "the row has \"" + column + "\", which is not a count with a number\n";
      if (counts.*known->value < least)
        found += column + " fell from " + std::to_string(least) + " to " + std::to_string(counts.*known->value) + "\n";
    }
    return found;
  }
  return std::string(program) + " has no row\n";
}

}  // namespace stormcell::testing
