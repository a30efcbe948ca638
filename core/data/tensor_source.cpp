// Token ids in arrays: .npy [N, T], and .safetensors with input_ids and its companions.
#include <cstring>
#include <limits>
#include <optional>
#include <span>

#include "core/base/error.h"
#include "core/data/sequence_source.h"
#include "core/formats/mapped_file.h"
#include "core/formats/npy.h"
#include "core/formats/safetensors.h"

namespace stormcell {
namespace {
template <class T>
int64_t load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);  // need not be aligned
  if constexpr (std::is_same_v<T, uint64_t>)
    if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return std::numeric_limits<int64_t>::max();
  return static_cast<int64_t>(value);
}

using Loader = int64_t (*)(const std::byte*);
Loader loader_for(DType type) {
  switch (type) {
    case DType::i8:
      return load<int8_t>;
    case DType::u8:
    case DType::boolean:
      return load<uint8_t>;
    case DType::i16:
      return load<int16_t>;
    case DType::u16:
      return load<uint16_t>;
    case DType::i32:
      return load<int32_t>;
    case DType::u32:
      return load<uint32_t>;
    case DType::i64:
      return load<int64_t>;
    case DType::u64:
      return load<uint64_t>;
    default:
      return nullptr;
  }
}

// A matrix of integers in a mapped file.
class IntegerMatrix {
 public:
  IntegerMatrix(const std::string& where, const std::string& name, DType type, std::span<const int64_t> shape,
                std::span<const std::byte> bytes)
      : where_(where), name_(name), bytes_(bytes), load_(loader_for(type)), element_(element_size(type)) {
    if (!load_) bad_input(where, name + " holds " + std::string(to_text(type)) + ", expected integers", "save token ids as int32 or int64");
    if (shape.size() != 2)
      bad_input(where, name + " has the shape " + shape_text(shape) + ", expected [sequences, length]",
                "one row a sequence, padded to the same length");
    rows_ = shape[0];
    columns_ = shape[1];
    if (rows_ == 0 || columns_ == 0)
      bad_input(where, name + " is empty: " + shape_text(shape), "there must be at least one sequence with one token");
  }
  int64_t rows() const { return rows_; }
  int64_t columns() const { return columns_; }

  std::vector<int32_t> row(int64_t index) const {
    std::vector<int32_t> values(static_cast<size_t>(columns_));
    const std::byte* from = bytes_.data() + static_cast<size_t>(index * columns_) * element_;
    for (size_t i = 0; i < values.size(); ++i) {
      const int64_t value = load_(from + i * element_);
      if (value != static_cast<int32_t>(value))
        bad_input(where_,
                  name_ + ": sequence " + std::to_string(index) + ", position " + std::to_string(i) + ": " + std::to_string(value) +
                      " is out of range",
                  "expected 32-bit token ids");
      values[i] = static_cast<int32_t>(value);
    }
    return values;
  }
  std::vector<int32_t> mask_row(int64_t index) const {
    std::vector<int32_t> values = row(index);
    for (size_t i = 0; i < values.size(); ++i)
      if (values[i] != 0 && values[i] != 1)
        bad_input(where_,
                  name_ + ": sequence " + std::to_string(index) + ", position " + std::to_string(i) + ": expected 0 or 1, got " +
                      std::to_string(values[i]),
                  "a mask is 1 where there is data and 0 in the padding");
    return values;
  }

 private:
  std::string where_, name_;
  std::span<const std::byte> bytes_;
  Loader load_;
  size_t element_;
  int64_t rows_ = 0, columns_ = 0;
};

class NpySource : public SequenceSource {
 public:
  explicit NpySource(const std::string& path)
      : path_(path), array_(open_npy(path)), ids_(path, "the array", array_.dtype, array_.shape, array_.bytes) {}
  int64_t size() const override { return ids_.rows(); }
  Contents contents() const override { return {}; }
  const std::string& where() const override { return path_; }
  Sequence sequence(int64_t index) const override { return {.ids = ids_.row(index)}; }

 private:
  std::string path_;
  NpyArray array_;
  IntegerMatrix ids_;
};

class TensorSource : public SequenceSource {
 public:
  explicit TensorSource(const std::string& path) : path_(path), file_(SafetensorsFile::open(path)) {
    ids_ = matrix("input_ids");
    if (!ids_)
      bad_input(path, "has no tensor input_ids",
                "data needs input_ids [sequences, length]; attention_mask, decoder_input_ids and decoder_attention_mask may be there");
    mask_ = matrix("attention_mask");
    decoder_ids_ = matrix("decoder_input_ids");
    decoder_mask_ = matrix("decoder_attention_mask");
    if (decoder_mask_ && !decoder_ids_) bad_input(path, "has decoder_attention_mask but no decoder_input_ids", "add decoder_input_ids");
    same_shape("attention_mask", mask_, "input_ids", ids_);
    same_shape("decoder_attention_mask", decoder_mask_, "decoder_input_ids", decoder_ids_);
    if (decoder_ids_ && decoder_ids_->rows() != ids_->rows())
      bad_input(path, "decoder_input_ids has " + std::to_string(decoder_ids_->rows()) + " rows, input_ids " + std::to_string(ids_->rows()),
                "give both one row a sequence");
  }
  int64_t size() const override { return ids_->rows(); }
  Contents contents() const override { return {.decoder_ids = decoder_ids_.has_value()}; }
  const std::string& where() const override { return path_; }
  Sequence sequence(int64_t index) const override {
    Sequence sequence;
    sequence.ids = ids_->row(index);
    if (mask_) sequence.mask = mask_->mask_row(index);
    if (decoder_ids_) sequence.decoder_ids = decoder_ids_->row(index);
    if (decoder_mask_) sequence.decoder_mask = decoder_mask_->mask_row(index);
    return sequence;
  }

 private:
  std::optional<IntegerMatrix> matrix(const std::string& name) const {
    const StoredTensor* tensor = file_->find(name);
    if (!tensor) return {};
    return IntegerMatrix(path_, name, tensor->dtype, tensor->shape, tensor->bytes);
  }
  void same_shape(const char* name_a, const std::optional<IntegerMatrix>& a, const char* name_b,
                  const std::optional<IntegerMatrix>& b) const {
    if (!a || (a->rows() == b->rows() && a->columns() == b->columns())) return;
    const int64_t shape_a[] = {a->rows(), a->columns()}, shape_b[] = {b->rows(), b->columns()};
    bad_input(path_, std::string(name_a) + " has the shape " + shape_text(shape_a) + ", " + name_b + " " + shape_text(shape_b),
              "give both the same shape");
  }

  std::string path_;
  std::shared_ptr<const SafetensorsFile> file_;
  std::optional<IntegerMatrix> ids_, mask_, decoder_ids_, decoder_mask_;
};
}  // namespace

std::unique_ptr<const SequenceSource> open_npy_sequences(const std::string& path) { return std::make_unique<NpySource>(path); }
std::unique_ptr<const SequenceSource> open_tensor_sequences(const std::string& path) { return std::make_unique<TensorSource>(path); }

}  // namespace stormcell
