#include "core/graph/dim.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "core/base/error.h"

namespace stormcell {
namespace {
constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
// Far above any model's; they keep a hostile text from growing polynomials without end.
constexpr size_t kMostTerms = 256, kMostFactors = 64, kMostText = 1024;
int64_t saturated_product(int64_t a, int64_t b) {
  int64_t r = 0;
  return __builtin_mul_overflow(a, b, &r) ? kMost : r;
}
int64_t saturated_sum(int64_t a, int64_t b) {
  int64_t r = 0;
  return __builtin_add_overflow(a, b, &r) ? kMost : r;
}
}  // namespace

Dim::Dim(int64_t constant) {
  if (constant != 0) terms_.push_back({{}, constant});
}

SymbolId Dim::only_symbol() const {
  return terms_.size() == 1 && terms_[0].symbols.size() == 1 && terms_[0].factor == 1 ? terms_[0].symbols[0] : -1;
}

Dim Dim::symbol(SymbolId id) {
  Dim d;
  d.terms_.push_back({{id}, 1});
  return d;
}

void Dim::add(const Term& term) {
  const auto at = std::lower_bound(terms_.begin(), terms_.end(), term,
                                   [](const Term& a, const Term& b) { return a.symbols < b.symbols; });
  if (at == terms_.end() || at->symbols != term.symbols) {
    if (terms_.size() >= kMostTerms || term.symbols.size() > kMostFactors)
      bad_input("extent", "expected at most 256 terms of 64 symbols");
    terms_.insert(at, term);
  } else if ((at->factor = saturated_sum(at->factor, term.factor)) == 0) {
    terms_.erase(at);
  }
}

Dim Dim::operator+(const Dim& other) const {
  Dim sum = *this;
  for (const Term& term : other.terms_) sum.add(term);
  return sum;
}

Dim Dim::operator*(const Dim& other) const {
  Dim product;
  for (const Term& a : terms_)
    for (const Term& b : other.terms_) {
      Term term{a.symbols, saturated_product(a.factor, b.factor)};
      term.symbols.insert(term.symbols.end(), b.symbols.begin(), b.symbols.end());
      std::sort(term.symbols.begin(), term.symbols.end());
      product.add(term);
    }
  return product;
}

bool Dim::is_constant() const { return terms_.empty() || (terms_.size() == 1 && terms_[0].symbols.empty()); }

int64_t Dim::constant() const {
  if (!is_constant()) failed("graph", "expected a constant extent, got a symbolic one");
  return terms_.empty() ? 0 : terms_[0].factor;
}

int64_t Dim::evaluate(std::span<const int64_t> bindings) const {
  int64_t sum = 0;
  for (const Term& term : terms_) {
    int64_t product = term.factor;
    for (const SymbolId s : term.symbols) product = saturated_product(product, bindings[s]);
    sum = saturated_sum(sum, product);
  }
  return sum;
}

std::string Dim::to_text(std::span<const std::string> symbols) const {
  std::string text;
  for (const Term& term : terms_) {
    if (!text.empty()) text += '+';
    if (term.factor != 1 || term.symbols.empty()) text += std::to_string(term.factor);
    for (size_t i = 0; i < term.symbols.size(); ++i) {
      if (i > 0 || term.factor != 1) text += '*';
      text += symbols[term.symbols[i]];
    }
  }
  return text.empty() ? "0" : text;
}

Dim Dim::parse(std::string_view text, std::span<const std::string> symbols, std::string_view where) {
  Dim sum;
  if (text.empty() || text.back() == '+' || text.size() > kMostText)
    bad_input(where, "expected an extent as \"8*N*T\" or \"P+T\"");
  while (!text.empty()) {
    const size_t plus = std::min(text.find('+'), text.size());
    std::string_view product = text.substr(0, plus);
    text.remove_prefix(std::min(plus + 1, text.size()));
    if (product.empty() || product.back() == '*') bad_input(where, "expected an extent as \"8*N*T\" or \"P+T\"");
    Dim term(1);
    while (!product.empty()) {
      const size_t star = std::min(product.find('*'), product.size());
      const std::string_view factor = product.substr(0, star);
      product.remove_prefix(std::min(star + 1, product.size()));
      int64_t number = 0;
      const auto [end, error] = std::from_chars(factor.data(), factor.data() + factor.size(), number);
      if (error == std::errc() && end == factor.data() + factor.size()) {
        term = term * Dim(number);
        continue;
      }
      const auto at = std::find(symbols.begin(), symbols.end(), factor);
      if (at == symbols.end())
        bad_input(where, "unknown symbol \"" + std::string(factor) + "\" in an extent", "declare it first");
      term = term * Dim::symbol(static_cast<SymbolId>(at - symbols.begin()));
    }
    sum = sum + term;
  }
  return sum;
}

}  // namespace stormcell
