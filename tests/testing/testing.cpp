#include "tests/testing/testing.h"

#include <QTemporaryDir>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/checkout.h"
#include "tests/testing/counts.h"
#include "tests/testing/sanitized.h"

namespace stormcell::testing {
namespace {
std::vector<std::pair<const char*, Factory>>& tests() {
  static std::vector<std::pair<const char*, Factory>> list;
  return list;
}

std::string text_of(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// Test functions that passed or were skipped, by what Qt Test writes at the end of a class: "Totals: 12 passed, 0
/// failed, 1 skipped, ...".
int64_t ended_functions(const std::string& log) {
  constexpr const char* kTotals = "Totals: ";
  const size_t at = log.rfind(kTotals);
  long passed = 0, failed = 0, skipped = 0;
  if (at == std::string::npos ||
      std::sscanf(log.c_str() + at, "Totals: %ld passed, %ld failed, %ld skipped", &passed, &failed, &skipped) != 3)
    return 0;
  return passed + skipped;
}

/// Prints what the whole program exercised; false where that is less than it was. Under a sanitizer (sanitized.h), and
/// without the folder ../shared, there are fewer cases: nothing is held then.
bool tell_counts(const std::string& program, const Counts& counts) {
  std::printf("%s\n", to_text(counts, program).c_str());
  const std::string less = kSanitized || shared_folder().empty()
                               ? ""
                               : fallen(counts, program, text_of(source_folder() + "/tests/testing/counts.txt"));
  if (!less.empty())
    std::printf(
        "%s: less is tested than tests/testing/counts.txt says. Where a smaller case finds the same faults, change the "
        "row and say in "
        "docs/benchmarks/build.md which planted fault it still finds.\n%s",
        program.c_str(), less.c_str());
  return less.empty();
}

/// `program --counts FILE...`
int hold_parts(const std::string& program, const std::vector<std::string>& files) {
  std::vector<std::string> parts;
  for (const std::string& file : files) {
    parts.push_back(text_of(file));
    if (!parts.back().empty()) continue;
    std::fprintf(stderr, "%s: no part has written it\n", file.c_str());
    return 1;
  }
  return tell_counts(program, counts_of_parts(parts)) ? 0 : 1;
}

/// A part of the program's classes.
struct Part {
  std::string names;  ///< with a comma before and behind each
  bool others = false;
  std::string file;

  bool has(const std::string& name) const { return (names.find("," + name + ",") != std::string::npos) != others; }
  /// The first name that no class has; empty: none.
  std::string unknown() const {
    std::istringstream words(names.substr(1));
    for (std::string word; std::getline(words, word, ',');)
      if (std::none_of(tests().begin(), tests().end(), [&](const auto& test) { return test.first == word; }))
        return word;
    return {};
  }
};
/// Takes the part out of the arguments: `program --only CLASS,... FILE`, or --but.
std::optional<Part> take_part(int& argc, char** argv) {
  if (argc != 4 || (std::string_view(argv[1]) != "--only" && std::string_view(argv[1]) != "--but")) return {};
  Part part{"," + std::string(argv[2]) + ",", std::string_view(argv[1]) == "--but", argv[3]};
  argc = 1;
  return part;
}
}  // namespace

int add_test(const char* name, Factory factory) {
  tests().emplace_back(name, std::move(factory));
  return 0;
}

std::string shared_folder() {
  const std::filesystem::path path = std::filesystem::path(checkout_source_folder()).parent_path() / "shared";
  return std::filesystem::exists(path / "design.md") ? path.string() : std::string();
}
std::string source_folder() { return checkout_source_folder(); }

int run_tests(int argc, char** argv) {
  const std::string program = std::filesystem::path(argv[0]).filename().string();
  if (argc > 2 && std::string_view(argv[1]) == "--counts")
    return hold_parts(program, std::vector<std::string>(argv + 2, argv + argc));
  const std::optional<Part> part = take_part(argc, argv);
  if (part) std::filesystem::remove(part->file);
  if (const std::string unknown = part ? part->unknown() : ""; !unknown.empty()) {
    std::fprintf(stderr, "no test class %s\n", unknown.c_str());
    return 1;
  }
  int failures = 0, ran = 0;
  const std::string only = argc > 1 && argv[1][0] != '-' ? argv[1] : "";
  if (!only.empty()) {
    for (int i = 1; i + 1 < argc; ++i) argv[i] = argv[i + 1];
    --argc;
  }
  // A crash is to end the program: Qt's handler, where it finds a debugger, stops it for good and asks the debugger
  // again and again.
  static char no_handler[] = "-nocrashhandler";
  // Qt ends a program when one class takes five minutes; under sanitizers, on a slow machine, that is no defect. ctest
  // ends what hangs.
  if (!qEnvironmentVariableIsSet("QTEST_FUNCTION_TIMEOUT")) qputenv("QTEST_FUNCTION_TIMEOUT", "3600000");
  const QTemporaryDir logs;
  const std::string log = logs.filePath("log.txt").toStdString();
  std::string to_log = log + ",txt";
  static char output[] = "-o", to_console[] = "-,txt";
  const bool whole = only.empty() && argc == 1;
  std::vector<char*> arguments(argv, argv + argc);
  arguments.push_back(no_handler);
  if (whole) arguments.insert(arguments.end(), {output, to_console, output, to_log.data()});
  const int count = static_cast<int>(arguments.size());
  arguments.push_back(nullptr);
  int64_t functions = 0;
  for (const auto& [name, factory] : tests()) {
    if ((!only.empty() && only != name) || (part && !part->has(name))) continue;
    const std::unique_ptr<QObject> test(factory());
    failures += QTest::qExec(test.get(), count, arguments.data()) != 0;
    if (whole) functions += ended_functions(text_of(log));
    ++ran;
  }
  if (ran == 0) {
    std::fprintf(stderr, "no test class %s\n", only.c_str());
    return 1;
  }
  if (!whole || failures > 0) return failures == 0 ? 0 : 1;
  if (part) return (std::ofstream(part->file) << part_text(functions)).flush() ? 0 : 1;
  Counts counts = counts_so_far();
  counts.functions = functions;
  return tell_counts(program, counts) ? 0 : 1;
}

}  // namespace stormcell::testing
