// Runs a fuzz target once on every input of a corpus, with any compiler: what a fuzzer once found stays mended.
#include <algorithm>
#include <filesystem>
#include <vector>

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/pack.h"

namespace {
using namespace stormcell::fuzz;

void run(const std::string& name, const std::vector<char>& bytes) {
  std::printf("%s\n", name.c_str());
  std::fflush(stdout);  // the last line names the input that broke it
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
}
}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr,
                 "usage: %s FOLDER PACK LEAST   all files of FOLDER and all inputs of PACK; fails where there are "
                 "fewer than LEAST\n",
                 argv[0]);
    return 2;
  }
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1]))
    if (entry.is_regular_file()) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<PackedInput> inputs;
  try {
    inputs = read_pack(argv[2]);
  } catch (const stormcell::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  for (const auto& path : files) run(path.filename(), read_bytes(path));
  for (const PackedInput& input : inputs) run(input.name, input.bytes);
  const size_t ran = files.size() + inputs.size(), least = std::strtoul(argv[3], nullptr, 10);
  std::printf("%zu inputs: %zu files, %zu packed\n", ran, files.size(), inputs.size());
  if (ran < least) std::fprintf(stderr, "at least %zu are expected\n", least);
  return ran < least || ran == 0 ? 1 : 0;
}
