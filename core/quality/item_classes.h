// What the data say an item is, or shows, whether a model's answers are judged by it or not.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/data/dataset.h"
#include "core/models/model.h"

namespace stormcell {

class ItemClasses {
 public:
  /// Data and model must outlive it.
  ItemClasses(const Model& model, const Dataset& data);

  /// An item may have several: those of the pixels of its target, judged or not. Else it has one, its label.
  bool may_be_several() const { return data_.has_target_classes(); }
  /// Of the batch's item number `at`; empty: the data do not say.
  std::vector<std::string> of(const Batch& batch, size_t at) const;
  /// The order of classes: that of their numbers, names without one behind them by alphabet.
  bool before(const std::string& a, const std::string& b) const;

 private:
  int64_t number_of(const std::string& name) const;
  const Model& model_;
  const Dataset& data_;
  std::map<std::string, int64_t> numbers_;  ///< of the classes that have a name
};

}  // namespace stormcell
