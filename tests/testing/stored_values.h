// Values of a .safetensors file, and how far two lists of them lie apart.
#pragma once
#include <cstring>
#include <string>
#include <vector>

#include "core/formats/safetensors.h"

namespace stormcell::testing {

/// Elements of a tensor whose type is T; none where it is absent.
template <class T>
std::vector<T> values_of(const SafetensorsFile& file, const std::string& name) {
  const StoredTensor* t = file.find(name);
  if (!t) return {};
  std::vector<T> values(static_cast<size_t>(t->elements()));
  std::memcpy(values.data(), t->bytes.data(), values.size() * sizeof(T));
  return values;
}

}  // namespace stormcell::testing
