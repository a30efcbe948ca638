// Verdicts of `diff` on faults that somebody planted into files: a table, and the shares that are named.
//
//   diff_verdicts FOLDER      (tests/core/difference/planted_folder.h has its form)
//
// Exit 1 if the shares do not hold their limits, 2 if the folder is not one of pairs.
#include <cstdio>
#include <exception>

#include "tests/core/difference/planted_folder.h"

int main(int count, char** arguments) {
  using namespace stormcell;
  if (count != 2) {
    std::fprintf(stderr, "usage: diff_verdicts FOLDER\n");
    return 2;
  }
  try {
    std::vector<testing::FolderVerdict> verdicts;
    for (const testing::FolderPair& pair : testing::pairs_in(arguments[1]))
      verdicts.push_back(testing::judge_pair(pair));
    std::fputs(testing::table_of_verdicts(verdicts).c_str(), stdout);
    return testing::shares_of(verdicts).hold() ? 0 : 1;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "diff_verdicts: %s\n", e.what());
    return 2;
  }
}
