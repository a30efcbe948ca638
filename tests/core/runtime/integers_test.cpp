// Integers go where rows go: through scatters, placing gathers, reductions, broadcasts, sums and states, with every
// bit, on every device.
#include "core/cpu/cpu_device.h"
#include "core/oracle/oracle.h"
#include "core/runtime/executor.h"
#include "core/runtime/lower.h"
#include "tests/testing/case_inputs.h"
#include "tests/testing/emulated_device.h"
#include "tests/testing/graph_case.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

/// Ids take three of four branches and come back; what the fourth got keeps another number.
RandomCase wandering_ids() {
  CaseBuilder b(5);
  const SpaceId sequences = b.root_space("sequences", b.bound_symbol("N", 3)),
                tokens = b.dense_space("tokens", sequences, b.bound_symbol("T", 7));
  const ValueId x = b.floats("x", tokens, {8}), ids = b.integers("ids", tokens, 1000);
  const ValueId d = b.route(b.linear(x, 4, "scores"), {}, "moe");
  std::vector<ValueId> parts = b.scatter(ids, d, {0, 1, 2});
  // Numbers that would be no numbers, or vanish, as floats.
  const int64_t added[] = {-2000, 0x7fc00001, 1};
  for (size_t i = 0; i < parts.size(); ++i)
    parts[i] = b.value("add_constant", {parts[i]}, {{"value", added[i]}}, "part");
  b.output("placed", b.gather(parts, tokens, "place", kNone, "placed"));
  const ValueId otherwise = b.value("add_constant", {ids}, {{"value", int64_t{5000}}}, "otherwise");
  const ValueId joined = b.gather(parts, tokens, "place", otherwise, "joined");
  b.output("joined", joined);
  const ValueId last = b.value("reduce", {joined}, {{"mode", std::string("last")}}, "last");
  b.output("last", last);
  b.output("sum", b.value("reduce", {ids}, {{"mode", std::string("sum")}}, "sum"));
  b.output("twice", b.add(ids, ids, "twice"));
  b.output("spread", b.value("broadcast", {last}, {{"space", int64_t{tokens}}}, "spread"));
  const ValueId kept = b.state("kept", DType::i32, tokens), written = b.state("written", DType::i32, tokens);
  b.GraphBuilder::add("state_fill", {kept}, {{"value", -7.0}}, "fill");
  b.GraphBuilder::add("state_put", {kept, joined}, {}, "put");
  b.GraphBuilder::add("state_write", {written, joined}, {}, "write");
  b.output("kept", b.value("add_constant", {kept}, {{"value", int64_t{0}}}, "kept.now"));
  b.output("written", b.value("add_constant", {written}, {{"value", int64_t{1}}}, "written.now"));
  return b.take("wandering ids");
}

OracleResult<float> oracle_of(const RandomCase& c) {
  return Oracle<float>(c.graph, *c.weights).run(oracle_inputs(c), c.bindings);
}

}  // namespace

class IntegersTest : public QObject {
  Q_OBJECT
 private slots:
  void they_arrive_with_every_bit_on_every_device() {
    const RandomCase c = wandering_ids();
    const OracleResult<float> oracle = oracle_of(c);
    cpu::CpuDevice here(2);
    EmulatedDevice emulated(2);
    for (Device* device : {static_cast<Device*>(&here), static_cast<Device*>(&emulated)}) {
      const ExecutionResult result = execute_once(*device, c);
      QCOMPARE(result.outputs.size(), size_t{8});
      for (const OutputValue& out : result.outputs) {
        QVERIFY(!out.integers.empty());
        QCOMPARE(out.integers, oracle.output(out.name).integers);
      }
    }
    // The case shows something: all three branches and the fourth got ids.
    const std::vector<int32_t>& joined = oracle.output("joined").integers;
    for (const auto& [least, most] :
         {std::pair{-2000, -1001}, std::pair{0x7fc00001, 0x7fc00001 + 999}, std::pair{1, 1000}, std::pair{5000, 5999}})
      QVERIFY(std::any_of(joined.begin(), joined.end(),
                          [=, &least = least, &most = most](int32_t v) { return v >= least && v <= most; }));
  }
};
STORMCELL_TEST(IntegersTest)

}  // namespace stormcell::testing
#include "integers_test.moc"
