// Routing traces made up for the program: small, complete, and to be damaged.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/testing/file_bytes.h"

namespace stormcell::testing {

struct TraceSize {
  int64_t layers = 3, experts = 8, k = 2, prompt = 5, steps = 20, turns = 2;
  int64_t rows() const { return turns * k * (prompt * (layers - 1) + 1 + steps * layers); }
};

/// Expert of one row; the k of a cell differ.
inline int64_t traced_expert(const TraceSize& s, int64_t turn, int64_t step, int64_t layer, int64_t slot) {
  return (turn * 5 + step * 3 + layer * 7 + step * step % 3 + slot) % s.experts;
}

/// route_trace v1. Of a prompt the last layer saw the last token alone. `change` may replace any line but the preamble.
inline std::string route_trace(const TraceSize& s = {}, const std::string& model = "made-up.gguf",
                               const std::function<void(int64_t row, std::string& line)>& change = {}) {
  std::string text = "# route_trace v1\n# model=/models/" + model + " arch=made n_layer=" + std::to_string(s.layers) +
                     " n_expert=" + std::to_string(s.experts) + " n_expert_used=" + std::to_string(s.k) + "\n";
  for (int64_t l = 0; l < s.layers; ++l)
    text += "# layer=" + std::to_string(l) + " expert_bytes=" + std::to_string(1000 + l) +
            " dense_bytes=" + std::to_string(9000 + l) + "\n";
  text += "turn,phase,step,layer,slot,expert,weight,residency,expert_bytes\n";
  int64_t row = 0;
  const auto put = [&](int64_t turn, int64_t phase, int64_t step, int64_t layer) {
    for (int64_t slot = 0; slot < s.k; ++slot, ++row) {
      const int64_t residency = (step + layer + slot) % 3;
      std::string line;
      const std::string weight = slot == 0 ? "0.625" : "0.25";
      for (const std::string& cell :
           {std::to_string(turn), std::to_string(phase), std::to_string(step), std::to_string(layer),
            std::to_string(slot), std::to_string(traced_expert(s, turn, step, layer, slot)), weight,
            std::to_string(residency),
            std::to_string(residency == 0 && (phase == 1 || step % 2 == 0) ? 1000 + layer : 0)})
        line += (line.empty() ? "" : ",") + cell;
      if (change) change(row, line);
      text += line + "\n";
    }
  };
  for (int64_t turn = 0; turn < s.turns; ++turn) {
    for (int64_t layer = 0; layer < s.layers; ++layer)
      for (int64_t step = layer + 1 == s.layers ? s.prompt - 1 : 0; step < s.prompt; ++step) put(turn, 0, step, layer);
    for (int64_t step = s.prompt; step < s.prompt + s.steps; ++step)
      for (int64_t layer = 0; layer < s.layers; ++layer) put(turn, 1, step, layer);
  }
  return text;
}

/// RouterTrace v2 of `prompt` tokens.
inline std::string router_trace(const TraceSize& s = {}) {
  std::string text = "{\n \"expertsPerLayer\": " + std::to_string(s.experts) +
                     ", \"layers\": " + std::to_string(s.layers) +
                     ",\n \"scenario\": \"made [up] \\\"{\",\n \"selections\": [\n";
  for (int64_t t = 0; t < s.prompt; ++t) {
    text += t ? ",\n  [" : "  [";
    for (int64_t l = 0; l < s.layers; ++l) {
      text += l ? ",[" : "[";
      for (int64_t j = 0; j < s.k; ++j) text += (j ? "," : "") + std::to_string(traced_expert(s, 0, t, l, j));
      text += "]";
    }
    text += "]";
  }
  return text +
         "\n ],\n \"source\": {\"kind\": \"synthetic\", \"model\": {\"id\": \"made/up\", \"revision\": \"1\"}},\n "
         "\"tokens\": " +
         std::to_string(s.prompt) + ", \"topK\": " + std::to_string(s.k) + ", \"version\": 2\n}\n";
}

}  // namespace stormcell::testing
