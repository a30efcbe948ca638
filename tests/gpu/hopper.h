// Hopper's barriers, copies and tensor cores on the emulator, by the PTX manual: what the tensor-core kernels' own
// loops are played with. Everything comes as late as it may: rows when their thread has waited for them and fenced,
// weights when they like, products when they are waited for. So a stage that is read before it is full, or filled
// before it has been read, shows in the numbers, and is noticed without them too.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "gpu/grouped/joined.h"
#include "tests/gpu/emulator.h"

namespace stormcell::testing {

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

/// Weights as the copy engine knows them.
struct WeightMap {
  const gpu::Bf16* w;
  int32_t rows, k;  ///< of an expert
};

/// Names what a kernel could get wrong.
enum class Flaw { none, gives_back_early, expects_half, gives_back_for_itself, forgets_fences };

/// How a kernel is played.
struct Play {
  int blocks = 1;
  ThreadOrder order = ThreadOrder::shuffled;
  uint32_t seed = 1;
  bool with_numbers = true;  ///< else neither weights nor rows are moved and nothing is multiplied: the ring alone
  Flaw flaw = Flaw::none;
};

/// The uses that a block makes of its ring's stages.
struct RingUses {
  int stages;  ///< of the ring
  int all;     ///< uses
  int wide;    ///< of them the first, which two warpgroups of consumers take part in
};

/// A block's barriers, and what its threads have under way. Threads 0 to 127 bring rows, consumers begin at 128.
class HopperBlock {
 public:
  HopperBlock(const RingUses& uses, const Play& play, int block, int threads);
  /// How large its shared memory is, and x.
  void set_memory(size_t shared_bytes, const void* x, size_t x_bytes) {
    shared_bytes_ = shared_bytes, x_ = static_cast<const std::byte*>(x), x_bytes_ = x_bytes;
  }
  /// Does what happens by itself between rounds of the threads.
  bool happens();
  /// The first thing that went wrong; empty: nothing.
  const std::string& failure() const { return failure_; }
  /// Returns what is left undone at the end; empty: nothing.
  std::string unfinished() const;

 private:
  friend class HopperExecution;
  struct Piece {
    uint32_t to;
    const void* from;
    uint32_t bytes;
  };
  struct Rows {
    int use;
    std::vector<Piece> pieces;
  };
  struct Product {
    float* sum;
    int held, first_column;
    uint64_t a, b;
    bool add;
  };
  struct Box {
    uint32_t to;
    WeightMap map;
    int32_t depth, row, expert;
    uint32_t barrier;
    int use;
  };
  struct Thread {
    std::vector<Piece> asked;         // rows
    std::deque<Rows> flying, landed;  // before and after they were waited for, until they are fenced
    int copied = 0;                   // uses
    std::vector<Product> queued;
    std::deque<std::vector<Product>> products;  // a use each
    int multiplied = 0, done = 0;               // uses
  };

  void fail(const char* what) {
    if (failure_.empty()) failure_ = what;
  }
  std::byte* at(uint32_t address);
  bool is_read(int use) const { return use < 0 || finished_[static_cast<size_t>(use)] == readers(use); }
  int readers(int use) const { return use < uses_.wide ? 256 : 128; }
  bool lets_go(int thread);
  void begin_use(int use, const char* over);
  void put(const Rows& rows);
  void land(size_t box);
  void check_there(int use);
  void multiply(const Product& product, int thread);
  float number(uint64_t descriptor, int32_t row, int32_t d);

  RingUses uses_;
  Play play_;
  std::string failure_;
  std::mt19937 random_;
  std::map<uint32_t, Barrier> barriers_;
  std::vector<Thread> threads_;
  std::vector<bool> slow_;  // warps
  std::vector<Box> boxes_;  // on their way
  // of each use: threads, boxes, threads that have read it
  std::vector<int> rows_there_, boxes_asked_, boxes_there_, finished_;
  int weights_ = 0;       // uses whose weights were asked for
  uint64_t landing_ = 2;  // the more, the sooner boxes land
  bool held_back_ = false;
  std::byte* shared_ = nullptr;
  size_t shared_bytes_ = 0;
  const std::byte* x_ = nullptr;
  size_t x_bytes_ = 0;
};

/// One thread: the execution of gpu/grouped/tensor.h.
class HopperExecution : public HostExecution {
 public:
  using Map = WeightMap;
  HopperExecution(const HostExecution& host, HopperBlock& block)
      : HostExecution(host), block_(&block), mine_(&block.threads_[static_cast<size_t>(host.thread())]) {
    block.shared_ = &shared<std::byte>();
  }
  /// Not where a stage may begin.
  static constexpr uint32_t kSharedBegin = 16;
  uint32_t shared_begin() const { return kSharedBegin; }
  template <class T>
  T& shared_at(uint32_t address) {
    return *reinterpret_cast<T*>(block_->at(address));
  }
  void init_barrier(uint32_t barrier, uint32_t arrivals) {
    block_->barriers_[barrier].init(static_cast<int>(arrivals));
  }
  void barriers_are_there();
  void arrive(uint32_t barrier);
  void arrive_expecting(uint32_t barrier, uint32_t bytes);
  void wait(uint32_t barrier, uint32_t parity, const gpu::Awaited&) {
    const Barrier& waited = block_->barriers_[barrier];
    until([&] { return waited.is_done(parity) && block_->lets_go(thread()); });
  }
  void prefetch_map(const WeightMap*) {}
  void copy_box(uint32_t to, const WeightMap* map, int32_t depth, int32_t row, int32_t expert, uint32_t barrier);
  void copy_piece(uint32_t to, const void* from, uint32_t bytes);
  void commit_pieces();
  template <int kLeft>
  void wait_pieces() {
    for (; mine_->flying.size() > kLeft; mine_->flying.pop_front()) mine_->landed.push_back(mine_->flying.front());
  }
  void fence_for_tensor_cores();
  void begin_products() {}
  template <int kHeld>
  void multiply(float (&sum)[kHeld], uint64_t a, uint64_t b, bool add) {
    mine_->queued.push_back({sum, kHeld, 0, a, b, add});
  }
  void multiply(float (&sum)[2][64], uint64_t a, uint64_t b, bool add) {
    for (int half = 0; half < 2; ++half) mine_->queued.push_back({sum[half], 64, half * 128, a, b, add});
  }
  void commit_products();
  template <int kLeft>
  void wait_products() {
    if (kLeft == 0 || block_->play_.flaw != Flaw::gives_back_early) finish_products(kLeft);
    sync_warp();  // its lanes go on together
  }
  template <int kRegisters>
  void fewer_registers() {}
  template <int kRegisters>
  void more_registers() {}

 private:
  void finish_products(size_t left);

  HopperBlock* block_;
  HopperBlock::Thread* mine_;
};

/// How many tiles of a regime are a block's, of a list that is dealt out from `next` on.
inline int tiles_dealt(const gpu::ProductArgs<gpu::Bf16>& a, gpu::Regime regime, int32_t columns, int64_t blocks,
                       int64_t& next) {
  int mine = 0;
  gpu::take_tiles(next, blocks, gpu::tiles_of(gpu::tile_list(a.map, regime), gpu::parts(a.n, columns)),
                  [&](int64_t) { ++mine; });
  return mine;
}
/// The kernels as they are played.
template <int kPanels>
struct PlayedSwapped {
  using Shape = gpu::SwappedShape<kPanels>;
  static RingUses uses(const gpu::ProductArgs<gpu::Bf16>& a, int64_t block, int64_t blocks) {
    return {Shape::kStages,
            tiles_dealt(a, gpu::Regime::swapped, Shape::kColumns, blocks, block) * gpu::parts(a.k, Shape::kDepth), 0};
  }
  static void run(HopperExecution& x, const WeightMap* map, const gpu::ProductArgs<gpu::Bf16>& a) {
    gpu::swapped_block<kPanels>(x, map, a);
  }
};
template <int kPanels>
struct PlayedJoined {
  using Shape = gpu::JoinedShape<kPanels>;
  using Narrow = gpu::JoinedNarrowShape<kPanels>;
  static RingUses uses(const gpu::ProductArgs<gpu::Bf16>& a, int64_t block, int64_t blocks) {
    const int wide =
        tiles_dealt(a, gpu::Regime::large, Shape::kColumns, blocks, block) * gpu::parts(a.k, Shape::kDepth);
    const int narrow =
        tiles_dealt(a, gpu::Regime::swapped, Narrow::kColumns, blocks, block) * gpu::parts(a.k, Narrow::kDepth);
    return {Shape::kStages, wide + narrow, wide};
  }
  static void run(HopperExecution& x, const WeightMap* map, const gpu::ProductArgs<gpu::Bf16>& a) {
    gpu::joined_block<kPanels>(x, map, a);
  }
};

/// Runs a kernel on the host; empty, or what went wrong. x has `x_rows` rows.
template <class Kernel>
std::string play(const gpu::ProductArgs<gpu::Bf16>& a, int64_t x_rows, const Play& how) {
  using Shape = typename Kernel::Shape;
  const WeightMap map{a.w, a.n * Shape::kPanels, a.k};
  std::vector<HopperBlock> blocks;
  for (int block = 0; block < how.blocks; ++block) {
    blocks.emplace_back(Kernel::uses(a, block, how.blocks), how, block, Shape::kThreads);
    blocks.back().set_memory(Shape::kSharedBytes, a.x, static_cast<size_t>(x_rows * a.k) * sizeof(gpu::Bf16));
  }
  const auto of = [&](int block) -> HopperBlock& { return blocks[static_cast<size_t>(block)]; };
  const std::string wrong = run_grid(
      how.blocks, Shape::kThreads, Shape::kSharedBytes, how.order,
      [&](HostExecution& host) {
        HopperExecution x(host, of(host.block()));
        Kernel::run(x, &map, a);
      },
      [&](int block) { return of(block).happens(); });
  for (const HopperBlock& block : blocks)
    if (!block.failure().empty()) return block.failure();
  if (!wrong.empty()) return wrong;
  for (const HopperBlock& block : blocks)
    if (std::string left = block.unfinished(); !left.empty()) return left;
  return {};
}

}  // namespace stormcell::testing
