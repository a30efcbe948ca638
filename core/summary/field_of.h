// Marks the functions that list the fields of a struct (fields.h).
#pragma once
#include <concepts>
#include <type_traits>

namespace stormcell {

/// True if T is Struct or const Struct: the rows serve writing and reading.
template <class T, class Struct>
concept Of = std::same_as<std::remove_const_t<T>, Struct>;

}  // namespace stormcell
