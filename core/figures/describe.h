// Describes the JSON of a struct: a visitor of fields() (core/summary/fields.h) that keeps keys, kinds and figures.
#pragma once
#include <array>
#include <concepts>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/figures/figure_tree.h"

namespace stormcell {

/// Identifies a type by its address.
template <class T>
inline constexpr char kTypeMark = 0;

/// The types that are being described, the innermost first. It ends the tree of a struct that holds itself.
struct TypesAbove {
  const void* type = nullptr;
  const TypesAbove* above = nullptr;

  bool hold(const void* other) const { return type == other || (above && above->hold(other)); }
};

template <class T>
struct IsReal : std::is_floating_point<T> {};
template <class T>
struct IsReal<std::optional<T>> : IsReal<T> {};

class Describer {
 public:
  Describer(FigureNode& into, const TypesAbove& above) : into_(into), above_(above) {}

  /// Whole numbers and flags are counted if their row has no Figure. A real number must say where it comes from.
  template <class T>
  void operator()(const char* key, const T&) {
    static_assert(!IsReal<T>::value, "a real number needs a Figure: counted, measured, predicted or simulated");
    add<T>(key, {});
  }
  template <class T>
  void operator()(const char* key, const T&, const Figure& figure) {
    add<T>(key, figure);
  }
  void schema(const auto&, const auto&) { text("schema"), text("version"); }
  void text_or_null(const char* key, const auto&) { text(key); }
  template <class T>
  void infinite_or_null(const char* key, const T&, const Figure& figure) {
    add<T>(key, figure);
  }
  template <class T>
  void null_unless(const char* key, const T&, bool, const Figure& figure = {}) {
    add<T>(key, figure);
  }
  void true_unless_said(const char* key, bool) { add<bool>(key, {}); }
  template <class T>
  void minus_one_unless_said(const char* key, const T&) {
    add<T>(key, {});
  }
  template <class T>
  void positive_or_null(const char* key, const T&, const Figure& figure = {}) {
    add<T>(key, figure);
  }
  template <class T>
  void left_out_if_empty(const char* key, const T&) {
    add<T>(key, {});
  }
  void word(const char* key, const auto&, auto) { text(key); }
  void withheld(const char* key, const auto&) {
    text(key);
    FigureNode& by = node(std::string(key) + "_by", {}, KeyKind::object);
    Describer members(by, above_);
    members("reason", std::string());
    members("measured", 0.0, Figure::measured("", "The number that was measured."));
    members("of", std::optional<double>(), Figure::counted("", "The number of held-out batches."));
  }
  void json(const char* key, const auto&) { node(key, {}, KeyKind::json); }
  void group(const char* key, auto members) {
    Describer inside(node(key, {}, KeyKind::object), above_);
    members(inside);
  }
  void group_or_null(const char* key, bool, auto members) { group(key, members); }
  template <class T>
  void list(const char* key, const std::vector<T>&, auto members) {
    FigureNode& list = node(key, {}, KeyKind::object);
    list.lists = 1;
    Describer inside(list, above_);
    const T element{};
    members(inside, element);
  }
  template <class T>
  void shared(const char* key, const std::shared_ptr<const T>&) {
    add<T>(key, {});
  }
  void decoded(const char* key, const auto&, const auto&) {
    FigureNode& sequences = node(key, {}, KeyKind::object);
    sequences.lists = 1;
    Describer inside(sequences, above_);
    inside.add<std::vector<int64_t>>("ids", {});
    inside.text("text");
  }
  template <class T>
  void derived(const char* key, const T& value) {
    (*this)(key, value);
  }
  template <class T>
  void derived(const char* key, const T& value, const Figure& figure) {
    (*this)(key, value, figure);
  }

 private:
  FigureNode& node(std::string key, const Figure& figure, KeyKind kind) {
    into_.members.push_back({.key = std::move(key), .figure = figure, .kind = kind});
    return into_.members.back();
  }
  void text(const char* key) { node(key, {}, KeyKind::text); }

  template <class T>
  void add(const char* key, const Figure& figure) {
    describe(node(key, figure, KeyKind::object), static_cast<const T*>(nullptr));
  }

  static void kind(FigureNode& node, KeyKind kind) {
    node.kind = kind;
    const bool counts = kind == KeyKind::whole || kind == KeyKind::flag;
    if (counts && node.figure.origin == Origin::unknown) node.figure.origin = Origin::counted;
  }
  void describe(FigureNode& node, const bool*) { kind(node, KeyKind::flag); }
  void describe(FigureNode& node, const std::integral auto*) { kind(node, KeyKind::whole); }
  void describe(FigureNode& node, const double*) { kind(node, KeyKind::number); }
  void describe(FigureNode& node, const std::string*) { kind(node, KeyKind::text); }
  void describe(FigureNode& node, const char* const*) { kind(node, KeyKind::text); }
  template <size_t n>
  void describe(FigureNode& node, const char (*)[n]) {
    kind(node, KeyKind::text);
  }
  void describe(FigureNode& node, const std::nullptr_t*) { kind(node, KeyKind::nothing); }
  /// Two numbers, which are named 0 and 1.
  void describe(FigureNode& node, const std::array<double, 2>*) { ++node.lists, kind(node, KeyKind::interval); }
  template <class T>
  void describe(FigureNode& node, const std::optional<T>*) {
    describe(node, static_cast<const T*>(nullptr));
  }
  template <class T>
  void describe(FigureNode& node, const std::vector<T>*) {
    ++node.lists;
    describe(node, static_cast<const T*>(nullptr));
  }
  template <class T>
  void describe(FigureNode& node, const std::map<std::string, T>*) {
    ++node.names;
    describe(node, static_cast<const T*>(nullptr));
  }
  /// A struct with fields() of its own.
  template <class T>
  void describe(FigureNode& node, const T*) {
    node.type = &kTypeMark<T>;
    node.again = above_.hold(node.type);
    if (node.again) return;
    const TypesAbove types{node.type, &above_};
    Describer members(node, types);
    const T object{};
    fields(members, object);
  }

  FigureNode& into_;
  const TypesAbove& above_;
};

/// The tree of a struct. `object` decides which keys there are if they depend on the verb.
template <class T>
FigureNode describe(const T& object = {}) {
  FigureNode root;
  root.type = &kTypeMark<T>;
  const TypesAbove types{root.type};
  Describer members(root, types);
  fields(members, object);
  return root;
}

}  // namespace stormcell
