// Catalogs of weights: a family asks by name and shape. Files give checked tensors, presets promise seeded ones.
#pragma once
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/weights/recipe.h"
#include "core/weights/weight_source.h"

namespace stormcell {

class WeightFiles;
class SeededWeights;

class WeightCatalog {
 public:
  virtual ~WeightCatalog() = default;
  virtual bool has(std::string_view name) const = 0;
  /// True when there is any weight whose name begins so.
  virtual bool has_prefix(std::string_view prefix) const = 0;
  /// Throws Error(bad_input) when there is no such weight, when it has another shape, or a format that nothing is
  /// computed with. One in blocks is taken: operators say where they read none.
  virtual const WeightInfo& need(const std::string& name, const std::vector<int64_t>& shape) = 0;
  /// A weight made of tensors that were asked for before, or of files'. Throws as the recipe's shape rules do, and
  /// where its shape is another.
  const WeightInfo& make(const Recipe& recipe, const std::vector<int64_t>& shape) const;
  /// The first of the names that exists; the first of all when none does.
  std::string first_of(const std::vector<std::string>& names) const;
  virtual std::shared_ptr<const WeightSource> source() const = 0;
};

/// The tensors of a model's files.
class StoredCatalog final : public WeightCatalog {
 public:
  explicit StoredCatalog(std::shared_ptr<const WeightFiles> files);
  bool has(std::string_view name) const override;
  bool has_prefix(std::string_view prefix) const override;
  const WeightInfo& need(const std::string& name, const std::vector<int64_t>& shape) override;
  std::shared_ptr<const WeightSource> source() const override { return source_; }

 private:
  std::shared_ptr<const WeightFiles> files_;
  std::shared_ptr<const WeightSource> source_;
};

/// Weights of files and what recipes make of them. Bytes are read when they are asked for, into memory that goes with
/// the last handle: a file that became shorter, or fails, is an Error(failed) of who asks for them.
std::shared_ptr<const WeightSource> make_stored_weights(std::shared_ptr<const WeightFiles> files);

}  // namespace stormcell
