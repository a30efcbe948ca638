// Runs a fuzz target once on every input of a corpus, with any compiler: what a fuzzer once found stays mended.
#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/pack.h"

namespace stormcell::fuzz {
namespace {

std::map<std::string, Target>& targets() {
  static std::map<std::string, Target> all;
  return all;
}

void run(Target target, const std::string& name, const std::vector<char>& bytes) {
  std::printf("%s\n", name.c_str());
  std::fflush(stdout);  // the last line names the input that broke it
  target(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
}

int replay(Target target, const std::string& folder, const std::string& pack, size_t least) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.is_regular_file()) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<PackedInput> inputs;
  try {
    inputs = read_pack(pack);
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  for (const auto& path : files) run(target, path.filename(), read_bytes(path));
  for (const PackedInput& input : inputs) run(target, input.name, input.bytes);
  const size_t ran = files.size() + inputs.size();
  std::printf("%zu inputs: %zu files, %zu packed\n", ran, files.size(), inputs.size());
  if (ran < least) std::fprintf(stderr, "at least %zu are expected\n", least);
  return ran < least || ran == 0 ? 1 : 0;
}

}  // namespace

int add_target(const char* name, Target target) {
  targets()[name] = target;
  return 0;
}

}  // namespace stormcell::fuzz

int main(int argc, char** argv) {
  using namespace stormcell::fuzz;
  const auto target = argc == 5 ? targets().find(argv[1]) : targets().end();
  if (target == targets().end()) {
    std::fprintf(stderr,
                 "usage: %s TARGET FOLDER PACK LEAST   all files of FOLDER and all inputs of PACK; fails where there "
                 "are fewer than LEAST\ntargets:",
                 argv[0]);
    for (const auto& [name, of] : targets()) std::fprintf(stderr, " %s", name.c_str());
    std::fprintf(stderr, "\n");
    return 2;
  }
  return replay(target->second, argv[2], argv[3], std::strtoul(argv[4], nullptr, 10));
}
