// Dispatch and combine against core's, and a whole layer on the emulator, kernel by kernel as layer() queues them,
// against plain loops.
#include <cmath>
#include <cstring>
#include <random>

#include "core/base/dtype.h"
#include "core/cell/protocol_row.h"
#include "core/cell/route.h"
#include "gpu/dispatch/arguments.h"
#include "gpu/grouped/arguments.h"
#include "gpu/grouped/gemv.h"
#include "gpu/grouped/plain.h"
#include "gpu/launch/device.h"
#include "gpu/layer/layer.h"
#include "tests/core/cell/decision_memory.h"
#include "tests/gpu/device_route.h"
#include "tests/testing/testing.h"

namespace stormcell {
namespace {
using gpu::Bf16;
using testing::AlignedMemory;
using testing::Decision;
using testing::emulate;

template <class T>
T* numbers(const AlignedMemory& memory) {
  return reinterpret_cast<T*>(memory.get());
}

template <class T>
void fill(T* to, int64_t n, std::mt19937& random, float scale) {
  std::normal_distribution<float> normal(0, scale);
  for (int64_t i = 0; i < n; ++i) to[i] = gpu::number<T>(normal(random));
}

/// A decision with drops and, for thresholds, cells without a branch.
Decision decide(const Protocol& protocol, int64_t cells, int32_t branches, std::mt19937& random,
                std::vector<float>& scores) {
  scores.resize(static_cast<size_t>(cells * branches));
  fill(scores.data(), cells * branches, random, 1);
  Decision d(cells, fan_out_of(protocol, branches), branches);
  ScoreView view{scores.data(), cells, branches};
  route(view, protocol, *d);
  return d;
}

template <class T>
std::string emulate_product(const gpu::GroupedCall& call, const gpu::RegimeLimits& limits, int32_t* map) {
  const auto args = gpu::args_of<T>(call, map);
  std::string wrong;
  for (const gpu::Launch launch : gpu::launches(limits, call.most_rows)) {
    if (!wrong.empty()) break;
    if (launch == gpu::Launch::plain)
      wrong = call.gated ? emulate<gpu::PlainKernel<T, 2>>(3, args) : emulate<gpu::PlainKernel<T, 1>>(3, args);
    else if (launch == gpu::Launch::gemv)
      wrong = call.gated ? emulate<gpu::GemvKernel<T, 2>>(2, args) : emulate<gpu::GemvKernel<T, 1>>(2, args);
    else
      wrong = "tensor cores are not emulated";
  }
  return wrong;
}

std::string emulate_route_and_map(const gpu::LayerParts& parts, const gpu::RegimeLimits& limits) {
  const gpu::OneBlockArgs args = gpu::one_block_args(parts, limits);
  if (!gpu::is_one_tile(args.index)) {
    const std::string wrong = testing::emulate_route(parts.route);
    return wrong.empty() ? emulate<gpu::TileMapKernel>(1, args.map) : wrong;
  }
  bool done = false;
  std::string wrong = testing::emulate_one_block(args, testing::ThreadOrder::shuffled, done);
  if (done) return wrong;
  wrong = testing::emulate_choose(args.choose, testing::ThreadOrder::ascending, 3);
  return wrong.empty() ? emulate<gpu::IndexAndMapKernel>(1, args, testing::ThreadOrder::shuffled) : wrong;
}

/// As gpu::layer, without tensor cores.
template <class T>
std::string emulate_layer(const gpu::LayerCall& call, const gpu::RegimeLimits& limits, void* workspace, size_t bytes) {
  if (const gpu::Status status = gpu::check_layer(call, limits, workspace, bytes); !status.ok()) return status.text();
  const gpu::LayerParts parts = gpu::layer_parts(call, workspace);
  std::string wrong = emulate_route_and_map(parts, limits);
  if (wrong.empty()) wrong = emulate_product<T>(parts.first, limits, parts.map);
  if (wrong.empty()) wrong = emulate_product<T>(parts.second, limits, parts.map);
  if (wrong.empty() && (parts.sums || parts.fills))
    wrong = emulate<gpu::CombineKernel<T>>(2, gpu::args_of(parts.combine));
  return wrong;
}

struct LayerCase {
  Protocol protocol;
  int64_t cells;
  int32_t experts, width, hidden;
  bool gated, with_dropped;
};

template <class T>
std::string layer_difference(const LayerCase& c, std::mt19937& random) {
  const int32_t panels = c.gated ? 2 : 1;
  std::vector<float> scores, bias1(static_cast<size_t>(c.experts * panels * c.hidden)),
      bias2(static_cast<size_t>(c.experts * c.width));
  Decision d = decide(c.protocol, c.cells, c.experts, random, scores);
  const auto bytes = [](int64_t n) { return static_cast<size_t>(n) * sizeof(T); };
  const int64_t w1_size = int64_t{c.experts} * panels * c.hidden * c.width,
                w2_size = int64_t{c.experts} * c.width * c.hidden;
  const AlignedMemory x(bytes(c.cells * c.width)), y(bytes(c.cells * c.width)), w1(bytes(w1_size)), w2(bytes(w2_size));
  fill(numbers<T>(x), c.cells * c.width, random, 1);
  fill(numbers<T>(w1), w1_size, random, 1 / std::sqrt(static_cast<float>(c.width)));
  fill(numbers<T>(w2), w2_size, random, 1 / std::sqrt(static_cast<float>(c.hidden)));
  fill(bias1.data(), static_cast<int64_t>(bias1.size()), random, 0.1f);
  fill(bias2.data(), static_cast<int64_t>(bias2.size()), random, 0.1f);

  gpu::LayerCall call;
  call.scores = scores.data();
  call.rule = gpu::rule_of(c.protocol, c.experts);
  call.cells = c.cells, call.experts = c.experts, call.width = c.width, call.hidden = c.hidden;
  call.format = sizeof(T) == 4 ? gpu::Format::f32 : gpu::Format::bf16;
  call.gated = c.gated, call.activation = c.gated ? gpu::Activation::silu : gpu::Activation::relu;
  call.x = x.get(), call.w1 = w1.get(), call.w2 = w2.get(), call.y = y.get();
  call.bias1 = bias1.data(), call.bias2 = bias2.data();
  call.dropped = c.with_dropped ? x.get() : nullptr;
  const gpu::ProductShape shapes[] = {{call.format, c.hidden, c.width}, {call.format, c.width, c.hidden}};
  const AlignedMemory workspace(gpu::layer_workspace(call));
  const std::string wrong = emulate_layer<T>(call, gpu::choose_limits(false, shapes, 2, {c.cells, 0}), workspace.get(),
                                             gpu::layer_workspace(call));
  if (!wrong.empty()) return wrong;

  double largest = 0, error = 0;
  const T *xs = numbers<T>(x), *w1s = numbers<T>(w1), *w2s = numbers<T>(w2), *ys = numbers<T>(y);
  std::vector<double> hidden(static_cast<size_t>(c.hidden)), sum(static_cast<size_t>(c.width));
  for (int64_t cell = 0; cell < c.cells; ++cell) {
    std::fill(sum.begin(), sum.end(), 0.0);
    for (int32_t j = 0; j < d->fan_out; ++j) {
      const int32_t e = d->choice[cell * d->fan_out + j];
      const auto weight = static_cast<double>(d->choice_weight[cell * d->fan_out + j]);
      if (!is_kept(e)) {
        if (c.with_dropped && is_dropped(e))
          for (int32_t i = 0; i < c.width; ++i)
            sum[static_cast<size_t>(i)] += weight * static_cast<double>(gpu::to_float(xs[cell * c.width + i]));
        continue;
      }
      for (int32_t h = 0; h < c.hidden; ++h) {
        double panel[2] = {};
        for (int32_t p = 0; p < panels; ++p) {
          const int64_t row = (int64_t{e} * panels + p) * c.hidden + h;
          panel[p] = static_cast<double>(bias1[static_cast<size_t>(row)]);
          for (int32_t i = 0; i < c.width; ++i)
            panel[p] += static_cast<double>(gpu::to_float(xs[cell * c.width + i])) *
                        static_cast<double>(gpu::to_float(w1s[row * c.width + i]));
        }
        hidden[static_cast<size_t>(h)] =
            c.gated ? panel[0] / (1 + std::exp(-panel[0])) * panel[1] : std::max(panel[0], 0.0);
      }
      for (int32_t i = 0; i < c.width; ++i) {
        const int64_t row = int64_t{e} * c.width + i;
        auto out = static_cast<double>(bias2[static_cast<size_t>(row)]);
        for (int32_t h = 0; h < c.hidden; ++h)
          out += hidden[static_cast<size_t>(h)] * static_cast<double>(gpu::to_float(w2s[row * c.hidden + h]));
        sum[static_cast<size_t>(i)] += weight * out;
      }
    }
    for (int32_t i = 0; i < c.width; ++i) {
      const double want = sum[static_cast<size_t>(i)], got = static_cast<double>(gpu::to_float(ys[cell * c.width + i]));
      largest = std::max(largest, std::fabs(want));
      error = std::max(error, std::isnan(got) ? INFINITY : std::fabs(got - want));
    }
  }
  // The project's tolerances: docs/concepts.md.
  return error <= largest * (sizeof(T) == 4 ? 1e-4 : 2e-2)
             ? ""
             : "largest difference " + std::to_string(error) + " of " + std::to_string(largest);
}
}  // namespace

class GpuLayerTest : public QObject {
  Q_OBJECT
 private slots:
  void conversions_are_the_hosts() {
    for (uint32_t i = 0; i < 1u << 24; i += 257) {
      const float value = gpu::float_of_bits(i << 8 | (i & 0xff));
      QCOMPARE(gpu::to_bf16(value).bits, f32_to_bf16(value));
    }
    for (uint32_t i = 0; i < 65536; ++i) {
      const auto bits = static_cast<uint16_t>(i);
      QCOMPARE(gpu::bits_of_float(gpu::to_float(Bf16{bits})), gpu::bits_of_float(bf16_to_f32(bits)));
    }
  }
  void rows_are_dispatched_and_combined() {
    std::mt19937 random(1);
    for (int i = 0; i < (testing::kSlowEmulator ? 5 : 20); ++i) {
      Protocol protocol;
      protocol.k = 1 + i % 4;
      if (i % 5 == 0) protocol = {.kind = ProtocolKind::switch_top1, .capacity = 4};
      if (i % 5 == 1) protocol = {.kind = ProtocolKind::threshold, .threshold = 0.8f};
      const int64_t cells = static_cast<int64_t>(random() % 90);
      const int64_t width =
          4 * (1 + static_cast<int64_t>(random() %
                                        (i % 4 == 0 ? 1700 : 200)));  // to 14 groups of pieces, of one block's 8 warps
      std::vector<float> scores;
      Decision d = decide(protocol, cells, 6, random, scores);
      const int64_t places = cells * d->fan_out;
      const AlignedMemory from(static_cast<size_t>(cells * width * 4)), rows(static_cast<size_t>(places * width * 4)),
          to(static_cast<size_t>(cells * width * 4));
      fill(numbers<float>(from), cells * width, random, 1);
      std::vector<float> want_rows(static_cast<size_t>(places * width)), want(static_cast<size_t>(cells * width));

      gpu::DispatchCall out;
      out.decision = *d, out.cells = cells, out.width = width, out.from = from.get(), out.to = rows.get();
      QVERIFY(gpu::check_dispatch(out).ok());
      QCOMPARE(emulate<gpu::DispatchKernel>(2, gpu::args_of(out)), std::string());
      dispatch(*d, numbers<float>(from), width, want_rows.data());
      QVERIFY(std::memcmp(want_rows.data(), rows.get(), static_cast<size_t>(d->offsets[6] * width * 4)) == 0);

      // Rows that have nothing in common, so that a weight with another choice's row shows.
      fill(numbers<float>(rows), places * width, random, 1);
      gpu::CombineCall back;
      back.decision = *d, back.cells = cells, back.width = width, back.from = rows.get(), back.to = to.get();
      back.weighted = i % 3 != 0;
      QVERIFY(gpu::check_combine(back).ok());
      QCOMPARE(emulate<gpu::CombineKernel<float>>(1 + i % 3, gpu::args_of(back)), std::string());
      combine(*d, cells, numbers<float>(rows), width, back.weighted, want.data());
      for (int64_t at = 0; at < cells * width; ++at)
        QVERIFY(std::fabs(numbers<float>(to)[at] - want[static_cast<size_t>(at)]) <=
                1e-5f * std::max(1.0f, std::fabs(want[static_cast<size_t>(at)])));
    }
  }
  void whole_layers() {
    std::mt19937 random(2);
    const Protocol top1 = {.k = 1}, top3 = {.k = 3, .renormalize = true},
                   limited = {.kind = ProtocolKind::switch_top1, .capacity = 3},
                   sigmoid = {.kind = ProtocolKind::sigmoid_groups,
                              .k = 2,
                              .groups = 2,
                              .groups_kept = 1,
                              .scale = 2.5f},
                   threshold = {.kind = ProtocolKind::threshold, .threshold = 0.7f};
    for (const Protocol& protocol : {top1, top3, limited, sigmoid, threshold})
      for (const int64_t cells : {int64_t{1}, int64_t{testing::kSlowEmulator ? 11 : 37}}) {
        LayerCase c{protocol, cells, 6, 24, 40, random() % 2 == 0, protocol.capacity > 0};
        QCOMPARE(layer_difference<float>(c, random), std::string());
        c.gated = !c.gated;
        QCOMPARE(layer_difference<Bf16>(c, random), std::string());
      }
  }
  // By one block, by two launches, and kernel by kernel.
  void routing_takes_the_way_that_its_size_needs() {
    std::mt19937 random(4);
    const Protocol top2 = {.k = 2}, limited = {.kind = ProtocolKind::switch_top1, .capacity = 9};
    for (const Protocol& protocol : {top2, limited})
      for (const int32_t experts : {6, 20})
        for (const int64_t cells : {int64_t{30}, int64_t{200}, int64_t{testing::kSlowEmulator ? 200 : 2100}})
          QCOMPARE(layer_difference<float>({protocol, cells, experts, 8, 4, false, true}, random), std::string());
    // Each instance of what routes and maps in one block, and more experts than any of them takes.
    for (const int32_t experts : {64, 128, 200, 600})
      for (const int64_t cells : {int64_t{30}, int64_t{100}, int64_t{testing::kSlowEmulator ? 100 : 300}})
        QCOMPARE(layer_difference<float>({top2, cells, experts, 8, 4, false, false}, random), std::string());
  }
  // The host's bound of an expert's rows: all cells, and what capacity leaves of them where the number of parents is
  // known.
  void most_rows_of_a_layer() {
    gpu::LayerCall call;
    call.experts = 8, call.width = call.hidden = 8, call.cells = 700;
    call.rule = gpu::rule_of(Protocol{.kind = ProtocolKind::switch_top1}, 8);
    QCOMPARE(gpu::most_rows(call), int64_t{700});
    call.rule.capacity = 5;
    QCOMPARE(gpu::most_rows(call), int64_t{5});
    QCOMPARE(gpu::layer_parts(call, nullptr).first.most_rows, int64_t{5});
    QCOMPARE(gpu::layer_parts(call, nullptr).second.most_rows, int64_t{5});
    call.parents.per_parent = 100;
    QCOMPARE(gpu::most_rows(call), int64_t{35});
    call.parents.per_parent = 99;
    QCOMPARE(gpu::most_rows(call), int64_t{40});
    call.rule.capacity = INT32_MAX;
    QCOMPARE(gpu::most_rows(call), int64_t{700});
    const int32_t parents[1] = {};
    call.rule.capacity = 5, call.parents = {0, parents};  // their number is the device's
    QCOMPARE(gpu::most_rows(call), int64_t{700});
    // No decision exceeds it.
    std::mt19937 random(9);
    for (int i = 0; i < 200; ++i) {
      const auto cells = 1 + static_cast<int64_t>(random() % 300);
      const Protocol limited{.kind = ProtocolKind::switch_top1, .capacity = 1 + static_cast<int32_t>(random() % 40)};
      std::vector<float> scores(static_cast<size_t>(cells * 4));
      fill(scores.data(), cells * 4, random, 1);
      for (int64_t cell = 0; cell < cells; ++cell) scores[static_cast<size_t>(cell * 4)] += 1;
      Decision d(cells, 1, 4);
      call.parents = {random() % 2 ? 1 + static_cast<int64_t>(random() % 120) : 0, nullptr};
      ScoreView view{scores.data(), cells, 4};
      view.parents = call.parents;
      route(view, limited, *d);
      call.cells = cells, call.experts = 4, call.rule = gpu::rule_of(limited, 4);
      int64_t largest = 0;
      for (int b = 0; b < 4; ++b) largest = std::max<int64_t>(largest, d->offsets[b + 1] - d->offsets[b]);
      QVERIFY(largest <= gpu::most_rows(call));
    }
  }
  void cards_below_8_0_are_refused() {
    gpu::Device device;
    device.index = 1, device.major = 7, device.minor = 5;
    std::snprintf(device.name, sizeof device.name, "Some Card");
    const gpu::Status status = gpu::check_card(device);
    QVERIFY(status.code() == gpu::StatusCode::unsupported);
    QCOMPARE(std::string(status.text()), std::string("device 1 (Some Card, compute capability 7.5): kernels need 8.0"));
    for (const int major : {8, 9, 10, 12}) {
      device.major = major;
      QVERIFY(gpu::check_card(device).ok() && device.has_wgmma() == false);
    }
    device.major = 9, device.minor = 0;
    QVERIFY(device.has_wgmma());
  }
  void a_layer_of_no_cells() {
    std::mt19937 random(3);
    QCOMPARE(layer_difference<float>({{.k = 2}, 0, 4, 8, 8, false, false}, random), std::string());
  }
  void refusals_name_what_is_wrong() {
    gpu::LayerCall call;
    call.rule = gpu::rule_of(Protocol{.k = 2}, 4);
    call.cells = 8, call.experts = 4, call.width = 8, call.hidden = 8;
    const gpu::RegimeLimits limits{8, 0, false};
    const size_t bytes = gpu::layer_workspace(call);
    const AlignedMemory workspace(bytes), data(4096);
    call.scores = numbers<float>(data);
    call.x = call.w1 = call.w2 = call.y = data.get();
    QVERIFY(gpu::check_layer(call, limits, workspace.get(), bytes).ok());
    QVERIFY(std::string(gpu::check_layer(call, limits, workspace.get(), bytes - 1).text()).find("needs") !=
            std::string::npos);
    QVERIFY(std::string(gpu::check_layer(call, limits, nullptr, bytes).text()).find("workspace is null") !=
            std::string::npos);
    QVERIFY(std::string(gpu::check_layer(call, {4, 64, true}, workspace.get(), bytes).text())
                .empty());  // the card is asked later
    call.w2 = nullptr;
    QVERIFY(std::string(gpu::check_layer(call, limits, workspace.get(), bytes).text()).find("w is null") !=
            std::string::npos);
    for (const int64_t cells : {int64_t{-1}, int64_t{1} << 31, int64_t{1} << 62}) {
      call.cells = cells;
      QVERIFY(!gpu::check_layer(call, limits, workspace.get(), bytes).ok());
    }
    // Sizes whose workspace is beyond 2^63 bytes.
    call.cells = INT32_MAX, call.hidden = INT32_MAX, call.rule.fan_out = 4;
    QVERIFY(std::string(gpu::check_layer(call, limits, workspace.get(), bytes).text()).find("hidden 2147483647") !=
            std::string::npos);
    gpu::DispatchCall out;
    out.decision.fan_out = 1, out.cells = 4, out.width = 3;
    QVERIFY(std::string(gpu::check_dispatch(out).text()).find("multiple of 16") != std::string::npos);
    for (const int64_t width : {int64_t{0}, int64_t{1} << 40, int64_t{1} << 62}) {
      out.width = width;
      QVERIFY(std::string(gpu::check_dispatch(out).text()).find("numbers, allowed are 1 to 2147483647") !=
              std::string::npos);
    }
    // Times four choices this is 2^64.
    gpu::CombineCall back;
    out.decision.fan_out = back.decision.fan_out = 4, out.cells = back.cells = int64_t{1} << 62,
    out.width = back.width = 8;
    QVERIFY(std::string(gpu::check_dispatch(out).text()).find("beyond 2^31") != std::string::npos);
    QVERIFY(std::string(gpu::check_combine(back).text()).find("beyond 2^31") != std::string::npos);
  }
};

STORMCELL_TEST(GpuLayerTest)
}  // namespace stormcell
#include "layer_test.moc"
