// Files of many kinds as their writers begin and end them, for what is to be known by its content.
#pragma once
#include <string>
#include <vector>

namespace stormcell::testing {

struct FileHead {
  std::string id;    ///< of FileKind
  std::string name;  ///< of the file
  std::string bytes;
  std::string words;   ///< of what it is called
  std::string advice;  ///< of what is to be done
};
/// Each kind of the list at least once where it is known by its content or its name.
std::vector<FileHead> file_heads();

}  // namespace stormcell::testing
