// A submission that ends for each turn: the host hears every token as it is written, may end the text, and nothing else
// changes.
#include "core/cpu/cpu_device.h"
#include "core/runtime/executor.h"
#include "core/runtime/lower.h"
#include "tests/core/models/model_run.h"
#include "tests/testing/counts.h"
#include "tests/testing/emulated_device.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

constexpr int64_t kMostTurns = 7;

/// Keeps what it hears, and wants no more than `most` tokens.
class Heard final : public TurnListener {
 public:
  explicit Heard(size_t most = SIZE_MAX) : most_(most) {}
  bool hear(std::span<const int32_t> written) override {
    columns.emplace_back(written.begin(), written.end());
    return columns.size() < most_;
  }
  std::vector<std::vector<int32_t>> columns;

 private:
  size_t most_;
};

struct Turned {
  std::vector<int32_t> tokens;  ///< [sequences, kMostTurns]
  size_t decisions = 0;
};

/// Decodes behind two inputs of the fixture.
Turned decoded(Device& device, const Model& model, bool end_turns, TurnListener* listener) {
  const std::shared_ptr<const Graph> graph = model.generate();
  ModelInputs in;
  in.sequences = 2, in.length = 5;
  for (const char* mask : {"attention_mask"}) in.values[mask].assign(10, 1);
  for (int32_t i = 0; i < 10; ++i) in.values["input_ids"].push_back(3 + i * 5 % 40);
  const Bindings bindings = bindings_for(*graph, in, kMostTurns);
  CompileOptions options{bindings};
  options.end_turns = end_turns;
  WeightStore store(device, model.weights);
  Executor executor(device, store, std::make_shared<Program>(lower(graph)), options);
  InputValues values;
  for (const Value& v : graph->values)
    if (v.kind == ValueKind::input) values.integers[v.name] = in.values.at(v.name);
  ExecuteOptions execute;
  execute.outputs = execute.record = true;
  execute.turns = listener;
  execute.turn_output = kGenerated;
  ExecutionResult result;
  executor.run(values, bindings, execute, result);
  for (const OutputValue& out : result.outputs)
    if (out.name == kGenerated) return {out.integers, result.decisions.size()};
  return {};
}

}  // namespace

class TurnsTest : public QObject {
  Q_OBJECT
 private slots:
  void every_token_is_heard_and_none_changes_data() {
    QTest::addColumn<QString>("name");
    for (const char* name : {"mixtral/top-2-of-8-grouped-heads", "switch/encoder-decoder-8-experts"})
      QTest::newRow(name) << name;
  }
  void every_token_is_heard_and_none_changes() {
    QFETCH(QString, name);
    const auto model = open_model(reference_path(name.toStdString()));
    cpu::CpuDevice cpu(2);
    EmulatedDevice emulated(2);
    for (Device* device : {static_cast<Device*>(&cpu), static_cast<Device*>(&emulated)}) {
      const Turned plain = decoded(*device, *model, false, nullptr);
      for (const bool end_turns : {true, false}) {  // without turns, all are heard at the end
        Heard heard;
        const Turned turned = decoded(*device, *model, end_turns, &heard);
        QCOMPARE(turned.tokens, plain.tokens);
        QCOMPARE(turned.decisions, plain.decisions);
        QVERIFY(heard.columns.size() > 1);
        for (size_t t = 0; t < heard.columns.size(); ++t)
          for (size_t s = 0; s < 2; ++s)
            QCOMPARE(heard.columns[t][s], plain.tokens[s * static_cast<size_t>(kMostTurns) + t]);
      }
    }
  }

  void a_listener_that_wants_no_more_ends_the_text() {
    for (const char* name : {"mixtral/top-2-of-8-grouped-heads", "switch/encoder-decoder-8-experts"}) {
      const auto model = open_model(reference_path(name));
      cpu::CpuDevice device(2);
      const Turned plain = decoded(device, *model, true, nullptr);
      Heard heard(2);
      const Turned turned = decoded(device, *model, true, &heard);
      QCOMPARE(heard.columns.size(), size_t{2});
      QVERIFY(turned.decisions < plain.decisions);
      for (size_t s = 0; s < 2; ++s)
        for (size_t t = 0; t < static_cast<size_t>(kMostTurns); ++t) {
          const size_t at = s * static_cast<size_t>(kMostTurns) + t;
          QCOMPARE(turned.tokens[at], t < 2 ? plain.tokens[at] : -1);
        }
    }
  }

  void what_a_listener_throws_ends_the_batch() {
    class Throwing final : public TurnListener {
      bool hear(std::span<const int32_t>) override { throw Error(ErrorKind::failed, "sink", "is full"); }
    } throwing;
    const auto model = open_model(reference_path("mixtral/top-2-of-8-grouped-heads"));
    cpu::CpuDevice device(1);
    QVERIFY_THROWS_EXCEPTION(Error, decoded(device, *model, true, &throwing));
  }
};
STORMCELL_TEST(TurnsTest)

}  // namespace stormcell::testing
#include "turns_test.moc"
