#include "core/models/weight_catalog.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/reused_memory.h"
#include "core/formats/file_text.h"
#include "core/formats/safetensors.h"
#include "core/formats/weight_files.h"
#include "core/weights/recipe_weights.h"

namespace stormcell {
namespace {

class StoredWeights final : public WeightSource {
 public:
  explicit StoredWeights(std::shared_ptr<const WeightFiles> files) : files_(std::move(files)) {
    for (const TensorPlace& t : files_->tensors()) infos_.push_back({t.name, t.dtype, t.shape});
  }
  const WeightInfo* find(std::string_view name) const override {
    const auto at = std::lower_bound(infos_.begin(), infos_.end(), name,
                                     [](const WeightInfo& i, std::string_view n) { return i.name < n; });
    if (at != infos_.end() && at->name == name) return &*at;
    if (const std::string* format = files_->other_format(name))
      bad_input(files_->listing(),
                "the tensor " + in_quotes(name) + " is stored as " + *format + ", expected " + product_format_names(),
                "get the model in one of these formats");
    return nullptr;
  }
  std::shared_ptr<const std::byte> bytes(std::string_view name) const override {
    const TensorPlace& tensor = stored(name);
    return read(tensor, 0, tensor.bytes);
  }
  std::shared_ptr<const std::byte> range(std::string_view name, int64_t first, int64_t count) const override {
    return read(stored(name), first, count);
  }
  void copy(std::string_view name, int64_t first, std::span<std::byte> to) const override {
    files_->read(stored(name), first, to);
  }

 private:
  const TensorPlace& stored(std::string_view name) const {
    const TensorPlace* tensor = files_->find(name);
    if (!tensor) bad_input(files_->listing(), "the tensor " + in_quotes(name) + " is missing");
    return *tensor;
  }
  std::shared_ptr<const std::byte> read(const TensorPlace& tensor, int64_t first, int64_t count) const {
    std::shared_ptr<std::byte> copy = reusable_block(count, "tensor " + in_quotes(tensor.name));
    files_->read(tensor, first, {copy.get(), static_cast<size_t>(count)});
    return copy;
  }

  std::shared_ptr<const WeightFiles> files_;
  std::vector<WeightInfo> infos_;  // in the order of their names, as the files' tensors are
};

}  // namespace

std::shared_ptr<const WeightSource> make_stored_weights(std::shared_ptr<const WeightFiles> files) {
  return make_recipe_weights(std::make_shared<StoredWeights>(std::move(files)));
}

const WeightInfo& WeightCatalog::make(const Recipe& recipe, const std::vector<int64_t>& shape) const {
  const std::string text = weight_text(recipe);
  const WeightInfo* info = source()->find(text);
  if (!info) bad_input("weight " + text, "there is no such tensor");
  if (info->shape != shape)
    bad_input("weight " + text,
              "has the shape " + shape_text(info->shape) + ", expected " + shape_text(shape) + " by config.json",
              "correct config.json, or get the model again");
  if (!format_of(info->dtype).multiplies)
    bad_input("weight " + text,
              "is stored as " + std::string(to_text(info->dtype)) + ", expected " + engine_float_names(),
              "convert it to one of these");
  return *info;
}

std::string WeightCatalog::first_of(const std::vector<std::string>& names) const {
  for (const std::string& name : names)
    if (has(name)) return name;
  return names.front();
}

StoredCatalog::StoredCatalog(std::shared_ptr<const WeightFiles> files)
    : files_(std::move(files)), source_(make_stored_weights(files_)) {}

bool StoredCatalog::has(std::string_view name) const {
  return files_->find(name) != nullptr || files_->other_format(name) != nullptr;
}

bool StoredCatalog::has_prefix(std::string_view prefix) const {
  const auto& tensors = files_->tensors();
  const auto at = std::lower_bound(tensors.begin(), tensors.end(), prefix,
                                   [](const TensorPlace& t, std::string_view p) { return t.name < p; });
  return at != tensors.end() && std::string_view(at->name).starts_with(prefix);
}

const WeightInfo& StoredCatalog::need(const std::string& name, const std::vector<int64_t>& shape) {
  const WeightInfo* info = source_->find(name);
  if (!info)
    bad_input(files_->listing(), "the tensor " + in_quotes(name) + " is missing, expected " + shape_text(shape),
              "get the model again, or correct config.json");
  const std::string& file = files_->file_path(static_cast<size_t>(files_->find(name)->file));
  if (info->shape != shape)
    bad_input(file,
              "the tensor " + in_quotes(name) + " has the shape " + shape_text(info->shape) + ", expected " +
                  shape_text(shape) + " by config.json",
              "correct config.json, or get the model again");
  if (!format_of(info->dtype).multiplies)
    bad_input(file,
              "the tensor " + in_quotes(name) + " is stored as " + std::string(to_text(info->dtype)) + ", expected " +
                  engine_float_names(),
              "convert it to one of these");
  return *info;
}

}  // namespace stormcell
