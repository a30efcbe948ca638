#include <algorithm>
#include <cstring>

#include "core/cpu/cpu_kernel.h"

namespace stormcell::cpu {
namespace {

/// Moves rows to their places, from the last to the first, because no row lies behind its place: output and input may
/// be the same memory.
class Expand : public Kernel {
 public:
  explicit Expand(const BuildContext& m) : row_bytes_(m.graph().row_bytes(m.node().inputs[0])) {}
  void run(const Call& c) const override {
    const int64_t parents = c.out[0].groups.parents;
    // Parents do not share cells, unless those of one lie where rows of others still wait: then threads share the
    // columns.
    if (c.out[0].data != c.in[0].data) {
      c.team.split(parents, 1, [&](int64_t begin, int64_t end, int) { expand(c, {begin, end}, {0, row_bytes_}); });
      return;
    }
    c.team.split((row_bytes_ + kBand - 1) / kBand, 1, [&](int64_t begin, int64_t end, int) {
      expand(c, {0, parents}, {begin * kBand, std::min(end * kBand, row_bytes_)});
    });
  }

 private:
  struct Range {
    int64_t begin, end;
  };
  static constexpr int64_t kBand = 64;  // bytes of a row that one thread moves at least: a cache line

  void expand(const Call& c, Range parents, Range columns) const {
    const RaggedView& r = *c.in[1].ragged;
    const CellGroups& groups = c.out[0].groups;
    const size_t bytes = columns.end - columns.begin;
    const auto at = [&](std::byte* base, int64_t row) { return base + row * row_bytes_ + columns.begin; };
    const auto clear = [&](int64_t begin, int64_t end) {
      for (int64_t cell = begin; cell < end; ++cell) std::memset(at(c.out[0].data, cell), 0, bytes);
    };
    for (int64_t p = parents.end - 1; p >= parents.begin; --p) {
      int64_t done = groups.end(p);  // cells from here on are in place
      for (int32_t row = r.offsets[p + 1] - 1; row >= r.offsets[p]; --row) {
        const int64_t cell = r.cell[row];
        clear(cell + 1, done);
        std::memmove(at(c.out[0].data, cell), at(c.in[0].data, row), bytes);
        done = cell;
      }
      clear(groups.begin(p), done);
    }
  }

  int64_t row_bytes_;
};

}  // namespace
std::unique_ptr<Kernel> make_expand(const BuildContext& m) { return std::make_unique<Expand>(m); }
}  // namespace stormcell::cpu
