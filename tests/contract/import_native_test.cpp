// The native trace: of other programs, and of sessions, which come back as they were.
#include <cstring>
#include <limits>

#include "tests/contract/imports.h"

namespace stormcell::testing {
namespace {

/// The small trace as a recorder writes it: with tokens, their texts, margins, and what was left out.
struct RecordedTrace : SmallTrace {
  std::vector<int32_t> token = {5, 9, 5, 7, 9}, id = {5, 7, 9};
  std::vector<int64_t> end = {3, 5, 9};
  std::vector<float> margins = {.1f, .2f, .3f, .4f, .5f};
  std::string text = "theücell";
  std::string write(const std::string& path, const std::string& cut = {}) const {
    const auto n = static_cast<int64_t>(request.size());
    const std::vector<TensorToWrite> tensors = {{"layer.0.indices", DType::i32, {n, 1}, indices.data()},
                                                {"layer.0.margins", DType::f32, {n}, margins.data()},
                                                {"cell.request", DType::i32, {n}, request.data()},
                                                {"cell.position", DType::i32, {n}, position.data()},
                                                {"cell.phase", DType::i32, {n}, phase.data()},
                                                {"cell.token", DType::i32, {n}, token.data()},
                                                {"token.id", DType::i32, {std::ssize(id)}, id.data()},
                                                {"token.end", DType::i64, {std::ssize(end)}, end.data()},
                                                {"token.text", DType::u8, {std::ssize(text)}, text.data()}};
    SafetensorsMetadata said = about;
    said["recorder"] = "pytorch";
    said["cut"] = cut;
    write_safetensors(path, tensors, said);
    return path;
  }
};

}  // namespace

class ContractImportNativeTest : public QObject, private Imports {
  Q_OBJECT
 private slots:
  void a_native_trace_of_another_program_is_imported() {
    const std::string session = scratch_.path("small.storm");
    const Json import = imported(SmallTrace().write(scratch_.path("small.safetensors")), session);
    QCOMPARE(import["format"].get<std::string>(), std::string("native"));
    QCOMPARE(import["rows_read"].get<int>(), 5);
    const Json analysis = analyzed(session);
    QVERIFY((analysis["phases"] == Json::array({"prefill", "decode"})));
    QCOMPARE(loads_of(analysis, 0), (std::vector<int64_t>{2, 1, 1, 1}));
  }

  void a_native_export_comes_back_as_it_was() {
    const std::string first = scratch_.path("first.storm"), second = scratch_.path("second.storm"),
                      trace = scratch_.path("round.safetensors"), again = scratch_.path("again.safetensors");
    imported(scratch_.write("round.csv", route_trace()), first);
    for (const auto& [session, file] : {std::pair{first, trace}, std::pair{second, again}}) {
      if (file == again) imported(trace, session);
      const Arguments arguments = {"export", session, "--format", "native", "-o", file};
      VERIFY_DONE(run_program(arguments), arguments);
    }
    const auto tensors = [](const std::string& file) {
      const std::string bytes = Scratch::read(file);
      uint64_t header = 0;
      std::memcpy(&header, bytes.data(), 8);
      return bytes.substr(8 + header);
    };
    QVERIFY(tensors(trace) == tensors(again));
    QVERIFY(analyzed(first)["routers"] == analyzed(second)["routers"]);
    // The same model: it may go into the first session, too.
    imported(trace, first);
    QCOMPARE(SessionReader(first).runs().size(), size_t{2});
  }

  void a_profiled_session_comes_back_with_the_same_loads() {
    const std::string session = scratch_.path("profiled.storm"), back = scratch_.path("back.storm"),
                      trace = scratch_.path("profiled.safetensors");
    VERIFY_DONE(run_program(short_run("profile", switch_model(), switch_data(), {"--batch", "2", "-o", session})),
                Arguments{"profile"});
    VERIFY_DONE(run_program({"export", session, "--format", "native", "-o", trace}), Arguments{"export"});
    imported(trace, back);
    Json before = analyzed(session), after = analyzed(back);
    QVERIFY(before["routers"] == after["routers"]);
    QVERIFY(before["phases"] == after["phases"]);
    const SessionReader a(session), b(back);
    for (int64_t batch = 0; batch < a.find_run("").batches; ++batch)
      for (int32_t r = 0; r < 3; ++r) {
        QVERIFY(a.decision(1, r, batch)->choice == b.decision(1, r, batch)->choice);
        QVERIFY(a.decision(1, r, batch)->weight == b.decision(1, r, batch)->weight);
        QCOMPARE(a.spaces(1, batch).size(), b.spaces(1, batch).size());
      }
  }

  void tokens_their_texts_and_margins_of_a_recorder_come_along() {
    const std::string session = scratch_.path("recorded.storm");
    imported(RecordedTrace().write(scratch_.path("recorded.safetensors")), session);
    const SessionReader reader(session);
    std::vector<int32_t> tokens;
    std::vector<float> margins;
    const int64_t run = reader.find_run("").id;
    for (int64_t b = 0; b < reader.find_run("").batches; ++b) {
      for (const BatchSpace& space : reader.spaces(run, b))
        tokens.insert(tokens.end(), space.tokens.begin(), space.tokens.end());
      const auto decision = reader.decision(run, 0, b);
      margins.insert(margins.end(), decision->margin.begin(), decision->margin.end());
    }
    QCOMPARE(tokens, (std::vector<int32_t>{5, 9, 5, 7, 9}));
    QCOMPARE(margins, (std::vector<float>{.1f, .2f, .3f, .4f, .5f}));
    QVERIFY((reader.pieces(tokens) == std::map<int32_t, std::string>{{5, "the"}, {7, "ü"}, {9, "cell"}}));
    VERIFY_DONE(run_program({"inspect", session, "--check"}), Arguments{"inspect"});
  }

  void the_import_says_complete_or_what_was_cut() {
    const std::string whole = RecordedTrace().write(scratch_.path("whole.safetensors")),
                      cut = RecordedTrace().write(scratch_.path("cut.safetensors"), "each 10. request alone"),
                      other = SmallTrace().write(scratch_.path("other.safetensors"));
    const Json complete = imported(whole, scratch_.path("whole.storm"));
    QCOMPARE(complete["recorded"].get<std::string>(), std::string("complete"));
    QVERIFY(complete["warnings"].empty());
    const Json sampled = imported(cut, scratch_.path("cut.storm"));
    QCOMPARE(sampled["recorded"].get<std::string>(), std::string("each 10. request alone"));
    QVERIFY(sampled["warnings"][0].get<std::string>().find("left out: each 10. request alone") != std::string::npos);
    QVERIFY(imported(other, scratch_.path("other.storm"))["recorded"].is_null());
    QCOMPARE(imported(whole, scratch_.path("both.storm"), {cut})["recorded"].get<std::string>(),
             std::string("each 10. request alone"));
    QVERIFY(imported(whole, scratch_.path("three.storm"), {cut, other})["recorded"].is_null());
    const Ended text = run_program({"import", whole, "-o", scratch_.path("text.storm")});
    QVERIFY2(text.out.find("complete") != std::string::npos, text.out.c_str());
  }

  void texts_of_tokens_that_are_wrong() {
    const std::string file = scratch_.path("wrong.safetensors"),
                      good = RecordedTrace().write(scratch_.path("g.safetensors"));
    RecordedTrace token, ends, margin;
    token.token[1] = -2;
    verify_refused(token.write(file), "element [1] of cell.token is -2", {}, good);
    token.token[1] = 1 << 24;
    verify_refused(token.write(file), "element [1] of cell.token is 16777216", {}, good);
    ends.end[1] = 99;
    verify_refused(ends.write(file), "element [1] of token.end is 99, 3 to 9 are allowed", {}, good);
    margin.margins[4] = std::numeric_limits<float>::quiet_NaN();
    verify_refused(margin.write(file), "element [4, 0] of layer.0.margins is not a number", {}, good);
  }

  void native_traces_that_are_wrong() {
    const std::string file = scratch_.path("wrong.safetensors"),
                      good = SmallTrace().write(scratch_.path("good.safetensors"));
    SmallTrace over, weight, request, phase, twice;
    over.indices[3] = 4;
    verify_refused(over.write(file), "element [3, 0] of layer.0.indices is 4, -1 to 3 are allowed", {}, good);
    over.indices[3] = -3;
    verify_refused(over.write(file), "element [3, 0] of layer.0.indices is -3", {}, good);
    weight.weights[2] = std::numeric_limits<float>::quiet_NaN();
    verify_refused(weight.write(file), "element [2, 0] of layer.0.weights is not a finite number", {}, good);
    request.request[1] = -1;
    verify_refused(request.write(file), "element [1] of cell.request is -1", {}, good);
    phase.phase[4] = 2;
    verify_refused(phase.write(file), "element [4] of cell.phase is 2", {}, good);
    SmallTrace layers;
    layers.about["layers"] = "2";
    verify_refused(layers.write(file), "layers=2", {}, good);
    // Layers behind a missing one are not left out without a word.
    const std::vector<int32_t> ids = {0, 1}, zeros = {0, 0}, positions = {0, 1};
    write_safetensors(file, std::vector<TensorToWrite>{{"layer.0.indices", DType::i32, {2, 1}, ids.data()},
                                                       {"layer.2.indices", DType::i32, {2, 1}, ids.data()},
                                                       {"cell.request", DType::i32, {2}, zeros.data()},
                                                       {"cell.position", DType::i32, {2}, positions.data()},
                                                       {"cell.phase", DType::i32, {2}, zeros.data()}});
    verify_refused(file, "has layer.2.indices, but no layer.1.indices", {}, good);
  }
};

STORMCELL_TEST(ContractImportNativeTest)

}  // namespace stormcell::testing

#include "import_native_test.moc"
