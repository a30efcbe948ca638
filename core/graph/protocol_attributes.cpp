#include "core/graph/protocol_attributes.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/nearest_words.h"
#include "core/cell/protocol_row.h"

namespace stormcell {
namespace {
/// The place of a word in a list with blanks between.
size_t index_of(std::string_view words, std::string_view word) {
  std::vector<std::string> known;
  for (size_t at = 0; at < words.size();) {
    const size_t end = std::min(words.find(' ', at), words.size());
    if (words.substr(at, end - at) == word) return known.size();
    known.emplace_back(words.substr(at, end - at));
    at = end + 1;
  }
  bad_input("protocol", "unknown word \"" + std::string(word) + "\"", advice_on_word(word, known));
}
std::string word_at(std::string_view words, size_t index) {
  for (; index > 0; --index) words.remove_prefix(words.find(' ') + 1);
  return std::string(words.substr(0, words.find(' ')));
}
}  // namespace

// Attributes that equal those of a default Protocol are left out.
Attributes to_attributes(const Protocol& p) {
  Attributes a;
  const Protocol d;
  a.set("protocol", std::string(to_text(p.kind)));
  if (p.k != d.k) a.set("k", int64_t{p.k});
  if (p.softmax != d.softmax) a.set("softmax", word_at(kSoftmaxWords, static_cast<size_t>(p.softmax)));
  if (p.renormalize != d.renormalize) a.set("renormalize", int64_t{p.renormalize});
  if (p.capacity != d.capacity) a.set("capacity", int64_t{p.capacity});
  if (p.dropped != d.dropped) a.set("dropped", word_at(kDroppedWords, static_cast<size_t>(p.dropped)));
  if (p.capacity_factor != d.capacity_factor) a.set("capacity_factor", p.capacity_factor);
  if (p.threshold != d.threshold) a.set("threshold", static_cast<double>(p.threshold));
  if (p.residual != d.residual) a.set("residual", int64_t{p.residual});
  if (p.groups != d.groups) a.set("groups", int64_t{p.groups});
  if (p.groups_kept != d.groups_kept) a.set("groups_kept", int64_t{p.groups_kept});
  if (p.scale != d.scale) a.set("scale", static_cast<double>(p.scale));
  if (p.seed != d.seed) a.set("seed", static_cast<int64_t>(p.seed));
  if (!p.off.empty()) a.set("off", std::vector<int64_t>(p.off.begin(), p.off.end()));
  if (!p.supported_capacities.empty())
    a.set("supported_capacities", std::vector<int64_t>(p.supported_capacities.begin(), p.supported_capacities.end()));
  if (p.capacity_padding != d.capacity_padding) a.set("capacity_padding", int64_t{p.capacity_padding});
  if (p.path_wise_padding != d.path_wise_padding) a.set("path_wise_padding", int64_t{p.path_wise_padding});
  return a;
}

Protocol protocol_of(const Attributes& a) {
  Protocol p;
  p.kind = parse_protocol(a.word("protocol"), "attribute protocol");
  p.k = static_cast<int32_t>(a.integer("k", p.k));
  if (a.has("softmax")) p.softmax = static_cast<SoftmaxPlace>(index_of(kSoftmaxWords, a.word("softmax")));
  p.renormalize = a.integer("renormalize", p.renormalize) != 0;
  p.capacity = static_cast<int32_t>(a.integer("capacity", p.capacity));
  if (a.has("dropped")) p.dropped = static_cast<DroppedCells>(index_of(kDroppedWords, a.word("dropped")));
  p.capacity_factor = a.real("capacity_factor", p.capacity_factor);
  p.threshold = static_cast<float>(a.real("threshold", static_cast<double>(p.threshold)));
  p.residual = static_cast<int32_t>(a.integer("residual", p.residual));
  p.groups = static_cast<int32_t>(a.integer("groups", p.groups));
  p.groups_kept = static_cast<int32_t>(a.integer("groups_kept", p.groups_kept));
  p.scale = static_cast<float>(a.real("scale", static_cast<double>(p.scale)));
  p.seed = static_cast<uint64_t>(a.integer("seed", static_cast<int64_t>(p.seed)));
  if (a.has("off"))
    for (const int64_t b : a.list("off")) p.off.push_back(static_cast<int32_t>(b));
  if (a.has("supported_capacities"))
    for (const int64_t c : a.list("supported_capacities")) p.supported_capacities.push_back(static_cast<int32_t>(c));
  p.capacity_padding = a.integer("capacity_padding", p.capacity_padding) != 0;
  p.path_wise_padding = a.integer("path_wise_padding", p.path_wise_padding) != 0;
  return p;
}

}  // namespace stormcell
