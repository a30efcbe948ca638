// Token ids in arrays: .npy [N, T], and .safetensors with input_ids and its companions.
#include <optional>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/data/item_labels.h"
#include "core/data/sequence_source.h"
#include "core/data/tensor_names.h"
#include "core/formats/gzip_file.h"
#include "core/formats/npy.h"
#include "core/formats/safetensors.h"
#include "core/formats/tensor_file.h"

namespace stormcell {
namespace {
class NpySource : public SequenceSource {
 public:
  NpySource(const std::string& path, const Progress& progress)
      : path_(path),
        array_(open_npy(path, progress)),
        ids_(path, "the array", array_.dtype, array_.shape, array_.bytes) {}
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
  TensorSource(const std::string& path, const DataOptions& options)
      : path_(path), file_(open_unpacked(path, {options.cancel, nullptr})) {
    static constexpr std::string_view kKnown[] = {"input_ids", "attention_mask", "decoder_input_ids",
                                                  "decoder_attention_mask", "labels"};
    warnings_ = check_tensor_names(path, file_, kKnown);
    ids_ = matrix("input_ids");
    if (!ids_)
      bad_input(path, "has no tensor input_ids" + held_instead(file_),
                "data needs input_ids [sequences, length]; attention_mask, decoder_input_ids, decoder_attention_mask "
                "and labels may be there");
    mask_ = matrix("attention_mask");
    decoder_ids_ = matrix("decoder_input_ids");
    decoder_mask_ = matrix("decoder_attention_mask");
    if (decoder_mask_ && !decoder_ids_)
      bad_input(path, "has decoder_attention_mask but no decoder_input_ids", "add decoder_input_ids");
    same_shape("attention_mask", mask_, "input_ids", ids_);
    same_shape("decoder_attention_mask", decoder_mask_, "decoder_input_ids", decoder_ids_);
    if (decoder_ids_ && decoder_ids_->rows() != ids_->rows())
      bad_input(path,
                "decoder_input_ids has " + counted(decoder_ids_->rows(), "row") + ", input_ids " +
                    std::to_string(ids_->rows()),
                "give both one row a sequence");
    labels_ = ItemLabels(file_, options, ids_->rows());
  }
  int64_t size() const override { return ids_->rows(); }
  Contents contents() const override {
    return {.label = labels_.name_items(), .decoder_ids = decoder_ids_.has_value(), .label_ids = labels_.are_taken()};
  }
  const std::string& where() const override { return path_; }
  std::vector<std::string> warnings() const override { return warnings_; }
  Sequence sequence(int64_t index) const override {
    Sequence sequence;
    sequence.ids = ids_->row(index);
    if (mask_) sequence.mask = mask_->mask_row(index);
    if (decoder_ids_) sequence.decoder_ids = decoder_ids_->row(index);
    if (decoder_mask_) sequence.decoder_mask = decoder_mask_->mask_row(index);
    labels_.put(index, sequence);
    return sequence;
  }

 private:
  std::optional<IntegerMatrix> matrix(const std::string& name) const {
    const TensorPlace* tensor = file_.find(name);
    if (!tensor) return {};
    return IntegerMatrix(path_, name, tensor->dtype, tensor->shape, file_.range(*tensor));
  }
  void same_shape(const char* name_a, const std::optional<IntegerMatrix>& a, const char* name_b,
                  const std::optional<IntegerMatrix>& b) const {
    if (!a || (a->rows() == b->rows() && a->columns() == b->columns())) return;
    const int64_t shape_a[] = {a->rows(), a->columns()}, shape_b[] = {b->rows(), b->columns()};
    bad_input(path_,
              std::string(name_a) + " has the shape " + shape_text(shape_a) + ", " + name_b + " " + shape_text(shape_b),
              "give both the same shape");
  }

  std::string path_;
  TensorFile file_;
  std::optional<IntegerMatrix> ids_, mask_, decoder_ids_, decoder_mask_;
  ItemLabels labels_;
  std::vector<std::string> warnings_;
};
}  // namespace

std::unique_ptr<const SequenceSource> open_npy_sequences(const std::string& path, const CancellationToken& cancel) {
  return std::make_unique<NpySource>(path, Progress{cancel, nullptr});
}
std::unique_ptr<const SequenceSource> open_tensor_sequences(const std::string& path, const DataOptions& options) {
  return std::make_unique<TensorSource>(path, options);
}

}  // namespace stormcell
