// A model that does not fit is refused before it is loaded: the check counts what the device will hold, not what the
// files have.
#include "core/bench/memory_check.h"

#include "core/base/error.h"
#include "core/bench/converted_graph.h"
#include "core/cpu/cpu_device.h"
#include "core/graph/annotation_rules.h"
#include "core/graph/builder.h"
#include "core/machine/memory.h"
#include "core/models/model.h"
#include "core/runtime/executor.h"
#include "core/runtime/lower.h"
#include "core/weights/recipe_weights.h"
#include "tests/core/bench/memory_sums.h"
#include "tests/core/formats/scratch.h"
#include "tests/testing/complaint.h"
#include "tests/testing/testing.h"

using namespace stormcell;
using namespace stormcell::testing;

namespace {

/// Zeros of any shape.
class Zeros : public WeightSource {
 public:
  explicit Zeros(const Graph& graph) {
    for (const Value& v : graph.values)
      if (v.kind == ValueKind::weight) {
        std::vector<int64_t> shape;
        for (const Dim& d : v.type.content) shape.push_back(d.constant());
        infos_.emplace(v.name, WeightInfo{v.name, v.type.dtype, shape});
      }
  }
  const WeightInfo* find(std::string_view name) const override {
    const auto at = infos_.find(name);
    return at == infos_.end() ? nullptr : &at->second;
  }
  std::shared_ptr<const std::byte> bytes(std::string_view name) const override {
    auto memory = std::make_shared<std::vector<std::byte>>(static_cast<size_t>(find(name)->bytes()));
    return {memory, memory->data()};
  }

 private:
  std::map<std::string, WeightInfo, std::less<>> infos_;
};

std::shared_ptr<const WeightSource> zeros(const Graph& graph) {
  return make_recipe_weights(std::make_shared<Zeros>(graph));
}

std::shared_ptr<const Graph> two_products(DType dtype, int64_t inner = 3000) {
  GraphBuilder b;
  const ValueId x = b.input("x", DType::f32, b.root_space("rows", b.symbol("N")), {1000});
  ValueId y = b.value("linear", {x, b.weight("up", dtype, {inner, 1000})}, {}, "up");
  y = b.value("linear", {y, b.weight("down", dtype, {1000, inner})}, {}, "down");
  b.output("y", y);
  return std::make_shared<Graph>(b.finish());
}

/// Cells through one of two products. `guarded`: where nothing is sent to the second, the first alone runs, and else
/// both.
std::shared_ptr<const Graph> routed(bool guarded) {
  GraphBuilder b;
  const SpaceId rows = b.root_space("rows", b.symbol("N"));
  const ValueId x = b.input("x", DType::f32, rows, {1000});
  Protocol best;
  best.k = 1;
  const ValueId decision =
      b.route(b.value("linear", {x, b.weight("scores", DType::f32, {2, 1000})}, {}, "scores"), best, "router");
  const ValueId first = b.weight("first", DType::f32, {1000, 1000}),
                second = b.weight("second", DType::f32, {1000, 1000});
  const auto both = [&](const std::string& name) {
    const std::vector<ValueId> ways = b.scatter(x, decision, {0, 1});
    return b.gather({b.value("linear", {ways[0], first}, {}, name + ".first"),
                     b.value("linear", {ways[1], second}, {}, name + ".second")},
                    rows, "weighted", kNone, name);
  };
  const auto one = [&] {
    return b.gather({b.value("linear", {b.scatter(x, decision, {0})[0], first}, {}, "taken.first")}, rows, "weighted",
                    kNone, "taken");
  };
  if (!guarded) {
    b.output("y", both("y"));
    return std::make_shared<Graph>(b.finish());
  }
  const ValueId empty = b.value("branches_empty", {decision}, {{"branches", std::vector<int64_t>{1}}}, "empty");
  b.begin_body();
  b.end_body({one()});
  b.begin_body();
  b.end_body({both("fallback")});
  b.output("y", b.graph().node(b.add_region("guard", {empty}, {}, "guard")).outputs[0]);
  return std::make_shared<Graph>(b.finish());
}

/// Cells through one of eight products.
std::shared_ptr<const Graph> eight_branches() {
  GraphBuilder b;
  const SpaceId rows = b.root_space("rows", b.symbol("N"));
  const ValueId x = b.input("x", DType::f32, rows, {1000});
  Protocol best;
  best.k = 1;
  const ValueId decision =
      b.route(b.value("linear", {x, b.weight("scores", DType::f32, {8, 1000})}, {}, "scores"), best, "router");
  const std::vector<ValueId> ways = b.scatter(x, decision, {0, 1, 2, 3, 4, 5, 6, 7});
  std::vector<ValueId> made;
  for (size_t i = 0; i < ways.size(); ++i) {
    const std::string name = "product." + std::to_string(i);
    made.push_back(b.value("linear", {ways[i], b.weight(name + ".weight", DType::f32, {1000, 1000})}, {}, name));
  }
  b.output("y", b.gather(std::move(made), rows, "weighted", kNone, "y"));
  return std::make_shared<Graph>(b.finish());
}

std::string refusal(Device& device, DType dtype, int64_t available) {
  const auto graph = two_products(dtype);
  WeightStore store(device, zeros(*graph));
  return bad_input_complaint([&] { check_memory(device, store, {{graph, CompileOptions{{4}}}}, available, "MODEL"); });
}

}  // namespace

class MemoryCheckTest : public QObject {
  Q_OBJECT
 private slots:
  void f16_weights_are_counted_as_the_f32_panels_they_become() {
    cpu::CpuDevice device(1);
    for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
      const auto graph = two_products(dtype);
      const auto weights = zeros(*graph);
      WeightStore store(device, weights);
      const int64_t need = memory_needed(device, store, graph, CompileOptions{{4}});
      const Executor executor(device, store, std::make_shared<Program>(lower(graph)), CompileOptions{{4}});
      const int64_t panels = (47 * 64 * 1000 + 16 * 64 * 3000) * (dtype == DType::bf16 ? 2 : 4);
      int64_t needed = 0;
      for (const WeightHandle handle : executor.needed_weights()) needed += store.bytes(handle);
      QCOMPARE(needed, panels);
      // Beside the panels: the larger tensor while it is read, and little activations.
      const int64_t beside = need - panels - weights->find("up")->bytes();
      QVERIFY2(beside >= executor.activation_bytes() && beside < 8 << 20, std::to_string(beside).c_str());
      // Loaded weights are not needed again.
      QVERIFY(memory_needed(device, store, graph, CompileOptions{{4}}) < need - panels);
    }
  }
  /// Rows that branches read where they lie keep maps alive for longer, which takes gaps.
  void rows_are_copied_where_only_so_it_fits() {
    cpu::CpuDevice device(1);
    const auto model = open_model("preset:dynamic-routing-a");
    WeightStore store(device, model->weights);
    CompileOptions lent{Bindings(model->forward->symbols.size(), 1)}, copied = lent;
    copied.rows = SentRows::copied;
    const int64_t most = memory_needed(device, store, model->forward, lent),
                  least = memory_needed(device, store, model->forward, copied);
    QVERIFY2(least < most, qPrintable(QString::number(most - least)));
    const auto rows = [&](int64_t available) {
      return check_memory(device, store, {{model->forward, lent}}, available, "MODEL");
    };
    QVERIFY(rows(most) == SentRows::lent && rows(most - 1) == SentRows::copied && rows(least) == SentRows::copied);
    VERIFY_BAD_INPUT(rows(least - 1), "MODEL", " of memory, ");
    const auto program = std::make_shared<const Program>(lower(model->forward));
    const auto further = [&](int64_t available) {
      return check_further_plan(device, store, program, lent, available, "plan", "MODEL");
    };
    const int64_t more = further_memory_needed(device, store, program, lent),
                  less = further_memory_needed(device, store, program, copied);
    QVERIFY(less < more && further(more) == SentRows::lent && further(more - 1) == SentRows::copied &&
            further(less) == SentRows::copied);
    VERIFY_BAD_INPUT(further(less - 1), "MODEL", "the plan \"plan\" needs ");
    QVERIFY(device.layout_of(program, store, copied).memory.loans.empty() &&
            !device.layout_of(program, store, lent).memory.loans.empty());
  }
  void what_a_conversion_is_made_from_is_counted_as_long_as_it_is_held() {
    constexpr int64_t kElements = 16'000 * 1000;
    cpu::CpuDevice device(1);
    const auto graph = in_format(*two_products(DType::f32, 16'000), DType::bf16);
    WeightStore store(device, zeros(*two_products(DType::f32, 16'000)));
    const int64_t need = memory_needed(device, store, graph, CompileOptions{{4}});
    QVERIFY(need >= 2 * kElements * 2 + kElements * (4 + 2));
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    QSKIP("sanitizers hold memory of their own: it is measured in the ordinary build");
#endif
    reset_peak_resident_memory();
    const int64_t before = peak_resident_memory();
    const Executor executor(device, store, std::make_shared<Program>(lower(graph)), CompileOptions{{4}});
    const int64_t held = peak_resident_memory() - before;
    // The panels of the last are written when its stored tensor has gone: so much less may be held, and not more.
    const int64_t slack = need - held;
    QVERIFY2(slack >= 0 && slack <= kElements * 2 + (8 << 20),
             (std::to_string(need) + " " + std::to_string(held)).c_str());
  }
  void under_a_budget_it_is_counted_for_each_thread_that_reads() {
    constexpr int64_t kElements = 1000 * 1000, kPanels = 16 * 64 * 1000 * 2;
    cpu::CpuDevice device(1);
    const auto plain = routed(false);
    for (const int64_t budget : {2 * kPanels, int64_t{kPanels}}) {
      WeightStore all(device, zeros(*plain)), parts(device, zeros(*plain), budget);
      const auto graph = in_format(*plain, DType::bf16);
      // Without a budget the two weights of branches are dense, and the larger is read beside them.
      const auto while_read = [&](const char* name) {
        return all.source().bytes_while_read("convert(\"" + std::string(name) + "\", bf16)");
      };
      QCOMPARE(while_read("first"), kElements * (4 + 2) + 1000 * 4);  // stored, converted, a row in f32
      const int64_t beside = memory_needed(device, all, graph, CompileOptions{{4}}) - 2 * kPanels - while_read("first");
      QCOMPARE(memory_needed(device, parts, graph, CompileOptions{{4}}),
               beside + budget + while_read("scores") + kWeightReaders * while_read("first"));
    }
  }
  void what_just_fits_is_taken_and_one_byte_less_refused_with_what_to_do() {
    cpu::CpuDevice device(1);
    for (const DType dtype : {DType::f32, DType::f16}) {
      const auto graph = two_products(dtype);
      WeightStore store(device, zeros(*graph));
      const int64_t need = memory_needed(device, store, graph, CompileOptions{{4}});
      QCOMPARE(refusal(device, dtype, need), std::string());
      const std::string text = refusal(device, dtype, need - 1);
      QVERIFY2(text.starts_with("MODEL: needs ") && text.ends_with("(use --dtype bf16, which fits)"), text.c_str());
    }
    const std::string text = refusal(device, DType::bf16, 4 << 20);
    QVERIFY2(text.find("no --dtype of this version fits") != std::string::npos, text.c_str());
  }
  void what_only_a_fallback_reads_need_not_fit() {
    cpu::CpuDevice device(1);
    const auto whole = routed(false), spared = routed(true);
    const auto weights = zeros(*whole);
    WeightStore store(device, weights);
    const int64_t baseline = memory_needed(device, store, whole, CompileOptions{{4}}),
                  plan = memory_needed(device, store, spared, CompileOptions{{4}});
    // The second branch: 16 panels of 64 columns of 1000, less what the guard needs itself.
    QVERIFY2(baseline - plan > 15 * 64 * 1000 * 4, (std::to_string(baseline) + " " + std::to_string(plan)).c_str());
    check_memory(device, store, {{spared, CompileOptions{{4}}}}, plan, "MODEL");
    VERIFY_BAD_INPUT(check_memory(device, store, {{whole, CompileOptions{{4}}}}, plan, "MODEL"), "MODEL", "of memory");
    QVERIFY(memory_needed(device, store, {{spared, CompileOptions{{4}}}}, FallbackWeights::loaded) >= baseline);
  }
  void the_advised_budget_holds_what_is_pinned_too() {
    cpu::CpuDevice device(1);
    auto graph = std::make_shared<Graph>(*eight_branches());
    for (const char* name : {"product.0.weight", "product.1.weight"})
      annotate(*graph, std::string(name) + ".residency=pinned", "test");
    const auto weights = zeros(*graph);
    WeightStore all(device, weights, kBudgetForAll);
    const int64_t with_all = memory_needed(device, all, graph, CompileOptions{{4}}), least = all.least_budget(),
                  pinned = all.planned_pinned_bytes();
    QVERIFY(pinned > 0 && least > pinned);
    // Beside what is pinned there is room for one more, and that is less than the two are.
    const int64_t room = with_all - all.planned_slot_bytes() + (least - pinned) + 1000;
    WeightStore store(device, weights);
    const std::string told = complaint([&] {
      check_memory(device, store, {{graph, CompileOptions{{4}}}}, room, "MODEL");
    });
    const size_t at = told.find("--weight-budget ");
    QVERIFY2(at != std::string::npos, told.c_str());
    const int64_t advised = std::stoll(told.substr(told.find_first_of("0123456789", at)));
    QVERIFY2(advised >= least && advised < least + 1000 + 64, told.c_str());
    WeightStore small(device, weights, advised);
    check_memory(device, small, {{graph, CompileOptions{{4}}}}, room, "MODEL");
  }
  void where_a_budget_fits_it_is_advised_and_holds() {
    cpu::CpuDevice device(1);
    const auto graph = eight_branches();
    const auto weights = zeros(*graph);
    WeightStore all(device, weights, kBudgetForAll);
    const int64_t with_all = memory_needed(device, all, graph, CompileOptions{{4}}), least = all.least_budget();
    QVERIFY(least > 0);
    // Room for one branch and a little, with no budget and with one that is too large.
    const int64_t room = with_all - all.planned_slot_bytes() + least + 1000;
    for (const int64_t budget : {int64_t{0}, int64_t{1} << 40}) {
      WeightStore store(device, weights, budget);
      const std::string told = complaint([&] {
        check_memory(device, store, {{graph, CompileOptions{{4}}}}, room, "MODEL");
      });
      const size_t at = told.find("--weight-budget ");
      QVERIFY2(at != std::string::npos, told.c_str());
      const size_t number = told.find_first_of("0123456789", at);
      const int64_t advised = std::stoll(told.substr(number));
      QVERIFY2(advised >= least && advised < least + 1000 + 64, told.c_str());
      WeightStore small(device, weights, advised);
      check_memory(device, small, {{graph, CompileOptions{{4}}}}, room, "MODEL");
    }
    // If not even one branch fits, it is not.
    WeightStore store(device, weights);
    VERIFY_BAD_INPUT(check_memory(device, store, {{graph, CompileOptions{{4}}}}, room - 1001, "MODEL"), "MODEL",
                     "of memory");
    const std::string told = complaint([&] {
      check_memory(device, store, {{graph, CompileOptions{{4}}}}, room - 1001, "MODEL");
    });
    QVERIFY2(told.find("--weight-budget") == std::string::npos, told.c_str());
  }
  void the_advice_holds() {
    cpu::CpuDevice device(1);
    const auto graph = two_products(DType::f32);
    WeightStore store(device, zeros(*graph));
    const int64_t need = memory_needed(device, store, in_format(*graph, DType::bf16), CompileOptions{{4}});
    QVERIFY(refusal(device, DType::f32, need).ends_with("which fits)"));
    QVERIFY(refusal(device, DType::f32, need - 1).find("no --dtype") != std::string::npos);
  }
};
STORMCELL_TEST(MemoryCheckTest)
#include "memory_check_test.moc"
