// Classes that the data give an item, whether a model's answers are judged by them or not.
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

  /// True if an item may have several classes, those of the pixels of its target, judged or not. Else it has one, its
  /// label.
  bool may_be_several() const { return data_.has_target_classes(); }
  /// Classes of the batch's item number `at`; empty: the data give none.
  std::vector<std::string> of(const Batch& batch, size_t at) const;
  /// Orders classes by number; names without a number follow in alphabetical order.
  bool before(const std::string& a, const std::string& b) const;

 private:
  int64_t number_of(const std::string& name) const;
  const Model& model_;
  const Dataset& data_;
  std::map<std::string, int64_t> numbers_;  ///< of the classes that have a name
};

}  // namespace stormcell
