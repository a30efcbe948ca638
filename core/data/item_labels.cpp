#include "core/data/item_labels.h"

#include "core/base/error.h"
#include "core/formats/safetensors.h"
#include "core/formats/tensor_file.h"

namespace stormcell {
namespace {

IntegerMatrix labels_in(const TensorFile& file, const TensorPlace& labels, int64_t items) {
  const std::string& path = file.path();
  if (labels.shape.empty() || labels.shape.size() > 2 || labels.shape[0] != items)
    bad_input(path, "labels has the shape " + shape_text(labels.shape) + ", the items are " + std::to_string(items),
              "give labels [items], or [items, cells of an item]");
  if (!IntegerMatrix::may_hold(labels.dtype))
    bad_input(path, "labels holds " + std::string(to_text(labels.dtype)) + ", expected integers",
              "save labels as int32 or int64");
  std::vector<int64_t> shape = labels.shape;
  shape.resize(2, 1);
  return IntegerMatrix(path, "labels", labels.dtype, shape, file.range(labels));
}

}  // namespace

ItemLabels::ItemLabels(const TensorFile& file, const DataOptions& options, int64_t items) : classes_(options.classes) {
  const TensorPlace* labels = file.find("labels");
  if (!labels) return;
  names_ = labels->shape.size() == 1;
  taken_ = asks_for(options.inputs, InputRole::label);
  // Two extents are labels of cells, or, in data for training, the decoder's targets: only a model that asks for them
  // gets them.
  if (names_ || taken_) values_ = labels_in(file, *labels, items);
}

void ItemLabels::put(int64_t index, Sequence& item) const {
  if (!values_) return;
  std::vector<int32_t> labels = values_->row(index);
  if (names_) {
    const bool is_class = labels[0] >= 0 && static_cast<size_t>(labels[0]) < classes_.size();
    item.label = is_class ? classes_[labels[0]] : std::to_string(labels[0]);
  }
  if (taken_) item.label_ids = std::move(labels);
}

}  // namespace stormcell
