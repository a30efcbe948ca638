#include "core/exports/changed_choices.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/base/nearest_words.h"
#include "core/cell/decision.h"
#include "core/cell/protocol_row.h"
#include "core/formats/tensor_file.h"
#include "core/readings/lacks.h"

namespace stormcell {
namespace {

constexpr int64_t kMostChoicesHeld = int64_t{1} << 28;
constexpr int32_t kFileAsRecorded = -2;

/// The row of a recorded router's protocol; null: the recording does not say, or an unknown one.
const ProtocolRow* row_of_protocol(const std::string& name) {
  for (const ProtocolRow& row : protocols())
    if (row.name == name) return &row;
  return nullptr;
}

/// One router of the run, its change and its choices.
struct ChangedRouter {
  int32_t number = 0;  ///< in the layout
  RouterInfo info;
  std::set<int32_t> off;
  ReplayedLayer layer;
};

/// The choices of one cell while they are changed, the best first as far as that is known.
struct CellOfRouter {
  const StoredDecision& decision;
  int64_t cell = 0;

  std::span<const int32_t> recorded() const {
    return std::span(decision.choice).subspan(cell * decision.fan_out, decision.fan_out);
  }
  bool has_scores() const { return decision.score_columns == decision.branches && !decision.scores.empty(); }
  /// NaN is below all, as for every router.
  float score(int32_t branch) const {
    const float s = decision.scores[cell * decision.score_columns + branch];
    return std::isnan(s) ? -std::numeric_limits<float>::infinity() : s;
  }
  float weight(int64_t choice) const { return decision.weight[cell * decision.fan_out + choice]; }
};

class ChoiceChanger {
 public:
  ChoiceChanger(const SessionReader& session, const RunSummary& run, const Intervention& change)
      : session_(session), run_(run), change_(change), layout_(session.layout(run.id)) {
    if (!change.capacities.empty())
      bad_input("--capacity", "a recording says who was chosen, and a replay has no word for a cell that is dropped",
                "leave it out, or run the model itself");
    choose_routers();
    set_off();
    check_k();
    if (!change.force.empty()) forced_.emplace(change.force);
  }

  ChangedChoices read(const Progress& progress) {
    for (const BatchSummary& batch : session_.batches(run_.id)) {
      progress.report("changing choices", batch.number, run_.batches);
      for (const BatchSpace& space : session_.spaces(run_.id, batch.number))
        if (space.space == space_) add_batch(batch.number, space);
    }
    if (result_.tokens.empty()) bad_input(where(), "holds no choices of real cells", "record some with profile");
    if (forced_ && !used_forced_)
      bad_input(change_.force,
                "holds no choices of this run, tensors such as b0." + routers_.front().info.name + ".branch",
                "write such a file with run --outputs");
    for (ChangedRouter& r : routers_) result_.layers.push_back(std::move(r.layer));
    result_.changed_tokens = std::count(changed_.begin(), changed_.end(), true);
    sort_by_request();
    say_changes();
    return std::move(result_);
  }

 private:
  std::string where() const { return session_.path() + "#" + std::to_string(run_.id); }

  void choose_routers() {
    if (layout_.routers.empty()) bad_input(where(), "has no router", "choose a recording of a model with routers");
    std::map<int32_t, int64_t> of_space;
    for (const RouterInfo& r : layout_.routers) ++of_space[r.space];
    space_ = std::max_element(of_space.begin(), of_space.end(), [](const auto& a, const auto& b) {
               return a.second < b.second;
             })->first;
    for (size_t r = 0; r < layout_.routers.size(); ++r) {
      const RouterInfo& info = layout_.routers[r];
      if (info.space != space_) continue;
      if (info.parent >= 0)
        bad_input(where(), "router " + info.name + " is within a branch, so not every token meets it",
                  "a replay needs the choices of every token at every layer");
      ChangedRouter& of = routers_.emplace_back();
      of.number = static_cast<int32_t>(r), of.info = info;
      of.layer.router = info.name, of.layer.branches = info.branches;
      of.layer.k = change_.k > 0 && takes_k(info) ? change_.k : info.fan_out;
      of.layer.load_before.resize(info.branches), of.layer.load_after.resize(info.branches);
    }
  }
  /// Imported recordings say no protocol: there each router may take another k.
  static bool takes_k(const RouterInfo& info) {
    const ProtocolRow* row = row_of_protocol(info.protocol);
    return !row || takes(*row, "k");
  }
  void set_off() {
    for (const BranchOff& b : change_.off) {
      const auto at = std::find_if(routers_.begin(), routers_.end(),
                                   [&](const ChangedRouter& r) { return r.info.name == b.router; });
      if (at == routers_.end())
        bad_input("--off", "the recording has no router \"" + b.router + "\" of its " + name_of_space(),
                  advice_on_word(b.router, routers_, [](const ChangedRouter& r) { return r.info.name; }));
      if (b.branch < 0 || b.branch >= at->info.branches)
        bad_input("--off", "router " + b.router + " has no branch " + std::to_string(b.branch),
                  "use 0 to " + std::to_string(at->info.branches - 1));
      at->off.insert(b.branch);
    }
  }
  std::string name_of_space() const {
    return space_ >= 0 && space_ < std::ssize(layout_.spaces) ? layout_.spaces[space_] : std::string("cells");
  }
  void check_k() const {
    bool any = false;
    for (const ChangedRouter& r : routers_) {
      any = any || takes_k(r.info);
      if (const auto left = r.info.branches - std::ssize(r.off); r.layer.k > left)
        bad_input(r.off.empty() ? "--k" : "--off",
                  "router " + r.info.name + " keeps " + counted(left, "branch") + ", and each cell takes " +
                      std::to_string(r.layer.k),
                  "leave more on, or take fewer with --k");
    }
    if (change_.k > 0 && !any)
      bad_input("--k", "no router of the recording takes a number of branches a cell", "leave it out");
  }

  void add_batch(int64_t batch, const BatchSpace& space) {
    place_.assign(space.cells.cells(), -1);
    for (int64_t row = 0; row < space.cells.cells(); ++row) {
      if (!space.mask.empty() && space.mask[row] == 0) continue;
      const CellId id = space.cells.id(row);
      place_[row] = std::ssize(result_.tokens);
      result_.tokens.push_back({id.sequence, id.position, row < std::ssize(space.tokens) ? space.tokens[row] : -1});
    }
    changed_.resize(result_.tokens.size());
    for (ChangedRouter& router : routers_) {
      if (std::ssize(result_.tokens) > kMostChoicesHeld / router.layer.k)
        bad_input(where(), "has more than " + with_commas(kMostChoicesHeld) + " choices a layer",
                  "take a shorter recording");
      const auto decision = session_.decision(run_.id, router.number, batch);
      const std::vector<int32_t> forced = forced_choices(router, batch, space.cells.cells());
      router.layer.choices.resize(result_.tokens.size() * router.layer.k, kNoBranch);
      for (int64_t c = 0; decision && c < decision->cells; ++c) {
        const int64_t row = decision->ancestor.empty() ? c : decision->ancestor[c];
        if (row < 0 || row >= std::ssize(place_) || place_[row] < 0) continue;
        take_cell(router, {*decision, c}, place_[row], forced, row);
      }
      for (const int64_t token : place_)
        if (token >= 0 && router.layer.choices[token * router.layer.k] == kNoBranch)
          bad_input(where(),
                    "a token of batch " + std::to_string(batch) + " has no choice of router " + router.info.name,
                    "a replay needs the choices of every token at every layer");
    }
  }

  void take_cell(ChangedRouter& router, const CellOfRouter& cell, int64_t token, const std::vector<int32_t>& forced,
                 int64_t row) {
    std::vector<int32_t> kept;
    std::vector<float> weights;
    const std::span<const int32_t> recorded = cell.recorded();
    for (size_t i = 0; i < recorded.size(); ++i) {
      if (!is_kept(recorded[i]))
        bad_input(where(),
                  "router " + router.info.name +
                      (recorded[i] == kNoBranch ? " gives some cells fewer branches than others"
                                                : " dropped cells for want of a place"),
                  "a replay is told the same number of branches of every token");
      if (router.off.contains(recorded[i])) continue;
      kept.push_back(recorded[i]);
      if (!cell.decision.weight.empty()) weights.push_back(cell.weight(i));
    }
    if (!forced.empty() && forced[row * router.info.fan_out] != kFileAsRecorded) {
      kept.assign(forced.begin() + row * router.info.fan_out, forced.begin() + (row + 1) * router.info.fan_out);
      weights.clear();
    }
    const size_t k = router.layer.k;
    if (kept.size() > k) keep_best(router, cell, weights, kept);
    if (kept.size() < k) add_next_best(router, cell, kept);
    std::copy(kept.begin(), kept.end(), router.layer.choices.begin() + token * router.layer.k);
    count(recorded, kept, token, router.layer);
  }

  void count(std::span<const int32_t> recorded, const std::vector<int32_t>& now, int64_t token, ReplayedLayer& layer) {
    const auto lacking = [](const auto& of, const auto& in) {
      return std::count_if(of.begin(), of.end(),
                           [&](int32_t b) { return std::find(in.begin(), in.end(), b) == in.end(); });
    };
    const int64_t changed = std::max(lacking(recorded, now), lacking(now, recorded));
    layer.recorded += std::ssize(recorded);
    layer.changed += changed;
    for (const int32_t b : recorded) ++layer.load_before[b];
    for (const int32_t b : now) ++layer.load_after[b];
    if (changed > 0) changed_[token] = true;
  }

  /// The k of the highest scores, or else of the largest weights, in that order.
  void keep_best(const ChangedRouter& router, const CellOfRouter& cell, const std::vector<float>& weights,
                 std::vector<int32_t>& kept) const {
    if (!cell.has_scores() && weights.size() != kept.size())
      bad_input(
          where(),
          "has neither scores nor weights of router " + router.info.name + ", so the best of its choices are not known",
          how_to_get(run_, "weights", "record them with --record-scores"));
    std::vector<size_t> order(kept.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return cell.has_scores() ? cell.score(kept[a]) > cell.score(kept[b]) : weights[a] > weights[b];
    });
    std::vector<int32_t> best;
    for (int32_t i = 0; i < router.layer.k; ++i) best.push_back(kept[order[i]]);
    kept = std::move(best);
  }

  /// Adds the branches of the highest scores among those that are on and not taken yet.
  void add_next_best(const ChangedRouter& router, const CellOfRouter& cell, std::vector<int32_t>& kept) const {
    if (const ProtocolRow* row = row_of_protocol(router.info.protocol); row && row->margin != MarginOf::scores)
      bad_input(where(),
                "router " + router.info.name + " decides by " + std::string(row->name) +
                    ", whose next best branch the recorded scores alone do not tell",
                "run the model itself, or force its choices with --force");
    if (!cell.has_scores())
      bad_input(where(), "has no scores of router " + router.info.name + ", so the next best branch is not known",
                "record them with --record-scores (scores=True of a recorder), or force the choices with --force");
    while (std::ssize(kept) < router.layer.k) {
      int32_t best = -1;
      for (int32_t b = 0; b < router.info.branches; ++b)
        if (!router.off.contains(b) && std::find(kept.begin(), kept.end(), b) == kept.end() &&
            (best < 0 || cell.score(b) > cell.score(best)))
          best = b;
      kept.push_back(best);
    }
  }

  /// [cells, k] of the batch; empty: they are not forced.
  std::vector<int32_t> forced_choices(const ChangedRouter& router, int64_t batch, int64_t cells) {
    if (!forced_) return {};
    const TensorPlace* tensor = forced_->find("b" + std::to_string(batch) + "." + router.info.name + ".branch");
    if (!tensor) return {};
    const int64_t k = router.info.fan_out;
    const auto wrong = [&](const std::string& what) {
      bad_input(change_.force, tensor->name + ": " + what, "force choices of the same data, batches and k");
    };
    if (router.layer.k != k) wrong("--k " + std::to_string(router.layer.k) + " asks for another number of choices");
    if (tensor->dtype != DType::i32 || tensor->shape != std::vector<int64_t>{cells, k})
      wrong("expected i32 [" + std::to_string(cells) + ", " + std::to_string(k) + "]");
    std::vector<int32_t> choices(cells * k);
    forced_->read(*tensor, 0, std::as_writable_bytes(std::span(choices)));
    for (int64_t c = 0; c < cells; ++c) {
      const auto of_cell = std::span(choices).subspan(c * k, k);
      const std::set<int32_t> distinct(of_cell.begin(), of_cell.end());
      if (distinct.contains(kFileAsRecorded)) {
        std::fill(of_cell.begin(), of_cell.end(), kFileAsRecorded);
        continue;
      }
      if (*distinct.begin() < 0 || *distinct.rbegin() >= router.info.branches || std::ssize(distinct) != k)
        wrong("expected " + counted(k, "branch") + " below " + std::to_string(router.info.branches) + " for each cell");
      for (const int32_t b : distinct)
        if (router.off.contains(b)) wrong("a cell takes branch " + std::to_string(b) + ", which --off says is off");
    }
    used_forced_ = true;
    return choices;
  }

  void sort_by_request() {
    std::vector<size_t> order(result_.tokens.size());
    std::iota(order.begin(), order.end(), size_t{0});
    const auto key = [&](size_t i) { return std::pair(result_.tokens[i].request, result_.tokens[i].position); };
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return key(a) < key(b); });
    for (size_t i = 1; i < order.size(); ++i)
      if (key(order[i - 1]) == key(order[i]))
        bad_input(where(),
                  "holds position " + std::to_string(key(order[i]).second) + " of request " +
                      std::to_string(key(order[i]).first) + " twice",
                  "choose a run that has each token once");
    std::vector<ReplayedToken> tokens;
    for (const size_t i : order) tokens.push_back(result_.tokens[i]);
    result_.tokens = std::move(tokens);
    for (ReplayedLayer& layer : result_.layers) {
      std::vector<int32_t> sorted;
      sorted.reserve(layer.choices.size());
      for (const size_t i : order) {
        const auto from = layer.choices.begin() + static_cast<std::ptrdiff_t>(i) * layer.k;
        sorted.insert(sorted.end(), from, from + layer.k);
      }
      layer.choices = std::move(sorted);
    }
  }

  void say_changes() {
    for (const BranchOff& b : change_.off)
      result_.changes.push_back(b.router + "/" + std::to_string(b.branch) + " is off");
    if (change_.k > 0) result_.changes.push_back("each cell takes " + counted(change_.k, "branch"));
    if (forced_) result_.changes.push_back("choices are those of " + change_.force);
  }

  const SessionReader& session_;
  const RunSummary& run_;
  const Intervention& change_;
  const RunLayout layout_;
  int32_t space_ = 0;
  std::vector<ChangedRouter> routers_;
  std::vector<int64_t> place_;  // by row of the batch: its token, -1: padding
  std::vector<bool> changed_;   // by token
  std::optional<TensorFile> forced_;
  bool used_forced_ = false;
  ChangedChoices result_;
};

}  // namespace

ChangedChoices changed_choices(const SessionReader& session, const RunSummary& run, const Intervention& change,
                               const Progress& progress) {
  return ChoiceChanger(session, run, change).read(progress);
}

}  // namespace stormcell
