// Seconds to open a model of very many tensors, warm and without looking for NaN: 48 layers of 128 experts, 11 tensors
// each of 8 KiB; and of as many experts in two tensors a layer, each weight by a recipe.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "core/base/error.h"
#include "core/models/model.h"
#include "tests/testing/many_tensors.h"

using namespace stormcell;

namespace {

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void open_often(const std::string& folder, const testing::ManyTensors& sizes, const char* what) {
  const int64_t tensors = testing::write_many_tensors(folder, sizes);
  std::printf("%s: %lld tensors\n", what, static_cast<long long>(tensors));
  ModelOptions options;
  options.check_weights = false;
  for (int i = 0; i < 5; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    const auto model = open_model(folder, options);
    std::printf("opened in %.3f s", seconds_since(begin));
    const auto again = std::chrono::steady_clock::now();
    if (!model->older_fingerprint) {
      std::printf("\n");
      continue;
    }
    const bool other = model->older_fingerprint() != model->fingerprint;
    std::printf("; the older fingerprint, asked for only by older sessions: %.3f s%s\n", seconds_since(again),
                other ? "" : " (the same)");
  }
}

int run(const std::string& folder) {
  open_often(folder, {.layers = 48, .experts = 128, .per_expert = 11}, "a tensor for each weight");
  // 18,432 weights by recipe.
  open_often(folder, {.layers = 48, .experts = 128, .stacked = true}, "experts of a layer in two tensors");
  return 0;
}

}  // namespace

int main() {
  std::string folder = (std::filesystem::temp_directory_path() / "stormcell-open-XXXXXX").string();
  if (!::mkdtemp(folder.data())) return 1;
  int code = 1;
  try {
    code = run(folder);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
  }
  std::filesystem::remove_all(folder);
  return code;
}
