// From data to what a graph asks for: no name is known to anybody but the graph.
#include <cmath>

#include "core/bench/batch_inputs.h"

#include "core/cpu/cpu_device.h"
#include "core/formats/safetensors_writer.h"
#include "core/graph/input_specs.h"
#include "core/runtime/lower.h"
#include "tests/core/formats/scratch.h"
#include "tests/testing/graph_case.h"
#include "tests/testing/nested_capacity.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {

namespace {

constexpr int64_t kSize = 4, kChannels = 2, kKinds = 3;

/// Pictures through one of three unlike convolutions each, chosen by a label; then their mean.
RandomCase labelled_pictures() {
  CaseBuilder b(7);
  const SpaceId pictures = b.root_space("picture", b.bound_symbol("B", 5));
  const ValueId pixels = b.input("a_picture", DType::f32, pictures, {kSize, kSize, kChannels}, InputRole::pixels);
  const ValueId kind = b.input("its_kind", DType::i32, pictures, {}, InputRole::label);
  Protocol by_label;
  by_label.kind = ProtocolKind::label;
  const ValueId decision = b.route(kind, by_label, "kinds", kKinds);
  const std::vector<ValueId> parts = b.scatter(pixels, decision, {0, 1, 2});
  std::vector<ValueId> results;
  for (size_t i = 0; i < parts.size(); ++i)
    results.push_back(b.conv(parts[i], 4, i == 0 ? 1 : 3, 1, "kind." + std::to_string(i), i == 2 ? "relu" : "none"));
  const ValueId joined = b.gather(std::move(results), pictures, "place", kNone, "joined");
  b.output("mean", b.value("pool", {joined}, {{"kind", std::string("global_average")}}, "mean"));
  return b.take("pictures by label");
}

/// Two stacks of tokens of their own lengths, with names and symbols that no family uses.
Graph two_stacks() {
  GraphBuilder b;
  const SpaceId lines = b.root_space("line", b.symbol("lines")),
                words = b.dense_space("word", lines, b.symbol("words")),
                answers = b.dense_space("answer", lines, b.symbol("answers"));
  const ValueId table = b.weight("table", DType::f32, {30, 4});
  b.output("read", b.value("embedding", {b.input("r", DType::i32, words, {}, InputRole::ids), table}, {}, "read"),
           b.input("rm", DType::i32, words, {}, InputRole::mask));
  b.output("written",
           b.value("embedding", {b.input("w", DType::i32, answers, {}, InputRole::target), table}, {}, "written"),
           b.input("wm", DType::i32, answers, {}, InputRole::mask));
  return b.finish();
}

/// The mask of nested_capacity() as data bring it.
Batch batch_of(const RandomCase& c) {
  Batch batch;
  batch.items = {0, 1, 2};
  batch.spaces.push_back({"sequences", "", false, 1, {}});
  batch.spaces.push_back({"tokens", "sequences", true, 8, {}});
  batch.inputs.push_back({"mask", InputRole::mask, {24}, std::get<std::vector<int32_t>>(c.inputs.at("mask")), {}});
  return batch;
}

/// Tokens of which flags, that are no mask of the data, leave some.
Graph compacted_by_flags() {
  CaseBuilder b(3);
  const SpaceId sequences = b.root_space("sequences", b.bound_symbol("N", 3)),
                tokens = b.dense_space("tokens", sequences, b.bound_symbol("T", 8));
  const ValueId x =
      b.pack(b.floats("x", tokens, {8}), b.value("compact", {b.integers("flags", tokens, 2)}, {}, "chosen"), sequences);
  b.output("y", b.linear(x, 8, "y"));
  return b.take("flags").graph;
}

}  // namespace

class BatchInputsTest : public QObject {
  Q_OBJECT
 private slots:
  void a_graph_states_its_inputs() {
    const RandomCase pictures = labelled_pictures();
    const std::vector<InputSpec> expected{
        {"a_picture", DType::f32, InputRole::pixels, "picture", "", 1, {kSize, kSize, kChannels}, 0},
        {"its_kind", DType::i32, InputRole::label, "picture", "", 1, {}, kKinds}};
    QVERIFY(input_specs(pictures.graph) == expected);
    const std::vector<InputSpec> stacks = input_specs(two_stacks());
    QCOMPARE(stacks.size(), size_t{4});
    QCOMPARE(stacks[0].parent, std::string("line"));
    QCOMPARE(stacks[0].cells_per_item, int64_t{0});
  }

  void an_input_that_no_data_can_size_is_refused() {
    GraphBuilder b;
    const SpaceId items = b.root_space("item", b.symbol("N")), cells = b.dense_space("cell", items, b.symbol("T") + 1);
    b.input("x", DType::i32, cells, {}, InputRole::ids);
    VERIFY_BAD_INPUT(input_specs(b.graph()), "input x", "number of cells that no data can tell");
  }

  void symbols_come_from_the_cells_of_a_batch() {
    const Graph graph = two_stacks();
    const auto data =
        Dataset::open("random:7x5x3", nullptr, {.batch = 4, .vocabulary = 30, .inputs = input_specs(graph)});
    const auto symbol = [&](const Bindings& b, const char* name) {
      return b[static_cast<size_t>(graph.find_symbol(name))];
    };
    const Bindings last = bindings_of(graph, data->batch(1), 0), bounds = bounds_of(graph, *data, 0);
    QCOMPARE(symbol(last, "lines"), int64_t{3});
    QCOMPARE(symbol(last, "words"), int64_t{5});
    QCOMPARE(symbol(last, "answers"), int64_t{3});
    QCOMPARE(symbol(bounds, "lines"), int64_t{4});
    const Batch batch = data->batch(0);
    const SpaceId answers = graph.value(graph.find_value("w")).type.space;
    QCOMPARE(tokens_over(graph, answers, batch).size(), size_t{12});
    QCOMPARE(mask_over(graph, answers, batch, bindings_of(graph, batch, 0)).size(), size_t{12});
    QCOMPARE(mask_facts(graph, *data).at("wm").cells, int64_t{21});
    QCOMPARE(mask_facts(graph, *data).at("rm").cells, int64_t{35});
  }

  void cells_that_a_plan_leaves_out_are_those_of_a_mask_that_the_reference_computes() {
    const RandomCase whole = nested_capacity(), compacted = nested_capacity(true);
    Batch batch = batch_of(whole);
    const auto computed = computed_cells(compacted.graph, whole.graph, batch);
    QCOMPARE(computed.size(), size_t{1});
    QCOMPARE(computed.at("tokens"), batch.inputs[0].integers);
    QVERIFY(computed_cells(whole.graph, whole.graph, batch).empty());
    // Cells that the model itself compacts, by the data's mask or by what it computes, is compacted in both.
    QVERIFY(computed_cells(compacted.graph, compacted.graph, batch).empty());
    const Graph by_flags = compacted_by_flags();
    QVERIFY(computed_cells(by_flags, by_flags, batch).empty());
    QVERIFY(computed_cells(by_flags, whole.graph, batch).empty());
    batch.inputs[0].integers.pop_back();
    const auto complaint = [&] {
      try {
        computed_cells(compacted.graph, whole.graph, batch);
      } catch (const Error& e) {
        return e.kind() == ErrorKind::failed ? std::string(e.what()) : std::string("another kind");
      }
      return std::string();
    };
    QVERIFY2(complaint().find("mask mask: has 23 values for 24 cells of tokens") != std::string::npos,
             complaint().c_str());
    batch.inputs.clear();
    QVERIFY2(complaint().find("has 0 values") != std::string::npos, complaint().c_str());
  }

  void data_keep_the_fingerprint_that_recorded_sessions_have() {
    // That of the sample session's run, which an earlier version recorded.
    const std::shared_ptr<const Model> model = open_model("demo:switch-names");
    DataOptions options;
    options.max_length = model->max_length, options.vocabulary = model->vocabulary, options.inputs = model->inputs;
    options.pad_id = model->tokens.pad, options.decoder_start_id = model->tokens.decoder_start;
    options.resources = resources_folder();
    const auto data = Dataset::open("demo:switch-names-sample", model->tokenizer, options);
    QCOMPARE(data->fingerprint(), std::string("c409d49186c66785"));
    options.bucket_by_length = true;
    QVERIFY(Dataset::open("demo:switch-names-sample", model->tokenizer, options)->fingerprint() != data->fingerprint());
  }

  void pictures_run_by_their_labels_as_the_oracle_says() {
    const RandomCase pictures = labelled_pictures();
    const Scratch scratch;
    Random random(3);
    std::vector<float> pixels(9 * kSize * kSize * kChannels);
    for (float& p : pixels) p = static_cast<float>(random.uniform());
    const std::vector<int64_t> labels{2, 0, 1, 1, 0, 2, 2, 2, 0};
    const std::vector<TensorToWrite> tensors{{"pixels", DType::f32, {9, kSize, kSize, kChannels}, pixels.data()},
                                             {"labels", DType::i64, {9}, labels.data()}};
    write_safetensors(scratch.path("x.safetensors"), tensors);
    const auto data =
        Dataset::open(scratch.path("x.safetensors"), nullptr, {.batch = 4, .inputs = input_specs(pictures.graph)});

    const auto graph = std::make_shared<const Graph>(pictures.graph);
    cpu::CpuDevice device(2);
    WeightStore store(device, pictures.weights);
    const auto program = std::make_shared<Program>(lower(graph));
    Executor executor(device, store, program, bounds_of(*graph, *data, 0));
    const Oracle<float> oracle(*graph, *pictures.weights);
    for (int64_t b = 0; b < data->batch_count(); ++b) {
      const Batch batch = data->batch(b);
      ExecuteOptions execute;
      execute.outputs = execute.record = true;
      ExecutionResult result;
      executor.run(inputs_of(batch), bindings_of(*graph, batch, 0), execute, result);
      const auto reference = oracle.run(oracle_inputs(*graph, batch), bindings_of(*graph, batch, 0));
      QCOMPARE(result.decisions[0].choice.size(), batch.items.size());
      for (size_t i = 0; i < batch.items.size(); ++i)
        QCOMPARE(int64_t{result.decisions[0].choice[i]}, labels[static_cast<size_t>(batch.items[i])]);
      QCOMPARE(result.outputs[0].reals.size(), reference.output("mean").reals.size());
      for (size_t i = 0; i < result.outputs[0].reals.size(); ++i)
        QVERIFY(std::abs(result.outputs[0].reals[i] - reference.output("mean").reals[i]) < 1e-4F);
    }
  }
};

STORMCELL_TEST(BatchInputsTest)

}  // namespace stormcell::testing

#include "batch_inputs_test.moc"
