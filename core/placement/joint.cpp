#include "core/placement/joint.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

#include "core/placement/traffic.h"

namespace stormcell {
namespace {

/// A rank's load grows and shrinks by parts thousands of times: within this factor above its cap it is at its cap.
constexpr double kRounding = 1 + 1e-9;

/// The ranks that hold a branch of a layer; each computes an equal part of its tokens.
using Holders = std::vector<size_t>;

class Search {
 public:
  Search(const TokenRoutes& routes, std::span<const size_t> tokens, const Placement& start, const JointOptions& options)
      : placement_(start),
        start_(start),
        options_(options),
        random_(options.seed),
        layers_(start.layers.size()),
        branches_(static_cast<size_t>(start.branches)),
        ranks_(static_cast<size_t>(start.ranks)),
        held_(static_cast<size_t>(start.slots_of_rank())),
        slot_count_(static_cast<size_t>(start.slot_count())),
        load_(loads_of_tokens(routes, tokens)) {
    count_pairs(routes, tokens);
    find_holders();
    find_caps();
    sum_up();
  }

  Placement run(const Progress& progress) {
    find_scales();
    align(progress);
    settle(progress);
    anneal(progress);
    settle(progress);
    if (options_.nodes > 1) gather_on_nodes();
    return placement_;
  }

 private:
  static constexpr double kNeverAbove = 1e9;  // price of a load above its cap

  /// A layer whose slots are given out anew, each branch as often as before.
  class Filling {
   public:
    Filling(Search& search, size_t layer)
        : search_(search), layer_(layer), left_(search.branches_), held_by_(search.ranks_), load_(search.ranks_) {
      for (size_t b = 0; b < search.branches_; ++b) left_[b] = search.holders_[layer][b].size();
    }
    size_t room(size_t rank) const { return search_.held_ - held_by_[rank].size(); }
    /// Whether the branch is still to be placed and not on the rank yet, and the rank stays below its cap.
    bool may_hold(size_t rank, size_t branch) const {
      return is_new(rank, branch) && load_[rank] + load(branch) <= search_.cap_[layer_];
    }
    void put(size_t rank, size_t branch) {
      held_by_[rank].push_back(branch), load_[rank] += load(branch);
      --left_[branch];
    }
    /// Places the branches that are left, the most loaded first, each on the rank with the least load. If they do not
    /// all fit, everything stays as it was.
    void finish() {
      std::vector<size_t> rest;
      for (size_t b = 0; b < left_.size(); ++b)
        if (left_[b] > 0) rest.push_back(b);
      std::sort(rest.begin(), rest.end(),
                [&](size_t a, size_t b) { return std::pair(load(a), b) > std::pair(load(b), a); });
      for (const size_t b : rest)
        while (left_[b] > 0) {
          size_t best = search_.ranks_;
          for (size_t rank = 0; rank < search_.ranks_; ++rank)
            if (room(rank) > 0 && is_new(rank, b) && (best == search_.ranks_ || load_[rank] < load_[best])) best = rank;
          if (best == search_.ranks_) return;
          put(best, b);
        }
      LayerSlots& slots = search_.placement_.layers[layer_];
      for (Holders& h : search_.holders_[layer_]) h.clear();
      for (size_t rank = 0; rank < search_.ranks_; ++rank)
        for (size_t i = 0; i < search_.held_; ++i) {
          const size_t branch = held_by_[rank][i];
          slots[rank * search_.held_ + i] = static_cast<int32_t>(branch);
          search_.holders_[layer_][branch].push_back(rank);
        }
      search_.of_rank_[layer_] = load_;
    }

   private:
    double load(size_t branch) const { return search_.load_[layer_][branch] * search_.part(layer_, branch); }
    bool is_new(size_t rank, size_t branch) const {
      return left_[branch] > 0 &&
             std::find(held_by_[rank].begin(), held_by_[rank].end(), branch) == held_by_[rank].end();
    }

    Search& search_;
    const size_t layer_;
    std::vector<size_t> left_;                  // [branches] replicas still to be placed
    std::vector<std::vector<size_t>> held_by_;  // [ranks] branches
    std::vector<double> load_;                  // [ranks]
  };

  void anneal(const Progress& progress) {
    // Pairs are counts, so a move gains or loses a few. Heat begins where some losing moves are taken, but few enough
    // to keep what is aligned, and ends where none is.
    constexpr double kHot = 0.1, kCold = 0.02;  // shares of the mean change by a proposal
    constexpr int32_t kRelabelEvery = 10;
    // A cap that always held would part the arrangements into islands: at first it may be exceeded for a gain, in the
    // end not.
    constexpr double kMild = 0.3, kStrict = 30;
    for (int32_t sweep = 0; sweep < options_.sweeps && !options_.time.over(); ++sweep) {
      progress.report("placing", sweep, options_.sweeps);
      const double done = options_.time.cooled(static_cast<double>(sweep) / std::max(options_.sweeps - 1, 1));
      const double heat = sweep + 1 == options_.sweeps ? 0 : usual_gain_ * kHot * std::pow(kCold / kHot, done);
      excess_price_ = usual_gain_ / usual_load_ * kMild * std::pow(kStrict / kMild, done);
      for (size_t l = 0; l < layers_; ++l) {
        if (l % 8 == 0) progress.cancel.check();
        for (size_t s = 0; s < slot_count_; ++s) propose(l, s, heat);
      }
      if (sweep % kRelabelEvery == 0) relabel();
    }
  }

  /// Moves until no move gains, and no load is above its cap.
  void settle(const Progress& progress) {
    excess_price_ = kNeverAbove;
    descend(progress);
    keep_caps();
    relabel();
    // A gain is a difference of rounded sums: the passes are counted, lest two arrangements that do the same follow
    // each other for ever.
    constexpr int kMostPasses = 50;
    for (int pass = 0; pass < kMostPasses && !options_.time.over() && descend(progress); ++pass) {
    }
  }

  // Layer by layer: a layer's branches come to the ranks of its neighbours that they have most in common with. Where
  // ranks are many a swap of two branches seldom gains before others are right, and annealing takes long; the alignment
  // sees at once what layers have in common. Most of the gain is the descent's and the cooler start's. The alignment
  // adds little (docs/decisions/026-placement.md): without it a planted placement is found to 99 instead of 100 %, and
  // one real trace is less even.
  void align(const Progress& progress) {
    const auto between = [&](size_t l, bool behind) {
      progress.cancel.check();
      arrange(l, l > 0, behind && l + 1 < layers_);
    };
    grow(0);
    for (size_t l = 1; l < layers_; ++l) between(l, false);
    // The other layers now give the first one what it lacked.
    for (size_t l = layers_; l-- > 0;) between(l, true);
    for (size_t l = 0; l < layers_; ++l) between(l, true);
    sum_up();
  }

  /// Fills ranks one after the other: with the most loaded branch that is left, then with those that have most in
  /// common with its branches.
  void grow(size_t l) {
    Filling f(*this, l);
    for (size_t rank = 0; rank < ranks_; ++rank) {
      std::vector<double> common(branches_);
      while (f.room(rank) > 0) {
        size_t best = branches_;
        for (size_t b = 0; b < branches_; ++b)
          if (f.may_hold(rank, b) &&
              (best == branches_ || std::pair(common[b], load_[l][b]) > std::pair(common[best], load_[l][best])))
            best = b;
        if (best == branches_) break;
        f.put(rank, best);
        for (size_t b = 0; b < branches_; ++b) common[b] += static_cast<double>(together(l, best, b));
      }
    }
    f.finish();
  }

  /// The pairs of a branch and a rank that have most in common with the layers beside come first.
  void arrange(size_t l, bool before, bool behind) {
    std::vector<float> common(ranks_ * branches_);
    const auto add = [&](size_t beside, size_t a, size_t b, float pairs) {
      if (pairs > 0)
        for (const size_t rank : holders_[beside][a])
          common[rank * branches_ + b] += static_cast<float>(part(beside, a)) * pairs;
    };
    for (size_t a = 0; a < branches_ && before; ++a)
      for (size_t b = 0; b < branches_; ++b) add(l - 1, a, b, follows(l, a, b));
    for (size_t b = 0; b < branches_ && behind; ++b)
      for (size_t a = 0; a < branches_; ++a) add(l + 1, a, b, follows(l + 1, b, a));
    std::vector<uint32_t> order;
    for (uint32_t i = 0; i < common.size(); ++i)
      if (common[i] > 0) order.push_back(i);
    std::sort(order.begin(), order.end(),
              [&](uint32_t i, uint32_t j) { return common[i] != common[j] ? common[i] > common[j] : i < j; });
    Filling f(*this, l);
    for (const uint32_t i : order)
      if (f.room(i / branches_) > 0 && f.may_hold(i / branches_, i % branches_)) f.put(i / branches_, i % branches_);
    f.finish();
  }

  float& together(size_t l, size_t a, size_t b) { return together_[(l * branches_ + a) * branches_ + b]; }
  /// Tokens that go from branch a of layer l - 1 to branch b of layer l.
  float& follows(size_t l, size_t a, size_t b) { return follows_[(l * branches_ + a) * branches_ + b]; }
  /// Sum of what a branch has in common with the branches that a rank computes.
  float& sum(size_t l, size_t b, size_t rank) { return sums_[(l * branches_ + b) * ranks_ + rank]; }
  size_t branch_at(size_t l, size_t slot) const { return static_cast<size_t>(placement_.layers[l][slot]); }
  bool holds(size_t l, size_t rank, size_t branch) const {
    const Holders& h = holders_[l][branch];
    return std::find(h.begin(), h.end(), rank) != h.end();
  }
  double part(size_t l, size_t branch) const { return 1. / static_cast<double>(holders_[l][branch].size()); }

  void count_pairs(const TokenRoutes& routes, std::span<const size_t> tokens) {
    together_.assign(layers_ * branches_ * branches_, 0), follows_ = together_;
    const float weight = options_.together;
    for (const size_t t : tokens)
      for (size_t l = 0; l < layers_; ++l)
        for (const int32_t a : routes.at(t, static_cast<int32_t>(l))) {
          if (a < 0) continue;
          for (const int32_t b : routes.at(t, static_cast<int32_t>(l)))
            if (b >= 0 && a != b) together(l, static_cast<size_t>(a), static_cast<size_t>(b)) += weight;
          if (l + 1 == layers_) continue;
          for (const int32_t b : routes.at(t, static_cast<int32_t>(l + 1)))
            if (b >= 0) ++follows(l + 1, static_cast<size_t>(a), static_cast<size_t>(b));
        }
  }

  void find_holders() {
    holders_.assign(layers_, std::vector<Holders>(branches_));
    of_rank_.assign(layers_, std::vector<double>(ranks_));
    for (size_t l = 0; l < layers_; ++l) {
      for (size_t s = 0; s < slot_count_; ++s) holders_[l][branch_at(l, s)].push_back(s / held_);
      for (size_t s = 0; s < slot_count_; ++s)
        of_rank_[l][s / held_] += load_[l][branch_at(l, s)] * part(l, branch_at(l, s));
    }
  }

  void find_caps() {
    for (const std::vector<double>& loads : of_rank_) {
      double all = 0, most = 0;
      for (const double load : loads) all += load, most = std::max(most, load);
      cap_.push_back(std::max(most, all / static_cast<double>(ranks_) * (1 + options_.slack)) * kRounding);
    }
  }

  /// Finds the scales of heat and caps: mean changes by some proposals that are drawn.
  void find_scales() {
    constexpr int kDrawn = 2000;
    double gains = 0, loads = 0;
    int counted = 0;
    for (int i = 0; i < kDrawn; ++i) {
      const size_t l = random_() % layers_, s = random_() % slot_count_, other = random_() % slot_count_;
      if (!may_swap(l, s, other)) continue;
      gains += std::abs(swap_gain(l, s, other)), loads += std::abs(load_at(l, s) - load_at(l, other)), ++counted;
    }
    usual_gain_ = counted > 0 ? gains / counted : 0, usual_load_ = counted > 0 ? std::max(loads / counted, 1e-9) : 1;
    // Sums are floats, exact to 6e-8 of themselves and perhaps a hundred times such a gain.
    constexpr double kOfUsual = 1e-4;
    least_gain_ = std::max(1e-3, kOfUsual * usual_gain_);
  }

  /// Restores a layer that the search left above its caps.
  void keep_caps() {
    find_holders();  // loads that were not added up and taken away
    for (size_t l = 0; l < layers_; ++l)
      if (std::ranges::any_of(of_rank_[l], [&](double load) { return load > cap_[l] * kRounding; }))
        placement_.layers[l] = start_.layers[l];
    find_holders();
    sum_up();
  }

  /// Load that the branch in a slot brings its rank.
  double load_at(size_t l, size_t slot) const { return load_[l][branch_at(l, slot)] * part(l, branch_at(l, slot)); }
  /// Load of a rank above its cap.
  double excess(size_t l, double load) const { return std::max(0., load - cap_[l]); }

  // Layers that are right in themselves may hold each other's ranks crossed, which no move of a branch mends. Two ranks
  // changed in all layers from one on leave everything as it is but the pairs across that border.
  void relabel() {
    bool changed = false;
    for (size_t l = 1; l < layers_; ++l) {
      std::vector<double> between(ranks_ * ranks_);
      for (size_t a = 0; a < branches_; ++a)
        for (size_t b = 0; b < branches_; ++b) {
          const double pairs = follows(l, a, b) * part(l - 1, a) * part(l, b);
          if (pairs == 0) continue;
          for (const size_t x : holders_[l - 1][a])
            for (const size_t y : holders_[l][b]) between[x * ranks_ + y] += pairs;
        }
      const auto at = [&](size_t x, size_t y) -> double& { return between[x * ranks_ + y]; };
      bool here = false;
      for (size_t x = 0; x < ranks_; ++x)
        for (size_t y = x + 1; y < ranks_; ++y) {
          if (at(x, y) + at(y, x) <= at(x, x) + at(y, y) + 1e-3) continue;
          for (size_t r = 0; r < ranks_; ++r) std::swap(at(r, x), at(r, y));
          for (size_t later = l; later < layers_; ++later) {
            const auto begin = placement_.layers[later].begin();
            std::swap_ranges(begin + static_cast<std::ptrdiff_t>(x * held_),
                             begin + static_cast<std::ptrdiff_t>((x + 1) * held_),
                             begin + static_cast<std::ptrdiff_t>(y * held_));
          }
          here = true;
        }
      if (here) find_holders();
      changed |= here;
    }
    if (changed) sum_up();
  }

  // Ranks are numbered anew, in all layers alike: that leaves every pair on one rank or on two, and says which ranks
  // share a node.
  void gather_on_nodes() {
    const size_t each = ranks_ / static_cast<size_t>(options_.nodes);
    std::vector<double> pairs(ranks_ * ranks_);
    for (size_t l = 0; l < layers_; ++l)
      for (size_t a = 0; a < branches_; ++a)
        for (size_t b = 0; b < branches_; ++b)
          if (together(l, a, b) > 0)
            for (const size_t x : holders_[l][a])
              for (const size_t y : holders_[l][b])
                pairs[x * ranks_ + y] += together(l, a, b) * part(l, a) * part(l, b);
    std::vector<size_t> order(ranks_);  // [place] the rank that comes there
    for (size_t r = 0; r < ranks_; ++r) order[r] = r;
    const auto with_node = [&](size_t rank, size_t node, size_t but) {
      double sum = 0;
      for (size_t p = node * each; p < (node + 1) * each; ++p)
        if (p != but) sum += pairs[rank * ranks_ + order[p]];
      return sum;
    };
    for (bool gained = true; gained;) {
      gained = false;
      for (size_t p = 0; p < ranks_; ++p)
        for (size_t q = p + 1; q < ranks_; ++q) {
          const size_t x = order[p], y = order[q], m = p / each, n = q / each;
          if (m == n) continue;
          const double gain = with_node(x, n, q) + with_node(y, m, p) - with_node(x, m, p) - with_node(y, n, q);
          if (gain <= 1e-3) continue;
          std::swap(order[p], order[q]);
          gained = true;
        }
    }
    for (LayerSlots& layer : placement_.layers) {
      const LayerSlots before = layer;
      for (size_t p = 0; p < ranks_; ++p)
        std::copy_n(before.begin() + order[p] * held_, held_, layer.begin() + p * held_);
    }
  }

  void sum_up() {
    sums_.assign(layers_ * branches_ * ranks_, 0);
    for (size_t l = 0; l < layers_; ++l)
      for (size_t a = 0; a < branches_; ++a)
        for (const size_t x : holders_[l][a]) add_part(l, a, x, part(l, a));
  }

  /// Rank x gets a part more of branch b of layer l.
  void add_part(size_t l, size_t b, size_t x, double more) {
    const float m = more;
    for (size_t g = 0; g < branches_; ++g) sum(l, g, x) += m * together(l, b, g);
    if (l > 0)
      for (size_t g = 0; g < branches_; ++g) sum(l - 1, g, x) += m * follows(l, g, b);
    if (l + 1 < layers_)
      for (size_t g = 0; g < branches_; ++g) sum(l + 1, g, x) += m * follows(l + 1, b, g);
  }

  bool may_swap(size_t l, size_t slot, size_t other) const {
    const size_t x = slot / held_, y = other / held_, a = branch_at(l, slot), b = branch_at(l, other);
    if (x == y || a == b) return false;
    return (holders_[l][a].size() == 1 || !holds(l, y, a)) && (holders_[l][b].size() == 1 || !holds(l, x, b));
  }

  double swap_gain(size_t l, size_t slot, size_t other) {
    const size_t x = slot / held_, y = other / held_, a = branch_at(l, slot), b = branch_at(l, other);
    const double pa = part(l, a), pb = part(l, b);
    return pa * (sum(l, a, y) - sum(l, a, x)) + pb * (sum(l, b, x) - sum(l, b, y)) - 2 * pa * pb * together(l, a, b);
  }

  bool accepted(double gain, double heat) {
    return heat > 0 ? gain > 0 || std::exp(gain / heat) * 4294967296. >= static_cast<double>(random_())
                    : gain > least_gain_;
  }

  /// A slot of the rank that the branch of this one has most in common with: where ranks are many, blind moves seldom
  /// gain.
  size_t drawn_to(size_t l, size_t slot) {
    const float* sums = &sum(l, branch_at(l, slot), 0);
    return static_cast<size_t>(std::max_element(sums, sums + ranks_) - sums) * held_ + random_() % held_;
  }

  void propose(size_t l, size_t slot, double heat) {
    const size_t other = random_() % 2 ? drawn_to(l, slot) : random_() % slot_count_;
    if (slot_count_ > branches_ && random_() % 2)
      propose_replica(l, random_() % branches_, slot, heat);
    else
      propose_swap(l, slot, other, heat);
  }

  bool propose_swap(size_t l, size_t slot, size_t other, double heat) {
    if (!may_swap(l, slot, other)) return false;
    const size_t x = slot / held_, y = other / held_, a = branch_at(l, slot), b = branch_at(l, other);
    const double more = load_at(l, other) - load_at(l, slot), in_x = of_rank_[l][x], in_y = of_rank_[l][y];
    const double over = excess(l, in_x + more) - excess(l, in_x) + excess(l, in_y - more) - excess(l, in_y);
    if (!accepted(swap_gain(l, slot, other) - excess_price_ * over, heat)) return false;
    const double pa = part(l, a), pb = part(l, b);
    add_part(l, a, x, -pa), add_part(l, a, y, pa), add_part(l, b, y, -pb), add_part(l, b, x, pb);
    of_rank_[l][x] += more, of_rank_[l][y] -= more;
    std::replace(holders_[l][a].begin(), holders_[l][a].end(), x, y),
        std::replace(holders_[l][b].begin(), holders_[l][b].end(), y, x);
    std::swap(placement_.layers[l][slot], placement_.layers[l][other]);
    return true;
  }

  /// A rank's change of its part of a branch when rank y holds a in place of b; those of one branch follow each other.
  struct Change {
    size_t branch, rank;
    double part;
  };

  /// Proposes one more replica of a, in a slot whose branch is also elsewhere.
  bool propose_replica(size_t l, size_t a, size_t slot, double heat) {
    const size_t b = branch_at(l, slot), y = slot / held_;
    if (a == b || holders_[l][b].size() == 1 || holds(l, y, a)) return false;
    const auto na = static_cast<double>(holders_[l][a].size()), nb = static_cast<double>(holders_[l][b].size());
    changes_.clear();
    for (const size_t r : holders_[l][a]) changes_.push_back({a, r, 1 / (na + 1) - 1 / na});
    changes_.push_back({a, y, 1 / (na + 1)});
    for (const size_t r : holders_[l][b]) changes_.push_back({b, r, r == y ? -1 / nb : 1 / (nb - 1) - 1 / nb});
    double gain = 0;
    for (const Change& c : changes_) {
      gain += c.part * sum(l, c.branch, c.rank);
      for (const Change& d : changes_)
        if (c.branch == a && d.branch == b && c.rank == d.rank) gain += c.part * d.part * together(l, a, b);
    }
    std::vector<double>& loads = of_rank_[l];
    double over = 0;
    const auto add_loads = [&](double sign) {
      for (const Change& c : changes_) {
        const double before = excess(l, loads[c.rank]);
        loads[c.rank] += sign * c.part * load_[l][c.branch];
        over += excess(l, loads[c.rank]) - before;
      }
    };
    add_loads(1);
    if (!accepted(gain - excess_price_ * over, heat)) {
      add_loads(-1);
      return false;
    }
    for (const Change& c : changes_) add_part(l, c.branch, c.rank, c.part);
    holders_[l][a].push_back(y), std::erase(holders_[l][b], y);
    placement_.layers[l][slot] = static_cast<int32_t>(a);
    return true;
  }

  /// One pass over all moves; false: nothing was gained.
  bool descend(const Progress& progress) {
    sum_up();
    bool gained = false;
    for (size_t l = 0; l < layers_; ++l) {
      progress.cancel.check();
      for (size_t s = 0; s < slot_count_; ++s) {
        for (size_t other = s + 1; other < slot_count_; ++other) gained |= propose_swap(l, s, other, 0);
        for (size_t b = 0; b < branches_ && slot_count_ > branches_; ++b) gained |= propose_replica(l, b, s, 0);
      }
    }
    return gained;
  }

  Placement placement_;
  const Placement& start_;
  const JointOptions options_;
  std::mt19937 random_;
  const size_t layers_, branches_, ranks_, held_, slot_count_;
  const std::vector<std::vector<double>> load_;  // [layers][branches]
  std::vector<float> together_, follows_;        // [layers, branches, branches] tokens that took both
  std::vector<float> sums_;                      // [layers, branches, ranks]
  std::vector<std::vector<Holders>> holders_;    // [layers][branches]
  std::vector<std::vector<double>> of_rank_;
  std::vector<double> cap_;
  double usual_gain_ = 0, usual_load_ = 1;
  double least_gain_ = 0;    // less may be rounding
  double excess_price_ = 0;  // pairs for each unit of load above a cap
  std::vector<Change> changes_;
};

}  // namespace

Placement joint_placement(const TokenRoutes& routes, std::span<const size_t> tokens, const Placement& start,
                          const JointOptions& options, const Progress& progress) {
  return Search(routes, tokens, start, options).run(progress);
}

}  // namespace stormcell
