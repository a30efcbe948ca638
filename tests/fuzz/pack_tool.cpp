// Packs and unpacks the inputs of a fuzz target: see usage below and tests/fuzz/README.md.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "core/base/error.h"
#include "tests/fuzz/pack.h"

namespace {
namespace fs = std::filesystem;
using namespace stormcell::fuzz;

constexpr const char* kUsage =
    "usage: fuzz_pack unpack PACK FOLDER   writes every input of PACK as a file into FOLDER\n"
    "       fuzz_pack pack FOLDER PACK     moves the hash-named files of FOLDER (libFuzzer's names) into PACK, made "
    "where it is not "
    "there\n";

bool is_hash(const std::string& name) {
  return (name.size() == 40 || name.size() == 64) && name.find_first_not_of("0123456789abcdef") == std::string::npos;
}

void unpack(const std::string& pack, const fs::path& folder) {
  fs::create_directories(folder);
  const auto inputs = read_pack(pack);
  for (const PackedInput& input : inputs) {
    std::ofstream out(folder / input.name, std::ios::binary | std::ios::trunc);
    out.write(input.bytes.data(), static_cast<std::streamsize>(input.bytes.size()));
    if (!out.flush())
      stormcell::failed((folder / input.name).string(), "cannot be written", "look whether the disk is full");
  }
  std::printf("%zu inputs unpacked\n", inputs.size());
}

void pack(const fs::path& folder, const std::string& pack) {
  std::vector<PackedInput> inputs;
  if (fs::exists(pack)) inputs = read_pack(pack);
  const size_t before = inputs.size();
  std::vector<fs::path> taken;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (!entry.is_regular_file() || !is_hash(entry.path().filename())) continue;
    inputs.push_back(packed(read_bytes(entry.path())));
    taken.push_back(entry.path());
  }
  write_pack(pack, std::move(inputs));
  const size_t after = read_pack(pack).size();  // only what can be read again is removed
  for (const fs::path& path : taken) fs::remove(path);
  std::printf("%zu files packed, %zu inputs before, %zu now\n", taken.size(), before, after);
}
}  // namespace

int main(int argc, char** argv) {
  const std::string verb = argc == 4 ? argv[1] : "";
  try {
    if (verb == "unpack") {
      unpack(argv[2], argv[3]);
    } else if (verb == "pack") {
      pack(argv[2], argv[3]);
    } else {
      std::fputs(kUsage, stderr);
      return 2;
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fuzz_pack: %s\n", error.what());
    return 2;
  }
  return 0;
}
