// Models in another number format than the stored one, judged: the oracle rounds by itself, and a conversion that is
// wrong is found.
#include <bit>

#include "core/bench/converted_graph.h"
#include "core/cpu/kernels/isa.h"
#include "tests/core/verification/verify_runs.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

/// The same model in bf16: `ours` as the plan has it, the oracle on the stored f32 weights.
Verification judged_converted(const RandomCase& c, std::shared_ptr<const WeightSource> ours,
                              const std::shared_ptr<const Graph>& graph) {
  cpu::CpuDevice device(2);
  const bool rounds = device.info().rounds_bf16_inputs;
  const Observed reference = by_oracle(c, *graph, *c.weights, rounds);
  Plan plan(device, c, graph, std::move(ours));
  const Observed free = plan.run(nullptr);
  Judge judge(rounds ? 2e-2 : 1e-4, rounds ? Arithmetic::rounds_to_bf16 : Arithmetic::f32);
  judge.add(0, reference, plan.run(&reference), &free);
  return judge.verdict();
}

/// Kernels of an instruction set that multiplies bf16 weights without rounding their inputs.
struct Widened {
  Widened() {
    for (const cpu::Isa isa : cpu::available_isas())
      if (isa != cpu::Isa::avx512_bf16) {
        cpu::set_isa_for_test(isa);
        return;
      }
  }
  ~Widened() { cpu::set_isa_for_test({}); }
};

}  // namespace

class VerifyConvertedTest : public QObject {
  Q_OBJECT
 private slots:
  void the_oracle_rounds_weights_as_the_conversion_does_and_shares_nothing_with_it() {
    for (int seed = -2; seed < 20; ++seed) {
      const RandomCase c = toy_or_random(seed);
      const auto converted = in_format(c.graph, DType::bf16);
      // The same, but for weights that are stored as devices' conversion makes them.
      Graph plain = *converted;
      MemoryWeights made_by_devices;
      for (Value& v : plain.values)
        if (v.kind == ValueKind::weight) {
          const WeightInfo& info = *c.weights->find(weight_text(v));
          std::vector<float> values(static_cast<size_t>(info.elements()));
          to_f32(c.weights->bytes(weight_text(v)).get(), info.dtype, values.data(), values.size());
          made_by_devices.add(v.name, info.dtype, info.shape, values);
          v.recipe.clear();
        }
      const Observed by_itself = by_oracle(c, *converted, *c.weights, false),
                     from_converted = by_oracle(c, plain, made_by_devices, false);
      for (size_t i = 0; i < by_itself.outputs.size(); ++i)
        QCOMPARE(by_itself.outputs[i].reals, from_converted.outputs[i].reals);
    }
  }

  void converted_models_pass() {
    int rounded = 0;
    for (int seed = -static_cast<int>(toys().size()); seed < 40; ++seed) {
      RandomOptions options;
      options.bf16 = false;
      const RandomCase c = seed < 0 ? toy_or_random(seed) : make_random_case(uint64_t(seed), options);
      const auto converted = in_format(c.graph, DType::bf16);
      const Verification v = judged_converted(c, c.weights, converted);
      QVERIFY2(v.passed, qPrintable(said(v) + QString::fromStdString(c.name)));
      const Widened widened;
      const Verification exact = judged_converted(c, c.weights, converted);
      QVERIFY2(exact.passed && exact.tolerance == 1e-4, qPrintable(said(exact) + QString::fromStdString(c.name)));
      OutputJudge cost;
      cost.add(by_oracle(c, *converted, *c.weights, false).outputs, by_oracle(c, c.graph, *c.weights, false).outputs);
      rounded += largest(cost.differences()) > 1e-4;
    }
    QVERIFY(rounded > 10);  // so that the tolerance above told the two references apart
  }

  void conversions_that_are_wrong_are_found_data() {
    QTest::addColumn<int>("what");
    QTest::newRow("a tensor transposed") << 0;
    QTest::newRow("a tensor scaled") << 1;
    QTest::newRow("a tensor cut off instead of rounded") << 2;
    QTest::newRow("nothing") << 3;
  }

  void conversions_that_are_wrong_are_found() {
    QFETCH(int, what);
    const Widened widened;
    const RandomCase c = mixture(best(2), "weighted");
    const auto converted = in_format(c.graph, DType::bf16);
    // The stored numbers are gone in the converted source: cut off is decided by the stored numbers.
    const auto stored = c.weights;
    const Change changes[] = {transpose, times(1.01f),
                              [stored](std::vector<float>& values, const std::vector<int64_t>&) {
                                const auto bytes = stored->bytes("small.weight");
                                to_f32(bytes.get(), DType::f32, values.data(), values.size());
                                for (float& v : values)
                                  v = std::bit_cast<float>(std::bit_cast<uint32_t>(v) & 0xffff0000u);
                              },
                              times(1)};
    auto ours = std::make_shared<Tampered>(c.weights);
    ours->change(R"(convert("small.weight", bf16))", changes[what]);
    const Verification v = judged_converted(c, ours, converted);
    QVERIFY2(what == 3 ? v.passed : said(v).contains("output small differs"), qPrintable(said(v)));
  }

  void inputs_of_products_are_rounded_as_the_plan_does() {
    // If this processor has the instruction that rounds, an oracle that does not is farther away than one that does.
    bool found = false;
    for (const cpu::Isa isa : cpu::available_isas()) found |= isa == cpu::Isa::avx512_bf16;
    if (!found) QSKIP("this processor has no bf16 dot products");
    cpu::set_isa_for_test(cpu::Isa::avx512_bf16);
    const RandomCase c = mixture(best(2), "weighted");
    const auto converted = in_format(c.graph, DType::bf16);
    cpu::CpuDevice device(1);
    QVERIFY(device.info().rounds_bf16_inputs);
    Plan plan(device, c, converted, c.weights);
    const auto distance = [&](bool round_inputs) {
      const Observed reference = by_oracle(c, *converted, *c.weights, round_inputs);
      OutputJudge judge;
      judge.add(plan.run(&reference).outputs, reference.outputs);
      return largest(judge.differences());
    };
    const double rounded = distance(true), plain = distance(false);
    cpu::set_isa_for_test({});
    QVERIFY2(rounded < plain / 2, qPrintable(QString("%1 %2").arg(rounded).arg(plain)));
  }
};
STORMCELL_TEST(VerifyConvertedTest)

}  // namespace stormcell::testing
#include "verify_converted_test.moc"
