// Reads the ids of experts from one field of an answer, in all forms that servers write.
#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/traces/json_values.h"

namespace stormcell {

struct RoutedIds {
  bool there = false;        ///< the field has a value
  std::vector<int32_t> ids;  ///< [rows, layers, width]
  /// The field's own shape; -1 for base64 of raw numbers, which has none.
  int64_t rows = -1, layers = -1, width = -1;
  int64_t start = -1;       ///< the position of the first row, if the field states it
  bool like_int64 = false;  ///< base64 of raw numbers that look like int64; they were read as int32
  bool has_shape() const { return rows >= 0; }
  bool empty() const { return ids.empty(); }
};

/// Accepts base64 of raw int32 (SGLang), base64 of an .npy (vLLM), nested lists [rows][layers][width], or an object
/// with data as base64, shape and dtype (Dynamo). Null is no value. Errors name the file, the line and `name`.
RoutedIds read_routed_ids(const nlohmann::json& value, const std::string& name, const JsonRow& row);

}  // namespace stormcell
