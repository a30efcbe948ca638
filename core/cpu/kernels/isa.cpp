#include "core/cpu/kernels/isa.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>

#include "core/cpu/kernels/kernel_table.h"
#include "core/cpu/kernels/panel_columns.h"

namespace stormcell::cpu {

// One for each kernels.<isa>.cpp.
KernelTable generic_kernels();
KernelTable avx2_kernels();
KernelTable avx512_kernels();
KernelTable avx512_bf16_kernels();

namespace {

struct Variant {
  Isa isa;
  bool (*supported)();
  KernelTable (*table)();
};

// The ordered list: the first that the processor supports is used.
constexpr Variant kVariants[] = {
#if defined(__x86_64__)
    {Isa::avx512_bf16,
     [] {
       return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
              __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
              __builtin_cpu_supports("fma") && __builtin_cpu_supports("avx512bf16");
     },
     avx512_bf16_kernels},
    {Isa::avx512,
     [] {
       return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
              __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("fma");
     },
     avx512_kernels},
    {Isa::avx2, [] { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }, avx2_kernels},
#endif
    {Isa::generic, [] { return true; }, generic_kernels},
};
constexpr size_t kVariantCount = std::size(kVariants);

struct Available {
  std::array<Isa, kVariantCount> isas;
  std::array<KernelTable, kVariantCount> tables;
  size_t count = 0;
  Available() {
    for (const Variant& variant : kVariants)
      if (variant.supported()) isas[count] = variant.isa, tables[count++] = variant.table();
  }
};
const Available& available() {
  static const Available list;
  return list;
}

/// The best variant that is at most as special as `limit`.
const KernelTable* best(Isa limit) {
  const Available& list = available();
  for (size_t i = 0; i < list.count; ++i)
    if (list.isas[i] <= limit) return &list.tables[i];
  return &list.tables[list.count - 1];
}

/// Nanoseconds of 24 rows times a bf16 panel that lies in L1; the shortest of 24.
struct ProductTimer {
  static constexpr int64_t kRows = 24, kK = 96;
  alignas(64) std::byte panel[kK * kPanelColumns * sizeof(uint16_t)] = {};
  alignas(64) float tile[kRows * kPanelColumns];
  float x[kRows * kK] = {};  // all zero, in either type
  double shortest(const KernelTable& table, double so_far) {
    const auto start = std::chrono::steady_clock::now();
    ProductTask task;
    task.x = x, task.ldx = kK, task.rows = kRows, task.k = kK, task.panel = panel, task.tile = tile;
    table.product_bf16(task);
    return std::min(so_far, std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count());
  }
};

/// Whether the bf16 dot instruction beats widening to f32 and multiplying there. Having it does not mean that: against
/// f32 it has twice the FLOP rate on Zen 5 but half on Sapphire and Emerald Rapids (105 against 200 GFLOP/s a core),
/// and it rounds x besides. So it is measured, about 0.1 ms; the two cases lie a factor of four apart, and each time is
/// the shortest of 24 alternated ones, so that noise does not decide.
bool dot_products_are_faster(const KernelTable& with, const KernelTable& without) {
  ProductTimer timer;
  double dot = 1e18, widened = 1e18;
  for (int repeat = 0; repeat < 24; ++repeat) {
    dot = timer.shortest(with, dot);
    widened = timer.shortest(without, widened);
  }
  return dot < widened;
}

const KernelTable* choose() {
  const char* wish = std::getenv("STORMCELL_ISA");
  for (const Variant& variant : kVariants)
    if (wish && to_text(variant.isa) == wish) return best(variant.isa);
  const KernelTable* special = best(Isa::avx512_bf16);
  if (special->isa == Isa::avx512_bf16 && !dot_products_are_faster(*special, *best(Isa::avx512)))
    return best(Isa::avx512);
  return special;
}

std::atomic<const KernelTable*> in_use{nullptr};

}  // namespace

std::string_view to_text(Isa isa) {
  switch (isa) {
    case Isa::generic:
      return "generic";
    case Isa::avx2:
      return "avx2";
    case Isa::avx512:
      return "avx512";
    case Isa::avx512_bf16:
      return "avx512_bf16";
  }
  return "";
}

std::span<const Isa> available_isas() { return {available().isas.data(), available().count}; }

const KernelTable& kernels() {
  const KernelTable* table = in_use.load(std::memory_order_acquire);
  if (!table) {
    table = choose();
    in_use.store(table, std::memory_order_release);
  }
  return *table;
}

Isa active_isa() { return kernels().isa; }

void set_isa_for_test(std::optional<Isa> isa) { in_use.store(isa ? best(*isa) : choose(), std::memory_order_release); }

}  // namespace stormcell::cpu
