// Values of a .safetensors file, and how far two lists of them lie apart.
#pragma once
#include <algorithm>
#include <cmath>
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

/// The largest |a - b| over the largest |b|; infinite where they are not equally many.
inline float relative_difference(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size()) return INFINITY;
  float largest = 0, difference = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    largest = std::max(largest, std::fabs(b[i]));
    difference = std::max(difference, std::fabs(a[i] - b[i]));
  }
  return difference / largest;
}

}  // namespace stormcell::testing
