// Branches read the rows that they are sent where those lie, wherever their cells follow one another; and nobody writes
// there meanwhile.
#include <algorithm>
#include <cmath>
#include <vector>

#include "core/runtime/memory_plan.h"
#include "tests/testing/case_inputs.h"
#include "tests/testing/emulated_device.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

enum class Later { none, overwritten, put_out };

/// Maps that go to one of two branches by their label; beside that, what becomes of them later. The labels are the
/// input "grades".
RandomCase two_ways(int64_t maps, Later later) {
  CaseBuilder b(3);
  const SpaceId images = b.root_space("images", b.bound_symbol("N", maps));
  // The value before is larger: then there is room to keep the rows that are lent.
  const ValueId wide = b.conv(b.floats("pixels", images, {6, 6, 4}), 16, 3, 1, "wide"),
                x = b.conv(wide, 4, 3, 1, "stem");
  Protocol rule;
  rule.kind = ProtocolKind::label;
  const ValueId decision = b.route(b.integers("grades", images, 2), rule, "grade", 2);
  std::vector<ValueId> parts = b.scatter(x, decision, {0, 1});
  if (later == Later::overwritten) b.output("other", b.value("pixel_shuffle", {x}, {{"factor", int64_t{2}}}, "over"));
  if (later == Later::put_out) b.output("other", parts[0]);
  for (size_t i = 0; i < parts.size(); ++i) parts[i] = b.conv(parts[i], 4, 3, 1, "branch." + std::to_string(i));
  b.output("picture", b.gather(parts, images, "place", kNone, "joined"));
  return b.take("two ways");
}

/// The branches that read rows where they lie.
std::vector<int32_t> borrowers(const RandomCase& c) {
  const Program program = lower(std::make_shared<Graph>(c.graph));
  std::vector<int32_t> branches;
  for (const RowLoan& loan : plan_memory(program, c.bindings).loans)
    branches.push_back(program.operands[loan.borrower].branch);
  return branches;
}

}  // namespace

class RowLoansTest : public QObject {
  Q_OBJECT
 private slots:
  void what_is_read_by_operators_alone_is_lent() {
    QCOMPARE(borrowers(two_ways(3, Later::none)), (std::vector<int32_t>{0, 1}));
    QCOMPARE(borrowers(two_ways(3, Later::overwritten)), std::vector<int32_t>{});
    QCOMPARE(borrowers(two_ways(3, Later::put_out)), std::vector<int32_t>{1});  // branch 0 is put out
  }

  void what_runs_lends_or_copies_rows_as_its_memory_was_counted() {
    const RandomCase c = two_ways(3, Later::none);
    const auto program = std::make_shared<const Program>(lower(std::make_shared<Graph>(c.graph)));
    for (const SentRows rows : {SentRows::lent, SentRows::copied}) {
      cpu::CpuDevice device(1);
      WeightStore store(device, c.weights);
      CompileOptions options{c.bindings};
      options.rows = rows;
      const Executor executor(device, store, program, options);
      QCOMPARE(executor.layout().memory.loans.empty(), rows == SentRows::copied);
      QCOMPARE(executor.layout().memory.arena_bytes, device.layout_of(program, store, options).memory.arena_bytes);
    }
  }

  void rows_are_the_same_however_the_cells_go() {
    for (const Later later : {Later::none, Later::overwritten, Later::put_out})
      for (int32_t ways = 0; ways < 8; ++ways) {
        RandomCase c = two_ways(3, later);
        c.inputs["grades"] = std::vector<int32_t>{ways & 1, ways >> 1 & 1, ways >> 2 & 1};
        const auto expected = Oracle<float>(c.graph, *c.weights).run(oracle_inputs(c), c.bindings);
        cpu::CpuDevice cpu(2);
        EmulatedDevice emulated(2);
        const ExecutionResult near = execute_once(cpu, c), far = execute_once(emulated, c);
        QCOMPARE(near.outputs.size(), size_t{later == Later::none ? 1u : 2u});
        QCOMPARE(far.outputs.size(), near.outputs.size());
        for (size_t o = 0; o < near.outputs.size(); ++o) {
          // A branch that is put out has room for all cells; what stands behind its own means nothing.
          const std::vector<float>&made = near.outputs[o].reals, &there = far.outputs[o].reals,
                &wanted = expected.output(near.outputs[o].name).reals;
          QVERIFY(made.size() >= wanted.size() && there.size() == made.size());
          QVERIFY2(std::equal(made.begin(), made.begin() + static_cast<std::ptrdiff_t>(wanted.size()), there.begin()),
                   near.outputs[o].name.c_str());
          for (size_t i = 0; i < wanted.size(); ++i)
            QVERIFY2(std::fabs(made[i] - wanted[i]) <= 1e-4f, near.outputs[o].name.c_str());
        }
      }
  }

  void lent_rows_take_no_memory() {
    for (const Later later : {Later::none, Later::overwritten, Later::put_out}) {
      const RandomCase c = two_ways(64, later);
      const Program program = lower(std::make_shared<Graph>(c.graph));
      const MemoryPlan plan = plan_memory(program, c.bindings);
      for (const int32_t s : program.steps.ids()) {
        int64_t alive = 0;
        for (const BufferId i : program.buffers.ids()) {
          const ProgramBuffer& b = program.buffers[i];
          QVERIFY(plan.last[i] >= b.last);
          if (b.kind == BufferKind::arena && b.first <= s && s <= plan.last[i]) alive += b.bytes.evaluate(c.bindings);
        }
        QVERIFY(alive <= plan.live_set_bytes);
      }
    }
  }
};

STORMCELL_TEST(RowLoansTest)

}  // namespace stormcell::testing
#include "row_loans_test.moc"
