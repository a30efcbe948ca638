// Weights for tests of recipes.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/weights/recipe.h"
#include "core/weights/recipe_weights.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {

/// Tensors in memory; notes what is read of them.
class HeldTensors : public WeightSource {
 public:
  void add(const std::string& name, DType dtype, std::vector<int64_t> shape, const std::vector<float>& values) {
    Held held{{name, dtype, std::move(shape)}, {}};
    held.bytes.resize(static_cast<size_t>(held.info.bytes()));
    QCOMPARE(static_cast<size_t>(held.info.elements()), values.size());
    if (!values.empty()) from_f32(values.data(), held.bytes.data(), dtype, values.size());
    tensors_.insert_or_assign(name, std::move(held));
  }
  void add_stored(const std::string& name, DType dtype, std::vector<int64_t> shape, std::vector<std::byte> bytes) {
    Held held{{name, dtype, std::move(shape)}, std::move(bytes)};
    QCOMPARE(held.info.bytes(), static_cast<int64_t>(held.bytes.size()));
    tensors_.insert_or_assign(name, std::move(held));
  }
  void add_random(const std::string& name, DType dtype, std::vector<int64_t> shape, std::mt19937& random,
                  bool positive = false) {
    int64_t n = 1;
    for (const int64_t extent : shape) n *= extent;
    std::vector<float> values(static_cast<size_t>(n));
    for (float& v : values) v = static_cast<float>(random()) / 4294967296.0f * 4 - (positive ? -0.25f : 2);
    add(name, dtype, std::move(shape), values);
  }
  const WeightInfo* find(std::string_view name) const override {
    const auto at = tensors_.find(name);
    return at == tensors_.end() ? nullptr : &at->second.info;
  }
  std::shared_ptr<const std::byte> bytes(std::string_view name) const override {
    const std::vector<std::byte>& bytes = tensors_.find(name)->second.bytes;
    bytes_read += static_cast<int64_t>(bytes.size());
    return {std::shared_ptr<const void>(), bytes.data()};
  }
  std::shared_ptr<const std::byte> range(std::string_view name, int64_t first, int64_t count) const override {
    const std::vector<std::byte>& bytes = tensors_.find(name)->second.bytes;
    if (first < 0 || count < 0 || first + count > static_cast<int64_t>(bytes.size()))
      failed(name, "a part beyond its end");
    bytes_read += count;
    return {std::shared_ptr<const void>(), bytes.data() + first};
  }
  mutable std::atomic<int64_t> bytes_read = 0;

 private:
  struct Held {
    WeightInfo info;
    std::vector<std::byte> bytes;
  };
  std::map<std::string, Held, std::less<>> tensors_;
};

/// The values of a recipe; empty: the source does not make it.
inline std::vector<float> made(const WeightSource& source, const std::string& text) {
  const WeightInfo* info = source.find(text);
  if (!info) return {};
  std::vector<float> values(static_cast<size_t>(info->elements()));
  to_f32(source.bytes(text).get(), info->dtype, values.data(), values.size());
  return values;
}

/// The one text of a recipe.
inline std::string canonical(std::string_view text) { return to_text(parse_recipe(text, "recipe")); }

}  // namespace stormcell::testing
