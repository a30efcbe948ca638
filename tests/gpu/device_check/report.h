// The finding of a check: one record a case, written at once, so that what came before a crash is not lost.
#pragma once
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace stormcell::device_check {

struct Record {
  std::string family, name;
  std::string result;  ///< passed, failed, measured, absent; begun: a case that may not come to its end
  std::string value;   ///< a figure with its unit, or nothing
  std::string note;    ///< why it failed, which limit, which rival
  double number = 0;   ///< the figure
  double share = 0;    ///< of the limit that the note names; 0: none
};

/// Text as JSON has it.
std::string quoted(std::string_view text);
/// A record as one line of JSON, and back (only what to_json wrote).
std::string to_json(const Record& record);
bool from_json(std::string_view line, Record& record);

/// Prints the times that two files of records have in common, and their quotient. False, with the reason, where there
/// are none.
bool compare(const std::string& a, const std::string& b, std::string& why);

/// Names of what bench-rows measures, to be written and read: inputs, outputs, weights of a call, rows of each.
inline constexpr char kRowsName[] = "%d x %d, %d weights, %d rows each";
/// Prints the products over rows of a file of records as `stormcell calibrate` reads calls. False, with the reason,
/// where there are none.
bool print_calls(const std::string& path, const std::string& laboratory, std::string& why);

/// Appends records to a file, each flushed.
class Report {
 public:
  Report(const std::string& family, const std::string& path);
  ~Report();
  Report(const Report&) = delete;
  Report& operator=(const Report&) = delete;
  /// Names a case before it starts, so that one that faults or hangs is known.
  void begins(const std::string& name);
  void passed(const std::string& name, const std::string& note = {});
  void failed(const std::string& name, const std::string& why);
  void absent(const std::string& name, const std::string& why);
  /// `share`: of the limit that the note names.
  void measured(const std::string& name, double number, const char* unit, double share = 0,
                const std::string& note = {});
  /// passed or failed.
  void check(bool holds, const std::string& name, const std::string& note);
  bool all_passed() const { return all_passed_; }

 private:
  void add(const Record& record);
  std::string family_;
  FILE* file_ = nullptr;
  bool all_passed_ = true;
};

}  // namespace stormcell::device_check
