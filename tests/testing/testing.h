// One test program a folder: every test class names itself with STORMCELL_TEST, the shared main runs them all.
#pragma once
#include <QTest>
#include <functional>
#include <string>

namespace stormcell::testing {

using Factory = std::function<QObject*()>;

/// Adds a test class to the program's list; the list is per program, in link order.
int add_test(const char* name, Factory factory);

/// For main(): all classes of this program, or what its arguments name.
///   PROGRAM CLASS [OPTION...]        one class, with options of Qt Test
///   PROGRAM --only CLASS,... FILE    these classes; what they exercised is written into FILE
///   PROGRAM --but CLASS,... FILE     all others, likewise
///   PROGRAM --counts FILE...         no class: holds what all these parts exercised against counts.txt
int run_tests(int argc, char** argv);

/// The folder ../shared beside the project, empty where it is absent; tests that need it skip with a message.
std::string shared_folder();
/// The project's source folder.
std::string source_folder();

}  // namespace stormcell::testing

#define STORMCELL_TEST(Class)                       \
  [[maybe_unused]] static const int kAdded##Class = \
      ::stormcell::testing::add_test(#Class, [] { return static_cast<QObject*>(new Class); });
