// The beginnings and ends of files of many kinds, as their writers make them, for tests of recognition by content.
#pragma once
#include <string>
#include <vector>

namespace stormcell::testing {

struct FileHead {
  std::string id;    ///< of FileKind
  std::string name;  ///< of the file
  std::string bytes;
  std::string words;   ///< words of the expected name
  std::string advice;  ///< words of the expected advice
};
/// Each kind of the list at least once, if its content or its name shows it.
std::vector<FileHead> file_heads();

}  // namespace stormcell::testing
