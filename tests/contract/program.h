// The program as its users have it: a process with arguments, streams and an exit code.
#pragma once
#include <QProcess>
#include <QString>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace stormcell::testing {

using Arguments = std::vector<std::string>;

struct Ended {
  int exit = -1;  ///< -1: it did not end by itself
  std::string out, err;
  nlohmann::json json() const { return nlohmann::json::parse(out, nullptr, false); }
};

struct Surroundings {
  std::string input;   ///< standard input
  std::string folder;  ///< where it starts
  std::vector<std::pair<std::string, std::string>> environment;
  std::string out_file;           ///< standard output goes there
  int64_t file_bytes = 0;         ///< no file may grow beyond; 0: no limit
  int64_t address_bytes = 0;      ///< of address space it may have; 0: no limit
  bool obey_permissions = false;  ///< the superuser too
  std::string fault = {};  ///< a pass of tests/testing/faulty that runs before all others; empty: the program as it is
};

std::string program_path();
/// Runs it to its end; a minute without one is a failure.
Ended run_program(const Arguments& arguments, const Surroundings& around = {});
/// Runs it with `--json -` and returns the JSON. The test fails, with the output, if it does not end with 0.
nlohmann::json json_of(Arguments arguments);
/// A line such as a user would type, for messages.
std::string told(const Arguments& arguments, const Ended& ended);

/// Empty when `err` is exactly one line "stormcell: WHERE: WHAT (WHAT TO DO)" that begins with `where`; else what is
/// wrong with it.
std::string defect_of_error_line(const std::string& err, std::string_view where);
/// Empty when the program refuses these arguments as VERIFY_REFUSED says; else what is wrong, with what it said.
std::string defect_of_refusal(const Arguments& arguments, std::string_view where, std::string_view words);

/// A running program.
class Running {
 public:
  explicit Running(const Arguments& arguments);
  ~Running();
  /// Asks `reached` every few milliseconds; false when the program ends or hangs first.
  bool wait_until(const std::function<bool()>& reached);
  void signal(int number);
  Ended wait();
  qint64 id() const { return process_.processId(); }

 private:
  QProcess process_;
};

}  // namespace stormcell::testing

/// Bad usage and bad input: exit 2, one line that names `where` and holds `words`, nothing on standard output.
#define VERIFY_REFUSED(arguments, where, words)                                                          \
  do {                                                                                                   \
    const std::string refusal_defect = ::stormcell::testing::defect_of_refusal(arguments, where, words); \
    QVERIFY2(refusal_defect.empty(), refusal_defect.c_str());                                            \
  } while (false)
#define VERIFY_DONE(ended, arguments)                                                              \
  do {                                                                                             \
    const ::stormcell::testing::Ended done_program = ended;                                        \
    QVERIFY2(done_program.exit == 0, ::stormcell::testing::told(arguments, done_program).c_str()); \
  } while (false)
