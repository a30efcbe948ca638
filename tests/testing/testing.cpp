#include "tests/testing/testing.h"

#include <cstdio>
#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/checkout.h"

namespace stormcell::testing {
namespace {
std::vector<std::pair<const char*, Factory>>& tests() {
  static std::vector<std::pair<const char*, Factory>> list;
  return list;
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
  // A crash is to end the program: Qt's handler, where it finds a debugger, stops it for good and asks the debugger again and again.
  static char no_handler[] = "-nocrashhandler";
  // Qt ends a program when one class takes five minutes; under sanitizers, on a slow machine, that is no defect. ctest ends what hangs.
  if (!qEnvironmentVariableIsSet("QTEST_FUNCTION_TIMEOUT")) qputenv("QTEST_FUNCTION_TIMEOUT", "3600000");
  std::vector<char*> arguments(argv, argv + argc);
  arguments.push_back(no_handler);
  arguments.push_back(nullptr);
  for (const auto& [name, factory] : tests()) {
    if (!only.empty() && only != name) continue;
    const std::unique_ptr<QObject> test(factory());
    failures += QTest::qExec(test.get(), argc + 1, arguments.data()) != 0;
    ++ran;
  }
  if (ran == 0) {
    std::fprintf(stderr, "no test class %s\n", only.c_str());
    return 1;
  }
  return failures == 0 ? 0 : 1;
}

}  // namespace stormcell::testing
