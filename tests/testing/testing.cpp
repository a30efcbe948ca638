#include "tests/testing/testing.h"

#include <QTemporaryDir>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
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
bool tell_counts(const std::string& program, int64_t functions) {
  Counts counts = counts_so_far();
  counts.functions = functions;
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

// `program` runs all classes, `program CLASS [Qt Test options]` one.
int run_tests(int argc, char** argv) {
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
    if (!only.empty() && only != name) continue;
    const std::unique_ptr<QObject> test(factory());
    failures += QTest::qExec(test.get(), count, arguments.data()) != 0;
    if (whole) functions += ended_functions(text_of(log));
    ++ran;
  }
  if (ran == 0) {
    std::fprintf(stderr, "no test class %s\n", only.c_str());
    return 1;
  }
  if (whole && failures == 0 && !tell_counts(std::filesystem::path(argv[0]).filename().string(), functions)) ++failures;
  return failures == 0 ? 0 : 1;
}

}  // namespace stormcell::testing
