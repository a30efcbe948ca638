// The kernels at the shapes of Switch-T5-base and of the networks of images, with their share of the limit max(bytes /
// read bandwidth, FLOP / peak), both probed at the start.
//
//   kernels_bench --benchmark_repetitions=9 --benchmark_enable_random_interleaving=true
//   --benchmark_report_aggregates_only=true
//
// Compare medians of interleaved repetitions, and only within one placement of the cores (printed before and after).
// "cold": 32 sets of weights in rotation, so that they come from memory as an expert's do. "hot": one set.
#include <benchmark/benchmark.h>
#include <fmt/core.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "core/base/number_format.h"
#include "core/cpu/kernels/attention.h"
#include "core/cpu/kernels/conv2d.h"
#include "core/cpu/kernels/direct_conv2d.h"
#include "core/cpu/kernels/format_kernels.h"
#include "core/cpu/kernels/grouped_linear.h"
#include "core/cpu/kernels/norm.h"
#include "core/cpu/kernels/planar_conv2d.h"
#include "core/cpu/kernels/separable_conv2d.h"
#include "core/cpu/machine.h"
#include "tests/bench/huge_pages.h"
#include "tests/bench/rival_conv2d.h"
#include "tests/bench/rival_linear.h"

namespace stormcell::bench {
namespace {

using namespace stormcell::cpu;

/// A team of one size with its ceilings; benchmarks of one size share it.
struct Machine {
  explicit Machine(int threads) : team(threads), ceilings(probe_ceilings(team)) {}
  ThreadTeam team;
  Ceilings ceilings;
};

/// Numbers in [-1, 1), quickly: setting up must not take longer than measuring.
void fill(float* to, int64_t n, uint32_t seed) {
  for (int64_t i = 0; i < n; ++i) {
    seed = seed * 1664525u + 1013904223u;
    to[i] = static_cast<float>(static_cast<int32_t>(seed)) * 0x1p-31f;
  }
}

/// Counters of a run that moves `bytes` of memory and does `flop`; zero bytes: they stay in the caches.
void report(benchmark::State& state, const Machine& machine, double flop, double bytes) {
  const double runs = static_cast<double>(state.iterations());
  const double limit = std::max(flop / (machine.ceilings.f32_gflops * 1e9), bytes / (machine.ceilings.read_gbs * 1e9));
  state.counters["GFLOP/s"] = benchmark::Counter(flop * runs * 1e-9, benchmark::Counter::kIsRate);
  if (bytes > 0) state.counters["GB/s"] = benchmark::Counter(bytes * runs * 1e-9, benchmark::Counter::kIsRate);
  state.counters["of_limit"] = benchmark::Counter(limit * runs, benchmark::Counter::kIsRate);
}

struct LinearCase {
  int64_t rows, n, k;
  DType dtype;
  int sets;
  bool rival;
};

void linear_bench(benchmark::State& state, Machine& machine, const LinearCase& c) {
  HugePages rows_of_weights(static_cast<size_t>(c.n * c.k) * sizeof(float)),
      x(static_cast<size_t>(c.rows * c.k) * sizeof(float)), y(static_cast<size_t>(c.rows * c.n) * sizeof(float));
  fill(rows_of_weights.floats(), c.n * c.k, 1);
  fill(x.floats(), c.rows * c.k, 2);
  const size_t bytes = packed_bytes(c.n, c.k, c.dtype);
  int set = 0;
  if (c.rival) {
    const auto rival = make_rival_linear(machine.team, c.rows, c.n, c.k, c.dtype, rows_of_weights.floats(), c.sets);
    if (!rival) return state.SkipWithError("built without oneDNN");
    for (auto _ : state) rival->run(machine.team, x.floats(), set++ % c.sets, y.floats());
  } else {
    HugePages weights(bytes * static_cast<size_t>(c.sets));
    pack({rows_of_weights.data(), DType::f32, c.n, c.k}, c.dtype, weights.data(), 0, panel_count(c.n));
    for (int i = 1; i < c.sets; ++i)
      std::memcpy(weights.data() + static_cast<size_t>(i) * bytes, weights.data(), bytes);
    HugePages scratch(linear_scratch_bytes(c.rows, c.k, c.dtype, machine.team.size()));
    for (auto _ : state) {
      const PackedWeight weight{weights.data() + static_cast<size_t>(set++ % c.sets) * bytes, c.n, c.k, c.dtype};
      linear(machine.team, x.floats(), c.k, c.rows, weight, {}, y.floats(), c.n, scratch.data());
    }
  }
  report(state, machine, 2.0 * static_cast<double>(c.rows * c.n * c.k), c.sets > 1 ? static_cast<double>(bytes) : 0);
}

/// Weights in blocks, whose limit is the larger of reading and expanding them: `expands` measures the latter alone, as
/// floats into L1. Blocks of ones have finite scales.
struct BlocksCase {
  int64_t rows, n, k;
  DType format;
  bool expands;
};

/// Elements a second that all threads of the machine expand from one row in L1.
double expansion_rate(Machine& machine, DType format) {
  constexpr int64_t kRow = 2048, kTimes = 4096;
  std::vector<std::byte> row(static_cast<size_t>(row_bytes(format, kRow)), std::byte{0x11});
  const BlockKernels& blocks = *block_kernels(format);
  double shortest = 1e18;
  for (int repeat = 0; repeat < 9; ++repeat) {
    const auto start = std::chrono::steady_clock::now();
    machine.team.run([&](int) {
      alignas(64) float expanded[kRow];
      for (int64_t i = 0; i < kTimes; ++i) {
        blocks.expand(row.data(), kRow, expanded);
        benchmark::DoNotOptimize(expanded);
      }
    });
    shortest = std::min(shortest, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return static_cast<double>(kRow * kTimes) * machine.team.size() / shortest;
}

void blocks_bench(benchmark::State& state, Machine& machine, const BlocksCase& c) {
  constexpr int kSets = 32;
  const auto bytes = static_cast<size_t>(tensor_bytes(c.format, std::vector<int64_t>{c.n, c.k}));
  HugePages weights(bytes * kSets), x(static_cast<size_t>(c.rows * c.k) * sizeof(float)),
      y(static_cast<size_t>(c.rows * c.n) * sizeof(float)),
      scratch(linear_scratch_bytes(c.rows, c.k, c.format, machine.team.size()));
  std::memset(weights.data(), 0x11, bytes * kSets);
  fill(x.floats(), c.rows * c.k, 2);
  const double rate = expansion_rate(machine, c.format);
  int set = 0;
  if (c.expands) {
    const BlockKernels& blocks = *block_kernels(c.format);
    const int64_t row = row_bytes(c.format, c.k);
    for (auto _ : state) {
      const std::byte* from = weights.data() + static_cast<size_t>(set++ % kSets) * bytes;
      machine.team.split(c.n, 16, [&](int64_t begin, int64_t end, int) {
        alignas(64) float expanded[256];
        for (int64_t r = begin; r < end; ++r)
          for (int64_t i = 0; i < c.k; i += 256) {
            blocks.expand(from + r * row + row_bytes(c.format, i), 256, expanded);
            benchmark::DoNotOptimize(expanded);
          }
      });
    }
  } else {
    for (auto _ : state) {
      const PackedWeight weight{weights.data() + static_cast<size_t>(set++ % kSets) * bytes, c.n, c.k, c.format};
      linear(machine.team, x.floats(), c.k, c.rows, weight, {}, y.floats(), c.n, scratch.data());
    }
  }
  const double elements = static_cast<double>(c.n * c.k), runs = static_cast<double>(state.iterations());
  const double limit =
      std::max({static_cast<double>(bytes) / (machine.ceilings.read_gbs * 1e9), elements / rate,
                2 * elements * static_cast<double>(c.expands ? 0 : c.rows) / (machine.ceilings.f32_gflops * 1e9)});
  state.counters["Gelements/s"] = benchmark::Counter(elements * runs * 1e-9, benchmark::Counter::kIsRate);
  state.counters["GB/s"] = benchmark::Counter(static_cast<double>(bytes) * runs * 1e-9, benchmark::Counter::kIsRate);
  state.counters["probe_Gelements/s"] = rate * 1e-9;
  state.counters["of_limit"] = benchmark::Counter(limit * runs, benchmark::Counter::kIsRate);
}

/// Norm, first product with its activation, second product, as vertical fusion leaves the three: rows lie in f32, or in
/// bf16 between them.
void chain_bench(benchmark::State& state, Machine& machine, int64_t rows, bool in_bf16) {
  constexpr int64_t kWidth = 768, kHidden = 3072;
  HugePages one(static_cast<size_t>(kWidth * kHidden) * sizeof(float)),
      x(static_cast<size_t>(rows * kWidth) * sizeof(float)), normed(static_cast<size_t>(rows * kWidth) * sizeof(float)),
      hidden(static_cast<size_t>(rows * kHidden) * sizeof(float)),
      y(static_cast<size_t>(rows * kWidth) * sizeof(float));
  fill(one.floats(), kWidth * kHidden, 1);
  fill(x.floats(), rows * kWidth, 2);
  const size_t up_bytes = packed_bytes(kHidden, kWidth, DType::bf16),
               down_bytes = packed_bytes(kWidth, kHidden, DType::bf16);
  HugePages up(up_bytes), down(down_bytes);
  pack({one.data(), DType::f32, kHidden, kWidth}, DType::bf16, up.data(), 0, panel_count(kHidden));
  pack({one.data(), DType::f32, kWidth, kHidden}, DType::bf16, down.data(), 0, panel_count(kWidth));
  HugePages scratch(linear_scratch_bytes(rows, kHidden, DType::bf16, machine.team.size()));
  Epilogue first;
  first.activation = Activation::relu, first.to_bf16 = in_bf16;
  const PackedWeight to_hidden{up.data(), kHidden, kWidth, DType::bf16},
      back{down.data(), kWidth, kHidden, DType::bf16};
  auto* const half_normed = reinterpret_cast<uint16_t*>(normed.data());
  auto* const half_hidden = reinterpret_cast<uint16_t*>(hidden.data());
  for (auto _ : state) {
    if (in_bf16) {
      rms_norm(machine.team, x.floats(), rows, kWidth, nullptr, 1e-6f, half_normed);
      linear(machine.team, half_normed, kWidth, rows, to_hidden, first, half_hidden, kHidden, scratch.data());
      linear(machine.team, half_hidden, kHidden, rows, back, {}, y.floats(), kWidth, scratch.data());
    } else {
      rms_norm(machine.team, x.floats(), rows, kWidth, nullptr, 1e-6f, normed.floats());
      linear(machine.team, normed.floats(), kWidth, rows, to_hidden, first, hidden.floats(), kHidden, scratch.data());
      linear(machine.team, hidden.floats(), kHidden, rows, back, {}, y.floats(), kWidth, scratch.data());
    }
  }
  report(state, machine, 4.0 * static_cast<double>(rows * kWidth * kHidden),
         static_cast<double>(up_bytes + down_bytes));
}

/// The first product of `active` of 32 experts, `rows` rows each, as routing leaves them.
void grouped_bench(benchmark::State& state, Machine& machine, int32_t active, int32_t rows, DType dtype) {
  constexpr int32_t kExperts = 32;
  const int64_t n = 3072, k = 768, slots = int64_t{active} * rows;
  HugePages one(static_cast<size_t>(n * k) * sizeof(float)), x(static_cast<size_t>(slots * k) * sizeof(float)),
      y(static_cast<size_t>(slots * n) * sizeof(float));
  fill(one.floats(), n * k, 1);
  fill(x.floats(), slots * k, 2);
  const size_t bytes = packed_bytes(n, k, dtype);
  HugePages weights(bytes * kExperts), scratch(grouped_linear_scratch_bytes(slots, k, dtype, machine.team.size()));
  std::vector<PackedWeight> packed;
  std::vector<const PackedWeight*> experts;
  std::vector<int32_t> offsets{0};
  for (int32_t e = 0; e < kExperts; ++e) {
    std::byte* at = weights.data() + static_cast<size_t>(e) * bytes;
    pack({one.data(), DType::f32, n, k}, dtype, at, 0, panel_count(n));
    packed.push_back({at, n, k, dtype});
  }
  for (int32_t e = 0; e < kExperts; ++e) {
    experts.push_back(&packed[static_cast<size_t>(e)]);
    offsets.push_back(offsets.back() + (e % (kExperts / active) == 0 ? rows : 0));
  }
  GroupedRows group;
  group.x = x.floats(), group.ldx = k, group.offsets = offsets.data(), group.branches = kExperts,
  group.weights = experts.data();
  Epilogue epilogue;
  epilogue.activation = Activation::relu;
  for (auto _ : state) grouped_linear(machine.team, group, epilogue, y.floats(), n, scratch.data());
  report(state, machine, 2.0 * static_cast<double>(slots * n * k),
         static_cast<double>(active) * static_cast<double>(bytes));
}

/// Eight sequences, 12 heads of 64, with T5's bias; the decoding step sees a cache of `keys`.
void attention_bench(benchmark::State& state, Machine& machine, int64_t queries, int64_t keys) {
  AttentionProblem p;
  p.heads = p.kv_heads = 12, p.sequences = 8, p.q_length = queries, p.k_length = keys;
  const int64_t width = 768;
  HugePages q(static_cast<size_t>(8 * queries * width) * sizeof(float)),
      k(static_cast<size_t>(8 * keys * width) * sizeof(float)),
      v(static_cast<size_t>(8 * keys * width) * sizeof(float)),
      out(static_cast<size_t>(8 * queries * width) * sizeof(float));
  fill(q.floats(), 8 * queries * width, 1), fill(k.floats(), 8 * keys * width, 2),
      fill(v.floats(), 8 * keys * width, 3);
  std::vector<float> table(32 * 12, 0.1f);
  p.bias_table = table.data();
  HugePages scratch(attention_scratch_bytes(p, machine.team.size()));
  for (auto _ : state)
    attention(machine.team, q.floats(), width, k.floats(), width, v.floats(), width, p, out.floats(), width,
              scratch.data());
  report(state, machine, 4.0 * 8 * 12 * 64 * static_cast<double>(queries * keys), 0);
}

/// Those of the networks of images: MSDNet's, LiveSR's and DynamicRouting's levels.
struct ConvCase {
  int64_t images, height, width, in_channels, out_channels, kernel;
  Conv2dShape shape() const {
    Conv2dShape s;
    s.images = images, s.height = height, s.width = width, s.in_channels = in_channels, s.out_channels = out_channels;
    s.kernel_height = s.kernel_width = kernel, s.pad_height = s.pad_width = kernel / 2;
    return s;
  }
  double flop() const {
    return 2.0 * static_cast<double>(images * height * width * out_channels * kernel * kernel * in_channels);
  }
};
constexpr ConvCase kConvCases[] = {{1, 256, 512, 64, 64, 3}, {1, 128, 256, 128, 128, 3}, {1, 64, 128, 256, 256, 3},
                                   {1, 32, 64, 512, 512, 3}, {1, 256, 512, 64, 256, 1},  {8, 32, 32, 8, 8, 3},
                                   {8, 32, 32, 16, 16, 3},   {1, 56, 56, 16, 16, 3},     {1, 28, 28, 32, 32, 3},
                                   {1, 14, 14, 128, 64, 3},  {1, 14, 14, 384, 128, 1},   {1, 192, 192, 64, 64, 3}};

/// "panels", "direct", "planar": our kernels, one after the other as the engine would try them from the last.
void conv_bench(benchmark::State& state, Machine& machine, const ConvCase& c, std::string_view kernel, DType dtype) {
  const Conv2dShape s = c.shape();
  const int64_t pixels = s.images * s.height * s.width;
  HugePages x(static_cast<size_t>(pixels * s.in_channels) * sizeof(float)),
      y(static_cast<size_t>(pixels * s.out_channels) * sizeof(float));
  std::vector<float> w(static_cast<size_t>(s.out_channels * s.group_k()));
  fill(x.floats(), pixels * s.in_channels, 1), fill(w.data(), s.out_channels * s.group_k(), 2);
  const int threads = machine.team.size();
  if (kernel == "panels") {
    HugePages packed(packed_conv2d_bytes(s, dtype)), scratch(conv2d_scratch_bytes(s, dtype, threads));
    pack_conv2d(s, w.data(), DType::f32, nullptr, dtype, packed.data());
    for (auto _ : state) conv2d(machine.team, s, x.floats(), packed.data(), dtype, {}, y.floats(), scratch.data());
  } else if (kernel == "direct") {
    HugePages packed(direct_conv2d_bytes(s)), scratch(direct_conv2d_scratch_bytes(s, threads));
    pack_direct_conv2d(s, w.data(), DType::f32, packed.floats());
    for (auto _ : state) direct_conv2d(machine.team, s, x.floats(), packed.floats(), {}, y.floats(), scratch.data());
  } else {
    HugePages packed(planar_conv2d_bytes(s)), scratch(planar_conv2d_scratch_bytes(s, threads));
    pack_planar_conv2d(s, w.data(), DType::f32, packed.floats());
    for (auto _ : state) planar_conv2d(machine.team, s, x.floats(), packed.floats(), {}, y.floats(), scratch.data());
  }
  report(state, machine, c.flop(), 0);
}

/// The shapes of DynamicRouting's cells: side, side, channels.
constexpr int64_t kSeparableCases[][3] = {{256, 512, 64}, {128, 256, 128}, {64, 128, 256}, {32, 64, 512}};

/// A depthwise convolution of 3 x 3 and a pointwise one, one after the other or as one.
void separable_bench(benchmark::State& state, Machine& machine, int64_t height, int64_t width, int64_t channels,
                     bool joined) {
  Conv2dShape s = ConvCase{1, height, width, channels, channels, 3}.shape(),
              pointwise = ConvCase{1, height, width, channels, channels, 1}.shape();
  s.groups = channels;
  const int64_t floats = height * width * channels;
  const int threads = machine.team.size();
  const auto bytes = [](int64_t n) { return static_cast<size_t>(n) * sizeof(float); };
  HugePages x(bytes(floats)), between(bytes(floats)), y(bytes(floats)), w(packed_conv2d_bytes(s, DType::f32)),
      v(direct_conv2d_bytes(pointwise));
  fill(x.floats(), floats, 1), fill(w.floats(), 9 * channels, 2), fill(v.floats(), channels * channels, 3);
  HugePages scratch(
      std::max({conv2d_scratch_bytes(s, DType::f32, threads), direct_conv2d_scratch_bytes(pointwise, threads),
                separable_conv2d_scratch_bytes(s, threads)}));
  for (auto _ : state) {
    if (joined) {
      separable_conv2d(machine.team, s, channels, x.floats(), w.floats(), v.floats(), {}, y.floats(), scratch.data());
    } else {
      conv2d(machine.team, s, x.floats(), w.data(), DType::f32, {}, between.floats(), scratch.data());
      direct_conv2d(machine.team, pointwise, between.floats(), v.floats(), {}, y.floats(), scratch.data());
    }
  }
  report(state, machine, 2.0 * static_cast<double>(floats * (9 + channels)), 0);
}

void rival_conv_bench(benchmark::State& state, Machine& machine, const ConvCase& c, RivalAlgorithm algorithm) {
  const auto rival = make_rival_conv2d(c.shape(), algorithm);
  if (!rival) return state.SkipWithError("oneDNN is not built in, or has no such algorithm here");
  for (auto _ : state) rival->run();
  report(state, machine, c.flop(), 0);
}

void norm_bench(benchmark::State& state, Machine& machine, int64_t rows) {
  HugePages x(static_cast<size_t>(rows * 768) * sizeof(float)), y(static_cast<size_t>(rows * 768) * sizeof(float));
  fill(x.floats(), rows * 768, 1);
  for (auto _ : state) rms_norm(machine.team, x.floats(), rows, 768, nullptr, 1e-6f, y.floats());
  report(state, machine, 3.0 * static_cast<double>(rows * 768), 8.0 * static_cast<double>(rows * 768));
}

/// One thread is measured in its own CPU time, which other processes disturb little; a team in real time, which wants
/// an idle machine.
template <class F>
void add(const Machine& machine, const std::string& name, F&& f) {
  auto* bench =
      benchmark::RegisterBenchmark(name.c_str(), std::forward<F>(f))->Unit(benchmark::kMicrosecond)->MinTime(0.05);
  if (machine.team.size() > 1) bench->UseRealTime();
}

void add_all(Machine& machine) {
  const std::string threads = fmt::format("/threads:{}", machine.team.size());
  for (const DType dtype : {DType::f32, DType::bf16})
    for (const auto& [k, n] :
         {std::pair<int64_t, int64_t>{768, 3072}, {3072, 768}, {768, 768}, {128, 128}, {128, 384}, {256, 128}})
      for (const int64_t rows : {1, 4, 16, 64, 200, 256, 1024})
        for (const int sets : {32, 1})
          for (const bool rival : {false, true}) {
            const LinearCase c{rows, n, k, dtype, sets, rival};
            add(machine,
                fmt::format("linear/{}/{}x{}/{}/rows:{}{}/{}", to_text(dtype), k, n, sets > 1 ? "cold" : "hot", rows,
                            threads, rival ? "onednn" : "own"),
                [&machine, c](benchmark::State& state) { linear_bench(state, machine, c); });
          }
  for (const DType dtype : {DType::f32, DType::bf16})
    for (const int32_t active : {1, 8, 32})
      for (const int32_t rows : {1, 4, 16, 64})
        add(machine, fmt::format("grouped/{}/768x3072/active:{}/rows:{}{}", to_text(dtype), active, rows, threads),
            [&machine, active, rows, dtype](benchmark::State& state) {
              grouped_bench(state, machine, active, rows, dtype);
            });
  for (const NumberFormat& format : number_formats())
    for (const auto& [k, n] : {std::pair<int64_t, int64_t>{2048, 768}, {768, 2048}})
      for (const int64_t rows : {0, 1, 4, 16, 64, 512}) {
        if (!format.is_blocks()) continue;
        const bool expands = rows == 0;
        const BlocksCase c{rows, n, k, format.type, expands};
        add(machine,
            fmt::format("blocks/{}/{}x{}/{}{}", format.name, k, n,
                        expands ? std::string("expand") : fmt::format("rows:{}", rows), threads),
            [&machine, c](benchmark::State& state) { blocks_bench(state, machine, c); });
      }
  for (const int64_t rows : {1, 4, 16, 64, 200, 256, 1024})
    for (const bool in_bf16 : {false, true})
      add(machine,
          fmt::format("chain/bf16/768x3072x768/rows:{}{}/{}", rows, threads, in_bf16 ? "bf16_rows" : "f32_rows"),
          [&machine, rows, in_bf16](benchmark::State& state) { chain_bench(state, machine, rows, in_bf16); });
  for (const auto& [queries, keys] :
       {std::pair<int64_t, int64_t>{8, 8}, {32, 32}, {128, 128}, {512, 512}, {1, 128}, {1, 1024}})
    add(machine, fmt::format("attention/8x12x64/q:{}/k:{}{}", queries, keys, threads),
        [&machine, queries = queries, keys = keys](benchmark::State& state) {
          attention_bench(state, machine, queries, keys);
        });
  for (const ConvCase& c : kConvCases) {
    const std::string name = fmt::format("conv/{}x{}x{}/{}to{}/{}x{}{}", c.images, c.height, c.width, c.in_channels,
                                         c.out_channels, c.kernel, c.kernel, threads);
    const auto own = [&](std::string_view kernel, DType dtype) {
      add(machine, fmt::format("{}/{}/{}", name, to_text(dtype), kernel),
          [&machine, c, kernel, dtype](benchmark::State& state) { conv_bench(state, machine, c, kernel, dtype); });
    };
    own("panels", DType::bf16);
    for (const std::string_view kernel : {"panels", "direct", "planar"})
      if (kernel != "planar" || c.out_channels <= 32) own(kernel, DType::f32);
    if (machine.team.size() > 1) continue;
    for (const auto& [algorithm, word] :
         {std::pair{RivalAlgorithm::direct, "direct"}, {RivalAlgorithm::winograd, "winograd"}})
      add(machine, fmt::format("{}/f32/onednn_{}", name, word),
          [&machine, c, algorithm = algorithm](benchmark::State& state) {
            rival_conv_bench(state, machine, c, algorithm);
          });
  }
  for (const auto& [height, width, channels] : kSeparableCases)
    for (const bool joined : {false, true})
      add(machine,
          fmt::format("separable/{}x{}/{}{}/{}", height, width, channels, threads, joined ? "joined" : "apart"),
          [&machine, height = height, width = width, channels = channels, joined](benchmark::State& state) {
            separable_bench(state, machine, height, width, channels, joined);
          });
  for (const int64_t rows : {16, 1024})
    add(machine, fmt::format("rms_norm/768/rows:{}{}", rows, threads),
        [&machine, rows](benchmark::State& state) { norm_bench(state, machine, rows); });
}

void describe(Machine& machine) {
  const PlacementProbe p = probe_placement(machine.team);
  fmt::print(
      "{} threads: {} (FMA gain {:.2f}, fork-join {:.0f} ns), {}; f32 {:.0f}, bf16 {:.0f} GFLOP/s, read {:.1f} GB/s\n",
      machine.team.size(), to_text(p.placement), p.fma_gain, p.hand_off_ns, to_text(machine.ceilings.isa),
      machine.ceilings.f32_gflops, machine.ceilings.bf16_gflops, machine.ceilings.read_gbs);
}

}  // namespace
}  // namespace stormcell::bench

int main(int argc, char** argv) {
  using namespace stormcell::bench;
  benchmark::Initialize(&argc, argv);
  fmt::print("{}\n", stormcell::cpu::describe_processor().model);
  std::vector<std::unique_ptr<Machine>> machines;
  for (const int threads : {1, 2})
    if (threads <= stormcell::available_cores()) {
      machines.push_back(std::make_unique<Machine>(threads));
      describe(*machines.back());
      add_all(*machines.back());
    }
  std::fflush(stdout);
  benchmark::RunSpecifiedBenchmarks();
  for (const auto& machine : machines) describe(*machine);
  return 0;
}
