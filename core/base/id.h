// Numbers that name things of one kind: an id of another kind, or a plain number, is not taken for one
// (docs/decisions/025-typed-ids.md).
#pragma once
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace stormcell {

/// No id of any kind; as a plain number -1.
struct NoId {
  constexpr operator int32_t() const { return -1; }  // NOLINT: symbols and branches are plain numbers
};
inline constexpr NoId kNone;

/// Integers but truth values.
template <class T>
concept Number = std::integral<T> && !std::same_as<T, bool>;

/// The number of a thing of the kind that `Tag` names, or none. 32 bits, copied like an integer. Made from a number,
/// and made into one, only in so many words: ValueId(3), static_cast<size_t>(id).
template <class Tag>
class Id {
 public:
  constexpr Id() = default;
  constexpr Id(NoId) {}  // NOLINT: kNone is of every kind
  constexpr explicit Id(Number auto number) : number_(static_cast<int32_t>(number)) {}
  template <Number T>
  constexpr explicit operator T() const {
    return static_cast<T>(number_);
  }
  /// The next one, for loops.
  constexpr Id& operator++() {
    ++number_;
    return *this;
  }
  friend constexpr bool operator==(Id, Id) = default;
  friend constexpr auto operator<=>(Id, Id) = default;
  friend std::string to_text(Id id) { return std::to_string(id.number_); }

 private:
  int32_t number_ = kNone;
};

}  // namespace stormcell

template <class Tag>
struct std::hash<stormcell::Id<Tag>> {
  size_t operator()(stormcell::Id<Tag> id) const noexcept { return static_cast<size_t>(id); }
};
