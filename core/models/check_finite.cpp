#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <string_view>
#include <type_traits>

#include "core/base/error.h"
#include "core/base/number_format.h"
#include "core/base/reused_memory.h"
#include "core/formats/file_text.h"
#include "core/formats/safetensors.h"
#include "core/models/model.h"
#include "core/weights/recipe.h"

namespace stormcell {
namespace {

constexpr int64_t kReadElements = 1 << 18;  // that are read at once, between two polls: under 1 ms

template <class Word>
Word number_of(const std::byte* at) {
  Word bits;
  std::memcpy(&bits, at, sizeof bits);
  return bits;
}

/// True when the exponent of any number, `stride` bytes from one to the next, is all ones. No early way out, so that
/// the loop vectorises where the stride is known when it is compiled.
template <class Word, class Stride>
bool any_nonfinite(const std::byte* bytes, int64_t blocks, Word exponent, Stride stride) {
  Word found = 0;
  for (int64_t i = 0; i < blocks; ++i)
    found |= static_cast<Word>((number_of<Word>(bytes + i * stride) & exponent) == exponent);
  return found != 0;
}
/// The same of the numbers that blocks depend on: the element itself, or the scales.
template <class Word>
bool any_nonfinite(const std::byte* bytes, int64_t blocks, const NumberFormat& format) {
  const auto exponent = static_cast<Word>(format.exponent);
  if (format.block_bytes == sizeof(Word))
    return any_nonfinite(bytes, blocks, exponent, std::integral_constant<int64_t, sizeof(Word)>());
  bytes += format.scales_at;
  for (int32_t scale = 0; scale < format.scales; ++scale, bytes += sizeof(Word))
    if (any_nonfinite(bytes, blocks, exponent, int64_t{format.block_bytes})) return true;
  return false;
}

/// Calls f with a zero of the type that numbers of the format have.
template <class F>
auto with_word(const NumberFormat& format, F f) {
  return format.scale_bytes() == 4 ? f(uint32_t{0}) : format.scale_bytes() == 2 ? f(uint16_t{0}) : f(uint8_t{0});
}

bool blocks_are_finite(const std::byte* bytes, const NumberFormat& format, int64_t blocks) {
  if (format.exponent == 0) return true;
  return !with_word(format, [&](auto word) { return any_nonfinite<decltype(word)>(bytes, blocks, format); });
}

/// Names the first number of a block that is not finite: "NaN", "infinity" or "-infinity".
std::string_view nonfinite_text(const std::byte* block, const NumberFormat& format) {
  for (int32_t scale = 0; scale < format.scales; ++scale) {
    const std::byte* at = block + format.scales_at + scale * format.scale_bytes();
    const uint32_t bits = with_word(format, [&](auto word) { return uint32_t{number_of<decltype(word)>(at)}; });
    if ((bits & format.exponent) != format.exponent) continue;
    const uint32_t sign = format.scale_bytes() == 4 ? 0x80000000u : format.scale_bytes() == 2 ? 0x8000u : 0u;
    // A power of two in a byte has no infinity.
    if (sign == 0 || (bits & ~sign & ~format.exponent) != 0) return "NaN";
    return (bits & sign) == 0 ? "infinity" : "-infinity";
  }
  return {};
}

/// Blocks of the weight, some at a time. Stored ones come piece by piece, so that no whole tensor is held without need.
class Pieces {
 public:
  Pieces(const WeightSource& weights, const std::string& text, const NumberFormat& format)
      : weights_(weights), text_(text), size_(format.block_bytes) {
    if (looks_like_recipe(text)) whole_ = weights.bytes(text);  // each piece would make all of it
  }
  std::shared_ptr<const std::byte> blocks(int64_t first, int64_t count) const {
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
  int64_t element;  // of a block the first
  std::string_view what;
};
/// The first element that is not finite.
std::optional<Found> first_nonfinite(const Pieces& pieces, const WeightInfo& info, const Progress& progress) {
  const NumberFormat& format = format_of(info.dtype);
  const int64_t all = info.bytes() / format.block_bytes, most = kReadElements / format.block_elements;
  for (int64_t at = 0; at < all; at += most) {
    progress.cancel.check();
    const int64_t n = std::min(most, all - at);
    const std::shared_ptr<const std::byte> bytes = pieces.blocks(at, n);
    if (blocks_are_finite(bytes.get(), format, n)) continue;
    for (int64_t i = 0; i < n; ++i)
      if (const std::byte* block = bytes.get() + i * format.block_bytes; !blocks_are_finite(block, format, 1))
        return Found{(at + i) * format.block_elements, nonfinite_text(block, format)};
  }
  return {};
}

}  // namespace

std::vector<std::string> check_finite(const Graph& graph, const WeightSource& weights, bool allow,
                                      const Progress& progress, std::string_view where) {
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
    if (const std::optional<Found> found =
            first_nonfinite(Pieces(weights, weight_text(v), format_of(info->dtype)), *info, progress)) {
      // Row-major, as numpy would index it.
      std::vector<int64_t> index(info->shape.size());
      int64_t rest = found->element;
      for (size_t d = info->shape.size(); d-- > 0;) index[d] = rest % info->shape[d], rest /= info->shape[d];
      const std::string what = "the weight " + in_quotes(v.name) + " holds " + std::string(found->what) +
                               " at element " + shape_text(index) + " of shape " + shape_text(info->shape);
      if (!allow) bad_input(where, what, "use --allow-nonfinite to run it all the same");
      warnings.push_back(what);
    }
    done += info->bytes();
  }
  return warnings;
}

}  // namespace stormcell
