// All (branch, row block, panel) units of a call lie on one line, weighted by their cost; each thread takes one
// contiguous piece of it. Pieces are found by counting, so nothing is allocated, empty branches cost a comparison, and
// every thread knows which panel it reads next and can prefetch it, across branches. Claiming units dynamically was
// measured no better even beside a competing process.
#include "core/cpu/kernels/grouped_linear.h"

#include "core/cpu/kernels/format_kernels.h"
#include "core/cpu/kernels/kernel_table.h"
#include "core/cpu/kernels/row_blocks.h"

namespace stormcell::cpu {
namespace {

/// Below this many elements a second fork-join costs more than rounding the rows on one thread.
constexpr int64_t kRoundAlone = 8192;

struct Call {
  const GroupedRows& rows;
  const Epilogue& epilogue;
  std::byte* y;
  int64_t ldy;
  int64_t n, k;
  DType dtype;
  void (*product)(const ProductTask&);
  size_t panel_size;  // bytes
  const void* x;      // rows as the kernel reads them: the caller's, or rounded or widened by slot
  int64_t x_size;     // bytes of an element
  int64_t ldx;
  const int32_t* row_of_slot;
  std::byte* tiles;
  int threads;
  const ThreadTeam& team;

  bool present(int32_t branch) const { return rows.weights[branch] && rows.offsets[branch + 1] > rows.offsets[branch]; }
  ProductUnits units(int32_t branch) const { return {rows.offsets[branch + 1] - rows.offsets[branch], n, k, threads}; }
  const std::byte* panel(int32_t branch, int64_t panel) const {
    return rows.weights[branch]->data + static_cast<size_t>(panel) * panel_size;
  }
};

void run_unit(const Call& call, const KernelTable& table, int32_t branch, const ProductUnits& units, int64_t unit,
              const std::byte* next, float* tile) {
  const int64_t part = unit / units.panels, panel = unit % units.panels;
  const int64_t begin = units.row_begin(part), rows = units.row_begin(part + 1) - begin;
  const int64_t slot = call.rows.offsets[branch] + begin, column = panel * kPanelColumns;

  ProductTask product;
  product.ldx = call.ldx;
  product.row_of = call.row_of_slot ? call.row_of_slot + slot : nullptr;
  product.x = static_cast<const std::byte*>(call.x) + (call.row_of_slot ? 0 : slot * call.ldx * call.x_size);
  product.rows = rows;
  product.k = call.k;
  product.panel = call.panel(branch, panel);
  product.columns = std::min(kPanelColumns, call.n - column);
  product.next = next;
  product.tile = tile;
  call.product(product);

  const Epilogue& e = call.epilogue;
  const float* bias = call.rows.biases ? call.rows.biases[branch] : e.bias;
  const int64_t extra = slot * e.ld_extra + column;
  EpilogueTask finish;
  finish.tile = tile;
  finish.rows = rows;
  finish.columns = product.columns;
  finish.scale = e.scale;
  finish.row_of = call.rows.row_of_slot ? call.rows.row_of_slot + slot : nullptr;
  finish.row_scale = e.row_scale && !finish.row_of ? e.row_scale + slot : e.row_scale;
  finish.bias = bias ? bias + column : nullptr;
  finish.activation = e.activation;
  finish.multiply = e.multiply ? e.multiply + extra : nullptr;
  finish.residual = e.residual ? e.residual + extra : nullptr;
  finish.residual_first = e.residual_first;
  finish.ld_extra = e.ld_extra;
  finish.y_bf16 = e.to_bf16;
  finish.y = call.y + (slot * call.ldy + column) * static_cast<int64_t>(e.to_bf16 ? sizeof(uint16_t) : sizeof(float));
  finish.ldy = call.ldy;
  table.epilogue(finish);
}

/// The units whose beginning on the line lies in [begin, end).
void run_piece(const Call& call, const KernelTable& table, int64_t begin, int64_t end, float* tile) {
  struct Unit {
    int32_t branch = -1;
    ProductUnits units;
    int64_t unit = 0;
  } waiting;  // runs as soon as its successor is known
  const auto flush = [&](const std::byte* next) {
    if (waiting.branch >= 0) run_unit(call, table, waiting.branch, waiting.units, waiting.unit, next, tile);
  };
  int64_t at = 0;
  for (int32_t b = 0; b < call.rows.branches && at < end; ++b) {
    if (!call.present(b)) continue;
    const ProductUnits units = call.units(b);
    const int64_t cost = units.cost(), first = begin > at ? (begin - at + cost - 1) / cost : 0;
    for (int64_t u = first; u < units.count() && at + u * cost < end && !call.team.cancelled(); ++u) {
      flush(call.panel(b, u % units.panels));
      waiting = {b, units, u};
    }
    at += units.count() * cost;
  }
  flush(nullptr);
}

/// Another format of the rows of all present branches, slot by slot: convert(row of x, slot).
template <class Convert>
void convert_rows(ThreadTeam& team, const Call& call, const Convert& convert) {
  const GroupedRows& rows = call.rows;
  const int64_t slots = rows.offsets[rows.branches];
  const auto piece = [&](int64_t begin, int64_t end, int) {
    for (int32_t b = 0; b < rows.branches; ++b) {
      if (!call.present(b)) continue;
      for (int64_t s = std::max<int64_t>(begin, rows.offsets[b]); s < std::min<int64_t>(end, rows.offsets[b + 1]); ++s)
        convert((rows.row_of_slot ? rows.row_of_slot[s] : s) * rows.ldx, s);
    }
  };
  if (slots * call.k <= kRoundAlone)
    piece(0, slots, 0);
  else
    team.split(slots, 1, piece);
}

int64_t rounded_ld(int64_t k) { return (k + 31) / 32 * 32; }  // whole cache lines

}  // namespace

size_t grouped_linear_scratch_bytes(int64_t slots, int64_t k, DType weight_dtype, int threads, DType x_dtype) {
  const bool reads_bf16 = rounds_rows_of_x(weight_dtype);
  const size_t tiles = static_cast<size_t>(threads) * kTileBytes;
  if (is_halves(x_dtype)) return tiles + (reads_bf16 ? 0 : static_cast<size_t>(slots * k) * sizeof(float));
  const FormatKernels* kernels = find_kernels(weight_dtype);
  return tiles + (kernels && kernels->rounds_x ? static_cast<size_t>(slots * rounded_ld(k)) * sizeof(uint16_t) : 0);
}

void grouped_linear(ThreadTeam& team, const GroupedRows& rows, const Epilogue& epilogue, void* y, int64_t ldy,
                    std::byte* scratch) {
  const PackedWeight* weight = nullptr;
  for (int32_t b = 0; b < rows.branches && !weight; ++b)
    if (rows.offsets[b + 1] > rows.offsets[b]) weight = rows.weights[b];
  if (!weight) return;

  const KernelTable& table = kernels();
  const int threads = team.size();
  Call call{rows,
            epilogue,
            static_cast<std::byte*>(y),
            ldy,
            weight->n,
            weight->k,
            weight->dtype,
            columns_product(weight->dtype),
            columns_bytes(weight->k, weight->dtype),
            rows.x,
            sizeof(float),
            rows.ldx,
            rows.row_of_slot,
            scratch,
            threads,
            team};
  std::byte* const converted = scratch + static_cast<size_t>(threads) * kTileBytes;
  const bool reads_bf16 = rounds_rows_of_x(call.dtype);
  if (reads_bf16 && rows.x_bf16) {
    call.x = rows.x_bf16, call.x_size = sizeof(uint16_t);
  } else if (reads_bf16) {
    auto* to = reinterpret_cast<uint16_t*>(converted);
    const int64_t ld = rounded_ld(call.k);
    convert_rows(team, call,
                 [&](int64_t from, int64_t slot) { table.round_row(rows.x + from, call.k, to + slot * ld); });
    call.x = to, call.x_size = sizeof(uint16_t), call.ldx = ld, call.row_of_slot = nullptr;
  } else if (rows.x_bf16) {
    auto* to = reinterpret_cast<float*>(converted);
    convert_rows(team, call, [&](int64_t from, int64_t slot) {
      table.widen_row(rows.x_bf16 + from, 1.0f, call.k, to + slot * call.k);
    });
    call.x = to, call.ldx = call.k, call.row_of_slot = nullptr;
  }
  int64_t total = 0;
  for (int32_t b = 0; b < rows.branches; ++b)
    if (call.present(b)) {
      const ProductUnits units = call.units(b);
      total += units.count() * units.cost();
    }
  team.run([&](int member) {
    run_piece(call, table, total * member / threads, total * (member + 1) / threads,
              reinterpret_cast<float*>(call.tiles + static_cast<size_t>(member) * kTileBytes));
  });
}

}  // namespace stormcell::cpu
