// Layers for models of every family: a graph under construction together with the weights it asks for.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/cell/sampling.h"
#include "core/graph/builder.h"
#include "core/models/weight_catalog.h"

namespace stormcell {

class LayerBuilder : public GraphBuilder {
 public:
  explicit LayerBuilder(WeightCatalog& catalog) : catalog_(catalog) {}

  int64_t width(ValueId x) const { return graph().value(x).type.content.back().constant(); }
  SpaceId space_of(ValueId x) const { return graph().value(x).type.space; }
  WeightCatalog& catalog() { return catalog_; }

  /// A weight in the format that it is stored in.
  ValueId stored(const std::string& name, std::vector<int64_t> shape);
  /// The format of rows that a weight makes: bf16 if the weight is stored so, else f32.
  DType cache_dtype(const std::string& weight, std::vector<int64_t> shape);
  /// A weight made of stored tensors, which must have been asked for with their shapes; `name` is the graph's own.
  ValueId made(const std::string& name, const Recipe& recipe, std::vector<int64_t> shape);
  /// PREFIX.weight, and PREFIX.bias with `bias`; the node is named PREFIX.
  ValueId linear(ValueId x, const std::string& prefix, int64_t outputs, Attributes attributes = {}, bool bias = false);
  /// Pixels by the means and deviations of their channels, the tensors pixels.mean and pixels.deviation.
  ValueId standardized(ValueId pixels, const std::string& name);
  ValueId rms_norm(ValueId x, const std::string& prefix, double eps);
  /// PREFIX.weight and PREFIX.bias; the node is named PREFIX.
  ValueId layer_norm(ValueId x, const std::string& prefix, double eps);
  ValueId activation(ValueId x, const std::string& kind, const std::string& name);
  /// The mean of each channel of maps.
  ValueId global_average(ValueId x, const std::string& name);
  /// A convolution of size x size, padded by default to keep the extents that its stride leaves; PREFIX.weight
  /// [outputs, size, size, inputs / groups] and, with `bias`, PREFIX.bias. The node is named PREFIX.
  struct Field {
    int64_t outputs = 0, size = 3, stride = 1;
    bool bias = true;
    int64_t groups = 1;
    bool padded = true;
    int64_t padding() const { return padded ? size / 2 : 0; }
  };
  ValueId convolution(ValueId x, const std::string& prefix, const Field& field);
  /// The same with the batch norm PREFIX.norm behind it, which is folded into weights and bias by recipe.
  ValueId normed_convolution(ValueId x, const std::string& prefix, const Field& field, double eps);
  ValueId add(ValueId a, ValueId b, const std::string& name) { return value("add", {a, b}, {}, name); }
  using GraphBuilder::add;
  /// How the rows of the branches are joined.
  enum class Joined : uint8_t {
    weighted,         ///< summed by the weights of the choices
    or_scaled_input,  ///< the same; a cell that no branch took keeps its own row, weighed
    in_place,         ///< each cell's row as its one branch made it
  };
  /// Sends the rows of `x` through the branches that their cells chose. The chain of a branch is in one piece behind
  /// the scatter, branch after branch: lowering skips it as a whole if no cell came.
  ValueId mixture(ValueId x, ValueId decision, Joined joined, const std::string& name,
                  const std::function<ValueId(ValueId x, int32_t branch)>& branch);

  /// An attention node; bias and mask may be kNone, step too.
  struct Extras {
    ValueId bias = kNone, mask = kNone, step = kNone;
  };
  ValueId attention(ValueId q, ValueId k, ValueId v, const Extras& extras, Attributes attributes,
                    const std::string& name);

  /// State helpers: puts the rows of each parent from its place `at` on, or from the first place on.
  void put(ValueId state, ValueId rows, ValueId at, const std::string& name);
  void write(ValueId state, ValueId x, const std::string& name) { add("state_write", {state, x}, {}, name); }
  void fill(ValueId state, double with, const std::string& name) {
    add("state_fill", {state}, {{"value", with}}, name);
  }
  /// A state of integers that counts up by one.
  void count(ValueId state, const std::string& name);
  ValueId broadcast_to(ValueId x, SpaceId space, const std::string& name) {
    return value("broadcast", {x}, {{"space", int64_t{space}}}, name);
  }
  ValueId last(ValueId x, const std::string& name) {
    return value("reduce", {x}, {{"mode", std::string("last")}}, name);
  }

  /// Keeps [parents of `step`, n] logits at the parents' places `at` of the state `kept`, over as many cells as there
  /// are tokens; kNone keeps nothing.
  void keep_logits(ValueId kept, ValueId logits, SpaceId step, ValueId at) {
    if (kept != kNone) put(kept, broadcast_to(logits, step, "logits.cell"), at, "logits.keep");
  }
  /// The next token of each sequence, i32 over its space: that of the largest score, or one that is drawn by `rule`.
  /// `turn`: i32, how many tokens it has written.
  ValueId next_token(ValueId scores, ValueId turn, const std::optional<SamplingRule>& rule);
  /// Ids to write and to read next, from the next token. A finished sequence writes -1 and reads `pad`; one that writes
  /// any of `ends` is finished from then on. Returns {written, read, done}.
  struct Ended {
    ValueId written, read, done;
  };
  Ended end(ValueId next, ValueId done, const std::vector<int32_t>& ends, int32_t pad);

 private:
  WeightCatalog& catalog_;
  ValueId item_ = kNone;  // the input that draws know a sequence by
};

}  // namespace stormcell
