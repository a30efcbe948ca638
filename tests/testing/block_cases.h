// Graphs with weights in blocks of a GGUF file.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "core/base/number_format.h"
#include "core/graph/text.h"
#include "tests/testing/blocks.h"
#include "tests/testing/case_inputs.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {

inline std::vector<float> normal_values(Random& random, int64_t n) {
  std::vector<float> values(static_cast<size_t>(n));
  for (float& v : values) v = static_cast<float>(random.normal());
  return values;
}

/// A table, a router of 23 cells and its two experts in blocks: one case with a grouped product, one with a product
/// for each expert.
inline std::vector<RandomCase> experts_in_blocks(DType format) {
  const std::string name(to_text(format));
  const std::string head =
      "stormcell.graph/1\nsymbols N\nspace tokens = root N\ninput %ids : i32 tokens\nweight %t : " + name +
      " [9,256]\nweight %r : " + name + " [2,256]\nweight %a : " + name + " [70,256]\nweight %b : " + name +
      " [70,256]\n%x : f32 tokens [256] = embedding(%ids, %t)\n%s : f32 tokens [2] = linear(%x, %r)\n"
      "%d : decision tokens 2x1 = route(%s) protocol=\"top-k\"\n";
  const std::string joined =
      "space d/s = tokens by %d slots at most N\n"
      "%z : f32 d/s [70] = grouped_linear(%x, %d, %a, %b) branches=[0,1] slots=@d/s\n"
      "%y : f32 tokens [70] = gather(%z) mode=\"sum\" space=@tokens\noutput y = %y\n";
  const std::string apart =
      "space d/0 = tokens by %d branch 0 at most N\nspace d/1 = tokens by %d branch 1 at most N\n"
      "%x0 : f32 d/0 [256], %x1 : f32 d/1 [256] = scatter(%x, %d) spaces=[@d/0,@d/1]\n"
      "%y0 : f32 d/0 [70] = linear(%x0, %a)\n%y1 : f32 d/1 [70] = linear(%x1, %b)\n"
      "%y : f32 tokens [70] = gather(%y0, %y1) mode=\"sum\" space=@tokens\noutput y = %y\n";
  std::vector<RandomCase> cases;
  for (const std::string& text : {head + joined, head + apart}) {
    RandomCase c;
    Random random(3);
    auto held = std::make_shared<MemoryWeights>();
    const auto blocks = [&](const char* weight, int64_t rows) {
      held->add_stored(weight, format, {rows, 256},
                       drawn_blocks([&] { return random.next(); }, format, rows * 256, Scales::alike));
    };
    blocks("t", 9), blocks("r", 2), blocks("a", 70), blocks("b", 70);
    c.name = name + (cases.empty() ? " experts, grouped" : " experts, apart");
    c.graph = parse_graph(text, "graph");
    c.weights = held;
    c.bindings = {23};
    std::vector<int32_t> ids;
    for (int i = 0; i < 23; ++i) ids.push_back(static_cast<int32_t>(random.below(9)));
    c.inputs = {{"ids", ids}};
    cases.push_back(std::move(c));
  }
  return cases;
}

}  // namespace stormcell::testing
