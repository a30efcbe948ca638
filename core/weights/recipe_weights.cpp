#include "core/weights/recipe_weights.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <mutex>
#include <numeric>
#include <optional>
#include <span>

#include "core/base/error.h"
#include "core/base/reused_memory.h"
#include "core/weights/recipe.h"
#include "core/weights/recipe_memory.h"
#include "core/weights/recipe_place.h"

namespace stormcell {
namespace {

/// A tensor in memory, with a handle that holds its bytes.
struct Made {
  WeightInfo info;
  std::shared_ptr<const std::byte> bytes;
};

std::shared_ptr<std::byte> memory_for(const WeightInfo& info) {
  return reusable_block(info.bytes(), "weight " + info.name);
}

/// Makes a recipe's tensor from stored ones, a step at a time.
class Maker {
 public:
  explicit Maker(const WeightSource& stored) : stored_(stored) {}

  Made make(const Recipe& r) const {
    switch (r.kind) {
      case RecipeKind::tensor:
        return {*stored_.find(r.name), stored_.bytes(r.name)};
      case RecipeKind::index:
        return index(r);
      case RecipeKind::slice:
        return slice(r);
      case RecipeKind::transpose:
        return transpose(r);
      case RecipeKind::stack:
      case RecipeKind::concat:
        return join(r);
      case RecipeKind::scale:
        return scale(r);
      case RecipeKind::batch_norm_scale:
        return batch_norm_scale(r);
      case RecipeKind::batch_norm_shift:
        return batch_norm_shift(r);
      case RecipeKind::position_bias:
        return position_bias(r);
      case RecipeKind::block_scale:
        return block_scale(r);
      case RecipeKind::mxfp4:
        return mxfp4(r);
      case RecipeKind::convert:
        return convert(r);
      case RecipeKind::quantise:
        return quantise(r);
    }
    failed("weight " + to_text(r), "no such step");
  }

 private:
  WeightInfo info(const Recipe& r) const { return info_of(r, stored_); }

  /// Reads one piece of a stored tensor alone: an expert of a stack is read without the others.
  std::optional<Made> view(const Recipe& r) const {
    const std::optional<PlaceInTensor> at = place_in_tensor(r, stored_);
    if (!at) return {};
    WeightInfo to = info(r);
    const int64_t bytes = to.bytes();
    return Made{std::move(to), stored_.range(*at->tensor, at->first, bytes)};
  }

  Made index(const Recipe& r) const {
    if (std::optional<Made> seen = view(r)) return std::move(*seen);
    const Made from = make(r.of[0]);
    WeightInfo to = info(r);
    const std::byte* first = from.bytes.get() + r.begin * to.bytes();
    return {std::move(to), {from.bytes, first}};
  }

  Made slice(const Recipe& r) const {
    if (std::optional<Made> seen = view(r)) return std::move(*seen);
    const Made from = make(r.of[0]);
    WeightInfo to = info(r);
    const size_t axis = r.axis;
    const int64_t outer = elements_of(to.shape, 0, axis), pitch = bytes_along(to, axis, from.info.shape[axis]),
                  row = bytes_along(to, axis, r.end - r.begin);
    const std::byte* first = from.bytes.get() + bytes_along(to, axis, r.begin);
    // A view is enough: devices read elements in place, halves from any even byte and floats from every fourth.
    if (outer == 1) return {std::move(to), {from.bytes, first}};
    const std::shared_ptr<std::byte> memory = memory_for(to);
    for (int64_t i = 0; i < outer; ++i)
      std::memcpy(memory.get() + i * row, first + i * pitch, static_cast<size_t>(row));
    return {std::move(to), memory};
  }

  Made transpose(const Recipe& r) const {
    const Made from = make(r.of[0]);
    WeightInfo to = info(r);
    const size_t rank = to.shape.size(), element = element_size(to.dtype);
    const std::shared_ptr<std::byte> memory = memory_for(to);
    // Distance in the operand between neighbours along each extent of the result.
    std::vector<int64_t> stride(rank), place(rank, 0);
    for (size_t i = 0; i < rank; ++i) {
      const size_t source = r.order[i];
      stride[i] = elements_of(from.info.shape, source + 1, rank);
    }
    const int64_t row = to.shape[rank - 1], rows = row > 0 ? to.elements() / row : 0;
    std::byte* out = memory.get();
    for (int64_t n = 0; n < rows; ++n) {
      const std::byte* in = from.bytes.get();
      for (size_t i = 0; i + 1 < rank; ++i) in += static_cast<size_t>(place[i] * stride[i]) * element;
      for (int64_t k = 0; k < row; ++k, out += element)
        std::memcpy(out, in + static_cast<size_t>(k * stride[rank - 1]) * element, element);
      for (size_t i = rank - 1; i-- > 0;) {
        if (++place[i] < to.shape[i]) break;
        place[i] = 0;
      }
    }
    return {std::move(to), memory};
  }

  // A stack is a join along a new first extent.
  Made join(const Recipe& r) const {
    WeightInfo to = info(r);
    const size_t axis = r.axis;
    const int64_t outer = elements_of(to.shape, 0, axis), whole = outer > 0 ? to.bytes() / outer : 0;
    const std::shared_ptr<std::byte> memory = memory_for(to);
    int64_t at = 0;
    for (const Recipe& operand : r.of) {
      const Made part = make(operand);
      const int64_t bytes = outer > 0 ? part.info.bytes() / outer : 0;
      for (int64_t i = 0; i < outer; ++i)
        std::memcpy(memory.get() + i * whole + at, part.bytes.get() + i * bytes, static_cast<size_t>(bytes));
      at += bytes;
    }
    return {std::move(to), memory};
  }

  std::vector<double> reals(const Recipe& r) const {
    const Made from = make(r);
    std::vector<float> narrow(from.info.elements());
    to_f32(from.bytes.get(), from.info.dtype, narrow.data(), narrow.size());
    return {narrow.begin(), narrow.end()};
  }

  /// Converts to f32 row by row: each(row, floats of the row).
  template <class F>
  Made rewrite(const Recipe& r, int64_t rows, F each) const {
    const Made from = make(r.of[0]);
    WeightInfo to = info(r);
    const std::shared_ptr<std::byte> memory = memory_for(to);
    const size_t n = rows > 0 ? to.elements() / rows : 0;
    std::vector<float> held(n);
    for (int64_t row = 0; row < rows; ++row) {
      const auto first = static_cast<size_t>(row) * n;
      to_f32(from.bytes.get() + first * element_size(from.info.dtype), from.info.dtype, held.data(), n);
      each(row, std::span<float>(held));
      from_f32(held.data(), memory.get() + first * element_size(to.dtype), to.dtype, n);
    }
    return {std::move(to), memory};
  }

  Made scale(const Recipe& r) const {
    const std::vector<double> by = reals(r.of[1]);
    return rewrite(r, std::ssize(by), [&](int64_t row, std::span<float> x) {
      for (float& e : x) e = static_cast<float>(static_cast<double>(e) * by[row]);
    });
  }

  Made block_scale(const Recipe& r) const {
    const std::vector<double> by = reals(r.of[1]);
    const WeightInfo weights = info(r.of[0]);
    const int64_t across = (weights.shape[1] + r.width - 1) / r.width;
    return rewrite(r, weights.shape[0], [&](int64_t row, std::span<float> x) {
      const double* factors = by.data() + row / r.height * across;
      for (size_t i = 0; i < x.size(); ++i)
        x[i] = static_cast<float>(static_cast<double>(x[i]) * factors[static_cast<int64_t>(i) / r.width]);
    });
  }

  /// A block: its scale, then byte i with elements i and 16 + i. The codes have elements 2 i and 2 i + 1 in byte i.
  Made mxfp4(const Recipe& r) const {
    const Made codes = make(r.of[0]), scales = make(r.of[1]);
    WeightInfo to = info(r);
    const std::shared_ptr<std::byte> memory = memory_for(to);
    constexpr int kBytes = 16;
    std::byte* out = memory.get();
    const std::byte* from = codes.bytes.get();
    for (int64_t block = 0; block < scales.info.elements(); ++block, from += kBytes) {
      *out++ = scales.bytes.get()[block];
      for (int i = 0; i < kBytes; ++i) {
        const std::byte low = from[i / 2], high = from[(kBytes + i) / 2], mask{15};
        *out++ = i % 2 == 0 ? (low & mask) | ((high & mask) << 4) : (low >> 4) | (high & ~mask);
      }
    }
    return {std::move(to), memory};
  }

  /// A number for each channel, in f32.
  template <class F>
  Made channels(const Recipe& r, F at) const {
    WeightInfo to = info(r);
    const std::shared_ptr<std::byte> memory = memory_for(to);
    auto* out = reinterpret_cast<float*>(memory.get());
    for (size_t i = 0; i < static_cast<size_t>(to.elements()); ++i) out[i] = static_cast<float>(at(i));
    return {std::move(to), memory};
  }
  Made batch_norm_scale(const Recipe& r) const {
    const std::vector<double> gamma = reals(r.of[0]), variance = reals(r.of[1]);
    return channels(r, [&](size_t i) { return gamma[i] / std::sqrt(variance[i] + r.eps); });
  }
  Made batch_norm_shift(const Recipe& r) const {
    const std::vector<double> beta = reals(r.of[0]), mean = reals(r.of[1]), gamma = reals(r.of[2]),
                              variance = reals(r.of[3]),
                              bias = r.of.size() > 4 ? reals(r.of[4]) : std::vector<double>();
    return channels(r, [&](size_t i) {
      const double factor = gamma[i] / std::sqrt(variance[i] + r.eps);
      return beta[i] + ((bias.empty() ? 0 : bias[i]) - mean[i]) * factor;
    });
  }

  /// The hidden values of a place once, then all heads of it.
  Made position_bias(const Recipe& r) const {
    const std::vector<double> w = reals(r.of[0]), v = reals(r.of[1]),
                              b = r.of.size() > 2 ? reals(r.of[2]) : std::vector<double>(),
                              d = r.of.size() > 3 ? reals(r.of[3]) : std::vector<double>();
    WeightInfo to = info(r);
    const std::shared_ptr<std::byte> memory = memory_for(to);
    auto* out = reinterpret_cast<float*>(memory.get());
    const size_t hidden = w.size() / 2, heads = static_cast<size_t>(to.shape[1]);
    const double sign = r.turned ? -1 : 1;
    std::vector<double> seen(hidden);
    for (int64_t y = 1 - r.height; y < r.height; ++y)
      for (int64_t x = 1 - r.width; x < r.width; ++x) {
        const double row = sign * log_place(y, r.height), column = sign * log_place(x, r.width);
        for (size_t i = 0; i < hidden; ++i)
          seen[i] = std::max(0.0, w[2 * i] * row + w[2 * i + 1] * column + (b.empty() ? 0 : b[i]));
        for (size_t head = 0; head < heads; ++head) {
          const double sum =
              std::inner_product(seen.begin(), seen.end(), v.begin() + head * hidden, d.empty() ? 0.0 : d[head]);
          *out++ = static_cast<float>(r.limit > 0 ? static_cast<double>(r.limit) / (1 + std::exp(-sum)) : sum);
        }
      }
    return {std::move(to), memory};
  }
  /// A distance along a side of `extent` places, stretched to 8 at most, on a logarithmic scale from -log2(9) / 3 to
  /// log2(9) / 3.
  static double log_place(int64_t distance, int64_t extent) {
    if (extent == 1) return 0;
    const double stretched = 8.0 * static_cast<double>(distance) / (extent - 1);
    return std::copysign(std::log2(std::fabs(stretched) + 1) / 3, stretched);
  }

  Made convert(const Recipe& r) const {
    const WeightInfo from = info(r.of[0]);
    if (from.dtype == r.dtype) return make(r.of[0]);
    // Works row by row, so that there is no second copy in f32 of the whole.
    return rewrite(r, from.shape.empty() ? 1 : from.shape[0], [](int64_t, std::span<float>) {});
  }

  Made quantise(const Recipe& r) const {
    const WeightInfo from = info(r.of[0]);
    const int64_t row = from.shape.back();
    const float most = (int64_t{1} << (r.bits - 1)) - 1;
    return rewrite(r, row > 0 ? from.elements() / row : 0, [&](int64_t, std::span<float> x) {
      for (size_t first = 0; first < x.size(); first += static_cast<size_t>(r.block)) {
        const auto block = x.subspan(first, std::min(static_cast<size_t>(r.block), x.size() - first));
        float largest = 0;
        for (const float e : block) largest = std::max(largest, std::fabs(e));
        const float unit = largest / most;
        if (unit > 0)
          for (float& e : block) e = std::nearbyint(e / unit) * unit;
      }
    });
  }

  const WeightSource& stored_;
};

class RecipeWeights final : public WeightSource {
 public:
  explicit RecipeWeights(std::shared_ptr<const WeightSource> stored) : stored_(std::move(stored)) {}

  const WeightInfo* find(std::string_view text) const override {
    return looks_like_recipe(text) ? &known_as(text).info : stored_->find(text);
  }

  std::shared_ptr<const std::byte> bytes(std::string_view text) const override {
    return looks_like_recipe(text) ? Maker(*stored_).make(known_as(text).recipe).bytes : stored_->bytes(text);
  }
  int64_t bytes_while_read(std::string_view text) const override {
    return looks_like_recipe(text) ? bytes_while_made(known_as(text).recipe, *stored_)
                                   : stored_->bytes_while_read(text);
  }
  int64_t stored_bytes(std::string_view text) const override {
    return looks_like_recipe(text) ? bytes_stored_of(known_as(text).recipe, *stored_) : stored_->stored_bytes(text);
  }
  std::shared_ptr<const std::byte> range(std::string_view text, int64_t first, int64_t count) const override {
    return looks_like_recipe(text) ? WeightSource::range(text, first, count) : stored_->range(text, first, count);
  }
  void copy(std::string_view text, int64_t first, std::span<std::byte> to) const override {
    if (!looks_like_recipe(text)) return stored_->copy(text, first, to);
    if (const std::optional<PlaceInTensor> at = place_in_tensor(known_as(text).recipe, *stored_))
      return stored_->copy(*at->tensor, at->first + first, to);
    WeightSource::copy(text, first, to);
  }

 private:
  struct Known {
    Recipe recipe;
    WeightInfo info;
  };
  // Parses each text once and keeps it, so that pointers to its info stay valid.
  const Known& known_as(std::string_view text) const {
    const std::lock_guard lock(mutex_);
    if (const auto at = known_.find(text); at != known_.end()) return at->second;
    Known known{parse_recipe(text, "weight"), {}};
    known.info = info_of(known.recipe, *stored_);
    known.info.name = text;
    return known_.emplace(std::string(text), std::move(known)).first->second;
  }

  std::shared_ptr<const WeightSource> stored_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, Known, std::less<>> known_;
};

}  // namespace

std::shared_ptr<const WeightSource> make_recipe_weights(std::shared_ptr<const WeightSource> stored) {
  return std::make_shared<RecipeWeights>(std::move(stored));
}

}  // namespace stormcell
