// Annotations are what a plan says of nodes and values beside what they compute: which kernel runs a node, in which
// format a value lies or a weight is multiplied, whether a weight stays in memory under a budget. The meaning of a
// graph never depends on them: types stay; oracle, verifier, costs and cell flow do not read them; devices do.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stormcell {

/// The keys; annotation_rules.h says which words they take.
inline constexpr std::string_view kKernel = "kernel", kStorage = "storage", kFormat = "format",
                                  kResidency = "residency";

/// Words by key, ordered by key, so that the text form is canonical.
class Annotations {
 public:
  bool empty() const { return list_.empty(); }
  /// nullptr where nothing is said.
  const std::string* find(std::string_view key) const;
  void set(std::string_view key, std::string_view word);
  auto begin() const { return list_.begin(); }
  auto end() const { return list_.end(); }
  bool operator==(const Annotations&) const = default;

 private:
  std::vector<std::pair<std::string, std::string>> list_;
};

/// " @key=word" for each.
std::string to_text(const Annotations& annotations);

}  // namespace stormcell
