// Readers of traces on damaged files: refused in one line, or read, and then every batch fits its header.
#include "core/traces/trace.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>

#include "core/formats/safetensors_writer.h"
#include "core/traces/slot_loads.h"
#include "tests/contract/server_traces.h"
#include "tests/contract/traces.h"
#include "tests/core/formats/scratch.h"
#include "tests/fuzz/trace_check.h"
#include "tests/testing/complaint.h"
#include "tests/testing/counts.h"
#include "tests/testing/page_table.h"

namespace stormcell::testing {
namespace {

constexpr int kRounds = 1500;

std::string native_trace(const Scratch& scratch) {
  const std::string path = scratch.path("native.safetensors");
  const std::vector<int32_t> a = {0, 1, 2, 3, -1, 1, 2, 0, -2, -2}, b = {-2, -2, -2, -2, 3}, request = {4, 4, 5, 5, 5},
                             position = {0, 1, 0, 1, 2}, phase = {0, 0, 0, 0, 1}, stack = {0, 0, 0, 0, 1},
                             batch = {0, 0, 0, 0, 1}, real = {1, 0, 1, 1, 1};
  const std::vector<float> weights(10, .5f);
  const std::vector<TensorToWrite> tensors = {
      {"layer.0.indices", DType::i32, {5, 2}, a.data()},   {"layer.0.weights", DType::f32, {5, 2}, weights.data()},
      {"layer.1.indices", DType::i32, {5, 1}, b.data()},   {"cell.request", DType::i32, {5}, request.data()},
      {"cell.position", DType::i32, {5}, position.data()}, {"cell.phase", DType::i32, {5}, phase.data()},
      {"cell.stack", DType::i32, {5}, stack.data()},       {"cell.batch", DType::i32, {5}, batch.data()},
      {"cell.real", DType::i32, {5}, real.data()}};
  write_safetensors(path, tensors,
                    {{"model", "m"},
                     {"branches", "4"},
                     {"layers", "2"},
                     {"stack.0", "encoder"},
                     {"stack.1", "decoder"},
                     {"layer.1.stack", "decoder"}});
  return Scratch::read(path);
}

/// Holds what comes of a trace, summed by router and branch.
class SummingSink : public fuzz::CheckedSink {
 public:
  TraceHeader header;
  std::vector<std::vector<int64_t>> sums;

  void begin(const TraceHeader& told) override {
    CheckedSink::begin(told);
    header = told;
    for (const TraceRouter& r : told.routers) sums.emplace_back(static_cast<size_t>(r.branches));
  }
  void batch(std::span<const TraceCells> cells, std::span<const DecisionRecord> decisions) override {
    CheckedSink::batch(cells, decisions);
    for (const DecisionRecord& d : decisions)
      for (const int32_t c : d.choice)
        if (c >= 0) ++sums[static_cast<size_t>(d.router)][static_cast<size_t>(c)];
  }
  void loads(int64_t step, int32_t router, std::span<const int64_t> counts) override {
    CheckedSink::loads(step, router, counts);
    for (size_t b = 0; b < counts.size(); ++b) sums[static_cast<size_t>(router)][b] += counts[b];
  }
  /// Returns what the slots of each branch got together.
  std::vector<std::vector<int64_t>> sums_of_slots() const {
    std::vector<std::vector<int64_t>> out;
    for (size_t r = 0; r < header.recorded_slots.layers.size(); ++r) {
      const SlotLoads& slots_of = header.recorded_slots.layers[r];
      out.emplace_back(sums[r].size());
      for (size_t s = 0; s < slots_of.load.size(); ++s)
        if (slots_of.expert[s] >= 0) out[r][static_cast<size_t>(slots_of.expert[s])] += slots_of.load[s];
    }
    return out;
  }
};

}  // namespace

class TraceTest : public QObject {
  Q_OBJECT
  Scratch scratch_;

  std::string sample(const QString& format) const {
    if (format == "route-trace") return route_trace({2, 5, 2, 3, 4, 2});
    if (format == "router-trace") return router_trace({2, 5, 2, 6});
    if (format == "logical-count")
      return R"({"logical_count": [[[0, 0, 0], [4, 0, 2]], [[0, 0, 0], [1, 3, 2]]], "rank": 0})";
    if (format == "npy")
      return npy_of("(4, 2, 2)", "<i4", std::vector<int32_t>{0, 1, 2, 3, 1, 0, 0, 0, -1, -1, 2, 1, 3, 2, 1, 0});
    if (format == "sglang") return Scratch::read(reference_path("sglang/per_token_0.pt"));
    if (format == "routed-experts") return routed_experts();
    if (format == "vllm-eplb") return vllm_loads();
    if (format == "trtllm") return trtllm_statistics(scratch_.folder());
    if (format == "megatron") return megatron_trace();
    if (format == "imatrix") return imatrix();
    if (format == "native") return native_trace(scratch_);
    qFatal("no sample of %s: write one", qPrintable(format));
  }
  /// Reads a file that is there; false where it is refused. Answers with routed experts do not say the model's shape.
  bool read(const TraceFormat& format, const std::string& path, fuzz::CheckedSink& sink) const {
    const TracedModel model = format.id == "routed-experts"
                                  ? read_traced_model(scratch_.write("three/config.json", kThreeLayers))
                                  : TracedModel{};
    try {
      format.read({MappedFile::open(path), model}, sink, {});
      return true;
    } catch (const Error& e) {
      const std::string text = e.what();
      if (e.kind() != ErrorKind::bad_input || !text.starts_with(path + ": ") || text.find('\n') != std::string::npos)
        throw std::logic_error(text);
      return false;
    }
  }

 private slots:
  void every_format_is_told_by_its_content_data() {
    QTest::addColumn<QString>("format");
    for (const TraceFormat& f : trace_formats())
      QTest::newRow(std::string(f.id).c_str()) << QString::fromStdString(std::string(f.id));
  }
  void every_format_is_told_by_its_content() {
    QFETCH(QString, format);
    const std::string path = scratch_.write("sample", sample(format));
    QCOMPARE(QString::fromStdString(std::string(recognize_trace(*MappedFile::open(path)).id)), format);
    // Whatever the order in which they are tried.
    for (const TraceFormat& f : trace_formats())
      QVERIFY2(f.recognize(sample(format)) == (f.id == format.toStdString()), std::string(f.id).c_str());
    fuzz::CheckedSink sink;
    QVERIFY(read(find_trace_format(format.toStdString()), path, sink));
    QVERIFY(sink.batches() > 0 && sink.rows() > 0);
  }

  void every_format_is_told_to_users() {
    // The table of formats on the page has them in the order of the list.
    QCOMPARE(first_words_of_table("reference/files.md", "| format | content | keeps |"), ids_of(trace_formats()));
  }

  void counts_are_read_whatever_stands_between_them() {
    const TraceFormat& format = find_trace_format("logical-count");
    const std::vector<std::vector<int64_t>> expected = {{7, 100000000000, 3}, {0, 5, 12}};
    for (const char* text : {R"({"logical_count":[[7,100000000000,3],[0,5,12]]})",
                             R"({"logical_count": [[7, 100000000000, 3], [0, 5, 12]]})",
                             R"({"logical_count":[[7.0,1e11,3.0],[0e0,5,1.2e1]]})",
                             "{\"logical_count\": [\n [\n  7 ,\n  100000000000\t,\r\n  3\n ], [0,\n5 , 12 ]\n] }\n"}) {
      SummingSink sink;
      QVERIFY2(read(format, scratch_.write("counts.json", text), sink), text);
      QVERIFY2(sink.sums == expected, text);
    }
    const auto verify_refused = [&](const std::string& counts, const std::string& what) {
      const std::string path = scratch_.write("counts.json", "{\"logical_count\": " + counts + "}");
      const std::string said = bad_input_complaint([&] {
        SummingSink sink;
        format.read(TraceSource{MappedFile::open(path), {}}, sink, {});
      });
      QVERIFY2(said.starts_with(path + ": " + what), said.c_str());
    };
    verify_refused("\n[[1,\n2.5, 3]]", "line 3: a count is not a whole number: \"2.5\"");
    verify_refused("[[1,\n-2, 3]]", "line 2: a count is -2, 0 to ");
    verify_refused("[[1, 1099511627776, 3]]", "line 1: a count is 1099511627776, 0 to ");
    verify_refused("[[1, 99999999999999999999, 3]]", "line 1: a count is not a whole number");
    verify_refused("[[1, 2.5e0, 3]]", "line 1: a count is not a whole number: \"2.5e0\"");
    verify_refused("[[1, 1e400, 3]]", "line 1: a count is not a whole number: \"1e400\"");
    verify_refused("[[1, -1e3, 3]]", "line 1: a count is -1000, 0 to ");
    verify_refused("[[1, 2,, 3]]", "line 1: a count is not a whole number: \", 3");
    verify_refused("[[1, 2],\n[3, 4, 5]]", "line 2: step 0, layer 1 has more experts than the first row, 2");
    verify_refused("[[1, 2, 3],\n[4, 5]]", "line 2: step 0, layer 1 has 2 experts, the first row has 3");
  }

  void damaged_files_are_refused_or_read_data() { every_format_is_told_by_its_content_data(); }
  void damaged_files_are_refused_or_read() {
    QFETCH(QString, format);
    const std::string good = sample(format);
    const TraceFormat& reader = find_trace_format(format.toStdString());
    testing::Drawn<std::mt19937> random(11);
    int refused = 0;
    const auto attempt = [&](const std::string& bytes) {
      // A file that is cut to nothing and written again would wait for the disk each time.
      std::filesystem::remove(scratch_.path("damaged"));
      fuzz::CheckedSink sink;
      refused += !read(reader, scratch_.write("damaged", bytes), sink);
    };
    for (size_t length = 0; length < good.size(); length += 1 + good.size() / 300) attempt(good.substr(0, length));
    for (int round = 0; round < kRounds; ++round) {
      std::string bytes = good;
      for (uint32_t i = 0; i <= random() % 3; ++i) {
        const size_t at = random() % bytes.size();
        switch (random() % 4) {
          case 0:
            bytes[at] = static_cast<char>(random());
            break;
          case 1:
            bytes[at] = "0123456789,-[]{}\"\n"[random() % 18];
            break;
          case 2:
            bytes.erase(at, 1 + random() % 12);
            break;
          default:
            bytes.insert(at, bytes.substr(random() % bytes.size(), random() % 40));
        }
        if (bytes.empty()) bytes = "x";
      }
      attempt(bytes);
    }
    QVERIFY2(refused > kRounds / 4, std::to_string(refused).c_str());
  }

  void a_config_tells_which_layers_have_branches() {
    struct Case {
      const char* config;
      int32_t branches;
      std::vector<int32_t> layers;
    };
    const std::vector<Case> cases = {
        {R"({"model_type":"mixtral","num_hidden_layers":3,"num_local_experts":8,"hidden_size":4096,"intermediate_size":14336})",
         8,
         {0, 1, 2}},
        {R"({"model_type":"deepseek_v3","num_hidden_layers":5,"n_routed_experts":256,"first_k_dense_replace":3,"moe_layer_freq":1})",
         256,
         {3, 4}},
        {R"({"model_type":"qwen2_moe","num_hidden_layers":6,"num_experts":60,"decoder_sparse_step":2,"mlp_only_layers":[3]})",
         60,
         {1, 5}},
        {R"({"model_type":"jamba","num_hidden_layers":6,"num_experts":16,"expert_layer_period":2,"expert_layer_offset":1})",
         16,
         {1, 3, 5}},
    };
    for (const Case& c : cases) {
      const TracedModel model = read_traced_model(scratch_.write("some/config.json", c.config));
      QCOMPARE(model.branches, c.branches);
      QVERIFY2(model.moe_layers == c.layers, c.config);
    }
  }

  void slots_of_servers_are_kept_beside_the_loads_of_their_experts_data() {
    QTest::addColumn<QString>("format");
    QTest::addColumn<QString>("content");
    for (const char* name : {"per_pass_0", "per_pass_1", "per_token_0"})
      QTest::newRow(name) << "sglang"
                          << QString::fromLatin1(QByteArray::fromStdString(
                                 Scratch::read(reference_path(std::string("sglang/") + name + ".pt"))));
    QTest::newRow("vllm") << "vllm-eplb"
                          << QString::fromStdString(vllm_loads().substr(0, vllm_loads().rfind("{\"record_type\"")));
  }
  void slots_of_servers_are_kept_beside_the_loads_of_their_experts() {
    QFETCH(QString, format);
    QFETCH(QString, content);
    SummingSink sink;
    const std::string path = scratch_.write("slots", content.toLatin1().toStdString());
    QVERIFY(read(find_trace_format(format.toStdString()), path, sink));
    QVERIFY(!sink.sums.empty());
    QVERIFY(sink.sums_of_slots() == sink.sums);
    QCOMPARE(sink.header.recorded_slots.layers[0].expert.size(), format == "sglang" ? size_t{8} : size_t{4});
    QCOMPARE(sink.header.recorded_slots.ranks, format == "sglang" ? 0 : 2);
  }

  void slots_whose_experts_moved_are_not_kept() {
    SummingSink sink;
    QVERIFY(read(find_trace_format("vllm-eplb"), scratch_.write("moved.jsonl", vllm_loads()), sink));
    QVERIFY(sink.header.recorded_slots.layers.empty() && sink.header.recorded_slots.ranks == 0);
  }

  void slots_of_parts_add_up_where_they_hold_the_same() {
    const RecordedSlots a{{{{0, 1, 0}, {3, 4, 5}}}, 1}, b{{{{0, 1, 0}, {1, 1, 2}}}, 1},
        moved{{{{1, 0, 0}, {1, 1, 2}}}, 1};
    QVERIFY((sum_of(a, b).layers[0].load == std::vector<int64_t>{4, 5, 7}));
    QVERIFY(sum_of(a, moved).layers.empty() && sum_of(a, {}).layers.empty());
    const RecordedSlots back = slots_at(json_of(a));
    QVERIFY(back.layers[0].expert == a.layers[0].expert && back.layers[0].load == a.layers[0].load && back.ranks == 1);
    // A file that somebody else wrote there.
    for (const char* text :
         {R"({"slots": [{"experts": [0, 1], "loads": [1]}]})", R"({"slots": [{"experts": [0], "loads": [-1]}]})",
          R"({"slots": [{"experts": ["0"], "loads": [1]}]})", R"({"slots": [{"experts": [-2], "loads": [1]}]})",
          R"({"slots": [{}]})", R"({"slots": 7})", R"({"slots": [{"experts": [99999999999], "loads": [1]}]})", "[]"})
      QVERIFY2(slots_at(nlohmann::json::parse(text)).layers.empty(), text);
  }
};

STORMCELL_TEST(TraceTest)

}  // namespace stormcell::testing

#include "trace_test.moc"
