#include "core/models/weight_catalog.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "core/base/align.h"
#include "core/base/error.h"
#include "core/formats/file_text.h"
#include "core/formats/safetensors.h"
#include "core/weights/recipe_weights.h"

namespace stormcell {
namespace {

class StoredWeights final : public WeightSource {
 public:
  StoredWeights(std::shared_ptr<const WeightFiles> files, WeightReading reading) : files_(std::move(files)), reading_(reading) {
    for (const StoredTensor& t : files_->tensors()) infos_.push_back({t.name, t.dtype, t.shape});
  }
  const WeightInfo* find(std::string_view name) const override {
    const auto at =
        std::lower_bound(infos_.begin(), infos_.end(), name, [](const WeightInfo& i, std::string_view n) { return i.name < n; });
    return at != infos_.end() && at->name == name ? &*at : nullptr;
  }
  std::shared_ptr<const std::byte> bytes(std::string_view name) const override { return held(stored(name)); }
  std::shared_ptr<const std::byte> part(std::string_view name, int64_t first, int64_t count) const override {
    StoredTensor tensor = stored(name);
    tensor.bytes = tensor.bytes.subspan(static_cast<size_t>(first), static_cast<size_t>(count));
    return held(std::move(tensor));
  }

 private:
  const StoredTensor& stored(std::string_view name) const {
    const StoredTensor* tensor = files_->find(name);
    if (!tensor) bad_input(files_->path(), "the tensor " + in_quotes(name) + " is missing");
    return *tensor;
  }
  /// A tensor, or a part of one.
  std::shared_ptr<const std::byte> held(StoredTensor tensor) const {
    return reading_ == WeightReading::copied ? copied(tensor) : mapped(std::move(tensor));
  }
  std::shared_ptr<const std::byte> copied(const StoredTensor& tensor) const {
    const size_t bytes = tensor.bytes.size();
    auto* memory = static_cast<std::byte*>(std::aligned_alloc(64, align_up(std::max<size_t>(bytes, 1))));
    if (!memory) failed("tensor " + in_quotes(tensor.name), "no memory for " + std::to_string(bytes) + " bytes");
    std::shared_ptr<const std::byte> copy(memory, [](const std::byte* p) { std::free(const_cast<std::byte*>(p)); });
    files_->read(tensor, memory);
    return copy;
  }
  /// Its pages alone are read ahead, and dropped.
  std::shared_ptr<const std::byte> mapped(StoredTensor tensor) const {
    files_->advise_sequential(tensor);
    const std::byte* first = tensor.bytes.data();
    if (tensor.aligned()) return {first, [files = files_, tensor = std::move(tensor)](const std::byte*) { files->drop_pages(tensor); }};
    // Old writers align nothing: such tensors are copied.
    auto copy = std::make_shared<std::vector<std::byte>>(tensor.bytes.begin(), tensor.bytes.end());
    files_->drop_pages(tensor);
    return {copy, copy->data()};
  }

  std::shared_ptr<const WeightFiles> files_;
  WeightReading reading_;
  std::vector<WeightInfo> infos_;  // in the order of their names, as the files' tensors are
};

}  // namespace

std::shared_ptr<const WeightSource> make_stored_weights(std::shared_ptr<const WeightFiles> files, WeightReading reading) {
  return make_recipe_weights(std::make_shared<StoredWeights>(std::move(files), reading));
}

const WeightInfo& WeightCatalog::make(const Recipe& recipe, const std::vector<int64_t>& shape) const {
  const std::string text = weight_text(recipe);
  const WeightInfo* info = source()->find(text);
  if (!info) bad_input("weight " + text, "there is no such tensor");
  if (info->shape != shape)
    bad_input("weight " + text, "has the shape " + shape_text(info->shape) + ", expected " + shape_text(shape) + " by config.json",
              "correct config.json, or get the model again");
  if (!is_engine_float(info->dtype))
    bad_input("weight " + text, "is stored as " + std::string(to_text(info->dtype)) + ", expected f32, f16 or bf16",
              "convert it to one of these");
  return *info;
}

std::string WeightCatalog::first_of(const std::vector<std::string>& names) const {
  for (const std::string& name : names)
    if (has(name)) return name;
  return names.front();
}

StoredCatalog::StoredCatalog(std::shared_ptr<const WeightFiles> files, WeightReading reading)
    : files_(std::move(files)), source_(make_stored_weights(files_, reading)) {}

bool StoredCatalog::has_prefix(std::string_view prefix) const {
  const auto& tensors = files_->tensors();
  const auto at =
      std::lower_bound(tensors.begin(), tensors.end(), prefix, [](const StoredTensor& t, std::string_view p) { return t.name < p; });
  return at != tensors.end() && std::string_view(at->name).starts_with(prefix);
}

const WeightInfo& StoredCatalog::need(const std::string& name, const std::vector<int64_t>& shape) {
  const WeightInfo* info = source_->find(name);
  if (!info)
    bad_input(files_->path(), "the tensor " + in_quotes(name) + " is missing, expected " + shape_text(shape),
              "get the model again, or correct config.json");
  const StoredTensor* tensor = files_->find(name);
  const std::string& file = files_->file(static_cast<size_t>(tensor->file)).path();
  if (info->shape != shape)
    bad_input(file,
              "the tensor " + in_quotes(name) + " has the shape " + shape_text(info->shape) + ", expected " + shape_text(shape) +
                  " by config.json",
              "correct config.json, or get the model again");
  if (!is_engine_float(info->dtype))
    bad_input(file, "the tensor " + in_quotes(name) + " is stored as " + std::string(to_text(info->dtype)) + ", expected f32, f16 or bf16",
              "convert it to one of these");
  return *info;
}

}  // namespace stormcell
