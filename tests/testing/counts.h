// Counts of what a test program exercises: printed at its end, and held against the least that it exercised before, so
// that a test cannot become cheaper by doing less without a word.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stormcell::testing {

/// Adds one case that is drawn by chance: each generator of random numbers that a test makes.
void count_drawn_case();
/// A generator of the standard library that counts as a case.
template <class Engine>
class Drawn : public Engine {
 public:
  explicit Drawn(uint64_t seed) : Engine(static_cast<typename Engine::result_type>(seed)) { count_drawn_case(); }
};
/// The path of a file or folder below tests/reference/, which counts as a fixture of this program with the bytes that
/// it has.
std::string reference_path(std::string_view name);

struct Counts {
  int64_t functions = 0;      ///< test functions, each row of data for itself
  int64_t drawn = 0;          ///< generators of random numbers that were made: one for each case drawn by chance
  int64_t fixtures = 0;       ///< files of tests/reference/ that were named, folders with all their files
  int64_t fixture_bytes = 0;  ///< bytes of these files
};

/// The counts of this program so far but for `functions`.
Counts counts_so_far();
/// The counts of this process, which is a part of a program, for counts_of_parts(): "functions 12", "drawn 40" and a line
/// "fixture PATH" for each that was named.
std::string part_text(int64_t functions);
/// The counts of a program whose parts ran in processes of their own, by their part_text(). A fixture that several of
/// them named counts once.
Counts counts_of_parts(const std::vector<std::string>& parts);
/// "counts PROGRAM functions 12 drawn 40 fixtures 3 fixture_bytes 5120".
std::string to_text(const Counts& counts, std::string_view program);
/// A line for each count that is below the row of `program` in `table`, whose lines are as to_text() writes them; lines
/// that begin with # are comments. A program without a row is one line, too. Empty: nothing has fallen.
std::string fallen(const Counts& counts, std::string_view program, std::string_view table);

}  // namespace stormcell::testing
