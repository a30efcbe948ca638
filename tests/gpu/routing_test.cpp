// Routing kernels on the emulator against core's protocols: choices, slots and loads exactly, weights within rounding.
#include <cmath>
#include <limits>
#include <random>

#include "core/cell/protocol_row.h"
#include "core/cell/route.h"
#include "tests/core/cell/decision_memory.h"
#include "tests/gpu/device_route.h"
#include "tests/testing/testing.h"

namespace stormcell::routing_test {
namespace {
using testing::Decision;
using testing::emulate_route;
using testing::ThreadOrder;

constexpr float kInf = std::numeric_limits<float>::infinity(), kNaN = std::numeric_limits<float>::quiet_NaN();

struct Case {
  Protocol protocol;
  int64_t cells = 0;
  int32_t branches = 1;
  std::vector<float> scores, bias;
  std::vector<int32_t> parent;
  ParentMap parents;
};

enum class Scores { smooth, few_values, broken };

void fill_scores(Case& c, std::mt19937& random, Scores how) {
  std::normal_distribution<float> normal(0, 2);
  c.scores.resize(static_cast<size_t>(c.cells * c.branches));
  constexpr float kBroken[] = {kNaN, kInf, -kInf, 0.0f, -0.0f, 1.0f, 100.0f, -100.0f};
  for (float& s : c.scores)
    s = how == Scores::smooth       ? normal(random)
        : how == Scores::few_values ? static_cast<float>(random() % 4)
                                    : kBroken[random() % 8];
}

bool close(float a, float b) {
  return a == b || (a != a && b != b) || std::fabs(a - b) <= 2e-6f * std::max(1.0f, std::fabs(b));
}

/// Empty when the kernels decide what route() decides.
std::string difference(const Case& c, ThreadOrder order = ThreadOrder::ascending, int most_blocks = 8) {
  const int32_t fan_out = fan_out_of(c.protocol, c.branches);
  Decision want(c.cells, fan_out, c.branches), got(c.cells, fan_out, c.branches);
  ScoreView view{c.scores.data(), c.cells, c.branches};
  view.bias = c.bias.empty() ? nullptr : c.bias.data();
  view.parents = c.parents;
  route(view, c.protocol, *want);

  gpu::RouteCall call;
  call.scores = c.scores.data(), call.bias = view.bias;
  call.cells = c.cells, call.branches = c.branches;
  call.parents = c.parents;
  call.rule = gpu::rule_of(c.protocol, c.branches);
  call.decision = *got;
  if (std::string wrong = emulate_route(call, order, most_blocks); !wrong.empty()) return wrong;

  const auto at = [](const char* what, int64_t i) { return std::string(what) + " " + std::to_string(i); };
  if (*got->cells != *want->cells) return "cells";
  for (int32_t b = 0; b <= c.branches; ++b)
    if (got->offsets[b] != want->offsets[b]) return at("offset", b);
  for (int32_t b = 0; b < c.branches; ++b) {
    if (got->wanted[b] != want->wanted[b]) return at("wanted", b);
    if (got->padded[b] != want->padded[b]) return at("padded", b);
  }
  for (int64_t i = 0; i < c.cells * fan_out; ++i) {
    if (got->choice[i] != want->choice[i])
      return at("choice", i) + ": " + std::to_string(got->choice[i]) + ", not " + std::to_string(want->choice[i]);
    if (got->slot[i] != want->slot[i]) return at("slot", i);
    if (!close(got->choice_weight[i], want->choice_weight[i]))
      return at("weight", i) + ": " + std::to_string(got->choice_weight[i]) + ", not " +
             std::to_string(want->choice_weight[i]);
  }
  for (int32_t s = 0; s < want->offsets[c.branches]; ++s) {
    if (got->cell[s] != want->cell[s]) return at("cell of slot", s);
    if (!close(got->weight[s], want->weight[s])) return at("weight of slot", s);
  }
  for (int64_t i = 0; i < c.cells; ++i)
    if (!close(got->margin[i], want->margin[i]))
      return at("margin", i) + ": " + std::to_string(got->margin[i]) + ", not " + std::to_string(want->margin[i]);
  return testing::broken_invariant(*got, c.cells);
}

Case random_case(std::mt19937& random, ProtocolKind kind, int32_t branches, int64_t cells, Scores how) {
  const auto up_to = [&](int32_t n) { return static_cast<int32_t>(1 + random() % static_cast<uint32_t>(n)); };
  Case c;
  c.protocol.kind = kind;
  c.branches = branches;
  c.cells = cells;
  Protocol& p = c.protocol;
  p.scale = random() % 3 == 0 ? 2.5f : 1.0f;
  p.renormalize = random() % 2;
  switch (kind) {
    case ProtocolKind::top_k:
      p.k = up_to(std::min(branches, random() % 8 == 0 ? 64 : 8));
      p.softmax = static_cast<SoftmaxPlace>(random() % 3);
      break;
    case ProtocolKind::switch_top1:
      p.renormalize = false;
      p.capacity = random() % 4 == 0 ? 0 : up_to(1 + static_cast<int32_t>(cells / branches));
      if (const auto how_parents = random() % 3; how_parents == 0) {
        c.parents.per_parent = up_to(static_cast<int32_t>(std::max<int64_t>(1, cells)));
      } else if (how_parents == 1) {
        c.parent.resize(static_cast<size_t>(cells));
        int32_t parent = 0;
        for (int32_t& of : c.parent) of = parent += random() % 40 == 0 ? 1 + static_cast<int32_t>(random() % 3) : 0;
        c.parents.parent = c.parent.data();
      }
      break;
    case ProtocolKind::sigmoid_groups:
      do p.groups = up_to(std::min(branches, kMostChoices));
      while (branches % p.groups != 0);
      p.groups_kept = up_to(p.groups);
      p.k = up_to(std::min(branches, 8));
      if (random() % 2) {
        std::normal_distribution<float> normal(0, 0.1f);
        for (int32_t b = 0; b < branches; ++b) c.bias.push_back(normal(random));
      }
      break;
    default:
      p.threshold = how == Scores::few_values ? 1.0f : 0.5f;
      p.residual = random() % 2 ? up_to(branches) - 1 : -1;
  }
  fill_scores(c, random, how);
  return c;
}

constexpr ProtocolKind kKinds[] = {ProtocolKind::top_k, ProtocolKind::switch_top1, ProtocolKind::sigmoid_groups,
                                   ProtocolKind::threshold};
}  // namespace

class GpuRoutingTest : public QObject {
  Q_OBJECT
 private slots:
  void decides_as_core_does_on_random_shapes() {
    std::mt19937 random(5);
    for (const ProtocolKind kind : kKinds)
      for (const Scores how : {Scores::smooth, Scores::few_values, Scores::broken})
        for (int i = 0; i < (testing::kSlowEmulator ? 4 : 24); ++i) {
          const int32_t branches = 1 + static_cast<int32_t>(random() % (i % 4 == 0 ? 300 : i % 2 == 0 ? 64 : 8));
          const int64_t cells = static_cast<int64_t>(random() % (i % 3 == 0 && !testing::kSlowEmulator ? 700 : 40));
          const Case c = random_case(random, kind, branches, cells, how);
          const std::string wrong = difference(c);
          QVERIFY2(wrong.empty(), qPrintable(QString("%1, %2 cells, %3 branches, k %4, case %5: %6")
                                                 .arg(to_text(kind).data())
                                                 .arg(cells)
                                                 .arg(branches)
                                                 .arg(c.protocol.k)
                                                 .arg(i)
                                                 .arg(wrong.c_str())));
        }
  }
  void any_order_of_threads_gives_the_same() {
    std::mt19937 random(6);
    for (const ProtocolKind kind : kKinds)
      for (const ThreadOrder order : {ThreadOrder::descending, ThreadOrder::shuffled})
        for (const int64_t cells : {int64_t{70}, int64_t{testing::kSlowEmulator ? 300 : 2500}}) {
          const Case c =
              random_case(random, kind, 24, kind == ProtocolKind::threshold ? cells / 8 : cells, Scores::few_values);
          QCOMPARE(difference(c, order, 3), std::string());
        }
  }
  void one_branch_and_a_thousand() {
    std::mt19937 random(7);
    for (const ProtocolKind kind : kKinds)
      for (const int32_t branches : {1, 1024}) {
        const Case c = random_case(random, kind, branches, 9, Scores::smooth);
        QCOMPARE(difference(c), std::string());
      }
  }
  void no_cells_at_all() {
    std::mt19937 random(8);
    for (const ProtocolKind kind : kKinds)
      QCOMPARE(difference(random_case(random, kind, 16, 0, Scores::smooth)), std::string());
  }
  void all_cells_to_one_branch_leave_the_others_empty() {
    std::mt19937 random(9);
    for (const int32_t favourite : {0, 31, 127}) {
      Case c = random_case(random, ProtocolKind::switch_top1, 128, testing::kSlowEmulator ? 200 : 3000, Scores::smooth);
      for (int64_t i = 0; i < c.cells; ++i) c.scores[static_cast<size_t>(i * 128 + favourite)] = 50;
      QCOMPARE(difference(c), std::string());
    }
  }
  void all_scores_broken() {
    for (const ProtocolKind kind : kKinds) {
      std::mt19937 random(10);
      Case c = random_case(random, kind, 12, 5, Scores::smooth);
      std::fill(c.scores.begin(), c.scores.end(), kNaN);
      QCOMPARE(difference(c), std::string());
    }
  }
  // Parents that begin anywhere: longer and shorter than a tile (2,048 cells), a warp's part of one (256), a warp (32),
  // one cell.
  void capacity_over_parents_of_any_length() {
    std::mt19937 random(11);
    const int64_t cells = testing::kSlowEmulator ? 4500 : 9000;
    const auto check = [&](const ParentMap& parents, int32_t branches, int32_t capacity, ThreadOrder order) {
      Case c = random_case(random, ProtocolKind::switch_top1, branches, cells, Scores::smooth);
      c.parents = parents;
      c.protocol.capacity = capacity;
      return difference(c, order, 3);
    };
    for (const int64_t per_parent : {0, 1, 33, 300, 2048, 4097, 100000})
      QCOMPARE(check({per_parent, nullptr}, 8,
                     static_cast<int32_t>(1 + std::min<int64_t>(per_parent ? per_parent : 4000, 4000) / 12),
                     ThreadOrder::shuffled),
               std::string());
    std::vector<int32_t> parent(static_cast<size_t>(cells));
    for (const uint32_t often : {3u, 40u, 400u, 3000u}) {  // lengths about `often`, and one of 3,000 cells among them
      int32_t of = 0;
      for (size_t i = 0; i < parent.size(); ++i)
        parent[i] = of += (i < 1000 || i > 4000) && random() % often == 0 ? 1 : 0;
      QCOMPARE(check({0, parent.data()}, often == 40 ? 500 : 5, 1 + static_cast<int32_t>(often / 12),
                     ThreadOrder::descending),
               std::string());
    }
  }
  void capacity_over_one_parent_of_a_million_cells() {
    std::mt19937 random(14);
    Case c =
        random_case(random, ProtocolKind::switch_top1, 8, testing::kSlowEmulator ? 20000 : 1000000, Scores::few_values);
    c.parents = {};
    c.protocol.capacity = static_cast<int32_t>(c.cells / 10);
    QCOMPARE(difference(c, ThreadOrder::ascending, 128), std::string());
  }
  void a_million_cells() {
    std::mt19937 random(12);
    Case c = random_case(random, ProtocolKind::top_k, 8, testing::kSlowEmulator ? 20000 : 1000000, Scores::few_values);
    c.protocol = {.k = 1, .softmax = SoftmaxPlace::none};
    QCOMPARE(difference(c, ThreadOrder::ascending, 128), std::string());
  }
  void many_parents_with_capacity() {
    std::mt19937 random(13);
    Case c =
        random_case(random, ProtocolKind::switch_top1, 8, testing::kSlowEmulator ? 5000 : 100000, Scores::few_values);
    c.parents = {512, nullptr};
    c.protocol.capacity = 64;
    QCOMPARE(difference(c, ThreadOrder::ascending, 128), std::string());
  }
  void what_the_device_does_not_decide_is_told() {
    QVERIFY(gpu::is_decided_on_device(Protocol{.kind = ProtocolKind::switch_top1, .capacity = 4}));
    QVERIFY(!gpu::is_decided_on_device(Protocol{.kind = ProtocolKind::hash}));
    QVERIFY(!gpu::is_decided_on_device(Protocol{.supported_capacities = {2, 4}}));
    QVERIFY(!gpu::is_decided_on_device(Protocol{.capacity_padding = true}));
  }
  void refusals_name_what_is_wrong() {
    Protocol protocol;
    Decision d(4, 1, 8);
    std::vector<float> scores(32);
    gpu::RouteCall call;
    call.scores = scores.data(), call.cells = 4, call.branches = 8;
    call.rule = gpu::rule_of(protocol, 8);
    call.decision = *d;
    alignas(256) std::byte workspace[1024];
    QVERIFY(gpu::check_route(call, workspace, sizeof workspace).ok());
    const auto refused = [&](auto change, const char* word, gpu::StatusCode code = gpu::StatusCode::bad_input) {
      gpu::RouteCall bad = call;
      change(bad);
      const gpu::Status status = gpu::check_route(bad, workspace, sizeof workspace);
      return status.code() == code && std::string(status.text()).find(word) != std::string::npos &&
             std::string(status.text()).find('\n') == std::string::npos;
    };
    QVERIFY(refused([](gpu::RouteCall& c) { c.scores = nullptr; }, "scores is null"));
    QVERIFY(refused(
        [](gpu::RouteCall& c) {
          c.scores = reinterpret_cast<const float*>(reinterpret_cast<const char*>(c.scores) + 1);
        },
        "aligned"));
    QVERIFY(refused([](gpu::RouteCall& c) { c.branches = 1025; }, "branches is 1025"));
    QVERIFY(refused([](gpu::RouteCall& c) { c.rule.k = 9; }, "k is 9"));
    QVERIFY(refused([](gpu::RouteCall& c) { c.rule.k = c.rule.fan_out = c.decision.fan_out = 2, c.rule.capacity = 4; },
                    "capacity with several choices a cell is 4"));
    QVERIFY(refused([](gpu::RouteCall& c) { c.cells = int64_t{1} << 31; }, "beyond 2^31"));
    // Times four choices this is 2^64.
    QVERIFY(refused(
        [](gpu::RouteCall& c) { c.cells = int64_t{1} << 62, c.rule.k = c.rule.fan_out = c.decision.fan_out = 4; },
        "beyond 2^31"));
    const auto in_groups = [](gpu::RouteCall& c, int32_t groups, int32_t kept) {
      c.rule = gpu::rule_of({.kind = ProtocolKind::sigmoid_groups, .groups = groups, .groups_kept = kept}, c.branches);
    };
    QVERIFY(refused([&](gpu::RouteCall& c) { in_groups(c, 4, 5); }, "groups_kept is 5"));
    QVERIFY(refused([&](gpu::RouteCall& c) { c.branches = 128, in_groups(c, 128, 1); },
                    "groups is 128, allowed are 1 to 64"));
    QVERIFY(refused([](gpu::RouteCall& c) { c.decision.slot = nullptr; }, "decision.slot is null"));
    QVERIFY(refused([](gpu::RouteCall& c) { c.decision.fan_out = 2; }, "laid out for"));
    QVERIFY(refused([](gpu::RouteCall& c) { c.rule.choose = gpu::DeviceChoice::none; }, "not decided",
                    gpu::StatusCode::unsupported));
    const gpu::Status small = gpu::check_route(call, workspace, 8);
    QVERIFY2(std::string(small.text()).find("has 8 bytes and needs") != std::string::npos, small.text());
    QVERIFY(!gpu::check_route(call, nullptr, sizeof workspace).ok());
    QVERIFY(!gpu::check_route(call, workspace + 4, sizeof workspace - 4).ok());
  }
};

STORMCELL_TEST(GpuRoutingTest)
}  // namespace stormcell::routing_test
#include "routing_test.moc"
