// Measuring runs several plans on one batch: it is read once.
#pragma once
#include <optional>

#include "core/data/dataset.h"

namespace stormcell {

/// The batch that was asked for last.
class KeptBatch {
 public:
  explicit KeptBatch(const Dataset& data) : data_(data) {}
  bool holds(int64_t number) const { return batch_ && batch_->index == number; }
  const Batch& at(int64_t number) {
    if (!holds(number)) batch_ = data_.batch(number);
    return *batch_;
  }

 private:
  const Dataset& data_;
  std::optional<Batch> batch_;
};

}  // namespace stormcell
