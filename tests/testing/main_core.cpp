#include <QCoreApplication>

#include "tests/testing/testing.h"

int main(int argc, char** argv) {
  QCoreApplication application(argc, argv);
  return stormcell::testing::run_tests(argc, argv);
}
