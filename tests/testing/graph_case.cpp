#include "tests/testing/graph_case.h"

#include <cmath>
#include <cstring>

#include "core/base/error.h"
#include "core/weights/recipe_weights.h"

namespace stormcell::testing {

uint64_t Random::next() {
  uint64_t z = (state_ += 0x9e3779b97f4a7c15ull);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

double Random::normal() {
  double sum = 0;
  for (int i = 0; i < 6; ++i) sum += uniform();
  return (sum - 3) * 1.4142135623730951;  // six uniform numbers have the variance 1/2
}

void MemoryWeights::add(std::string_view name, DType dtype, std::vector<int64_t> shape,
                        const std::vector<float>& values) {
  auto held = std::make_shared<Held>();
  held->info = {std::string(name), dtype, std::move(shape)};
  held->bytes.resize(static_cast<size_t>(held->info.bytes()));
  if (static_cast<size_t>(held->info.elements()) != values.size()) failed(name, "as many values as elements expected");
  if (dtype == DType::f32) {
    std::memcpy(held->bytes.data(), values.data(), held->bytes.size());
  } else {
    from_f32(values.data(), held->bytes.data(), dtype, values.size());
  }
  held_.insert_or_assign(std::string(name), std::move(held));
}

void MemoryWeights::add_stored(std::string_view name, DType dtype, std::vector<int64_t> shape,
                               std::vector<std::byte> bytes) {
  auto held = std::make_shared<Held>();
  held->info = {std::string(name), dtype, std::move(shape)};
  if (held->info.bytes() != static_cast<int64_t>(bytes.size()))
    failed(name, "as many bytes as its shape takes expected");
  held->bytes = std::move(bytes);
  held_.insert_or_assign(std::string(name), std::move(held));
}

const WeightInfo* MemoryWeights::find(std::string_view name) const {
  const auto at = held_.find(name);
  return at == held_.end() ? nullptr : &at->second->info;
}

std::shared_ptr<const std::byte> MemoryWeights::bytes(std::string_view name) const {
  const auto at = held_.find(name);
  if (at == held_.end()) bad_input(name, "no such weight");
  return {at->second, at->second->bytes.data()};
}

Dim CaseBuilder::bound_symbol(std::string_view name, int64_t value) {
  const Dim dim = symbol(name);
  bindings_.resize(graph().symbols.size(), 1);
  bindings_[static_cast<size_t>(graph().find_symbol(name))] = value;
  return dim;
}

ValueId CaseBuilder::drawn(std::string_view name, std::vector<int64_t> shape, double deviation, double mean) {
  // Matrices are stored in the case's format; vectors (gains, biases) stay f32, as they do in checkpoints of either
  // format.
  const DType dtype = shape.size() > 1 ? weight_dtype : DType::f32;
  const ValueId v = weight(name, dtype, shape);
  if (weights_->find(name)) return v;
  int64_t elements = 1;
  for (const int64_t d : shape) elements *= d;
  std::vector<float> values(static_cast<size_t>(elements));
  for (float& f : values) f = static_cast<float>(mean + deviation * random.normal());
  weights_->add(name, dtype, std::move(shape), values);
  return v;
}

ValueId CaseBuilder::integers(std::string_view name, SpaceId space, int64_t below, InputRole role) {
  const ValueId v = input(name, DType::i32, space, {}, role);
  std::vector<int32_t> values(static_cast<size_t>(cells(space)));
  for (int32_t& i : values) i = static_cast<int32_t>(random.below(below));
  inputs_[graph().value(v).name] = std::move(values);
  return v;
}

ValueId CaseBuilder::floats(std::string_view name, SpaceId space, std::vector<Dim> content, InputRole role) {
  int64_t elements = cells(space);
  for (const Dim& d : content) elements *= d.constant();
  const ValueId v = input(name, DType::f32, space, std::move(content), role);
  std::vector<float> values(static_cast<size_t>(elements));
  for (float& f : values) f = static_cast<float>(random.normal());
  inputs_[graph().value(v).name] = std::move(values);
  return v;
}

ValueId CaseBuilder::mask(std::string_view name, SpaceId space, bool padding) {
  const ValueId v = input(name, DType::i32, space, {}, InputRole::mask);
  const int64_t per_parent = graph().space(space).per_parent.evaluate(bindings_), parents = cells(space) / per_parent;
  std::vector<int32_t> values(static_cast<size_t>(cells(space)), 1);
  for (int64_t p = 0; padding && p < parents; ++p)
    for (int64_t c = random.between(1, per_parent); c < per_parent; ++c)
      values[static_cast<size_t>(p * per_parent + c)] = 0;
  inputs_[graph().value(v).name] = std::move(values);
  return v;
}

ValueId CaseBuilder::flags(std::string_view name, SpaceId space) {
  const ValueId v = input(name, DType::i32, space, {}, InputRole::mask);
  std::vector<int32_t> values(static_cast<size_t>(cells(space)));
  for (int32_t& f : values) f = random.chance(0.6);
  inputs_[graph().value(v).name] = std::move(values);
  return v;
}

ValueId CaseBuilder::linear(ValueId x, int64_t width, std::string_view name, std::string_view activation, bool bias,
                            double gain) {
  const int64_t k = width_of(x);
  const std::string prefix(name);
  std::vector<ValueId> inputs{x, drawn(prefix + ".weight", {width, k}, gain / std::sqrt(static_cast<double>(k)))};
  Attributes attributes;
  if (activation != "none") attributes.set("activation", std::string(activation));
  if (bias) {
    inputs.push_back(drawn(prefix + ".bias", {width}, 0.2));
    attributes.set("extras", std::string("bias"));
  }
  return value("linear", std::move(inputs), std::move(attributes), name);
}

ValueId CaseBuilder::norm(ValueId x, std::string_view name) {
  return value("rms_norm", {x, drawn(std::string(name) + ".gain", {width_of(x)}, 0.1, 1)}, {{"eps", 1e-6}}, name);
}

ValueId CaseBuilder::conv(ValueId x, int64_t channels, int64_t size, int64_t stride, std::string_view name,
                          std::string_view activation) {
  const int64_t c = width_of(x);
  const std::string prefix(name);
  const double deviation = 1 / std::sqrt(static_cast<double>(size * size * c));
  Attributes attributes{{"stride", stride}, {"padding", size / 2}, {"extras", std::string("bias")}};
  if (activation != "none") attributes.set("activation", std::string(activation));
  return value(
      "conv2d",
      {x, drawn(prefix + ".weight", {channels, size, size, c}, deviation), drawn(prefix + ".bias", {channels}, 0.2)},
      std::move(attributes), name);
}

void CaseBuilder::put(ValueId state, ValueId rows, ValueId at, std::string_view name) {
  add("state_put", {state, rows, at}, {{"extras", std::string("at")}}, name);
}

ValueId CaseBuilder::attend(ValueId x, ValueId cache, ValueId place, std::string_view name) {
  return value(
      "attention", {x, cache, cache, place},
      {{"heads", int64_t{2}}, {"kv_heads", int64_t{2}}, {"causal", int64_t{1}}, {"extras", std::string("step")}}, name);
}

ValueId CaseBuilder::nobody_in_branch_1(ValueId decision, std::string_view name) {
  return value("branches_empty", {decision}, {{"branches", std::vector<int64_t>{1}}}, name);
}

RandomCase CaseBuilder::take(std::string name) {
  RandomCase made;
  made.name = std::move(name);
  made.graph = finish();
  made.weights = make_recipe_weights(weights_);
  bindings_.resize(made.graph.symbols.size(), 1);
  made.bindings = bindings_;
  made.inputs = std::move(inputs_);
  made.weight_dtype = weight_dtype;
  made.exact = exact;
  return made;
}

}  // namespace stormcell::testing
