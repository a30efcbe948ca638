// The tensors exit.* that the recorder of exits writes beside its decisions.
#pragma once
#include <cstdint>
#include <string>

#include "core/traces/traced_exits.h"

namespace stormcell {

class SafetensorsFile;
struct StoredTensor;

struct ExitTensors {
  const StoredTensor* confidence = nullptr;  ///< f32 [cells, exits]; null: the file has no such tensors
  const StoredTensor* label = nullptr;       ///< i32 [cells], -1: none; null: no labels
  TracedExits figures;
};
/// Reads exit.confidence f32 and exit.prediction i32 [cells, exits], exit.label i32 [cells], exit.seconds f64 [passes,
/// exits]; only the first is required. Error(bad_input) that names `path`: another type or shape, a confidence that is
/// no probability, a label below -1.
ExitTensors read_exit_tensors(const SafetensorsFile& file, int64_t cells, const std::string& path);

}  // namespace stormcell
