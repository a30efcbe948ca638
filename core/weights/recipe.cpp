#include "core/weights/recipe.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "core/base/error.h"

namespace stormcell {
namespace {

constexpr int64_t kMxfp4Bytes = 16;  // of the 32 codes of a block

Recipe step(RecipeKind kind, std::vector<Recipe> of) {
  Recipe r;
  r.kind = kind;
  r.of = std::move(of);
  return r;
}

/// Several operands in the place of one: what joins along the same axis is joined at once.
std::vector<Recipe> flat(std::vector<Recipe> of, int64_t axis) {
  std::vector<Recipe> all;
  for (Recipe& r : of) {
    if (r.kind == RecipeKind::concat && r.axis == axis)
      std::move(r.of.begin(), r.of.end(), std::back_inserter(all));
    else
      all.push_back(std::move(r));
  }
  return all;
}

/// Infers format and shape of a recipe's result, step by step.
class Inference {
 public:
  Inference(const Recipe& whole, const FindStored& stored) : whole_(whole), stored_(stored) {}
  WeightInfo run() {
    WeightInfo info = of(whole_);
    info.name = to_text(whole_);
    return info;
  }

 private:
  [[noreturn]] void complain(const Recipe& at, const std::string& what) const {
    const std::string text = to_text(whole_), step = to_text(at);
    const auto shown = [](const std::string& s) { return s.size() > 160 ? s.substr(0, 157) + "..." : s; };
    bad_input("weight " + shown(text), (&at == &whole_ ? std::string() : shown(step) + ": ") + what);
  }
  static std::string shape(const std::vector<int64_t>& extents) {
    std::string text = "[";
    for (size_t i = 0; i < extents.size(); ++i) text += (i ? ", " : "") + std::to_string(extents[i]);
    return text + "]";
  }

  WeightInfo of(const Recipe& r) const {
    switch (r.kind) {
      case RecipeKind::tensor:
        return stored_tensor(r);
      case RecipeKind::index:
        return index(r);
      case RecipeKind::slice:
        return slice(r);
      case RecipeKind::transpose:
        return transpose(r);
      case RecipeKind::stack:
        return stack(r);
      case RecipeKind::concat:
        return concat(r);
      case RecipeKind::scale:
        return scale(r);
      case RecipeKind::batch_norm_scale:
      case RecipeKind::batch_norm_shift:
        return batch_norm(r);
      case RecipeKind::position_bias:
        return position_bias(r);
      case RecipeKind::block_scale:
        return block_scale(r);
      case RecipeKind::mxfp4:
        return mxfp4(r);
      case RecipeKind::convert:
      case RecipeKind::quantise:
        break;
    }
    WeightInfo info = real(r, 0);
    info.dtype = r.kind == RecipeKind::convert ? r.dtype : DType::f32;
    if (r.kind == RecipeKind::quantise && info.shape.empty())
      complain(r, "expected an operand with extents, got a scalar");
    return info;
  }

  WeightInfo stored_tensor(const Recipe& r) const {
    const WeightInfo* info = stored_(r.name);
    if (!info) complain(r, "there is no such tensor");
    return *info;
  }
  WeightInfo real(const Recipe& r, size_t operand) const {
    WeightInfo info = of(r.of[operand]);
    if (!is_engine_float(info.dtype))
      complain(r, "expected an operand in " + engine_float_names() + ", got " + std::string(to_text(info.dtype)));
    return info;
  }

  /// Elements of a block. A tensor in blocks is cut between them alone: rows are whole blocks.
  static int64_t block_of(const WeightInfo& info) { return format_of(info.dtype).block_elements; }

  WeightInfo index(const Recipe& r) const {
    WeightInfo info = of(r.of[0]);
    if (info.shape.empty() || r.begin >= info.shape[0])
      complain(r,
               "expected a number below the first extent, got " + std::to_string(r.begin) + " of " + shape(info.shape));
    if (block_of(info) > 1 && info.shape.size() == 1)
      complain(r, "expected an operand whose rows are whole, got one row in " + std::string(to_text(info.dtype)) +
                      ", which is stored in blocks");
    info.shape.erase(info.shape.begin());
    return info;
  }
  WeightInfo slice(const Recipe& r) const {
    WeightInfo info = of(r.of[0]);
    if (r.axis >= std::ssize(info.shape) || r.end > info.shape[r.axis])
      complain(r, "expected a range within the extents, got " + std::to_string(r.begin) + " to " +
                      std::to_string(r.end) + " along axis " + std::to_string(r.axis) + " of " + shape(info.shape));
    if (const int64_t block = block_of(info);
        r.axis + 1 == std::ssize(info.shape) && (r.begin % block != 0 || r.end % block != 0))
      complain(r, "expected a range of whole blocks of " + std::to_string(block) + " elements of " +
                      std::string(to_text(info.dtype)) + ", got " + std::to_string(r.begin) + " to " +
                      std::to_string(r.end));
    info.shape[r.axis] = r.end - r.begin;
    return info;
  }
  WeightInfo transpose(const Recipe& r) const {
    WeightInfo info = of(r.of[0]);
    if (block_of(info) > 1)
      complain(r, "expected an operand in a format of single elements, got " + std::string(to_text(info.dtype)) +
                      ", which is stored in blocks");
    if (r.order.size() != info.shape.size())
      complain(r, "expected an operand of " + std::to_string(r.order.size()) + " extents, got " + shape(info.shape));
    WeightInfo turned = info;
    for (size_t i = 0; i < r.order.size(); ++i) turned.shape[i] = info.shape[r.order[i]];
    return turned;
  }
  WeightInfo stack(const Recipe& r) const {
    WeightInfo info = of(r.of[0]);
    for (size_t i = 1; i < r.of.size(); ++i)
      if (const WeightInfo other = of(r.of[i]); other.shape != info.shape || other.dtype != info.dtype)
        complain(r, "expected operands of one shape and format, got " + shape(info.shape) + " " +
                        std::string(to_text(info.dtype)) + " and " + shape(other.shape) + " " +
                        std::string(to_text(other.dtype)));
    info.shape.insert(info.shape.begin(), std::ssize(r.of));
    return info;
  }
  WeightInfo concat(const Recipe& r) const {
    WeightInfo info = of(r.of[0]);
    const size_t axis = r.axis;
    if (axis >= info.shape.size())
      complain(r, "expected an operand with axis " + std::to_string(r.axis) + ", got " + shape(info.shape));
    for (size_t i = 1; i < r.of.size(); ++i) {
      WeightInfo other = of(r.of[i]);
      const bool fits = other.dtype == info.dtype && other.shape.size() == info.shape.size();
      const int64_t more = fits ? std::exchange(other.shape[axis], info.shape[axis]) : 0;
      if (!fits || other.shape != info.shape)
        complain(r, "expected operands of one format that differ along axis " + std::to_string(r.axis) +
                        " alone, got " + shape(of(r.of[0]).shape) + " and " + shape(of(r.of[i]).shape));
      if (__builtin_add_overflow(info.shape[axis], more, &info.shape[axis]))
        complain(r, "expected fewer than 2^63 elements along the axis");
    }
    return info;
  }
  WeightInfo block_scale(const Recipe& r) const {
    WeightInfo info = of(r.of[0]);
    if (!format_of(info.dtype).scaled_by_blocks && !is_engine_float(info.dtype))
      complain(r, "expected weights in f8_e4m3, f8_e5m2, " + engine_float_names() + ", got " +
                      std::string(to_text(info.dtype)));
    const WeightInfo by = real(r, 1);
    const auto blocks = [](int64_t extent, int64_t block) { return extent / block + (extent % block != 0 ? 1 : 0); };
    if (info.shape.size() != 2 ||
        by.shape != std::vector<int64_t>{blocks(info.shape[0], r.height), blocks(info.shape[1], r.width)})
      complain(r, "expected weights [n, k] and a factor for each block of " + std::to_string(r.height) + " x " +
                      std::to_string(r.width) + ", got " + shape(info.shape) + " and " + shape(by.shape));
    info.dtype = DType::f32;
    return info;
  }
  WeightInfo mxfp4(const Recipe& r) const {
    WeightInfo info = of(r.of[0]);
    const WeightInfo scales = of(r.of[1]);
    if (info.dtype != DType::u8 || scales.dtype != DType::u8)
      complain(r, "expected codes and scales in u8, got " + std::string(to_text(info.dtype)) + " and " +
                      std::string(to_text(scales.dtype)));
    const bool has_bytes = info.shape.size() >= 2 && info.shape.back() == kMxfp4Bytes;
    if (has_bytes) info.shape.pop_back();
    if (!has_bytes || info.shape != scales.shape)
      complain(r, "expected codes [..., blocks, 16] and scales [..., blocks], got " + shape(of(r.of[0]).shape) +
                      " and " + shape(scales.shape));
    if (__builtin_mul_overflow(info.shape.back(), 2 * kMxfp4Bytes, &info.shape.back()))
      complain(r, "expected fewer than 2^63 elements in a row");
    info.dtype = DType::mxfp4;
    return info;
  }
  WeightInfo scale(const Recipe& r) const {
    WeightInfo info = real(r, 0);
    const WeightInfo by = real(r, 1);
    if (info.shape.empty() || by.shape != std::vector<int64_t>{info.shape[0]})
      complain(r,
               "expected a factor for each of the first extent, got " + shape(info.shape) + " and " + shape(by.shape));
    info.dtype = DType::f32;
    return info;
  }
  WeightInfo batch_norm(const Recipe& r) const {
    WeightInfo info = real(r, 0);
    for (size_t i = 0; i < r.of.size(); ++i)
      if (const WeightInfo other = real(r, i); other.shape.size() != 1 || other.shape != info.shape)
        complain(r, "expected a number for each channel of all operands, got " + shape(info.shape) + " and " +
                        shape(other.shape));
    info.dtype = DType::f32;
    return info;
  }
  WeightInfo position_bias(const Recipe& r) const {
    WeightInfo info = real(r, 0);
    const WeightInfo second = real(r, 1);
    if (info.shape.size() != 2 || info.shape[1] != 2 || second.shape.size() != 2 || second.shape[1] != info.shape[0])
      complain(r, "expected weights [hidden, 2] and [heads, hidden], got " + shape(info.shape) + " and " +
                      shape(second.shape));
    for (size_t i = 2; i < r.of.size(); ++i)
      if (const WeightInfo bias = real(r, i);
          bias.shape != std::vector<int64_t>{i == 2 ? info.shape[0] : second.shape[0]})
        complain(r, "expected a bias for each output of its weight, got " + shape(bias.shape));
    info.shape = {(2 * r.height - 1) * (2 * r.width - 1), second.shape[0]};
    info.dtype = DType::f32;
    return info;
  }

  const Recipe& whole_;
  const FindStored& stored_;
};

void collect(const Recipe& r, std::set<std::string_view>& seen, std::vector<std::string>& names) {
  if (r.kind == RecipeKind::tensor && seen.insert(r.name).second) names.push_back(r.name);
  for (const Recipe& operand : r.of) collect(operand, seen, names);
}

}  // namespace

Recipe tensor_recipe(std::string name) {
  Recipe r;
  r.name = std::move(name);
  return r;
}

Recipe index_recipe(Recipe of, int64_t at) {
  Recipe r = step(RecipeKind::index, {std::move(of)});
  r.begin = at;
  return r;
}

Recipe slice_recipe(Recipe of, int64_t begin, int64_t end, int64_t axis) {
  if (of.kind == RecipeKind::slice && of.axis == axis && end <= of.end - of.begin) {
    of.end = of.begin + end;
    of.begin += begin;
    return of;
  }
  Recipe r = step(RecipeKind::slice, {std::move(of)});
  r.axis = axis, r.begin = begin, r.end = end;
  return r;
}

Recipe transpose_recipe(Recipe of, std::vector<int64_t> order) {
  if (of.kind == RecipeKind::transpose && of.order.size() == order.size()) {
    for (int64_t& i : order) i = of.order[i];
    of = Recipe(std::move(of.of[0]));
  }
  if (std::is_sorted(order.begin(), order.end())) return of;
  Recipe r = step(RecipeKind::transpose, {std::move(of)});
  r.order = std::move(order);
  return r;
}

Recipe stack_recipe(std::vector<Recipe> of) { return step(RecipeKind::stack, std::move(of)); }

Recipe concat_recipe(std::vector<Recipe> of, int64_t axis) {
  of = flat(std::move(of), axis);
  if (of.size() == 1) return std::move(of[0]);
  Recipe r = step(RecipeKind::concat, std::move(of));
  r.axis = axis;
  return r;
}

Recipe scale_recipe(Recipe of, Recipe by) { return step(RecipeKind::scale, {std::move(of), std::move(by)}); }

Recipe batch_norm_scale_recipe(Recipe gamma, Recipe variance, double eps) {
  Recipe r = step(RecipeKind::batch_norm_scale, {std::move(gamma), std::move(variance)});
  r.eps = eps;
  return r;
}

Recipe batch_norm_shift_recipe(Recipe beta, Recipe mean, Recipe gamma, Recipe variance, double eps) {
  Recipe r =
      step(RecipeKind::batch_norm_shift, {std::move(beta), std::move(mean), std::move(gamma), std::move(variance)});
  r.eps = eps;
  return r;
}

Recipe batch_norm_shift_recipe(Recipe beta, Recipe mean, Recipe gamma, Recipe variance, Recipe bias, double eps) {
  Recipe r = batch_norm_shift_recipe(std::move(beta), std::move(mean), std::move(gamma), std::move(variance), eps);
  r.of.push_back(std::move(bias));
  return r;
}

Recipe position_bias_recipe(std::vector<Recipe> of, int64_t height, int64_t width, bool turned, int64_t limit) {
  Recipe r = step(RecipeKind::position_bias, std::move(of));
  r.height = height, r.width = width, r.turned = turned, r.limit = limit;
  return r;
}

Recipe block_scale_recipe(Recipe of, Recipe by, int64_t height, int64_t width) {
  Recipe r = step(RecipeKind::block_scale, {std::move(of), std::move(by)});
  r.height = height, r.width = width;
  return r;
}

Recipe mxfp4_recipe(Recipe codes, Recipe scales) {
  return step(RecipeKind::mxfp4, {std::move(codes), std::move(scales)});
}

Recipe convert_recipe(Recipe of, DType dtype) {
  if (of.kind == RecipeKind::convert && of.dtype == dtype) return of;
  Recipe r = step(RecipeKind::convert, {std::move(of)});
  r.dtype = dtype;
  return r;
}

Recipe quantise_recipe(Recipe of, int64_t bits, int64_t block) {
  Recipe r = step(RecipeKind::quantise, {std::move(of)});
  r.bits = bits, r.block = block;
  return r;
}

WeightInfo info_of(const Recipe& recipe, const FindStored& stored) { return Inference(recipe, stored).run(); }
WeightInfo info_of(const Recipe& recipe, const WeightSource& stored) {
  return info_of(recipe, [&](std::string_view name) { return stored.find(name); });
}

std::vector<std::string> tensors_of(const Recipe& recipe) {
  std::set<std::string_view> seen;
  std::vector<std::string> names;
  collect(recipe, seen, names);
  return names;
}

}  // namespace stormcell
