#include "core/difference/request_pairs.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "core/base/counted.h"
#include "core/base/error.h"

namespace stormcell {
namespace {

constexpr int32_t kMostShift = 8, kFewestTokens = 8;

/// Calls visit(position, cell of a, cell of b) for every position that both have.
template <class Visit>
void for_shared(const std::vector<CellRun>& a, const std::vector<CellRun>& b, int32_t shift, Visit visit) {
  auto x = a.begin();
  auto y = b.begin();
  while (x != a.end() && y != b.end()) {
    const int32_t begin = std::max(x->position, y->position + shift), end = std::min(x->end(), y->end() + shift);
    for (int32_t p = begin; p < end; ++p)
      visit(p - shift, x->cell + (p - x->position), y->cell + (p - shift - y->position));
    x->end() < y->end() + shift ? ++x : ++y;
  }
}

int64_t shared_cells(const std::vector<CellRun>& a, const std::vector<CellRun>& b) {
  int64_t shared = 0;
  for_shared(a, b, 0, [&](int32_t, int64_t, int64_t) { ++shared; });
  return shared;
}

class Matcher {
 public:
  Matcher(const CellIndex& a, const std::string& name_a, int32_t stack_a, const CellIndex& b, const std::string& name_b,
          int32_t stack_b)
      : a_(a), b_(b), name_a_(name_a), name_b_(name_b), sa_(stack_a), sb_(stack_b) {}

  RequestPairs match() {
    const auto &in_a = a_.stacks()[sa_].requests, &in_b = b_.stacks()[sb_].requests;
    out_.by_tokens = !a_.stacks()[sa_].tokens.empty() && !b_.stacks()[sb_].tokens.empty();
    std::vector<int64_t> conflicts, alone;
    for (const auto& [request, cells] : in_b) {
      const auto same = in_a.find(request);
      if (same == in_a.end())
        alone.push_back(request);
      else if (!first_other(same->second, cells, 0))
        out_.pairs.push_back({request, request, 0});
      else
        conflicts.push_back(request);
    }
    if (out_.by_tokens) pair_by_tokens(conflicts, alone);
    for (const int64_t request : conflicts) pair_shifted(request);
    std::sort(out_.pairs.begin(), out_.pairs.end(),
              [](const RequestPair& x, const RequestPair& y) { return x.a < y.a; });
    count_alone();
    return std::move(out_);
  }

 private:
  struct Other {
    int32_t position, in_a, in_b;
  };
  /// The first position at which the tokens differ, with b moved by `shift`.
  std::optional<Other> first_other(const RequestCells& a, const RequestCells& b, int32_t shift) const {
    std::optional<Other> first;
    if (!out_.by_tokens) return first;
    for_shared(a.runs, b.runs, shift, [&](int32_t position, int64_t cell_a, int64_t cell_b) {
      const int32_t x = a_.token(sa_, cell_a), y = b_.token(sb_, cell_b);
      if (!first && x >= 0 && y >= 0 && x != y) first = Other{position, x, y};
    });
    return first;
  }

  static uint64_t digest(const CellIndex& index, int32_t stack, const RequestCells& cells) {
    uint64_t hash = 0xcbf29ce484222325;
    for (const CellRun& run : cells.runs)
      for (int32_t i = 0; i < run.count; ++i)
        for (const int64_t value : {int64_t{run.position} + i, int64_t{index.token(stack, run.cell + i)}})
          hash = (hash ^ static_cast<uint64_t>(value)) * 0x100000001b3;
    return hash;
  }

  /// Requests of b that have no request of their number, or one with other tokens: takes those of a with all their
  /// tokens. What is found is taken out of both lists.
  void pair_by_tokens(std::vector<int64_t>& conflicts, std::vector<int64_t>& alone) {
    if (conflicts.empty() && alone.empty()) return;
    std::unordered_map<uint64_t, std::vector<int64_t>> free;
    std::map<int64_t, int64_t> taken;
    for (const RequestPair& pair : out_.pairs) taken.emplace(pair.a, pair.b);
    for (const auto& [request, cells] : a_.stacks()[sa_].requests)
      if (!taken.contains(request)) free[digest(a_, sa_, cells)].push_back(request);
    for (auto& [hash, requests] : free) std::reverse(requests.begin(), requests.end());
    const auto find = [&](int64_t request) {
      const auto at = free.find(digest(b_, sb_, b_.stacks()[sb_].requests.at(request)));
      if (at == free.end() || at->second.empty()) return false;
      const int64_t other = at->second.back();
      at->second.pop_back();
      out_.pairs.push_back({other, request, 0});
      ++out_.renumbered;
      return true;
    };
    const size_t before = conflicts.size();
    std::erase_if(conflicts, find);
    out_.exchanged = static_cast<int64_t>(before - conflicts.size());
    std::erase_if(alone, find);
  }

  void pair_shifted(int64_t request) {
    const RequestCells &a = a_.stacks()[sa_].requests.at(request), &b = b_.stacks()[sb_].requests.at(request);
    std::vector<int32_t> shifts;
    for (int32_t s = 1; s <= kMostShift; ++s) shifts.push_back(s), shifts.push_back(-s);
    if (a.end() != b.end()) shifts.push_back(a.end() - b.end());
    for (const int32_t shift : shifts) {
      int64_t shared = 0;
      for_shared(a.runs, b.runs, shift, [&](int32_t, int64_t, int64_t) { ++shared; });
      if (shared < kFewestTokens || first_other(a, b, shift)) continue;
      out_.pairs.push_back({request, request, shift});
      ++out_.shifted;
      return;
    }
    const Other other = *first_other(a, b, 0);
    bad_input(name_b_,
              "has other tokens than " + name_a_ + ": request " + std::to_string(request) + " has token " +
                  std::to_string(other.in_b) + " at position " + std::to_string(other.position) + " and not " +
                  std::to_string(other.in_a),
              "record the same tokens in both, or leave this request out");
  }

  void count_alone() {
    const auto &in_a = a_.stacks()[sa_].requests, &in_b = b_.stacks()[sb_].requests;
    for (const RequestPair& pair : out_.pairs) {
      const RequestCells &a = in_a.at(pair.a), &b = in_b.at(pair.b);
      const int64_t shared = shared_cells(a.runs, b.runs);
      out_.matched_cells += shared;
      out_.alone.only_a += a.cells() - shared, out_.alone.only_b += b.cells() - shared;
      out_.alone.b_of_padding += shared_cells(a.padding, b.runs);
      out_.alone.a_of_padding += shared_cells(a.runs, b.padding);
    }
    const auto pairs = std::ssize(out_.pairs);
    out_.only_a = std::ssize(in_a) - pairs, out_.only_b = std::ssize(in_b) - pairs;
    const auto range = [](const auto& requests) {
      if (requests.empty()) return std::string("none");
      return std::to_string(requests.begin()->first) + " to " + std::to_string(requests.rbegin()->first);
    };
    if (pairs == 0)
      bad_input(
          name_b_,
          "shares no request with " + name_a_ + ": its requests are " + range(in_b) + ", the others " + range(in_a),
          "record the same requests in the same order, or with token ids");
    if (out_.matched_cells == 0)
      bad_input(name_b_, "shares no token with " + name_a_ + ": its requests have other positions",
                "record the same tokens in both");
    for (const auto& [count, name] : {std::pair(out_.only_a, name_a_), std::pair(out_.only_b, name_b_)})
      if (count > 0)
        out_.warnings.push_back(name + ": " +
                                counted(count, "request is in this recording alone, and is left out",
                                        "requests are in this recording alone, and are left out"));
  }

  const CellIndex &a_, &b_;
  const std::string &name_a_, &name_b_;
  const int32_t sa_, sb_;
  RequestPairs out_;
};

}  // namespace

std::map<int64_t, int64_t> RequestPairs::a_of_b() const {
  std::map<int64_t, int64_t> of;
  for (const RequestPair& pair : pairs) of.emplace(pair.b, pair.a);
  return of;
}

RequestPairs pair_requests(const CellIndex& a, const std::string& name_a, int32_t stack_a, const CellIndex& b,
                           const std::string& name_b, int32_t stack_b) {
  return Matcher(a, name_a, stack_a, b, name_b, stack_b).match();
}

}  // namespace stormcell
