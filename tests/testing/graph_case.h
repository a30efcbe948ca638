// A graph with everything that is needed to run it: seeded weights, the extents' values, inputs. What the random graphs
// and the toys are, and the tool they are built with.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "core/graph/builder.h"
#include "core/weights/weight_source.h"
#include "tests/testing/counts.h"

namespace stormcell::testing {

/// splitmix64: the same numbers on every platform.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) { count_drawn_case(); }
  uint64_t next();
  /// 0 .. n - 1.
  int64_t below(int64_t n) { return static_cast<int64_t>(next() % static_cast<uint64_t>(n)); }
  int64_t between(int64_t least, int64_t most) { return least + below(most - least + 1); }
  /// [0, 1).
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  bool chance(double probability) { return uniform() < probability; }
  /// Mean 0, deviation 1: a sum of uniform numbers, so that no library function is asked.
  double normal();

 private:
  uint64_t state_;
};

/// Weights held in memory.
class MemoryWeights final : public WeightSource {
 public:
  void add(std::string_view name, DType dtype, std::vector<int64_t> shape, const std::vector<float>& values);
  /// Makes a tensor of bytes as a file has them, in any format.
  void add_stored(std::string_view name, DType dtype, std::vector<int64_t> shape, std::vector<std::byte> bytes);
  const WeightInfo* find(std::string_view name) const override;
  std::shared_ptr<const std::byte> bytes(std::string_view name) const override;

 private:
  struct Held {
    WeightInfo info;
    std::vector<std::byte> bytes;
  };
  std::map<std::string, std::shared_ptr<Held>, std::less<>> held_;
};

using CaseInput = std::variant<std::vector<int32_t>, std::vector<float>>;

struct RandomCase {
  std::string name;  ///< what it is made of, for messages
  Graph graph;
  std::shared_ptr<const WeightSource> weights;  ///< and what recipes make of them
  Bindings bindings;
  std::map<std::string, CaseInput> inputs;  ///< row-major, by the inputs' names
  DType weight_dtype = DType::f32;
  /// With decisions replayed and all masks set, a changed input cell changes every output cell that the static cell
  /// flow names.
  bool exact = true;
};

/// A graph under construction together with its seeded weights and inputs.
class CaseBuilder : public GraphBuilder {
 public:
  explicit CaseBuilder(uint64_t seed) : random(seed), weights_(std::make_shared<MemoryWeights>()) {}

  Dim bound_symbol(std::string_view name, int64_t value);
  /// A weight drawn from mean + deviation * normal.
  ValueId drawn(std::string_view name, std::vector<int64_t> shape, double deviation, double mean = 0);
  ValueId integers(std::string_view name, SpaceId space, int64_t below, InputRole role = InputRole::none);
  ValueId floats(std::string_view name, SpaceId space, std::vector<Dim> content, InputRole role = InputRole::none);
  /// Ones, or with padding: zeros at the end of some parents, never at a first place.
  ValueId mask(std::string_view name, SpaceId space, bool padding);

  SpaceId space_of(ValueId v) const { return graph().value(v).type.space; }
  int64_t width_of(ValueId v) const { return graph().value(v).type.content.back().constant(); }
  /// Ones and zeros anywhere; some parents may have none.
  ValueId flags(std::string_view name, SpaceId space);
  // Operators with their weights, named after `name`.
  ValueId linear(ValueId x, int64_t width, std::string_view name, std::string_view activation = "none",
                 bool bias = true, double gain = 1);
  ValueId norm(ValueId x, std::string_view name);
  ValueId conv(ValueId x, int64_t channels, int64_t size, int64_t stride, std::string_view name,
               std::string_view activation = "none");
  ValueId add(ValueId a, ValueId b, std::string_view name = "sum") { return value("add", {a, b}, {}, name); }
  using GraphBuilder::add;
  /// Puts rows into the state, those of each parent from its place `at` on.
  void put(ValueId state, ValueId rows, ValueId at, std::string_view name);
  /// x, in two heads, attends to the cache, whose rows are keys and values. The first row of each parent attends to
  /// places up to `place`, each further row to one more.
  ValueId attend(ValueId x, ValueId cache, ValueId place, std::string_view name);
  /// Whether the decision sent no cell to branch 1.
  ValueId nobody_in_branch_1(ValueId decision, std::string_view name = "nobody");

  RandomCase take(std::string name);

  Random random;
  DType weight_dtype = DType::f32;
  bool exact = true;

 private:
  int64_t cells(SpaceId space) const { return graph().space(space).count.evaluate(bindings_); }
  std::shared_ptr<MemoryWeights> weights_;
  Bindings bindings_;
  std::map<std::string, CaseInput> inputs_;
};

}  // namespace stormcell::testing
