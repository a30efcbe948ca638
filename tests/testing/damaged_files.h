// Files that are damaged in one way each: the readers' own tests and those of the program take them from here.
#pragma once
#include <string>
#include <vector>

namespace stormcell::testing {

struct DamagedFile {
  std::string name;  ///< what is wrong with it
  std::string bytes;
  std::string words;  ///< which the refusal must contain
};

std::vector<DamagedFile> damaged_safetensors();
std::vector<DamagedFile> damaged_npy();
std::vector<DamagedFile> damaged_json();

/// Rows for a test: columns "bytes" and "words".
void add_rows(const std::vector<DamagedFile>& files);

}  // namespace stormcell::testing
