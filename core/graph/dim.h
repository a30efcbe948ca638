// Symbolic extents: polynomials with integer coefficients over named symbols (batch, length, past, ...).
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stormcell {

using SymbolId = int32_t;

/// Values of the symbols, by SymbolId.
using Bindings = std::vector<int64_t>;

/// A sum of integer multiples of products of symbols, in one canonical order, so that equal extents compare equal.
class Dim {
 public:
  Dim(int64_t constant = 0);  // NOLINT: an integer is an extent
  static Dim symbol(SymbolId id);

  Dim operator+(const Dim& other) const;
  Dim operator*(const Dim& other) const;
  bool operator==(const Dim&) const = default;

  bool is_constant() const;
  /// The value of a constant extent; throws Error when symbolic.
  int64_t constant() const;
  /// The symbol that it is, nothing added and not multiplied; -1: it is something else.
  SymbolId only_symbol() const;
  /// Saturates at INT64_MAX instead of overflowing.
  int64_t evaluate(std::span<const int64_t> bindings) const;
  /// "8*N*T", "P+T", "0".
  std::string to_text(std::span<const std::string> symbols) const;
  /// Reads what to_text writes; unknown symbols are an Error that names `where`.
  static Dim parse(std::string_view text, std::span<const std::string> symbols, std::string_view where);

 private:
  struct Term {
    std::vector<SymbolId> symbols;  // ascending
    int64_t factor;
    bool operator==(const Term&) const = default;
  };
  void add(const Term& term);
  std::vector<Term> terms_;  // ordered by symbols, no zero factors
};

}  // namespace stormcell
