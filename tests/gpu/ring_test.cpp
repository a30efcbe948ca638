// The ring of stages of the tensor-core kernels, played on the host by warps at paces of their own: barriers as the hardware counts them,
// weights that land when they like. Rows are said to be there when their copies have landed: that they have is the instructions' part.
#include <algorithm>
#include <random>
#include <set>
#include <vector>

#include "gpu/grouped/tensor_shape.h"
#include "tests/testing/testing.h"

namespace stormcell {
namespace {

/// An mbarrier by the PTX manual: a phase is complete when all arrivals have come, and all bytes that are expected.
struct Barrier {
  int arrivals = 1, pending = 1, bytes = 0;
  uint32_t completed = 0;
  void init(int n) { arrivals = pending = n; }
  void arrive(int n, int expected = 0) {
    bytes += expected, pending -= n;
    settle();
  }
  void land(int n) {
    bytes -= n;
    settle();
  }
  void settle() {
    if (pending == 0 && bytes == 0) pending = arrivals, ++completed;
  }
  bool is_done(uint32_t parity) const { return (completed & 1) != parity; }
  bool is_fresh() const { return pending == arrivals && bytes == 0; }
};

/// What a kernel could get wrong.
enum class Flaw { none, gives_back_early, expects_half, gives_back_for_itself };

/// Plays the uses of the ring for tiles of so many stages each; then for tiles of another shape, whose consumers are the first of this
/// one's: the others have left.
template <class Shape, class Narrow = Shape>
class Ring {
 public:
  Ring(std::mt19937& random, const std::vector<int>& tiles, Flaw flaw = Flaw::none, const std::vector<int>& narrow_tiles = {})
      : random_(random), flaw_(flaw) {
    static_assert(gpu::kEmptyArrivals<Narrow> == gpu::kEmptyArrivals<Shape>);
    for (const int n : tiles) ends_.insert(uses_ += n);
    narrow_from_ = uses_;
    for (const int n : narrow_tiles) ends_.insert(uses_ += n);
    for (Stage& stage : stages_) {
      std::fill_n(stage.rows, kProducers, -1), std::fill_n(stage.weights, kCopies, -1);
      stage.full.init(gpu::kFullArrivals);
      stage.empty.init(gpu::kEmptyArrivals<Shape>);
    }
    for (bool& slow : slow_) slow = random() % 3 == 0;
  }

  /// Until nobody can go on; empty, or what went wrong.
  std::string play() {
    std::vector<int> able, quick;
    for (;;) {
      able.clear(), quick.clear();
      for (int actor = 0; actor < kActors; ++actor)
        if (is_able(actor)) (slow_[actor] ? able : quick).push_back(actor);
      if (!quick.empty() && random_() % 16 != 0) able = quick;
      able.insert(able.end(), quick.begin(), quick.end());
      const auto flying = static_cast<int>(on_their_way_.size());
      if (able.empty() && flying == 0) break;
      const auto n = static_cast<int>(random_() % (able.size() + on_their_way_.size()));
      std::string wrong = n < flying ? land(n) : act(able[static_cast<size_t>(n - flying)]);
      if (!wrong.empty()) return wrong;
    }
    for (int w = 0; w < kConsumers; ++w)
      if (consumers_[w].done != uses_of(w)) return "nobody can go on";
    for (const Stage& stage : stages_)
      if (!stage.full.is_fresh() || !stage.empty.is_fresh()) return "a barrier is left within a phase";
    return {};
  }

 private:
  static constexpr int kProducers = 4, kConsumers = 4 * Shape::kConsumers, kNarrowConsumers = 4 * Narrow::kConsumers;
  static constexpr int kCopies = std::max(Shape::kBoxes * Shape::kBlocks, Narrow::kBoxes* Narrow::kBlocks);  // of weights, a stage
  /// Producer warps, what they still have to say, who asks for weights, consumer warps.
  static constexpr int kActors = 2 * kProducers + 1 + kConsumers;
  using Place = gpu::RingPlace<Shape::kStages>;
  struct Stage {
    Barrier full, empty;
    int rows[kProducers], weights[kCopies];  // the use that each part holds
  };
  struct Warp {
    int done = 0, said = 0;  // uses: begun, and given on (landed rows) or given back (consumers)
    Place at, before;
  };
  struct Copy {
    int stage, use, part;
  };

  int uses_of(int consumer) const { return consumer < kNarrowConsumers ? uses_ : narrow_from_; }
  bool waits_for_empty(const Warp& warp) const { return warp.done < uses_ && stages_[warp.at.stage].empty.is_done(warp.at.parity ^ 1); }
  bool is_able(int who) const {
    if (who < kProducers) return waits_for_empty(rows_[who]);
    if (who < 2 * kProducers) {  // after a tile's last stage nothing more is copied: what has landed is said
      const Warp& warp = rows_[who - kProducers];
      return warp.done == uses_ && warp.said < uses_;
    }
    if (who == 2 * kProducers) return Shape::kCopyWarp && waits_for_empty(weights_);
    const Warp& warp = consumers_[who - 2 * kProducers - 1];
    return warp.done < uses_of(who - 2 * kProducers - 1) && stages_[warp.at.stage].full.is_done(warp.at.parity);
  }
  std::string act(int who) {
    if (who < kProducers) return copy_rows(who);
    if (who < 2 * kProducers) return say(who - kProducers);
    if (who == 2 * kProducers) return ask();
    return read(consumers_[who - 2 * kProducers - 1]);
  }
  /// True where all warps of consumers have read this use, whose stage is to be filled anew.
  bool is_read(int use) const {
    for (int w = 0; w < (use < narrow_from_ ? kConsumers : kNarrowConsumers); ++w)
      if (consumers_[w].said <= use) return false;
    return true;
  }

  std::string copy_rows(int w) {
    Warp& warp = rows_[w];
    if (!is_read(warp.done - Shape::kStages)) return "rows over what is still read";
    if (w == 0 && !Shape::kCopyWarp) {
      if (std::string wrong = ask(); !wrong.empty()) return wrong;
    }
    stages_[warp.at.stage].rows[w] = -1;
    ++warp.done, warp.at.next();
    return warp.done - warp.said > Shape::kLag ? say(w) : "";
  }
  /// The oldest rows of a producer warp, which has waited for them; a lane for all.
  std::string say(int w) {
    Warp& warp = rows_[w];
    Stage& stage = stages_[warp.before.stage];
    stage.rows[w] = warp.said++;
    stage.full.arrive(1);
    warp.before.next();
    return {};
  }
  std::string ask() {
    if (!is_read(weights_.done - Shape::kStages)) return "weights over what is still read";
    if (weights_.done < narrow_from_)
      ask_of<Shape>();
    else
      ask_of<Narrow>();
    ++weights_.done, weights_.at.next();
    return {};
  }
  template <class Tiles>
  void ask_of() {
    stages_[weights_.at.stage].full.arrive(1, flaw_ == Flaw::expects_half ? Tiles::kWeightBytes / 2 : Tiles::kWeightBytes);
    for (int box = 0; box < Tiles::kBlocks * Tiles::kBoxes; ++box) on_their_way_.push_back({weights_.at.stage, weights_.done, box});
  }
  std::string land(int n) {
    const Copy copy = on_their_way_[static_cast<size_t>(n)];
    on_their_way_.erase(on_their_way_.begin() + n);
    stages_[copy.stage].weights[copy.part] = copy.use;
    stages_[copy.stage].full.land(Shape::kBoxBytes);
    return {};
  }
  std::string read(Warp& warp) {
    const Stage& stage = stages_[warp.at.stage];
    for (const int use : stage.rows)
      if (use != warp.done) return "rows read before they were there";
    const int copies = warp.done < narrow_from_ ? Shape::kBoxes * Shape::kBlocks : Narrow::kBoxes * Narrow::kBlocks;
    for (int part = 0; part < copies; ++part)
      if (stage.weights[part] != warp.done) return "weights read before they were there";
    if (flaw_ == Flaw::gives_back_early) stages_[warp.at.stage].empty.arrive(Shape::kGivenBack);
    if (warp.done > 0 && !ends_.count(warp.done)) give_back(warp);
    warp.before = warp.at;
    warp.at.next();
    if (ends_.count(++warp.done)) give_back(warp);
    return {};
  }
  void give_back(Warp& warp) {
    const int times = warp.said < narrow_from_ || flaw_ == Flaw::gives_back_for_itself ? Shape::kGivenBack : Narrow::kGivenBack;
    if (flaw_ != Flaw::gives_back_early) stages_[warp.before.stage].empty.arrive(times);
    ++warp.said;
  }

  std::mt19937& random_;
  Flaw flaw_;
  std::set<int> ends_;  // uses after which a tile ends
  int uses_ = 0, narrow_from_ = 0;
  Stage stages_[Shape::kStages];
  Warp rows_[kProducers], weights_, consumers_[kConsumers];
  bool slow_[kActors];
  std::vector<Copy> on_their_way_;
};

struct TooLate : gpu::LargeShape<1> {
  static constexpr int kLag = kStages - 1;
};

std::vector<int> random_tiles(std::mt19937& random, uint32_t most_stages) {
  std::vector<int> tiles;
  for (uint32_t t = 0; t < 1 + random() % 6; ++t) tiles.push_back(static_cast<int>(1 + random() % most_stages));
  return tiles;
}
}  // namespace

class GpuRingTest : public QObject {
  Q_OBJECT
 private slots:
  void barriers_count_arrivals_and_bytes() {
    Barrier barrier;
    barrier.init(2);
    barrier.arrive(1);
    QVERIFY(!barrier.is_done(0));
    barrier.arrive(1, 16);
    barrier.land(8);
    QVERIFY(!barrier.is_done(0));
    barrier.land(8);
    QVERIFY(barrier.is_done(0) && !barrier.is_done(1) && barrier.is_fresh());
  }

  // Nobody may be stuck, and no stage may be refilled before all have read it or read before it was filled, over several tiles.
  void producers_and_consumers_never_wait_for_each_other() {
    std::mt19937 random(5);
    const auto all = [&](const std::vector<int>& tiles) {
      QCOMPARE(Ring<gpu::LargeShape<1>>(random, tiles).play(), std::string());
      QCOMPARE(Ring<gpu::SwappedShape<1>>(random, tiles).play(), std::string());
      QCOMPARE(Ring<gpu::SwappedShape<2>>(random, tiles).play(), std::string());
    };
    for (uint32_t i = 0; i < 50; ++i) all(random_tiles(random, i % 5 == 0 ? 60 : 9));
    all({});
    QVERIFY(gpu::is_live(4, 2) && !gpu::is_live(4, 3));
    QCOMPARE(Ring<TooLate>(random, {40}).play(), std::string("nobody can go on"));
  }

  // Tiles of large, then of swapped, in one ring: half of the consumers leave between. Either kind may have no tiles.
  void tiles_of_two_kinds_share_a_ring() {
    std::mt19937 random(8);
    const auto both = [&](const std::vector<int>& wide, const std::vector<int>& narrow) {
      QCOMPARE((Ring<gpu::JoinedShape<1>, gpu::JoinedNarrowShape<1>>(random, wide, Flaw::none, narrow).play()), std::string());
      QCOMPARE((Ring<gpu::JoinedShape<2>, gpu::JoinedNarrowShape<2>>(random, wide, Flaw::none, narrow).play()), std::string());
    };
    for (uint32_t i = 0; i < 50; ++i) both(random_tiles(random, i % 5 == 0 ? 60 : 9), random_tiles(random, i % 4 == 0 ? 60 : 9));
    for (uint32_t i = 0; i < 10; ++i) both({}, random_tiles(random, 9)), both(random_tiles(random, 9), {});
    both({}, {});
    // A warp that does not give back for the one that has left.
    using Joined = Ring<gpu::JoinedShape<1>, gpu::JoinedNarrowShape<1>>;
    QCOMPARE(Joined(random, {3}, Flaw::gives_back_for_itself, {40}).play(), std::string("nobody can go on"));
  }

  // A stage given back before its products are done, and bytes that nobody expects: each of these alone shows.
  void what_a_ring_must_not_do() {
    std::mt19937 random(7);
    std::set<std::string> over, early;
    for (int i = 0; i < 20; ++i) {
      over.insert(Ring<gpu::LargeShape<1>>(random, {40}, Flaw::gives_back_early).play());
      early.insert(Ring<gpu::LargeShape<1>>(random, {40}, Flaw::expects_half).play());
    }
    QVERIFY((over.count("weights over what is still read") || over.count("rows over what is still read")) && !over.count(""));
    QVERIFY(early.count("weights read before they were there") && !early.count(""));
  }
};

STORMCELL_TEST(GpuRingTest)
}  // namespace stormcell
#include "ring_test.moc"
