#include "core/difference/router_pairs.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/base/listed_words.h"

namespace stormcell {
namespace {

constexpr int32_t kMostShared = 8;  ///< shared experts of a layer, at most

using Routers = std::vector<TraceRouter>;

/// Pairs by a key of a router; nothing if a key is missing or comes twice.
template <class Key, class KeyOf>
std::optional<std::vector<RouterPair>> paired_by(const Routers& a, const Routers& b, KeyOf key_of) {
  const auto keys_of = [&](const Routers& routers) {
    std::map<Key, int32_t> keys;
    for (int32_t r = 0; r < std::ssize(routers); ++r)
      if (const std::optional<Key> key = key_of(routers[r])) keys.emplace(*key, r);
    return keys;
  };
  const std::map<Key, int32_t> in_a = keys_of(a), in_b = keys_of(b);
  if (in_a.size() != a.size() || in_b.size() != b.size()) return std::nullopt;
  std::vector<RouterPair> pairs;
  for (const auto& [key, r] : in_a)
    if (const auto other = in_b.find(key); other != in_b.end()) pairs.push_back({r, other->second});
  std::sort(pairs.begin(), pairs.end(), [](const RouterPair& x, const RouterPair& y) { return x.a < y.a; });
  return pairs;
}

std::string layers_text(const Routers& routers) {
  std::vector<std::string> names;
  for (const TraceRouter& r : routers) names.push_back(r.layer >= 0 ? std::to_string(r.layer) : r.name);
  return listed(names, 4);
}

std::vector<RouterPair> pairs_of(const Routers& a, const std::string& name_a, const Routers& b,
                                 const std::string& name_b) {
  const auto by_layer = paired_by<std::pair<int32_t, int32_t>>(a, b, [](const TraceRouter& r) {
    return r.layer >= 0 ? std::optional(std::pair(r.stack, r.layer)) : std::nullopt;
  });
  if (by_layer && !by_layer->empty()) return *by_layer;
  const auto by_name = paired_by<std::string>(
      a, b, [](const TraceRouter& r) { return r.name.empty() ? std::nullopt : std::optional(r.name); });
  // Names such as "layer.0" are given by place, and say no more than the order.
  const bool equal = a.size() == b.size(), by_place = a[0].name.starts_with("layer.");
  if (by_name && !by_name->empty() && !by_place && (!equal || by_name->size() == a.size())) return *by_name;
  if (!equal || by_layer)
    bad_input(name_b,
              "has layers that cannot be aligned with those of " + name_a + ": " + counted(std::ssize(b), "router") +
                  " (" + layers_text(b) + ") and not " + std::to_string(a.size()) + " (" + layers_text(a) + ")",
              "record the numbers of the layers: layer.N.layer of the native format, or import --model-config");
  std::vector<RouterPair> pairs;
  for (int32_t r = 0; r < std::ssize(a); ++r) pairs.push_back({r, r});
  return pairs;
}

bool states(const TraceHeader& header, std::string_view fact) {
  return std::find(header.lacks.begin(), header.lacks.end(), fact) == header.lacks.end();
}

void check_branches(const TraceHeader& a, const std::string& name_a, const TraceHeader& b, const std::string& name_b,
                    const std::vector<RouterPair>& pairs) {
  if (!states(a, "branches") || !states(b, "branches")) return;
  for (const RouterPair& pair : pairs) {
    const TraceRouter &ra = a.routers[pair.a], &rb = b.routers[pair.b];
    const int32_t more = rb.branches - ra.branches, more_choices = rb.fan_out - ra.fan_out;
    const bool shared = std::abs(more) <= kMostShared && more_choices != 0 && (more > 0) == (more_choices > 0);
    if (more != 0 && !shared)
      bad_input(name_b,
                "is of another model than " + name_a + ": " + rb.name + " has " + counted(rb.branches, "branch") +
                    " and not " + std::to_string(ra.branches),
                "compare recordings of one model");
  }
}

std::string only_in_text(const std::string& name, const Routers& routers, const std::set<int32_t>& paired) {
  std::vector<std::string> alone;
  for (int32_t r = 0; r < std::ssize(routers); ++r)
    if (!paired.contains(r)) alone.push_back(routers[r].name);
  if (alone.empty()) return {};
  return name + ": " + counted(std::ssize(alone), "router is", "routers are") +
         " in this recording alone: " + listed(alone, 4);
}

}  // namespace

RouterPairs pair_routers(const TraceHeader& a, const std::string& name_a, const TraceHeader& b,
                         const std::string& name_b) {
  RouterPairs out;
  const bool known = !a.fingerprint.empty() && !b.fingerprint.empty();
  const bool named = !a.model.empty() && !b.model.empty() && states(a, "model") && states(b, "model");
  if (known && a.fingerprint != b.fingerprint && named && a.model != b.model)
    bad_input(name_b, "is of another model than " + name_a + ": " + b.model + " and not " + a.model,
              "compare recordings of one model");
  out.pairs = pairs_of(a.routers, name_a, b.routers, name_b);
  check_branches(a, name_a, b, name_b, out.pairs);
  if (known && a.fingerprint != b.fingerprint)
    out.warnings.push_back(name_b + ": its weights are others than those of " + name_a);
  else if (!known && named && a.model != b.model)
    out.warnings.push_back("nobody knows whether " + name_b + " is of this model: it is named " + b.model +
                           " and not " + a.model + "; layers and experts agree");
  std::set<int32_t> in_a, in_b;
  for (const RouterPair& pair : out.pairs) in_a.insert(pair.a), in_b.insert(pair.b);
  for (const std::string& text : {only_in_text(name_a, a.routers, in_a), only_in_text(name_b, b.routers, in_b)})
    if (!text.empty()) out.warnings.push_back(text);
  return out;
}

}  // namespace stormcell
