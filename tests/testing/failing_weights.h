// Weights of a case that cannot be read any more from some time on.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "core/base/error.h"
#include "core/weights/weight_source.h"

namespace stormcell::testing {

/// When it is told to, every reading but the first few fails.
class FailingWeights final : public WeightSource {
 public:
  explicit FailingWeights(std::shared_ptr<const WeightSource> from) : from_(std::move(from)) {}
  const WeightInfo* find(std::string_view name) const override { return from_->find(name); }
  std::shared_ptr<const std::byte> bytes(std::string_view name) const override {
    if (left-- <= 0) failed("shard", "gave out");
    return from_->bytes(name);
  }
  mutable std::atomic<int64_t> left = INT64_MAX;

 private:
  std::shared_ptr<const WeightSource> from_;
};

}  // namespace stormcell::testing
