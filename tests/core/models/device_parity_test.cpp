// Every fixture on the CPU, on the emulated device and, where it has the operators, on the host device: the oracle's
// outputs with its decisions replayed, its decisions when free, its tokens when decoding. The emulated device gives the
// CPU's results bit for bit, and no device synchronises on the way.
#include <cstdio>
#include <filesystem>

#include "core/cpu/cpu_device.h"
#include "core/formats/safetensors_writer.h"
#include "core/graph/text.h"
#include "core/runtime/executor.h"
#include "core/runtime/lower.h"
#include "tests/core/models/model_run.h"
#include "tests/gpu/host_device.h"
#include "tests/testing/counts.h"
#include "tests/testing/emulated_device.h"
#include "tests/testing/non_temporal_results.h"
#include "tests/testing/relative_difference.h"
#include "tests/testing/testing.h"

using namespace stormcell;
using namespace stormcell::testing;

namespace {

using Replayed = ReplayedDecisions;

/// At the end of a run: one to learn how it ended, one when its results have been read.
constexpr int64_t kSynchronizations = 2;
constexpr int64_t kNewTokens = 12;

struct Ran {
  ExecutionResult result;
  int64_t synchronizations = 0;
};

Ran run_on(Device& device, const Model& model, std::shared_ptr<const Graph> graph, const ModelInputs& in,
           int64_t new_tokens, const Replayed* choices) {
  WeightStore store(device, model.weights);
  const auto program = std::make_shared<Program>(lower(graph));
  const Bindings bindings = bindings_for(*graph, in, new_tokens);
  Executor executor(device, store, program, bindings);
  InputValues values;
  values.reals = in.reals;
  for (const Value& v : graph->values)
    if (v.kind == ValueKind::input && v.type.dtype == DType::i32) values.integers[v.name] = in.values.at(v.name);
  ExecuteOptions options;
  options.outputs = options.record = true;
  options.replayed = choices;
  Ran ran;
  executor.run(values, bindings, options, ran.result);  // once before, so that what a run leaves behind would show
  const int64_t before = device.synchronizations();
  executor.run(values, bindings, options, ran.result);
  ran.synchronizations = device.synchronizations() - before;
  return ran;
}

/// By router of the program: the two of one name in a decoder-only model's decoding are told apart by their nodes.
Replayed replayed_by(const std::vector<OracleDecision>& decisions, const Program& program) {
  Replayed choices(program.routers.size());
  for (const RouterId r : choices.ids())
    for (const OracleDecision& d : decisions)
      if (d.node == program.routers[r].node) choices[r].push_back({d.choice, d.ancestor});
  return choices;
}

void same_bits(const ExecutionResult& a, const ExecutionResult& b) {
  QCOMPARE(a.outputs.size(), b.outputs.size());
  for (size_t i = 0; i < a.outputs.size(); ++i) {
    QCOMPARE(a.outputs[i].integers, b.outputs[i].integers);
    QCOMPARE(a.outputs[i].reals.size(), b.outputs[i].reals.size());
    if (a.outputs[i].reals.empty()) continue;
    QVERIFY(std::memcmp(a.outputs[i].reals.data(), b.outputs[i].reals.data(), a.outputs[i].reals.size() * 4) == 0);
  }
  QCOMPARE(a.decisions.size(), b.decisions.size());
  for (size_t i = 0; i < a.decisions.size(); ++i) QCOMPARE(a.decisions[i].choice, b.decisions[i].choice);
}

/// Executions in their order, of the same cells, and the same choices where a margin is not small.
void same_decisions(const ExecutionResult& came, const ExecutionResult& expected, float margin) {
  QCOMPARE(came.decisions.size(), expected.decisions.size());
  for (size_t i = 0; i < came.decisions.size(); ++i) {
    const ExecutedDecision &a = came.decisions[i], &b = expected.decisions[i];
    QCOMPARE(a.router, b.router);
    QCOMPARE(a.turn, b.turn);
    QCOMPARE(a.ancestor, b.ancestor);
    QCOMPARE(a.choice.size(), b.choice.size());
    for (size_t c = 0; c < a.choice.size(); ++c)
      QVERIFY(a.choice[c] == b.choice[c] || b.margin[c / static_cast<size_t>(b.shape.fan_out)] < margin);
  }
}

/// How far the outputs are from the oracle's, with its decisions replayed.
double difference_of(const Ran& replayed, const OracleResult<float>& oracle) {
  double worst = 0;
  for (const OutputValue& out : replayed.result.outputs)
    worst = std::max(worst, relative_difference(out.reals, oracle.output(out.name).reals));
  return worst;
}

/// Choices that differ from the oracle's: free decisions flip only where the margin is below eight times what the
/// format may err by.
void count_flips(const Ran& free, const OracleResult<float>& oracle, const Program& program, double tolerance,
                 int64_t& flips) {
  QCOMPARE(free.result.decisions.size(), oracle.decisions.size());
  for (const ExecutedDecision& d : free.result.decisions)
    for (const OracleDecision& o : oracle.decisions) {
      if (o.node != program.routers[d.router].node || o.execution != d.turn) continue;
      QCOMPARE(d.choice.size(), o.choice.size());
      double scale = 0;
      for (const float s : o.scores) scale = std::max(scale, std::fabs(static_cast<double>(s)));
      for (size_t i = 0; i < o.choice.size(); ++i) {
        if (d.choice[i] == o.choice[i]) continue;
        ++flips;
        QVERIFY(static_cast<double>(o.margin[i / static_cast<size_t>(o.shape.fan_out)]) <= 8 * tolerance * scale);
      }
    }
}

void add_cases(const char* with) {
  QTest::addColumn<QString>("name");
  for (const std::string& name : reference_cases(with))
    QTest::newRow(name.c_str()) << QString::fromStdString(reference_path(name));
}

/// A Mixtral folder with the experts of each layer in two tensors, gate_up_proj and down_proj, in place of three an
/// expert.
void write_fused(const std::string& from, const std::string& to, const std::string& block) {
  std::filesystem::copy(from, to, std::filesystem::copy_options::recursive);
  const auto file = SafetensorsFile::open(from + "/model.safetensors");
  std::map<std::string, std::pair<std::vector<int64_t>, std::vector<std::byte>>> fused;
  DType dtype = DType::f32;
  for (const StoredTensor& t : file->tensors()) {
    std::string name = t.name;
    if (const size_t at = name.find("block_sparse_moe"); at != std::string::npos) name.replace(at, 16, block);
    const size_t expert = name.find(".experts.");
    std::vector<int64_t> shape = t.shape;
    if (expert != std::string::npos) {
      const bool down = name.ends_with("w2.weight");
      name = name.substr(0, expert + 8) + (down ? ".down_proj" : ".gate_up_proj");
      shape = {0, down ? t.shape[0] : 2 * t.shape[0], t.shape[1]};
    }
    dtype = t.dtype;
    // Names are in order: of each expert w1, w2, w3; below 10 experts.
    auto& [whole, bytes] = fused.try_emplace(name, shape, std::vector<std::byte>()).first->second;
    bytes.insert(bytes.end(), t.bytes.begin(), t.bytes.end());
  }
  std::vector<TensorToWrite> tensors;
  for (auto& [name, tensor] : fused) {
    auto& [shape, bytes] = tensor;
    if (shape[0] == 0)
      shape[0] = static_cast<int64_t>(bytes.size()) / (shape[1] * shape[2] * static_cast<int64_t>(element_size(dtype)));
    tensors.push_back({name, dtype, shape, bytes.data()});
  }
  write_safetensors(to + "/model.safetensors", tensors);
}

}  // namespace

class DeviceParityTest : public QObject {
  Q_OBJECT
  int forward_plans_ = 0, decoding_plans_ = 0;  // that the host device ran

 private slots:
  void experts_in_one_tensor_give_the_same_bits_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("block");
    QTest::newRow("block_sparse_moe") << "top-2-of-8-grouped-heads"
                                      << "block_sparse_moe";
    QTest::newRow("mlp") << "top-2-of-4-left-padding"
                         << "mlp";
    QTest::newRow("bf16") << "stored-bf16"
                          << "mlp";
  }
  void experts_in_one_tensor_give_the_same_bits() {
    QFETCH(QString, name);
    QFETCH(QString, block);
    const std::string folder = reference_path("mixtral/" + name.toStdString());
    const QTemporaryDir scratch;
    const std::string other = scratch.path().toStdString() + "/fused";
    write_fused(folder, other, block.toStdString());
    const auto model = open_model(folder), fused = open_model(other);
    QVERIFY(fused->warnings.empty());
    QCOMPARE(fused->parameters, model->parameters);
    QCOMPARE(fused->weight_bytes, model->weight_bytes);
    const std::string text = to_text(*fused->forward);
    QVERIFY(text.find("= slice(index(\"model.layers.0." + block.toStdString() + ".experts.gate_up_proj\", 1), ") !=
            std::string::npos);
    QCOMPARE(to_text(parse_graph(text, "text")), text);
    const ModelInputs in = read_inputs(folder + "/input.safetensors");
    const auto expected = run_oracle<float>(*model, *model->forward, in),
               came = run_oracle<float>(*fused, *fused->forward, in);
    for (const NamedValue& o : model->forward->outputs)
      QVERIFY(expected.output(o.name).reals == came.output(o.name).reals);
    cpu::CpuDevice device(2);
    same_bits(run_on(device, *model, model->forward, in, 0, nullptr).result,
              run_on(device, *fused, fused->forward, in, 0, nullptr).result);
  }

  void a_forward_pass_gives_the_oracle_s_outputs_data() { add_cases(""); }
  void a_forward_pass_gives_the_oracle_s_outputs() {
    QFETCH(QString, name);
    const auto model = open_model(name.toStdString());
    const ModelInputs in = read_inputs(name.toStdString() + "/input.safetensors");
    OracleOptions scored;
    scored.keep_scores = true;
    const auto oracle = run_oracle<float>(*model, *model->forward, in, 0, scored);
    const Program program = lower(model->forward);
    const Replayed choices = replayed_by(oracle.decisions, program);

    cpu::CpuDevice device(2);
    const Ran replayed = run_on(device, *model, model->forward, in, 0, &choices),
              free = run_on(device, *model, model->forward, in, 0, nullptr);
    const double worst = difference_of(replayed, oracle);
    const double tolerance = model->dtype == DType::f32 ? 1e-4 : 2e-2;
    QVERIFY2(worst <= tolerance, qPrintable(QString::number(worst)));

    int64_t flips = 0;
    count_flips(free, oracle, program, tolerance, flips);
    std::printf("%s: %.1e, %lld flips\n", QTest::currentDataTag(), worst, static_cast<long long>(flips));

    EmulatedDevice emulated(2);
    const Ran far = run_on(emulated, *model, model->forward, in, 0, nullptr);
    same_bits(far.result, free.result);
    QCOMPARE(far.synchronizations, kSynchronizations);

    HostDevice host;
    host.order_seed = 1, host.isolates = false;
    if (host.refusal_of(*model->forward, model->weights, bindings_for(*model->forward, in)).empty()) {
      const Ran planned = run_on(host, *model, model->forward, in, 0, &choices);
      const double apart = difference_of(planned, oracle);
      QVERIFY2(apart <= tolerance, qPrintable(QString::number(apart)));
      QCOMPARE(planned.synchronizations, kSynchronizations);
      count_flips(run_on(host, *model, model->forward, in, 0, nullptr), oracle, program, tolerance, flips);
      ++forward_plans_;
    }

    const NonTemporalResults past_the_caches;
    same_bits(run_on(device, *model, model->forward, in, 0, nullptr).result, free.result);
  }

  /// All of them: an operator that is lost would show here alone.
  void the_host_device_runs_every_fixture() {
    std::printf("%d forward passes ran on the host device\n", forward_plans_);
    QVERIFY(forward_plans_ == 0 || forward_plans_ >= 53);
  }

  void decoding_writes_the_oracle_s_tokens_data() { add_cases("generated"); }
  void decoding_writes_the_oracle_s_tokens() {
    QFETCH(QString, name);
    const auto model = open_model(name.toStdString());
    const ModelInputs in = read_inputs(name.toStdString() + "/input.safetensors");
    const std::shared_ptr<const Graph> graph = model->generate();
    for (const int64_t most : {kNewTokens, int64_t{1}}) {
      const auto oracle = run_oracle<float>(*model, *graph, in, most);
      cpu::CpuDevice device(2);
      const Ran near = run_on(device, *model, graph, in, most, nullptr);
      QCOMPARE(near.result.outputs.at(0).integers, oracle.output(kGenerated).integers);
      QCOMPARE(near.result.decisions.size(), oracle.decisions.size());
      EmulatedDevice emulated(2);
      const Ran far = run_on(emulated, *model, graph, in, most, nullptr);
      same_bits(far.result, near.result);
      QCOMPARE(far.synchronizations, kSynchronizations);

      HostDevice host;
      host.order_seed = 1, host.isolates = false;
      if (!host.refusal_of(*graph, model->weights, bindings_for(*graph, in, most)).empty()) continue;
      const Ran planned = run_on(host, *model, graph, in, most, nullptr);
      QCOMPARE(planned.result.outputs.at(0).integers, near.result.outputs.at(0).integers);
      QCOMPARE(planned.synchronizations, kSynchronizations);
      same_decisions(planned.result, near.result, 8 * (model->dtype == DType::f32 ? 1e-4F : 2e-2F));
      ++decoding_plans_;
    }
  }
  void the_host_device_decodes_with_every_fixture() {
    std::printf("%d decodings ran on the host device\n", decoding_plans_);
    QVERIFY(decoding_plans_ == 0 || decoding_plans_ >= 12);
  }
};
STORMCELL_TEST(DeviceParityTest)
#include "device_parity_test.moc"
