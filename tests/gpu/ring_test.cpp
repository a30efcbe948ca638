// The ring of stages of the tensor-core kernels: their own loops, played on the host by warps at paces of their own.
// Barriers count as the hardware does and weights land when they like; numbers are not moved (GpuTensorCoreTest moves
// them).
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tests/gpu/hopper.h"
#include "tests/gpu/products.h"
#include "tests/testing/testing.h"

namespace stormcell::ring_test {
namespace {
using gpu::Regime;
using gpu::RegimeLimits;
using testing::Barrier;
using testing::Flaw;
using testing::HopperExecution;
using testing::Play;
using testing::PlayedJoined;
using testing::PlayedSwapped;

constexpr RegimeLimits kSwapped{0, 64, true}, kLarge{0, 0, true};

/// A product of experts with so many rows, whose numbers nobody looks at.
struct Case {
  std::vector<int32_t> offsets = {0}, map;
  std::vector<gpu::Bf16> x, y;
  gpu::ProductArgs<gpu::Bf16> args;

  Case(const std::vector<int32_t>& rows, int32_t n, int32_t k, const RegimeLimits& limits) {
    for (const int32_t of_expert : rows) offsets.push_back(offsets.back() + of_expert);
    map = testing::map_by_sorting(offsets, limits);
    const auto of_all = static_cast<size_t>(offsets.back());
    x.resize(of_all * static_cast<size_t>(k)), y.resize(of_all * static_cast<size_t>(n));
    args.offsets = offsets.data(), args.map = map.data(), args.n = n, args.k = k, args.x = x.data(), args.y = y.data();
  }
  Case(const Case&) = delete;
  Case& operator=(const Case&) = delete;

  template <class Kernel>
  std::string play(std::mt19937& random, Flaw flaw = Flaw::none) const {
    Play how;
    how.blocks = 1 + static_cast<int>(random() % 2), how.seed = static_cast<uint32_t>(random()),
    how.with_numbers = false, how.flaw = flaw;
    return testing::play<Kernel>(args, offsets.back(), how);
  }
};
/// One or two experts, a few tiles; now and then so deep that the ring goes round many times within one.
Case random_case(std::mt19937& random, uint32_t most_rows, const RegimeLimits& limits) {
  std::vector<int32_t> rows;
  for (uint32_t e = 0; e < 1 + random() % 2; ++e) rows.push_back(static_cast<int32_t>(random() % (most_rows + 1)));
  const uint32_t most_pieces = random() % 5 == 0 ? 300 : 60;
  const int32_t n = 8 * (1 + static_cast<int32_t>(random() % 40)),
                k = 8 * (1 + static_cast<int32_t>(random() % most_pieces));
  return {rows, n, k, limits};
}

/// Says that rows are there so late that the producer waits for a stage that is only given back when the next one is
/// full.
struct LateShape : gpu::LargeShape<1> {
  static constexpr int kLag = kStages - 1;
};
struct PlayedLate {
  using Shape = LateShape;
  static testing::RingUses uses(const gpu::ProductArgs<gpu::Bf16>& a, int64_t block, int64_t blocks) {
    return PlayedJoined<1>::uses(a, block, blocks);
  }
  static void run(HopperExecution& x, const testing::WeightMap* map, const gpu::ProductArgs<gpu::Bf16>& a) {
    const gpu::Stages<Shape> stages(x);
    stages.begin(x);
    const gpu::Work<Shape> work(a, Regime::large);
    if (x.thread() < 128) return gpu::produce(x, a, map, work, stages, [](int32_t) { return Shape::kRows; });
    gpu::RingPlace<Shape::kStages> at;
    int64_t next = work.first(x);
    gpu::large_tiles(x, a, stages, work, next, at, x.thread() / 128 - 1);
  }
};

bool is_stuck(const std::string& wrong) { return wrong.find("nobody can go on") != std::string::npos; }
constexpr int kTimes = testing::kSlowEmulator ? 2 : 30;
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

  // Nobody may be stuck, and no stage may be refilled before all have read it or read before it was filled, over
  // several tiles.
  void producers_and_consumers_never_wait_for_each_other() {
    std::mt19937 random(5);
    for (int i = 0; i < kTimes; ++i) {
      const Case few = random_case(random, 64, kSwapped), many = random_case(random, 200, kLarge);
      QCOMPARE(few.play<PlayedSwapped<1>>(random), std::string());
      QCOMPARE(few.play<PlayedSwapped<2>>(random), std::string());
      QCOMPARE(many.play<PlayedJoined<1>>(random), std::string());
      QCOMPARE(many.play<PlayedJoined<2>>(random), std::string());
    }
    const Case none({0, 0}, 64, 64, kSwapped);
    QCOMPARE(none.play<PlayedSwapped<1>>(random), std::string());
    QCOMPARE(none.play<PlayedJoined<2>>(random), std::string());
    QVERIFY(gpu::is_live(4, 2) && !gpu::is_live(4, 3));
    const Case deep({128}, 64, 640, kLarge);
    QCOMPARE(deep.play<PlayedJoined<1>>(random), std::string());
    QVERIFY(is_stuck(deep.play<PlayedLate>(random)));
  }

  // Tiles of large, then of swapped, in one ring: half of the consumers leave between. Either kind may have no tiles.
  void tiles_of_two_kinds_share_a_ring() {
    std::mt19937 random(8);
    for (int i = 0; i < kTimes; ++i) {
      const auto rows = [&](uint32_t from, uint32_t to) {
        return static_cast<int32_t>(from + random() % (to - from + 1));
      };
      const int32_t many = i % 5 == 0 ? 0 : rows(65, 200), few = i % 5 == 1 ? 0 : rows(1, 64);
      const Case both({few, many}, 8 * rows(1, 40), 8 * rows(1, i % 4 == 0 ? 300 : 60), kSwapped);
      QCOMPARE(both.play<PlayedJoined<1>>(random), std::string());
      QCOMPARE(both.play<PlayedJoined<2>>(random), std::string());
    }
    // A warp that does not give back for the one that has left.
    const Case deep({70, 5}, 64, 3840, kSwapped);
    QVERIFY(is_stuck(deep.play<PlayedJoined<1>>(random, Flaw::gives_back_for_itself)));
  }

  // A stage given back before its products are done, bytes that nobody expects, a fence that is missing: each of these
  // alone shows.
  void what_a_ring_must_not_do() {
    std::mt19937 random(7);
    const Case deep({128}, 64, 2560, kLarge);
    std::set<std::string> over, early, unseen;
    for (int i = 0; i < (testing::kSlowEmulator ? 8 : 20); ++i) {
      over.insert(deep.play<PlayedJoined<1>>(random, Flaw::gives_back_early));
      early.insert(deep.play<PlayedJoined<1>>(random, Flaw::expects_half));
      unseen.insert(deep.play<PlayedJoined<1>>(random, Flaw::forgets_fences));
    }
    QVERIFY((over.count("weights over what is still read") || over.count("rows over what is still read")) &&
            !over.count(""));
    QVERIFY(early.count("weights read before they were there") && !early.count(""));
    QVERIFY(unseen == std::set<std::string>{"rows read before they were there"});
  }

  // The message of device_check_stall about a wait that gave up.
  void a_stall_is_named() {
    QVERIFY(gpu::check_stall(gpu::StallRecord{}).ok());
    const gpu::Status status = gpu::check_stall(gpu::StallRecord{1, 17, 4, {gpu::Awaits::full, 2, 384}, 1});
    QVERIFY(status.code() == gpu::StatusCode::device_fault);
    QCOMPARE(std::string(status.text()),
             std::string("stalled: block 17, warp 4, barrier 'full', stage 2, parity 1, depth 384"));
    QCOMPARE(std::string(gpu::to_text(gpu::Awaits::empty_for_rows)), std::string("empty, for rows"));
    QCOMPARE(std::string(gpu::to_text(gpu::Awaits::empty_for_weights)), std::string("empty, for weights"));
  }
};

STORMCELL_TEST(GpuRingTest)
}  // namespace stormcell::ring_test
#include "ring_test.moc"
