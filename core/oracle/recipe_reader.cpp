#include "core/oracle/recipe_reader.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/base/error.h"
#include "core/base/number_format.h"
#include "core/oracle/stored_formats.h"

namespace stormcell::reference {
namespace {

using Place = std::vector<int64_t>;
using Reader = std::unique_ptr<RecipeReader>;

class TensorReader final : public RecipeReader {
 public:
  TensorReader(const WeightInfo& info, std::shared_ptr<const std::byte> bytes)
      : RecipeReader(info.shape), format_(stored_format(info.dtype)), bytes_(std::move(bytes)) {}
  void read(const Place& place, int64_t n, double* to) const override {
    int64_t index = 0;
    for (size_t i = 0; i < shape_.size(); ++i) index = index * shape_[i] + place[i];
    float some[256];  // a whole block of each format
    for (int64_t at = 0; at < n; at += 256) {
      const int64_t count = std::min<int64_t>(256, n - at);
      format_.read(bytes_.get(), index + at, count, some);
      for (int64_t i = 0; i < count; ++i) to[at + i] = static_cast<double>(some[i]);
    }
  }

 private:
  const StoredFormat& format_;
  std::shared_ptr<const std::byte> bytes_;
};

class IndexReader final : public RecipeReader {
 public:
  IndexReader(const Recipe& r, Reader of)
      : RecipeReader({of->shape().begin() + 1, of->shape().end()}), at_(r.begin), of_(std::move(of)) {}
  void read(const Place& place, int64_t n, double* to) const override {
    Place from{at_};
    from.insert(from.end(), place.begin(), place.end());
    of_->read(from, n, to);
  }

 private:
  int64_t at_;
  Reader of_;
};

/// Elements of a recipe that lie in a stored tensor one after another: an expert of a stack is read without the others.
struct Lying {
  const Recipe* tensor;
  int64_t first;  // element
  std::vector<int64_t> shape;
};
std::optional<Lying> lying(const Recipe& r, const WeightSource& stored) {
  if (r.kind == RecipeKind::tensor) {
    const WeightInfo* info = stored.find(weight_text(r));
    if (!info) return {};
    return Lying{&r, 0, info->shape};
  }
  const bool index = r.kind == RecipeKind::index;
  if (!index && !(r.kind == RecipeKind::slice && r.axis == 0)) return {};
  std::optional<Lying> in = lying(r.of[0], stored);
  if (!in) return {};
  int64_t one = 1;
  for (size_t i = 1; i < in->shape.size(); ++i) one *= in->shape[i];
  in->first += r.begin * one;
  if (index) {
    in->shape.erase(in->shape.begin());
  } else {
    in->shape[0] = r.end - r.begin;
  }
  return in;
}

std::vector<int64_t> sliced(std::vector<int64_t> shape, const Recipe& r) {
  shape[r.axis] = r.end - r.begin;
  return shape;
}

class SliceReader final : public RecipeReader {
 public:
  SliceReader(const Recipe& r, Reader of)
      : RecipeReader(sliced(of->shape(), r)), axis_(static_cast<size_t>(r.axis)), begin_(r.begin), of_(std::move(of)) {}
  void read(const Place& place, int64_t n, double* to) const override {
    Place from = place;
    from[axis_] += begin_;
    of_->read(from, n, to);
  }

 private:
  size_t axis_;
  int64_t begin_;
  Reader of_;
};

std::vector<int64_t> turned(const std::vector<int64_t>& shape, const std::vector<int64_t>& order) {
  std::vector<int64_t> to;
  for (const int64_t i : order) to.push_back(shape[i]);
  return to;
}

class TransposeReader final : public RecipeReader {
 public:
  TransposeReader(const Recipe& r, Reader of)
      : RecipeReader(turned(of->shape(), r.order)), order_(r.order), of_(std::move(of)) {}
  void read(const Place& place, int64_t n, double* to) const override {
    Place from(place.size());
    for (size_t i = 0; i < order_.size(); ++i) from[order_[i]] = place[i];
    const size_t along = order_.back();
    if (along + 1 == order_.size()) return of_->read(from, n, to);
    for (int64_t i = 0; i < n; ++i, ++from[along]) to[i] = of_->element(from);
  }

 private:
  std::vector<int64_t> order_;
  Reader of_;
};

/// Operands one after another along an axis.
class ConcatReader final : public RecipeReader {
 public:
  ConcatReader(const Recipe& r, std::vector<Reader> of)
      : RecipeReader(of[0]->shape()), axis_(static_cast<size_t>(r.axis)), of_(std::move(of)) {
    shape_[axis_] = 0;
    for (const Reader& part : of_) shape_[axis_] += part->shape()[axis_];
  }
  void read(const Place& place, int64_t n, double* to) const override {
    Place from = place;
    size_t part = 0;
    while (from[axis_] >= extent(part)) from[axis_] -= extent(part++);
    if (axis_ + 1 < from.size()) return of_[part]->read(from, n, to);
    for (; n > 0; ++part, from[axis_] = 0) {
      const int64_t count = std::min(n, extent(part) - from[axis_]);
      of_[part]->read(from, count, to);
      n -= count, to += count;
    }
  }

 private:
  int64_t extent(size_t part) const { return of_[part]->shape()[axis_]; }
  size_t axis_;
  std::vector<Reader> of_;
};

std::vector<int64_t> stacked(const std::vector<Reader>& of) {
  std::vector<int64_t> shape = of[0]->shape();
  shape.insert(shape.begin(), std::ssize(of));
  return shape;
}

class StackReader final : public RecipeReader {
 public:
  explicit StackReader(std::vector<Reader> of) : RecipeReader(stacked(of)), of_(std::move(of)) {}
  void read(const Place& place, int64_t n, double* to) const override {
    const Place below(place.begin() + 1, place.end());
    const size_t first = place[0];
    if (!below.empty()) return of_[first]->read(below, n, to);
    for (int64_t i = 0; i < n; ++i) to[i] = of_[first + i]->element({});
  }

 private:
  std::vector<Reader> of_;
};

class ScaleReader final : public RecipeReader {
 public:
  ScaleReader(Reader of, Reader by) : RecipeReader(of->shape()), of_(std::move(of)), by_(std::move(by)) {}
  void read(const Place& place, int64_t n, double* to) const override {
    of_->read(place, n, to);
    for (int64_t i = 0; i < n; ++i) to[i] *= by_->element({shape_.size() == 1 ? place[0] + i : place[0]});
  }

 private:
  Reader of_, by_;
};

class BatchNormReader final : public RecipeReader {
 public:
  BatchNormReader(const Recipe& r, std::vector<Reader> of)
      : RecipeReader(of[0]->shape()),
        is_shift_(r.kind == RecipeKind::batch_norm_shift),
        eps_(r.eps),
        of_(std::move(of)) {}
  void read(const Place& place, int64_t n, double* to) const override {
    for (int64_t i = 0; i < n; ++i) {
      const auto of = [&](size_t operand) { return of_[operand]->element({place[0] + i}); };
      const double gamma = of(is_shift_ ? 2 : 0), deviation = std::sqrt(of(is_shift_ ? 3 : 1) + eps_);
      to[i] = is_shift_ ? ((of_.size() > 4 ? of(4) : 0) - of(1)) / deviation * gamma + of(0) : gamma / deviation;
    }
  }

 private:
  bool is_shift_;
  double eps_;
  std::vector<Reader> of_;
};

/// Computes the biases of the MLP over relative places, one number at a time.
class PositionBiasReader final : public RecipeReader {
 public:
  PositionBiasReader(const Recipe& r, std::vector<Reader> of)
      : RecipeReader({(2 * r.height - 1) * (2 * r.width - 1), of[1]->shape()[0]}),
        recipe_(r),
        hidden_(of[0]->shape()[0]) {
    for (const Reader& operand : of) {
      std::vector<double>& all = operands_.emplace_back(static_cast<size_t>(operand->elements()));
      operand->read_flat(0, operand->elements(), all.data());
    }
  }
  void read(const Place& place, int64_t n, double* to) const override {
    const int64_t across = 2 * recipe_.width - 1, y = place[0] / across - (recipe_.height - 1),
                  x = place[0] % across - (recipe_.width - 1);
    for (int64_t i = 0; i < n; ++i)
      to[i] = of(coordinate(y, recipe_.height), coordinate(x, recipe_.width), place[1] + i);
  }

 private:
  /// sign(c) log2(|c| + 1) / log2(8), where c goes from -8 to 8.
  double coordinate(int64_t query_minus_key, int64_t extent) const {
    const int64_t distance = recipe_.turned ? -query_minus_key : query_minus_key;
    if (distance == 0) return 0;
    const double c = static_cast<double>(distance) / (extent - 1) * 8;
    const double log = std::log2(std::fabs(c) + 1.0) / std::log2(8.0);
    return c < 0 ? -log : log;
  }
  double of(double row, double column, int64_t head) const {
    double sum = operands_.size() > 3 ? at(3, head) : 0;
    for (int64_t i = 0; i < hidden_; ++i) {
      const double seen = at(0, 2 * i) * row + at(0, 2 * i + 1) * column + (operands_.size() > 2 ? at(2, i) : 0);
      if (seen > 0) sum += at(1, head * hidden_ + i) * seen;
    }
    return recipe_.limit > 0 ? static_cast<double>(recipe_.limit) / (1 + std::exp(-sum)) : sum;
  }
  double at(size_t operand, int64_t element) const { return operands_[operand][element]; }

  Recipe recipe_;
  int64_t hidden_;
  std::vector<std::vector<double>> operands_;
};

/// Weights of 8 bits with a factor for each block of height x width.
class BlockScaleReader final : public RecipeReader {
 public:
  BlockScaleReader(const Recipe& r, std::vector<Reader> of)
      : RecipeReader(of[0]->shape()), height_(r.height), width_(r.width), of_(std::move(of)) {}
  void read(const Place& place, int64_t n, double* to) const override {
    of_[0]->read(place, n, to);
    for (int64_t i = 0; i < n; ++i) to[i] *= of_[1]->element({place[0] / height_, (place[1] + i) / width_});
  }

 private:
  int64_t height_, width_;
  std::vector<Reader> of_;
};

/// The last two extents of the codes are blocks of 32 numbers of 4 bits, two in a byte, the lower half first.
std::vector<int64_t> unpacked(std::vector<int64_t> shape) {
  const int64_t bytes = shape.back();
  shape.pop_back();
  shape.back() *= 2 * bytes;
  return shape;
}
class Mxfp4Reader final : public RecipeReader {
 public:
  explicit Mxfp4Reader(std::vector<Reader> of) : RecipeReader(unpacked(of[0]->shape())), of_(std::move(of)) {}
  void read(const Place& place, int64_t n, double* to) const override {
    constexpr double kSizes[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
    Place scale = place, codes = place;
    codes.push_back(0);
    double bytes[16];
    for (int64_t i = 0; i < n;) {
      const int64_t column = place.back() + i, last = std::min(n, i + 32 - column % 32);
      scale.back() = codes[place.size() - 1] = column / 32;
      of_[0]->read(codes, 16, bytes);
      const int exponent = static_cast<int>(of_[1]->element(scale));
      const double by = exponent == 255 ? std::nan("") : std::ldexp(1, exponent - 127);
      for (int64_t in = column % 32; i < last; ++i, ++in) {
        const int both = static_cast<int>(bytes[in / 2]), code = in % 2 == 0 ? both % 16 : both / 16;
        to[i] = by * (code < 8 ? kSizes[code] : -kSizes[code - 8]);
      }
    }
  }

 private:
  std::vector<Reader> of_;
};

/// Rounds to the nearest number of a format, ties to even.
double rounded(double x, DType to, const RoundingGrid& grid) {
  if (!std::isfinite(x) || x == 0) return x;
  if (to == DType::f32) return static_cast<double>(static_cast<float>(x));
  int exponent = 0;
  std::frexp(x, &exponent);
  exponent = std::max(exponent - grid.bits, grid.smallest);
  const double y = std::ldexp(std::nearbyint(std::ldexp(x, -exponent)), exponent);
  return std::fabs(y) > grid.largest ? std::copysign(HUGE_VAL, y) : y;
}

class ConvertReader final : public RecipeReader {
 public:
  ConvertReader(const Recipe& r, Reader of)
      : RecipeReader(of->shape()), to_(r.dtype), grid_(stored_format(r.dtype).grid), of_(std::move(of)) {}
  void read(const Place& place, int64_t n, double* to) const override {
    of_->read(place, n, to);
    for (int64_t i = 0; i < n; ++i) to[i] = rounded(to[i], to_, grid_);
  }

 private:
  DType to_;
  RoundingGrid grid_;
  Reader of_;
};

class QuantiseReader final : public RecipeReader {
 public:
  QuantiseReader(const Recipe& r, Reader of)
      : RecipeReader(of->shape()),
        most_(static_cast<float>((int64_t{1} << (r.bits - 1)) - 1)),
        block_(r.block),
        of_(std::move(of)) {}
  void read(const Place& place, int64_t n, double* to) const override {
    std::vector<double> block;
    Place at = place;
    for (const int64_t end = place.back() + n; at.back() < end;) {
      const int64_t column = at.back(), first = column / block_ * block_,
                    last = std::min(first + block_, shape_.back());
      block.resize(last - first);
      at.back() = first;
      of_->read(at, last - first, block.data());
      float largest = 0;
      for (const double x : block) largest = std::max(largest, std::fabs(static_cast<float>(x)));
      // The unit is a float, as a format of blocks stores it.
      const float unit = largest / most_;
      for (int64_t k = column; k < std::min(last, end); ++k) {
        const float x = block[k - first];
        *to++ = static_cast<double>(unit > 0 ? std::nearbyint(x / unit) * unit : x);
      }
      at.back() = last;
    }
  }

 private:
  float most_;
  int64_t block_;
  Reader of_;
};

}  // namespace

double RecipeReader::element(const Place& place) const {
  double x = 0;
  read(place, 1, &x);
  return x;
}

int64_t RecipeReader::elements() const {
  int64_t n = 1;
  for (const int64_t extent : shape_) n *= extent;
  return n;
}

void RecipeReader::read_flat(int64_t first, int64_t n, double* to) const {
  Place place(shape_.size());
  const int64_t row = shape_.empty() ? 1 : shape_.back();
  while (n > 0) {
    int64_t rest = first;
    for (size_t i = shape_.size(); i-- > 0; rest /= shape_[i]) place[i] = rest % shape_[i];
    const int64_t count = std::min(n, row - first % row);
    read(place, count, to);
    first += count, to += count, n -= count;
  }
}

Reader make_recipe_reader(const Recipe& r, const WeightSource& stored) {
  if (r.kind == RecipeKind::tensor) {
    const std::string text = weight_text(r);
    const WeightInfo* info = stored.find(text);
    if (!info) bad_input("weight " + text, "there is no such tensor");
    return std::make_unique<TensorReader>(*info, stored.bytes(text));
  }
  if (std::optional<Lying> in = lying(r, stored)) {
    const std::string text = weight_text(*in->tensor);
    WeightInfo part = *stored.find(text);
    const NumberFormat& format = format_of(part.dtype);
    part.shape = std::move(in->shape);
    // An element that begins a part of a tensor in blocks begins a block.
    const int64_t first = in->first / format.block_elements * format.block_bytes;
    return std::make_unique<TensorReader>(part, stored.range(text, first, part.bytes()));
  }
  std::vector<Reader> of;
  for (const Recipe& operand : r.of) of.push_back(make_recipe_reader(operand, stored));
  switch (r.kind) {
    case RecipeKind::index:
      return std::make_unique<IndexReader>(r, std::move(of[0]));
    case RecipeKind::slice:
      return std::make_unique<SliceReader>(r, std::move(of[0]));
    case RecipeKind::transpose:
      return std::make_unique<TransposeReader>(r, std::move(of[0]));
    case RecipeKind::stack:
      return std::make_unique<StackReader>(std::move(of));
    case RecipeKind::concat:
      return std::make_unique<ConcatReader>(r, std::move(of));
    case RecipeKind::scale:
      return std::make_unique<ScaleReader>(std::move(of[0]), std::move(of[1]));
    case RecipeKind::batch_norm_scale:
    case RecipeKind::batch_norm_shift:
      return std::make_unique<BatchNormReader>(r, std::move(of));
    case RecipeKind::position_bias:
      return std::make_unique<PositionBiasReader>(r, std::move(of));
    case RecipeKind::block_scale:
      return std::make_unique<BlockScaleReader>(r, std::move(of));
    case RecipeKind::mxfp4:
      return std::make_unique<Mxfp4Reader>(std::move(of));
    case RecipeKind::convert:
      return std::make_unique<ConvertReader>(r, std::move(of[0]));
    default:
      return std::make_unique<QuantiseReader>(r, std::move(of[0]));
  }
}

UnfoldedWeight unfolded_weight(const Recipe& recipe, const WeightSource& stored) {
  if (recipe.kind != RecipeKind::scale) return {make_recipe_reader(recipe, stored), nullptr};
  return {make_recipe_reader(recipe.of[0], stored), make_recipe_reader(recipe.of[1], stored)};
}

}  // namespace stormcell::reference
