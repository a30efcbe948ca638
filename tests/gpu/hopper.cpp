#include "tests/gpu/hopper.h"

#include <cstring>

#include "gpu/base/number.h"
#include "gpu/grouped/shared_layout.h"

namespace stormcell::testing {
namespace {
constexpr int kProducers = 128;
}  // namespace

HopperBlock::HopperBlock(const RingUses& uses, const Play& play, int block, int threads)
    : uses_(uses),
      play_(play),
      random_(play.seed + static_cast<uint32_t>(block)),
      threads_(static_cast<size_t>(threads)),
      rows_there_(static_cast<size_t>(uses.all)),
      boxes_asked_(static_cast<size_t>(uses.all)),
      boxes_there_(static_cast<size_t>(uses.all)),
      finished_(static_cast<size_t>(uses.all)) {
  for (int warp = 0; warp < threads / 32; ++warp) slow_.push_back(random_() % 3 == 0);
  landing_ = 2 + random_() % 5;
}

bool HopperBlock::happens() {
  const bool may_go_on = held_back_ || !boxes_.empty();
  held_back_ = false;
  while (!boxes_.empty() && random_() % landing_ != 0) land(random_() % boxes_.size());
  return may_go_on;
}

std::string HopperBlock::unfinished() const {
  for (int use = 0; use < uses_.all; ++use)
    if (!is_read(use)) return "a stage was never read";
  for (const auto& [address, barrier] : barriers_)
    if (!barrier.is_fresh()) return "a barrier is left within a phase";
  return {};
}

std::byte* HopperBlock::at(uint32_t address) {
  const size_t place = address - HopperExecution::kSharedBegin;
  if (place < shared_bytes_) return shared_ + place;
  fail("an address outside of shared memory");
  return shared_;
}

/// Warps at paces of their own.
bool HopperBlock::lets_go(int thread) {
  const bool goes = !slow_[static_cast<size_t>(thread / 32)] || random_() % 4 == 0;
  held_back_ = held_back_ || !goes;
  return goes;
}

/// A stage is filled for a use: that before must have been read.
void HopperBlock::begin_use(int use, const char* over) {
  if (use >= uses_.all)
    fail("more stages are filled than the tiles need");
  else if (!is_read(use - uses_.stages))
    fail(over);
}

void HopperBlock::put(const Rows& rows) {
  if (rows.use < uses_.all) ++rows_there_[static_cast<size_t>(rows.use)];
  if (!play_.with_numbers) return;
  for (const Piece& piece : rows.pieces) {
    std::byte* to = at(piece.to);
    std::memset(to, 0, 16);
    if (piece.bytes > 0) std::memcpy(to, piece.from, piece.bytes);
  }
}

void HopperBlock::land(size_t which) {
  const Box box = boxes_[which];
  boxes_.erase(boxes_.begin() + static_cast<ptrdiff_t>(which));
  if (box.use < uses_.all) ++boxes_there_[static_cast<size_t>(box.use)];
  constexpr int32_t kRows = 64;
  if (play_.with_numbers)
    for (int32_t r = 0; r < kRows; ++r)
      for (int32_t d = 0; d < gpu::kTileDepth; ++d) {
        const bool inside = box.row + r < box.map.rows && box.depth + d < box.map.k;
        const int64_t from =
            (static_cast<int64_t>(box.expert) * box.map.rows + box.row + r) * box.map.k + box.depth + d;
        const gpu::Bf16 number = inside ? box.map.w[from] : gpu::Bf16{0};
        std::memcpy(at(gpu::swizzled_address(box.to + static_cast<uint32_t>(r * gpu::kRowBytes + d * 2))), &number, 2);
      }
  barriers_[box.barrier].land(kRows * gpu::kRowBytes);
}

/// Products of a use may read from now on.
void HopperBlock::check_there(int use) {
  const auto at_use = static_cast<size_t>(use);
  if (use >= uses_.all) return fail("more stages are read than the tiles need");
  if (rows_there_[at_use] != kProducers) fail("rows read before they were there");
  if (use >= weights_ || boxes_there_[at_use] != boxes_asked_[at_use]) fail("weights read before they were there");
}

/// Number d of row `row` of the 16 deep operand that a descriptor describes.
float HopperBlock::number(uint64_t descriptor, int32_t row, int32_t d) {
  const auto start = static_cast<uint32_t>(descriptor & 0x3fff) << 4,
             group = static_cast<uint32_t>(descriptor >> 32 & 0x3fff) << 4;
  const auto r = static_cast<uint32_t>(row);
  gpu::Bf16 value;
  std::memcpy(&value, at(gpu::swizzled_address(start + r / 8 * group + r % 8 * 128 + static_cast<uint32_t>(d) * 2)), 2);
  return gpu::to_float(value);
}

/// A thread's sums of one wgmma: of two rows, eight apart, the same columns.
void HopperBlock::multiply(const Product& product, int thread) {
  const int32_t t = thread % 128;
  float of_row[2][gpu::kStepDepth] = {}, of_column[gpu::kStepDepth] = {};
  const auto fetch = [&](float(&to)[gpu::kStepDepth], uint64_t descriptor, int32_t row) {
    if (!play_.with_numbers) return;
    for (int32_t d = 0; d < gpu::kStepDepth; ++d) to[d] = number(descriptor, row, d);
  };
  for (int32_t below = 0; below < 2; ++below) fetch(of_row[below], product.a, gpu::sum_row(t, 2 * below));
  for (int32_t i = 0; i < product.held; ++i) {
    if (i % 4 > 1) continue;
    fetch(of_column, product.b, product.first_column + gpu::sum_column(t, i));
    for (int32_t below = 0; below < 2; ++below) {
      float& sum = product.sum[i + 2 * below];
      if (!product.add) sum = 0;
      for (int32_t d = 0; d < gpu::kStepDepth; ++d) sum += of_row[below][d] * of_column[d];
    }
  }
}

void HopperExecution::barriers_are_there() {
  std::memset(block_->shared_, 0xff, block_->shared_bytes_);
}  // what nobody fills is NaN

void HopperExecution::arrive(uint32_t barrier) {
  if (block_->play_.flaw == Flaw::gives_back_for_itself && thread() % 32 != 0) return;
  block_->barriers_[barrier].arrive(1);
}
void HopperExecution::arrive_expecting(uint32_t barrier, uint32_t bytes) {
  block_->begin_use(block_->weights_++, "weights over what is still read");
  block_->barriers_[barrier].arrive(1, static_cast<int>(block_->play_.flaw == Flaw::expects_half ? bytes / 2 : bytes));
}
void HopperExecution::copy_box(uint32_t to, const WeightMap* map, int32_t depth, int32_t row, int32_t expert,
                               uint32_t barrier) {
  const int use = block_->weights_ - 1;
  if (use < block_->uses_.all) ++block_->boxes_asked_[static_cast<size_t>(use)];
  block_->boxes_.push_back({to, *map, depth, row, expert, barrier, use});
}

void HopperExecution::copy_piece(uint32_t to, const void* from, uint32_t bytes) {
  const auto* begin = static_cast<const std::byte*>(from);  // also of what is not read: its address is taken
  if (begin < block_->x_ || begin + 16 > block_->x_ + block_->x_bytes_) block_->fail("an address outside of x");
  mine_->asked.push_back({to, from, bytes});
}
void HopperExecution::commit_pieces() {
  block_->begin_use(mine_->copied, "rows over what is still read");
  mine_->flying.push_back({mine_->copied++, mine_->asked});
  mine_->asked.clear();
}
void HopperExecution::fence_for_tensor_cores() {
  if (block_->play_.flaw == Flaw::forgets_fences) return;
  for (const HopperBlock::Rows& rows : mine_->landed) block_->put(rows);
  mine_->landed.clear();
}

void HopperExecution::commit_products() {
  block_->check_there(mine_->multiplied++);
  mine_->products.push_back(mine_->queued);
  mine_->queued.clear();
}
void HopperExecution::finish_products(size_t left) {
  for (; mine_->products.size() > left; mine_->products.pop_front()) {
    for (const HopperBlock::Product& product : mine_->products.front()) block_->multiply(product, thread());
    if (const int use = mine_->done++; use < block_->uses_.all) ++block_->finished_[static_cast<size_t>(use)];
  }
}

}  // namespace stormcell::testing
