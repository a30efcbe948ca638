// Many small inputs of a fuzz target in one file, its index in front (format: tests/fuzz/README.md).
#pragma once
#include <string>
#include <vector>

namespace stormcell::fuzz {

struct PackedInput {
  std::string name;  ///< SHA-256 of the bytes, 64 hexadecimal digits
  std::vector<char> bytes;
};

/// The whole file; throws Error(bad_input) where it is not a file at all.
std::vector<char> read_bytes(const std::string& path);

/// Every input of a pack, in the order of its index. Error(bad_input) unless each is there with the size and the
/// SHA-256 that the index states, and nothing else.
std::vector<PackedInput> read_pack(const std::string& path);

/// Writes the inputs in ascending order of their names, each once. Replaces the file as a whole.
void write_pack(const std::string& path, std::vector<PackedInput> inputs);

PackedInput packed(std::vector<char> bytes);

}  // namespace stormcell::fuzz
