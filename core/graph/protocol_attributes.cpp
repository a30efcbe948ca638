#include "core/graph/protocol_attributes.h"

#include <algorithm>

#include "core/base/error.h"

namespace stormcell {
namespace {
/// Which of the words with blanks between it is.
size_t index_of(std::string_view words, std::string_view word) {
  size_t index = 0;
  for (size_t at = 0; at < words.size(); ++index) {
    const size_t end = std::min(words.find(' ', at), words.size());
    if (words.substr(at, end - at) == word) return index;
    at = end + 1;
  }
  bad_input("protocol", "unknown word \"" + std::string(word) + "\"", "one of " + std::string(words));
}
std::string word_at(std::string_view words, size_t index) {
  for (; index > 0; --index) words.remove_prefix(words.find(' ') + 1);
  return std::string(words.substr(0, words.find(' ')));
}
}  // namespace

Attributes to_attributes(const Protocol& p) {
  Attributes a;
  const Protocol defaults;
  a.set("protocol", std::string(to_text(p.kind)));
  if (p.k != defaults.k) a.set("k", int64_t{p.k});
  if (p.softmax != defaults.softmax) a.set("softmax", word_at(kSoftmaxWords, static_cast<size_t>(p.softmax)));
  if (p.renormalize) a.set("renormalize", int64_t{1});
  if (p.capacity != 0) a.set("capacity", int64_t{p.capacity});
  if (p.dropped != defaults.dropped) a.set("dropped", word_at(kDroppedWords, static_cast<size_t>(p.dropped)));
  if (p.capacity_factor != 0) a.set("capacity_factor", p.capacity_factor);
  if (p.threshold != 0) a.set("threshold", static_cast<double>(p.threshold));
  if (p.residual != defaults.residual) a.set("residual", int64_t{p.residual});
  if (p.groups != 1) a.set("groups", int64_t{p.groups});
  if (p.groups_kept != 1) a.set("groups_kept", int64_t{p.groups_kept});
  if (p.scale != 1) a.set("scale", static_cast<double>(p.scale));
  if (p.seed != 0) a.set("seed", static_cast<int64_t>(p.seed));
  if (!p.supported_capacities.empty())
    a.set("supported_capacities", std::vector<int64_t>(p.supported_capacities.begin(), p.supported_capacities.end()));
  if (p.capacity_padding) a.set("capacity_padding", int64_t{1});
  if (p.path_wise_padding) a.set("path_wise_padding", int64_t{1});
  return a;
}

Protocol protocol_of(const Attributes& a) {
  Protocol p;
  p.kind = parse_protocol(a.word("protocol"), "attribute protocol");
  p.k = static_cast<int32_t>(a.integer("k", 1));
  p.softmax = static_cast<SoftmaxPlace>(index_of(kSoftmaxWords, a.word("softmax", "before")));
  p.renormalize = a.integer("renormalize", 0) != 0;
  p.capacity = static_cast<int32_t>(a.integer("capacity", 0));
  p.dropped = static_cast<DroppedCells>(index_of(kDroppedWords, a.word("dropped", "zero")));
  p.capacity_factor = a.real("capacity_factor", 0);
  p.threshold = static_cast<float>(a.real("threshold", 0));
  p.residual = static_cast<int32_t>(a.integer("residual", -1));
  p.groups = static_cast<int32_t>(a.integer("groups", 1));
  p.groups_kept = static_cast<int32_t>(a.integer("groups_kept", 1));
  p.scale = static_cast<float>(a.real("scale", 1));
  p.seed = static_cast<uint64_t>(a.integer("seed", 0));
  if (a.has("supported_capacities"))
    for (const int64_t c : a.list("supported_capacities")) p.supported_capacities.push_back(static_cast<int32_t>(c));
  p.capacity_padding = a.integer("capacity_padding", 0) != 0;
  p.path_wise_padding = a.integer("path_wise_padding", 0) != 0;
  return p;
}

}  // namespace stormcell
