#include "core/graph/protocol_attributes.h"

#include "core/base/error.h"

namespace stormcell {
namespace {
constexpr const char* kSoftmax[] = {"none", "before", "after"};
constexpr const char* kDropped[] = {"zero", "scaled_input"};
template <size_t N>
size_t index_of(const char* const (&names)[N], const std::string& name, const char* what) {
  for (size_t i = 0; i < N; ++i)
    if (name == names[i]) return i;
  bad_input(std::string("attribute ") + what, "unknown value \"" + name + "\"");
}
}  // namespace

Attributes to_attributes(const Protocol& p) {
  Attributes a;
  const Protocol defaults;
  a.set("protocol", std::string(to_text(p.kind)));
  if (p.k != defaults.k) a.set("k", int64_t{p.k});
  if (p.softmax != defaults.softmax) a.set("softmax", std::string(kSoftmax[static_cast<size_t>(p.softmax)]));
  if (p.renormalize) a.set("renormalize", int64_t{1});
  if (p.capacity != 0) a.set("capacity", int64_t{p.capacity});
  if (p.dropped != defaults.dropped) a.set("dropped", std::string(kDropped[static_cast<size_t>(p.dropped)]));
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
  p.softmax = static_cast<SoftmaxPlace>(index_of(kSoftmax, a.word("softmax", "before"), "softmax"));
  p.renormalize = a.integer("renormalize", 0) != 0;
  p.capacity = static_cast<int32_t>(a.integer("capacity", 0));
  p.dropped = static_cast<DroppedCells>(index_of(kDropped, a.word("dropped", "zero"), "dropped"));
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
