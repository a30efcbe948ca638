// Attention with sinks on the processor gives what the oracle gives: over whole sequences, over those with cells left
// out, and from a cache.
#include <cmath>

#include "tests/testing/case_inputs.h"
#include "tests/testing/emulated_device.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

enum class Cells { all, with_gaps, cached };

/// Four heads over two key heads, with a sink each. `masked`: keys that nobody may see, in some sequences all of them.
RandomCase attending(Cells cells, bool masked) {
  CaseBuilder b(static_cast<uint64_t>(cells) + 7);
  const SpaceId sequences = b.root_space("sequences", b.bound_symbol("N", 4)),
                tokens = b.dense_space("tokens", sequences, b.bound_symbol("T", 21));
  ValueId x = b.floats("x", tokens, {16}), real = kNone;
  if (cells == Cells::with_gaps) {
    real = b.value("compact", {b.flags("kept", tokens)}, {}, "real");
    x = b.pack(x, real, sequences);
  }
  const ValueId q = b.linear(x, 16, "q");
  ValueId k = b.linear(x, 8, "k"), v = b.linear(x, 8, "v");
  std::vector<ValueId> more;
  std::string extras;
  if (masked) more.push_back(b.flags("mask", tokens)), extras = "mask+";
  if (cells == Cells::cached) {
    const SpaceId room = b.dense_space("room", sequences, b.graph().space(tokens).per_parent + Dim(70));
    const ValueId place = b.state("place", DType::i32, sequences);
    b.GraphBuilder::add("state_fill", {place}, {{"value", 0.0}}, "place.start");
    const ValueId keys = b.state("cache.k", DType::f32, room, {8}), values = b.state("cache.v", DType::f32, room, {8});
    b.put(keys, k, place, "k.keep");
    b.put(values, v, place, "v.keep");
    k = keys, v = values;
    more.push_back(place), extras = "step+";
  }
  std::vector<ValueId> inputs{q, k, v};
  inputs.insert(inputs.end(), more.begin(), more.end());
  inputs.push_back(b.drawn("sinks", {4}, 1.5));
  ValueId y = b.value("attention", std::move(inputs),
                      {{"heads", int64_t{4}},
                       {"kv_heads", int64_t{2}},
                       {"scale", 0.5},
                       {"causal", int64_t{1}},
                       {"extras", extras + "sinks"}},
                      "mixed");
  if (real != kNone) y = b.value("expand", {y, real}, {}, "expanded");
  b.output("y", y);
  return b.take("attention with sinks");
}

}  // namespace

class AttentionSinksTest : public QObject {
  Q_OBJECT
 private slots:
  void the_processor_agrees_with_the_oracle() {
    for (const auto& [cells, masked] :
         {std::pair{Cells::all, false}, {Cells::all, true}, {Cells::with_gaps, false}, {Cells::cached, false}}) {
      const RandomCase c = attending(cells, masked);
      const std::vector<float> wanted =
          Oracle<float>(c.graph, *c.weights).run(oracle_inputs(c), c.bindings).output("y").reals;
      cpu::CpuDevice device(2);
      EmulatedDevice emulated(3);
      const ExecutionResult near = execute_once(device, c), far = execute_once(emulated, c);
      const std::vector<float>& came = near.outputs.at(0).reals;
      QCOMPARE(came.size(), wanted.size());
      QVERIFY(far.outputs.at(0).reals == came);
      for (size_t i = 0; i < wanted.size(); ++i)
        QVERIFY2(std::fabs(came[i] - wanted[i]) <= 1e-4f,
                 qPrintable(QString("cells %1, element %2").arg(static_cast<int>(cells)).arg(i)));
    }
  }
};

STORMCELL_TEST(AttentionSinksTest)

}  // namespace stormcell::testing
#include "attention_sinks_test.moc"
