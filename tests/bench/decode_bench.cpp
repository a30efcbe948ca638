// Do sequences of unlike length decode together at no cost? A mixture-of-experts decoder of seeded weights decodes two
// sequences of 8 and 200 tokens in one batch, and two of 200; each round runs both, one after the other. The first may
// take 1.1 times the time of the second.
//
//   decode_bench [ROUNDS [NEW_TOKENS [THREADS [f32|bf16]]]]      (9, 64, all, f32)
//
// The machine must be quiet otherwise. Exit 1 where the median of the rounds' ratios is above 1.1.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "core/base/thread_team.h"
#include "core/cpu/cpu_device.h"
#include "core/models/family.h"
#include "core/models/seeded_weights.h"
#include "core/runtime/executor.h"
#include "core/runtime/lower.h"

namespace {
using namespace stormcell;

constexpr int64_t kLongest = 200;

nlohmann::json config_of_model() {
  return {{"model_type", "mixtral"},
          {"architectures", {"MixtralForCausalLM"}},
          {"vocab_size", 16000},
          {"hidden_size", 512},
          {"intermediate_size", 1792},
          {"num_hidden_layers", 8},
          {"num_attention_heads", 16},
          {"num_key_value_heads", 8},
          {"num_local_experts", 8},
          {"num_experts_per_tok", 2},
          {"max_position_embeddings", 4096}};
}

InputValues prompts(const std::vector<int64_t>& lengths) {
  InputValues in;
  std::vector<int32_t>&ids = in.integers["input_ids"], &mask = in.integers["attention_mask"];
  // No two sequences alike: alike ones would go to the same experts, whose weights are read once for both.
  for (size_t s = 0; s < lengths.size(); ++s)
    for (int64_t i = 0; i < kLongest; ++i) {
      mask.push_back(i < lengths[s]);
      ids.push_back(i < lengths[s] ? static_cast<int32_t>(3 + (i * 7919 + static_cast<int64_t>(s) * 4001) % 15000) : 0);
    }
  return in;
}

double median(std::vector<double> x) {
  std::sort(x.begin(), x.end());
  return x[x.size() / 2];
}

}  // namespace

int main(int count, char** arguments) {
  const auto number = [&](int i, int otherwise) {
    return count > i ? std::max(1, std::atoi(arguments[i])) : otherwise;
  };
  const int rounds = number(1, 9), most = number(2, 64), threads = number(3, available_cores());
  const DType dtype = count > 4 && std::string_view(arguments[4]) == "bf16" ? DType::bf16 : DType::f32;

  const nlohmann::json json = config_of_model(), none = nlohmann::json::object();
  const Config config(json, "decode_bench"), generation(none, "decode_bench");
  const std::shared_ptr<const Architecture> architecture = family_of(config).configure(config, generation, nullptr);
  SeededCatalog catalog(1, dtype, [&](std::string_view weight) { return architecture->initialisation(weight); });
  const auto graph = std::make_shared<const Graph>(architecture->generate(catalog, {}));
  cpu::CpuDevice device(threads);
  WeightStore store(device, catalog.source());
  Bindings bindings(graph->symbols.size(), 0);
  for (const auto& [name, value] :
       {std::pair{kSequences, int64_t{2}}, {kLength, kLongest}, {kDecoderLength, int64_t{most}}})
    bindings[static_cast<size_t>(graph->find_symbol(name))] = value;
  Executor executor(device, store, std::make_shared<const Program>(lower(graph)), bindings);

  struct Case {
    std::vector<int64_t> lengths;
    std::vector<double> milliseconds = {};
  };
  std::vector<Case> cases = {{{8, 200}}, {{200, 200}}, {{8, 8}}};
  ExecutionResult result;
  for (int round = -1; round < rounds; ++round)  // one more to warm up
    for (Case& c : cases) {
      executor.run(prompts(c.lengths), bindings, {}, result);
      if (round >= 0) c.milliseconds.push_back(result.milliseconds);
    }
  std::vector<double> ratios;
  for (size_t r = 0; r < cases[0].milliseconds.size(); ++r)
    ratios.push_back(cases[0].milliseconds[r] / cases[1].milliseconds[r]);
  for (const Case& c : cases)
    fmt::print("{} and {} tokens, then {} new ones each: {:.1f} ms (median of {})\n", c.lengths[0], c.lengths[1], most,
               median(c.milliseconds), rounds);
  fmt::print("8 and 200 together: {:.3f} of 200 and 200 (at most 1.1)\n", median(ratios));
  return median(ratios) > 1.1 ? 1 : 0;
}
