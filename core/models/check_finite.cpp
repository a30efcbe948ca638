#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

#include "core/base/error.h"
#include "core/base/reused_memory.h"
#include "core/formats/file_text.h"
#include "core/formats/safetensors.h"
#include "core/models/model.h"
#include "core/weights/recipe.h"

namespace stormcell {
namespace {

constexpr int64_t kBlock = 1 << 18;  // elements that are read at once, between two polls: under 1 ms

// True when any exponent of the block is all ones. No early way out, so that the loop vectorises.
template <class Word>
bool any_nonfinite(const std::byte* bytes, int64_t n, Word exponent) {
  Word found = 0;
  for (int64_t i = 0; i < n; ++i) {
    Word bits;
    std::memcpy(&bits, bytes + i * static_cast<int64_t>(sizeof(Word)), sizeof(Word));
    found |= static_cast<Word>((bits & exponent) == exponent);
  }
  return found != 0;
}

bool block_is_finite(const std::byte* bytes, DType type, int64_t n) {
  switch (type) {
    case DType::f32:
      return !any_nonfinite<uint32_t>(bytes, n, 0x7f800000u);
    case DType::bf16:
      return !any_nonfinite<uint16_t>(bytes, n, 0x7f80);
    case DType::f16:
      return !any_nonfinite<uint16_t>(bytes, n, 0x7c00);
    default:
      return true;
  }
}

/// The weight's elements, some at a time. Stored ones come piece by piece: a whole tensor is not held where nobody needs it.
class Pieces {
 public:
  Pieces(const WeightSource& weights, const std::string& text, const WeightInfo& info)
      : weights_(weights), text_(text), size_(static_cast<int64_t>(element_size(info.dtype))) {
    if (looks_like_recipe(text)) whole_ = weights.bytes(text);  // each piece would make all of it
  }
  std::shared_ptr<const std::byte> elements(int64_t first, int64_t count) const {
    if (whole_) return {whole_, whole_.get() + first * size_};
    return weights_.range(text_, first * size_, count * size_);
  }

 private:
  const WeightSource& weights_;
  const std::string& text_;
  int64_t size_;
  std::shared_ptr<const std::byte> whole_;
};

struct Found {
  int64_t element;
  float value;
};
/// The first element that is not finite.
std::optional<Found> first_nonfinite(const Pieces& pieces, const WeightInfo& info, const Progress& progress) {
  const auto size = static_cast<int64_t>(element_size(info.dtype));
  for (int64_t at = 0; at < info.elements(); at += kBlock) {
    progress.cancel.check();
    const int64_t n = std::min(kBlock, info.elements() - at);
    const std::shared_ptr<const std::byte> bytes = pieces.elements(at, n);
    if (block_is_finite(bytes.get(), info.dtype, n)) continue;
    for (int64_t i = 0; i < n; ++i)
      if (!block_is_finite(bytes.get() + i * size, info.dtype, 1)) {
        Found found{at + i, 0};
        to_f32(bytes.get() + i * size, info.dtype, &found.value, 1);
        return found;
      }
  }
  return {};
}

}  // namespace

std::vector<std::string> check_finite(const Graph& graph, const WeightSource& weights, bool allow, const Progress& progress,
                                      std::string_view where) {
  const ReusedMemory reused;
  int64_t total = 0, done = 0;
  for (const Value& v : graph.values)
    if (v.kind == ValueKind::weight)
      if (const WeightInfo* info = weights.find(weight_text(v))) total += info->bytes();
  std::vector<std::string> warnings;
  for (const Value& v : graph.values) {
    const WeightInfo* info = v.kind == ValueKind::weight ? weights.find(weight_text(v)) : nullptr;
    if (!info) continue;
    progress.report("checking the weights", done, total);
    if (const std::optional<Found> found = first_nonfinite(Pieces(weights, weight_text(v), *info), *info, progress)) {
      // Row-major, as numpy would index it.
      std::vector<int64_t> index(info->shape.size());
      int64_t rest = found->element;
      for (size_t d = info->shape.size(); d-- > 0;) index[d] = rest % info->shape[d], rest /= info->shape[d];
      const std::string what = "the weight " + in_quotes(v.name) + " holds " +
                               (found->value != found->value ? "NaN"
                                : found->value > 0           ? "infinity"
                                                             : "-infinity") +
                               " at element " + shape_text(index) + " of shape " + shape_text(info->shape);
      if (!allow) bad_input(where, what, "use --allow-nonfinite to run it all the same");
      warnings.push_back(what);
    }
    done += info->bytes();
  }
  return warnings;
}

}  // namespace stormcell
