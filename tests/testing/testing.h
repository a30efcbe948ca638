// One test program a folder: every test class names itself with STORMCELL_TEST, the shared main runs them all.
#pragma once
#include <QTest>
#include <functional>
#include <string>

namespace stormcell::testing {

using Factory = std::function<QObject*()>;

/// Adds a test class to the program's list; the list is per program, in link order.
int add_test(const char* name, Factory factory);

/// All classes of this program, or the one that is named first. For main().
int run_tests(int argc, char** argv);

/// The folder ../shared beside the project, empty where it is absent; tests that need it skip with a message.
std::string shared_folder();
/// The project's source folder.
std::string source_folder();

}  // namespace stormcell::testing

#define STORMCELL_TEST(Class)                       \
  [[maybe_unused]] static const int kAdded##Class = \
      ::stormcell::testing::add_test(#Class, [] { return static_cast<QObject*>(new Class); });
