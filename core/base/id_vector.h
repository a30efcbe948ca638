// Values by id. Ids are signed, so that kNone is one; places of a vector are not.
#pragma once
#include <concepts>
#include <cstddef>
#include <vector>

namespace stormcell {

/// A vector whose places are ids or other counting numbers, never negative.
template <class Value>
class IdVector : public std::vector<Value> {
 public:
  using std::vector<Value>::vector;
  decltype(auto) operator[](std::integral auto id) { return std::vector<Value>::operator[](static_cast<size_t>(id)); }
  decltype(auto) operator[](std::integral auto id) const { return std::vector<Value>::operator[](static_cast<size_t>(id)); }
};

}  // namespace stormcell
