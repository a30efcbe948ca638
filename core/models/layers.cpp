#include "core/models/layers.h"

#include <numeric>

#include "core/base/number_format.h"
#include "core/graph/sampling.h"

namespace stormcell {

ValueId LayerBuilder::stored(const std::string& name, std::vector<int64_t> shape) {
  const WeightInfo& info = catalog_.need(name, shape);
  if (info.name == name) return weight(name, info.dtype, std::move(shape));
  return weight(name, tensor_recipe(info.name), info.dtype, std::move(shape));
}

DType LayerBuilder::cache_dtype(const std::string& weight, std::vector<int64_t> shape) {
  return state_format(catalog_.need(weight, std::move(shape)).dtype);
}

ValueId LayerBuilder::made(const std::string& name, const Recipe& recipe, std::vector<int64_t> shape) {
  const WeightInfo& info = catalog_.make(recipe, shape);
  return weight(name, recipe, info.dtype, std::move(shape));
}

ValueId LayerBuilder::linear(ValueId x, const std::string& prefix, int64_t outputs, Attributes attributes, bool bias) {
  std::vector<ValueId> inputs{x, stored(prefix + ".weight", {outputs, width(x)})};
  if (bias) {
    inputs.push_back(stored(prefix + ".bias", {outputs}));
    attributes.set("extras", std::string("bias"));
  }
  return value("linear", std::move(inputs), std::move(attributes), prefix);
}

ValueId LayerBuilder::standardized(ValueId pixels, const std::string& name) {
  const std::vector<int64_t> channels{width(pixels)};
  return value("standardize", {pixels, stored("pixels.mean", channels), stored("pixels.deviation", channels)}, {},
               name);
}

ValueId LayerBuilder::rms_norm(ValueId x, const std::string& prefix, double eps) {
  return value("rms_norm", {x, stored(prefix + ".weight", {width(x)})}, {{"eps", eps}}, prefix);
}

ValueId LayerBuilder::layer_norm(ValueId x, const std::string& prefix, double eps) {
  const std::vector<int64_t> shape{width(x)};
  return value("layer_norm", {x, stored(prefix + ".weight", shape), stored(prefix + ".bias", shape)}, {{"eps", eps}},
               prefix);
}

ValueId LayerBuilder::activation(ValueId x, const std::string& kind, const std::string& name) {
  return value("activation", {x}, {{"kind", kind}}, name);
}

ValueId LayerBuilder::global_average(ValueId x, const std::string& name) {
  return value("pool", {x}, {{"kind", std::string("global_average")}}, name);
}

namespace {
Attributes attributes_of(const LayerBuilder::Field& field) {
  Attributes attributes{{"stride", field.stride}, {"padding", field.padding()}};
  if (field.groups != 1) attributes.set("groups", field.groups);
  return attributes;
}
}  // namespace

ValueId LayerBuilder::convolution(ValueId x, const std::string& prefix, const Field& field) {
  std::vector<ValueId> inputs{
      x, stored(prefix + ".weight", {field.outputs, field.size, field.size, width(x) / field.groups})};
  Attributes attributes = attributes_of(field);
  if (field.bias) {
    inputs.push_back(stored(prefix + ".bias", {field.outputs}));
    attributes.set("extras", std::string("bias"));
  }
  return value("conv2d", std::move(inputs), std::move(attributes), prefix);
}

ValueId LayerBuilder::normed_convolution(ValueId x, const std::string& prefix, const Field& field, double eps) {
  const std::string norm = prefix + ".norm.";
  const std::vector<int64_t> shape{field.outputs, field.size, field.size, width(x) / field.groups},
      channels{field.outputs};
  catalog_.need(prefix + ".weight", shape);
  for (const char* part : {"weight", "bias", "running_mean", "running_var"}) catalog_.need(norm + part, channels);
  if (field.bias) catalog_.need(prefix + ".bias", channels);
  const auto tensor = [&](const char* part) { return tensor_recipe(norm + part); };
  const Recipe scale = batch_norm_scale_recipe(tensor("weight"), tensor("running_var"), eps);
  const Recipe shift = field.bias ? batch_norm_shift_recipe(tensor("bias"), tensor("running_mean"), tensor("weight"),
                                                            tensor("running_var"), tensor_recipe(prefix + ".bias"), eps)
                                  : batch_norm_shift_recipe(tensor("bias"), tensor("running_mean"), tensor("weight"),
                                                            tensor("running_var"), eps);
  const ValueId weight = made(prefix + ".weight", scale_recipe(tensor_recipe(prefix + ".weight"), scale), shape);
  const ValueId bias = made(prefix + ".bias", shift, channels);
  Attributes attributes = attributes_of(field);
  attributes.set("extras", std::string("bias"));
  return value("conv2d", {x, weight, bias}, std::move(attributes), prefix);
}

ValueId LayerBuilder::mixture(ValueId x, ValueId decision, Joined joined, const std::string& name,
                              const std::function<ValueId(ValueId, int32_t)>& branch) {
  std::vector<int32_t> branches(graph().value(decision).branches);
  std::iota(branches.begin(), branches.end(), 0);
  const std::vector<ValueId> parts = scatter(x, decision, branches);
  std::vector<ValueId> results;
  for (const int32_t b : branches) results.push_back(branch(parts[b], b));
  return gather(std::move(results), space_of(x), joined == Joined::in_place ? "place" : "weighted",
                joined == Joined::or_scaled_input ? x : kNone, name);
}

ValueId LayerBuilder::attention(ValueId q, ValueId k, ValueId v, const Extras& extras, Attributes attributes,
                                const std::string& name) {
  std::vector<ValueId> inputs{q, k, v};
  std::string words;
  for (const auto& [word, input] : {std::pair{"bias", extras.bias}, {"mask", extras.mask}, {"step", extras.step}}) {
    if (input == kNone) continue;
    inputs.push_back(input);
    words += (words.empty() ? "" : "+") + std::string(word);
  }
  if (!words.empty()) attributes.set("extras", words);
  return value("attention", std::move(inputs), std::move(attributes), name);
}

void LayerBuilder::put(ValueId state, ValueId rows, ValueId at, const std::string& name) {
  if (at == kNone) {
    add("state_put", {state, rows}, {}, name);
  } else {
    add("state_put", {state, rows, at}, {{"extras", std::string("at")}}, name);
  }
}

void LayerBuilder::count(ValueId state, const std::string& name) {
  write(state, value("add_constant", {state}, {{"value", int64_t{1}}}, name + ".next"), name);
}

ValueId LayerBuilder::next_token(ValueId scores, ValueId turn, const std::optional<SamplingRule>& rule) {
  if (!rule) return value("argmax", {scores}, {}, "next");
  if (item_ == kNone) item_ = input("item", DType::i32, space_of(scores), {}, InputRole::item);
  return value("sample", {scores, item_, turn}, sampling_attributes(*rule), "next");
}

LayerBuilder::Ended LayerBuilder::end(ValueId next, ValueId done, const std::vector<int32_t>& ends, int32_t pad) {
  const auto node = [&](ValueId finished, int32_t end, int32_t fill, const char* name) {
    return graph()
        .node(add("end_sequences", {next, finished}, {{"end", int64_t{end}}, {"pad", int64_t{fill}}}, name))
        .outputs;
  };
  const ValueId read = node(done, ends.front(), pad, "read")[0];
  const std::vector<ValueId> first = node(done, ends.front(), -1, "written");
  ValueId finished = first[1];
  for (size_t i = 1; i < ends.size(); ++i) finished = node(finished, ends[i], -1, "ended")[1];
  return {first[0], read, finished};
}

}  // namespace stormcell
