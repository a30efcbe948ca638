#include "core/difference/place_causes.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/base/counted.h"
#include "core/base/listed_words.h"

namespace stormcell {
namespace {

constexpr int64_t kMostCells = 2000;  // that a test with many alternatives looks at
constexpr int32_t kFarthestLayer = 8, kFarthestToken = 4;

std::string share_of(double part) {
  const int64_t tenths = static_cast<int64_t>(part * 1000 + .5);
  return std::to_string(tenths / 10) + (tenths % 10 ? "." + std::to_string(tenths % 10) : "") + " %";
}

/// Each n-th cell, so that at most `most` are looked at.
int64_t stride_for(int64_t cells, int64_t most) { return std::max<int64_t>(1, (cells + most - 1) / most); }

std::string router_text(const TraceRouter& r) { return r.layer >= 0 ? std::to_string(r.layer) : r.name; }

/// Cells of one request and phase, which a recorder shifts or exchanges together.
struct Unit {
  int64_t request = 0;
  bool decode = false;
  auto operator<=>(const Unit&) const = default;
};

std::map<Unit, std::vector<int64_t>> units_of(const SampledStack& stack, bool by_phase) {
  std::map<Unit, std::vector<int64_t>> units;
  for (int64_t c = 0; c < std::ssize(stack.cells); ++c)
    units[{stack.cells[c].request, by_phase && stack.cells[c].decode}].push_back(c);
  return units;
}

/// Mean agreement over the routers of b's sampled cell with cell `cell_a` of a; -1: they have no router in common.
double agreement_with(const SampledChoices& sample, const SampledStack& stack, int64_t c, int64_t cell_a,
                      std::vector<int32_t>& ids) {
  double sum = 0;
  int64_t routers = 0;
  for (const RouterPair& pair : stack.pairs) {
    sample.store_a->ids(pair.a, cell_a, ids);
    const auto b = stack.b[pair.b].of(c);
    if (ids.empty() || b.empty()) continue;
    sum += agreement(ids, b);
    ++routers;
  }
  return routers > 0 ? sum / static_cast<double>(routers) : -1;
}

double agreement_as_is(const SampledChoices& sample, const SampledStack& stack, int64_t c, std::vector<int32_t>& ids) {
  return agreement_with(sample, stack, c, stack.cells[c].cell_a, ids);
}

PairedSums shifted_by(const SampledChoices& sample, const SampledStack& stack, const std::vector<int64_t>& cells,
                      int32_t shift) {
  PairedSums sums;
  std::vector<int32_t> ids;
  for (const int64_t c : cells) {
    const SampledCell& cell = stack.cells[c];
    const int64_t other = sample.index_a->find(stack.stack_a, cell.request, cell.position + shift);
    if (other < 0) continue;
    const double is = agreement_as_is(sample, stack, c, ids), would_be = agreement_with(sample, stack, c, other, ids);
    if (is >= 0 && would_be >= 0) sums.add(is, would_be);
  }
  return sums;
}

struct BestShift {
  int32_t shift = 0;
  PairedSums sums;
};
BestShift best_shift(const SampledChoices& sample, const SampledStack& stack, const std::vector<int64_t>& cells) {
  std::set<int32_t> shifts;
  for (int32_t s = 1; s <= kFarthestToken; ++s) shifts.insert(s), shifts.insert(-s);
  // Padding in front moves a request as far as it makes it longer.
  const int64_t request = stack.cells[cells[0]].request;
  const auto& in_a = sample.index_a->stacks()[stack.stack_a].requests;
  const std::vector<RequestPair>& pairs = sample.requests->pairs;
  const RequestPair& pair = *std::lower_bound(pairs.begin(), pairs.end(), request,
                                              [](const RequestPair& p, int64_t number) { return p.a < number; });
  if (pair.shift != 0) shifts.insert(pair.shift);
  for (const CellIndex::Stack& of_b : sample.index_b->stacks())
    if (const auto b = of_b.requests.find(pair.b); b != of_b.requests.end())
      if (const int32_t longer = in_a.at(request).end() - b->second.end(); longer != 0) shifts.insert(longer);
  BestShift best;
  for (const int32_t shift : shifts)
    if (PairedSums sums = shifted_by(sample, stack, cells, shift); sums.gain > best.sums.gain) best = {shift, sums};
  return best;
}

/// Neighbouring tokens often have the same choices, and then single requests show little: all of them together.
std::optional<FoundCause> shift_of_all(const SampledChoices& sample) {
  constexpr int64_t kCells = 20'000;
  // Eight shifts are tried. A model that routes by script or language changes its choices at few tokens: then a
  // handful of cells speak for the shift and none against it.
  constexpr double kBeyondChanceOfEight = 4, kSignChance = .005 / 8;
  BestShift best;
  for (int32_t s = -kFarthestToken; s <= kFarthestToken; ++s) {
    PairedSums sums;
    for (const SampledStack& stack : sample.stacks) {
      std::vector<int64_t> cells;
      const int64_t stride = stride_for(std::ssize(stack.cells), kCells);
      for (int64_t c = 0; c < std::ssize(stack.cells); c += stride) cells.push_back(c);
      sums.add(shifted_by(sample, stack, cells, s));
    }
    if (s != 0 && sums.gain > best.sums.gain) best = {s, sums};
  }
  if (best.shift == 0 || best.sums.explained() < kExplainedPart) return std::nullopt;
  if (best.sums.z() < kBeyondChanceOfEight && best.sums.sign_chance() > kSignChance) return std::nullopt;
  return FoundCause{DiffCause::token_shift, best.sums.explained(),
                    "over all requests the choices of b are those that a has " +
                        counted(std::abs(best.shift), "position") + (best.shift > 0 ? " later" : " earlier")};
}

/// Sums the disagreement of all sampled cells, each with the mean of its routers.
double cell_disagreement(const SampledChoices& sample) {
  double sum = 0;
  std::vector<int32_t> ids;
  for (const SampledStack& stack : sample.stacks)
    for (int64_t c = 0; c < std::ssize(stack.cells); ++c)
      if (const double is = agreement_as_is(sample, stack, c, ids); is >= 0) sum += 1 - is;
  return sum;
}

}  // namespace

double disagreement_of(const SampledChoices& sample) {
  double sum = 0;
  for (const SampledStack& stack : sample.stacks)
    for (const RouterPair& pair : stack.pairs)
      for (int64_t c = 0; c < std::ssize(stack.cells); ++c) {
        const auto a = stack.a[pair.a].of(c), b = stack.b[pair.b].of(c);
        if (!a.empty() && !b.empty()) sum += 1 - agreement(a, b);
      }
  return sum;
}

std::optional<FoundCause> find_layer_shift(const SampledChoices& sample) {
  const double all = disagreement_of(sample);
  if (all <= 0) return std::nullopt;
  const auto &routers_a = sample.index_a->header().routers, &routers_b = sample.index_b->header().routers;
  double gained = 0;
  std::map<int32_t, int64_t> shifts;
  std::vector<std::string> moved;
  for (const SampledStack& stack : sample.stacks) {
    const int64_t stride = stride_for(std::ssize(stack.cells), kMostCells);
    for (const RouterPair& pair : stack.pairs) {
      PairedSums best;
      int32_t from = -1;
      for (int32_t r = std::max(0, pair.a - kFarthestLayer);
           r <= std::min<int32_t>(pair.a + kFarthestLayer, static_cast<int32_t>(routers_a.size()) - 1); ++r) {
        if (r == pair.a || stack.a[r].empty()) continue;
        PairedSums sums;
        for (int64_t c = 0; c < std::ssize(stack.cells); c += stride) {
          const auto a = stack.a[pair.a].of(c), other = stack.a[r].of(c), b = stack.b[pair.b].of(c);
          if (!a.empty() && !b.empty() && !other.empty()) sums.add(agreement(a, b), agreement(other, b));
        }
        if (sums.gain > best.gain) best = sums, from = r;
      }
      if (from < 0 || best.explained() < kExplainedPart || best.z() < kBeyondChance) continue;
      gained += best.gain * static_cast<double>(stride);
      ++shifts[from - pair.a];
      moved.push_back(router_text(routers_b[pair.b]) + " those of " + router_text(routers_a[from]));
    }
  }
  if (moved.empty() || gained / all < kExplainedPart) return std::nullopt;
  const auto most =
      std::max_element(shifts.begin(), shifts.end(), [](const auto& x, const auto& y) { return x.second < y.second; });
  const int64_t by = most->first;
  return FoundCause{DiffCause::layer_shift, std::min(1.0, gained / all),
                    counted(std::ssize(moved), "router") + (moved.size() == 1 ? " of b has" : " of b have") +
                        " the choices of another layer of a, " + (shifts.size() == 1 ? "" : "mostly ") +
                        counted(std::abs(by), "router") + (by > 0 ? " further" : " before") + ": " + listed(moved, 3)};
}

std::optional<FoundCause> find_token_shift(const SampledChoices& sample) {
  double gained = 0;
  int64_t shifted = 0, units = 0;
  std::map<int32_t, int64_t> shifts;
  const double all = cell_disagreement(sample);
  if (all <= 0) return std::nullopt;
  for (const SampledStack& stack : sample.stacks)
    for (const auto& [unit, cells] : units_of(stack, true)) {
      ++units;
      std::vector<int64_t> some;
      const int64_t stride = stride_for(std::ssize(cells), 200);
      for (int64_t i = 0; i < std::ssize(cells); i += stride) some.push_back(cells[i]);
      const BestShift best = best_shift(sample, stack, some);
      constexpr double kBeyondChanceOfUnit = 3;  // all units together must explain half of everything
      if (best.shift == 0 || best.sums.explained() < kExplainedPart || best.sums.z() < kBeyondChanceOfUnit) continue;
      gained += best.sums.gain * static_cast<double>(stride);
      ++shifted;
      ++shifts[best.shift];
    }
  if (shifted == 0 || gained / all < kExplainedPart) return shift_of_all(sample);
  const auto most =
      std::max_element(shifts.begin(), shifts.end(), [](const auto& x, const auto& y) { return x.second < y.second; });
  const int64_t by = most->first;
  return FoundCause{DiffCause::token_shift, std::min(1.0, gained / all),
                    "in " + with_commas(shifted) + " of " + counted(units, "request or phase", "requests or phases") +
                        " the choices of b are those that a has " + counted(std::abs(by), "position") +
                        (by > 0 ? " later" : " earlier") + (shifts.size() == 1 ? "" : ", or at other distances")};
}

std::optional<FoundCause> find_exchanged_requests(const SampledChoices& sample) {
  const double all = cell_disagreement(sample);
  if (all <= 0) return std::nullopt;
  constexpr size_t kMostRequests = 64, kMostOthers = 1024;
  double gained = 0, tested = 0;
  std::set<int64_t> exchanged;
  std::vector<std::string> which;
  std::vector<int32_t> ids;
  for (const SampledStack& stack : sample.stacks) {
    struct Suspect {
      Unit unit;
      std::vector<int64_t> cells;
      double disagreement = 0;
    };
    std::vector<Suspect> suspects;
    for (auto& [unit, cells] : units_of(stack, false)) {
      Suspect suspect{unit, cells, 0};
      for (const int64_t c : cells)
        if (const double is = agreement_as_is(sample, stack, c, ids); is >= 0) suspect.disagreement += 1 - is;
      if (suspect.disagreement > 0) suspects.push_back(std::move(suspect));
    }
    std::stable_sort(suspects.begin(), suspects.end(),
                     [](const Suspect& x, const Suspect& y) { return x.disagreement > y.disagreement; });
    if (suspects.size() > kMostRequests) suspects.resize(kMostRequests);
    for (const Suspect& suspect : suspects) {
      tested += suspect.disagreement;
      PairedSums best;
      int64_t other_request = -1;
      size_t others = 0;
      const int64_t stride = stride_for(std::ssize(suspect.cells), 16);
      for (const RequestPair& pair : sample.requests->pairs) {
        if (pair.a == suspect.unit.request || ++others > kMostOthers) continue;
        PairedSums sums;
        for (int64_t i = 0; i < std::ssize(suspect.cells); i += stride) {
          const int64_t c = suspect.cells[i];
          const int64_t other = sample.index_a->find(stack.stack_a, pair.a, stack.cells[c].position);
          if (other < 0) continue;
          const double is = agreement_as_is(sample, stack, c, ids),
                       would_be = agreement_with(sample, stack, c, other, ids);
          if (is >= 0 && would_be >= 0) sums.add(is, would_be);
        }
        if (sums.gain > best.gain) best = sums, other_request = pair.a;
      }
      if (other_request < 0 || best.explained() < kExplainedPart || best.z() < kBeyondChance / 2) continue;
      gained += best.explained() * suspect.disagreement;
      if (exchanged.insert(suspect.unit.request).second)
        which.push_back(std::to_string(suspect.unit.request) + " those of " + std::to_string(other_request));
    }
  }
  // Requests beyond those that were tested are taken to be alike.
  if (exchanged.empty() || tested <= 0 || gained / tested < kExplainedPart) return std::nullopt;
  return FoundCause{DiffCause::requests_exchanged, std::min(1.0, gained / tested),
                    counted(std::ssize(exchanged), "request") + (exchanged.size() == 1 ? " of b has" : " of b have") +
                        " the choices of another request of a: " + listed(which, 3)};
}

std::optional<FoundCause> find_recorded_padding(const SampledChoices& sample) {
  const CellsAlone& alone = sample.requests->alone;
  const int64_t of_padding = alone.b_of_padding + alone.a_of_padding;
  if (of_padding > 0) {
    const bool in_b = alone.b_of_padding >= alone.a_of_padding;
    return FoundCause{DiffCause::padding_recorded, 1,
                      counted(of_padding, "cell is padding in ", "cells are padding in ") +
                          std::string(in_b ? "a and recorded as real in b" : "b and recorded as real in a")};
  }
  if (alone.only_a == 0 && alone.only_b == 0) return std::nullopt;
  const bool in_b = alone.only_b >= alone.only_a;
  // Padding makes all requests of a batch end alike, or repeats one token.
  std::set<int32_t> ends_longer, ends_shorter;
  std::map<int32_t, int64_t> tokens;
  int64_t known = 0, beyond = 0;
  const CellIndex &longer = in_b ? *sample.index_b : *sample.index_a,
                  &shorter = in_b ? *sample.index_a : *sample.index_b;
  for (const SampledStack& stack : sample.stacks) {
    const int32_t stack_b = sample.index_b->header().routers[stack.pairs[0].b].stack;
    const int32_t of_longer = in_b ? stack_b : stack.stack_a, of_shorter = in_b ? stack.stack_a : stack_b;
    for (const RequestPair& pair : sample.requests->pairs) {
      const auto &all_l = longer.stacks()[of_longer].requests, &all_s = shorter.stacks()[of_shorter].requests;
      const auto l = all_l.find(in_b ? pair.b : pair.a), s = all_s.find(in_b ? pair.a : pair.b);
      if (l == all_l.end() || s == all_s.end()) continue;
      ends_longer.insert(l->second.end()), ends_shorter.insert(s->second.end());
      for (const CellRun& run : l->second.runs)
        for (int32_t i = 0; i < run.count; ++i) {
          if (find_cell(s->second.runs, run.position + i) >= 0) continue;
          ++beyond;
          if (const int32_t token = longer.token(of_longer, run.cell + i); token >= 0) ++known, ++tokens[token];
        }
    }
  }
  int64_t most = 0;
  for (const auto& [token, count] : tokens) most = std::max(most, count);
  const bool one_token = known >= 4 && most * 10 >= known * 9;
  const bool even = ends_longer.size() < ends_shorter.size() && ends_longer.size() * 2 <= ends_shorter.size();
  if (!one_token && !even) return std::nullopt;
  return FoundCause{
      DiffCause::padding_recorded, 1,
      counted(beyond, "cell is", "cells are") + " in " + (in_b ? "b" : "a") + " alone, within requests of both: " +
          (one_token ? share_of(static_cast<double>(most) / static_cast<double>(known)) + " of them have one token"
                     : "there the requests end at " + counted(std::ssize(ends_longer), "position") + ", and at " +
                           std::to_string(ends_shorter.size()) + " in the other")};
}

}  // namespace stormcell
