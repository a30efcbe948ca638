// Traces of other systems: imported, analysed, exported; what is wrong with one is said with its line and leaves the session alone.
#include <csignal>
#include <limits>

#include "core/comparison/compare.h"
#include "core/formats/safetensors_writer.h"
#include "core/readings/selected_view.h"
#include "core/readings/session_view.h"
#include "core/session/session_reader.h"
#include "tests/contract/models.h"
#include "tests/contract/traces.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {
using Json = nlohmann::json;

/// A native trace without what is optional: `cells` cells of one request, one layer of 4 branches, k = 1.
struct SmallTrace {
  std::vector<int32_t> indices = {0, 1, 2, 3, 0}, request = {0, 0, 0, 0, 0}, position = {0, 1, 2, 3, 4}, phase = {0, 0, 0, 1, 1};
  std::vector<float> weights = {.5f, .5f, .5f, .5f, .5f};
  SafetensorsMetadata about = {{"model", "small"}, {"layers", "1"}, {"branches", "4"}, {"k", "1"}};
  std::string write(const std::string& path) const {
    const auto n = static_cast<int64_t>(request.size());
    const std::vector<TensorToWrite> tensors = {{"layer.0.indices", DType::i32, {n, 1}, indices.data()},
                                                {"layer.0.weights", DType::f32, {n, 1}, weights.data()},
                                                {"cell.request", DType::i32, {n}, request.data()},
                                                {"cell.position", DType::i32, {n}, position.data()},
                                                {"cell.phase", DType::i32, {n}, phase.data()}};
    write_safetensors(path, tensors, about);
    return path;
  }
};

std::vector<int64_t> loads_of(const Json& analysis, size_t router) {
  return analysis["routers"][router]["load"].get<std::vector<int64_t>>();
}

}  // namespace

class ContractImportTest : public QObject {
  Q_OBJECT
  Scratch scratch_;

  Json json_of(const Arguments& arguments) {
    const Ended ended = run_program(arguments);
    if (ended.exit != 0) QTest::qFail(told(arguments, ended).c_str(), __FILE__, __LINE__);
    return ended.json();
  }
  Json imported(const std::string& trace, const std::string& session, const Arguments& more = {}) {
    Arguments arguments = {"import", trace, "-o", session, "--json", "-"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return json_of(arguments);
  }
  Json analyzed(const std::string& session) { return json_of({"analyze", session, "--json", "-"}); }

  /// Refused, and neither a session that is there nor one that is not is touched by it. The one that is there was made of `good`, a
  /// trace of the same model.
  void verify_refused(const std::string& trace, const std::string& words, const Arguments& more = {}, std::string good = {}) {
    if (good.empty()) good = scratch_.write("good.csv", route_trace());
    const std::string none = scratch_.path("none.storm"), there = good + ".storm";
    if (!std::filesystem::exists(there)) imported(good, there);
    const auto runs_of = [&] { return SessionReader(there).runs().size(); };
    const size_t runs = runs_of();
    for (const std::string& session : {none, there}) {
      Arguments arguments = {"import", trace, "-o", session};
      arguments.insert(arguments.end(), more.begin(), more.end());
      VERIFY_REFUSED(arguments, trace, words);
    }
    QVERIFY(!std::filesystem::exists(none));
    QVERIFY(!std::filesystem::exists(there + "-wal") && !std::filesystem::exists(none + "-wal"));
    QCOMPARE(runs_of(), runs);
  }

 private slots:
  // What works --------------------------------------------------------------------------------------------------------

  void a_csv_trace_is_imported_and_analysed() {
    const TraceSize size;
    const std::string session = scratch_.path("csv.storm");
    const Json import = imported(scratch_.write("trace.csv", route_trace(size)), session);
    QCOMPARE(import["schema"].get<std::string>(), std::string("stormcell.import/1"));
    QCOMPARE(import["format"].get<std::string>(), std::string("route-trace"));
    QCOMPARE(import["rows_read"].get<int64_t>(), size.rows());
    QCOMPARE(import["rows_skipped"].get<int64_t>(), int64_t{0});
    QCOMPARE(import["rows_masked"].get<int64_t>(), int64_t{0});
    QCOMPARE(import["model"]["layers"].get<int64_t>(), size.layers);
    QCOMPARE(import["model"]["branches"].get<int64_t>(), size.experts);
    QCOMPARE(import["model"]["k"].get<int64_t>(), size.k);
    QVERIFY((import["lacks"] == Json::array({"timings"})));

    const Json analysis = analyzed(session);
    QCOMPARE(analysis["schema"].get<std::string>(), std::string("stormcell.analyze/1"));
    QVERIFY((analysis["phases"] == Json::array({"prefill", "decode"})));
    QVERIFY(analysis["lacks"] == import["lacks"]);
    QVERIFY(analysis["cache"].is_null());
    for (const char* figure : {"temporal_lag1", "static_in_sample", "static_from_prompt", "static_held_out", "transition_held_out"})
      QVERIFY2(analysis["predictability"].contains(figure) && analysis["predictability"][figure].is_null(), figure);
    QCOMPARE(analysis["routers"].size(), static_cast<size_t>(size.layers));
    for (int64_t layer = 0; layer < size.layers; ++layer) {
      std::vector<int64_t> load(static_cast<size_t>(size.experts));
      for (int64_t turn = 0; turn < size.turns; ++turn)
        for (int64_t step = layer + 1 == size.layers ? size.prompt - 1 : 0; step < size.prompt + size.steps; ++step)
          for (int64_t slot = 0; slot < size.k; ++slot) ++load[static_cast<size_t>(traced_expert(size, turn, step, layer, slot))];
      const Json& router = analysis["routers"][static_cast<size_t>(layer)];
      QCOMPARE(router["load"].get<std::vector<int64_t>>(), load);
      QCOMPARE(router["layer"].get<int64_t>(), layer);
      QVERIFY(router["imbalance"]["max_over_mean_minus_1"].get<double>() >= 0);
      QVERIFY(router["imbalance"]["sglang_balancedness"].get<double>() <= 1);
      for (const char* figure : {"entropy_bits", "gini", "touched"}) QVERIFY2(router[figure].is_number(), figure);
    }
  }

  void what_a_trace_knows_is_kept() {
    const std::string session = scratch_.path("kept.storm");
    imported(scratch_.write("kept.csv", route_trace()), session);
    const SessionReader reader(session);
    const RunSummary run = reader.find_run("kept");
    QCOMPARE(run.kind, std::string("import"));
    QCOMPARE(reader.summary().model.name, std::string("made-up.gguf"));
    QVERIFY(run.dataset.find("/models/made-up.gguf") != std::string::npos);
    const RunLayout layout = reader.layout(run.id);
    QCOMPARE(layout.routers[2].branch_bytes, int64_t{1002});
    QCOMPARE(layout.routers[2].dense_bytes, int64_t{9002});
    QCOMPARE(layout.routers[2].layer, 2);
    const auto prompt = reader.decision(run.id, 1, 0);
    QVERIFY(prompt && prompt->cells == 5);
    QCOMPARE(prompt->weight[0], .625f);
    for (size_t i = 0; i < prompt->residency.size(); ++i) {
      const size_t step = i / 2;
      QCOMPARE(static_cast<size_t>(prompt->residency[i]), (step + 1 + i % 2) % 3);
      QCOMPARE(prompt->bytes_read[i], prompt->residency[i] == 0 && step % 2 == 0 ? int64_t{1001} : int64_t{0});
    }
    const auto last = reader.decision(run.id, 2, 0);
    QVERIFY(last && last->cells == 1 && last->ancestor == std::vector<int32_t>{4});
    const auto path = reader.cell_path(run.id, 0, {0, 1, 12, 12, Phase::decode});
    QCOMPARE(path.size(), size_t{3});
    for (int32_t layer = 0; layer < 3; ++layer)
      QCOMPARE(int64_t{path[static_cast<size_t>(layer)].choice[0]}, traced_expert({}, 1, 12, layer, 0));
  }

  void a_trace_without_what_may_be_missing_says_so() {
    std::string text = "# route_trace v1\r\n# n_layer=2 n_expert=4 n_expert_used=1\r\nexpert,slot,layer,step,phase,turn,extra\r\n";
    for (int step = 0; step < 3; ++step)
      for (int layer = 0; layer < 2; ++layer)
        text += std::to_string((step + layer) % 4) + ",0," + std::to_string(layer) + "," + std::to_string(step) + ",1,0,x\r\n";
    const Json import = imported(scratch_.write("bare.csv", text), scratch_.path("bare.storm"));
    QVERIFY((import["lacks"] == Json::array({"model", "weights", "residency", "branch_bytes", "timings"})));
    QCOMPARE(import["rows_read"].get<int>(), 6);
  }

  void a_router_trace_is_imported() {
    const TraceSize size;
    const std::string session = scratch_.path("json.storm");
    const Json import = imported(scratch_.write("trace.json", router_trace(size)), session);
    QCOMPARE(import["format"].get<std::string>(), std::string("router-trace"));
    QCOMPARE(import["model"]["name"].get<std::string>(), std::string("made/up"));
    QCOMPARE(import["rows_read"].get<int64_t>(), size.prompt * size.layers * size.k);
    const auto decision = SessionReader(session).decision(1, 1, 0);
    QVERIFY(decision && decision->cells == size.prompt);
    for (int64_t t = 0; t < size.prompt; ++t)
      for (int64_t j = 0; j < size.k; ++j)
        QCOMPARE(int64_t{decision->choice[static_cast<size_t>(t * size.k + j)]}, traced_expert(size, 0, t, 1, j));
  }

  void an_array_of_choices_is_imported() {
    // Layer 0 has no branches and is filled with zeros; cell 1 was padded, cell 2 of layer 2 was not recorded.
    const std::vector<int64_t> ids = {0, 0, 1, 2, 3, 1, 0, 0, -1, -1, -1, -1, 0, 0, 5, 1, 0, 0};
    const std::string trace = scratch_.write("ids.npy", npy_of("(3, 3, 2)", "<i8", ids)), session = scratch_.path("npy.storm");
    const Json import = imported(trace, session);
    QCOMPARE(import["model"]["layers"].get<int>(), 2);
    QCOMPARE(import["model"]["branches"].get<int>(), 6);
    QCOMPARE(import["rows_read"].get<int>(), 6);
    QCOMPARE(import["rows_skipped"].get<int>(), 6);
    QCOMPARE(import["rows_masked"].get<int>(), 6);
    QCOMPARE(loads_of(analyzed(session), 0), (std::vector<int64_t>{0, 2, 1, 0, 0, 1}));
    // A config.json knows the number of branches and which layers have them.
    const std::string config = scratch_.write("qwen/config.json", R"({"model_type": "qwen3_moe", "num_hidden_layers": 3, "num_experts": 8,
      "mlp_only_layers": [0], "hidden_size": 64, "moe_intermediate_size": 32})");
    const Json known = imported(trace, scratch_.path("known.storm"), {"--model-config", config});
    QCOMPARE(known["model"]["branches"].get<int>(), 8);
    QCOMPARE(known["model"]["name"].get<std::string>(), std::string("qwen"));
    QCOMPARE(analyzed(scratch_.path("known.storm"))["routers"][0]["layer"].get<int>(), 1);
  }

  void a_configuration_that_contradicts_the_trace_is_refused() {
    const std::string trace = scratch_.write("eight.csv", route_trace());
    const std::string config =
        scratch_.write("other/config.json", R"({"model_type": "mixtral", "num_hidden_layers": 3, "num_local_experts": 6})");
    const std::string session = scratch_.path("contradicted.storm");
    VERIFY_REFUSED((Arguments{"import", trace, "-o", session, "--model-config", config}), trace, "has 8 experts a layer, " + config + " 6");
    QVERIFY(!std::filesystem::exists(session));
  }

  void imported_traces_are_compared_by_their_routing() {
    TraceSize longer;
    longer.steps = 33;
    const std::string a = scratch_.path("compared-a.storm"), b = scratch_.path("compared-b.storm");
    imported(scratch_.write("compared-a.csv", route_trace()), a);
    imported(scratch_.write("compared-b.csv", route_trace(longer)), b);
    const Ended ended = run_program({"compare", a, b, "--json", "-"});
    VERIFY_DONE(ended, Arguments{"compare"});
    const Json j = ended.json();
    std::string figures;
    for (const Json& row : j["rows"]) figures += row["figure"].get<std::string>() + "\n";
    for (const char* part : {"rows_read\n", ".imbalance\n", ".entropy_bits\n", ".share.0\n"})
      QVERIFY2(figures.find(part) != std::string::npos, figures.c_str());
    for (const char* part : {"runs", "seconds"}) QVERIFY2(figures.find(part) == std::string::npos, figures.c_str());
    QCOMPARE(j["routing"].size(), size_t{3});
    const double distance = j["routing"][0]["total_variation"].get<double>();
    QVERIFY(distance > 0 && distance < 0.5);
  }

  void traces_of_two_models_are_warned_of() {
    const std::string a = scratch_.path("model-a.storm"), b = scratch_.path("model-b.storm");
    imported(scratch_.write("model-a.csv", route_trace()), a);
    imported(scratch_.write("model-b.csv", route_trace({}, "another.gguf")), b);
    const Ended ended = run_program({"compare", a, b});
    VERIFY_DONE(ended, Arguments{"compare"});
    QVERIFY2(ended.err.find("the models differ: made-up.gguf and another.gguf") != std::string::npos, ended.err.c_str());
    QVERIFY(!compare_runs(a, b).same_model && compare_runs(a, a).same_model);
  }

  void a_phase_of_a_trace_is_read_although_it_lacks_values() {
    const std::string session = scratch_.path("phases.storm");
    imported(scratch_.write("phases.csv", route_trace()), session);
    const auto all = read_load_windows(session, 0, {0, -1}, 64);
    const auto prefill = read_phase_windows(session, 0, "prefill", {0, -1}, 64),
               decode = read_phase_windows(session, 0, "decode", {0, -1}, 64);
    QVERIFY(all->routers[0].dropped.empty());  // nothing was dropped, and a trace does not say so
    for (size_t r = 0; r < all->routers.size(); ++r)
      for (size_t i = 0; i < all->routers[r].load.size(); ++i)
        QCOMPARE(prefill->routers[r].load[i] + decode->routers[r].load[i], all->routers[r].load[i]);
  }

  void a_native_trace_of_another_program_is_imported() {
    const std::string session = scratch_.path("small.storm");
    const Json import = imported(SmallTrace().write(scratch_.path("small.safetensors")), session);
    QCOMPARE(import["format"].get<std::string>(), std::string("native"));
    QCOMPARE(import["rows_read"].get<int>(), 5);
    const Json analysis = analyzed(session);
    QVERIFY((analysis["phases"] == Json::array({"prefill", "decode"})));
    QCOMPARE(loads_of(analysis, 0), (std::vector<int64_t>{2, 1, 1, 1}));
  }

  void several_traces_of_one_model_become_runs_of_one_session() {
    const std::string one = scratch_.write("monday.csv", route_trace()),
                      two = scratch_.write("tuesday.csv", route_trace({3, 8, 2, 3, 9, 1}));
    const std::string session = scratch_.path("days.storm");
    const Json import = json_of({"import", one, two, "-o", session, "--json", "-"});
    QVERIFY((import["runs"] == Json::array({1, 2})));
    imported(one, session);
    const SessionReader reader(session);
    QCOMPARE(reader.runs().size(), size_t{3});
    QCOMPARE(reader.find_run("tuesday").id, int64_t{2});
    QVERIFY(analyzed(session + "#tuesday")["run"] == 2);
  }

  void an_imported_session_is_exported_reported_and_viewed() {
    const std::string session = scratch_.path("used.storm"), page = scratch_.path("used.html");
    imported(scratch_.write("used.csv", route_trace()), session);
    for (const char* what : {"loads", "transitions", "decisions", "timings"}) {
      const Arguments arguments = {"export", session, "--format", "csv", "--what", what};
      const Ended ended = run_program(arguments);
      VERIFY_DONE(ended, arguments);
      QVERIFY2(std::count(ended.out.begin(), ended.out.end(), '\n') > 3, what);
    }
    const Arguments report = {"report", session, "-o", page};
    VERIFY_DONE(run_program(report), report);
    const std::string html = Scratch::read(page);
    for (const char* part :
         {"made-up.gguf", "Recorded by another system", "layer.2", "leaves them out: passes", "guards", "An imported trace"})
      QVERIFY2(html.find(part) != std::string::npos, part);
    QVERIFY(html.find("Measured on") == std::string::npos);
    const auto loads = read_loads(session, 0);
    QCOMPARE(loads->rows.size(), size_t{3});
    QCOMPARE(loads->rows[0].load, loads_of(analyzed(session), 0));
    QCOMPARE(open_session(session).runs[0].kind, std::string("import"));
    VERIFY_REFUSED((Arguments{"export", session, "--format", "stormcell"}), session, "configuration");
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
    VERIFY_DONE(run_program(short_run("profile", switch_model(), switch_data(), {"--batch", "2", "-o", session})), Arguments{"profile"});
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

  void real_traces_are_imported() {
    if (shared_folder().empty()) QSKIP("no ../shared: the real traces are not here");
    const std::string traces = shared_folder() + "/data/traces/";
    struct Case {
      const char* file;
      int64_t rows, layers, branches, k;
    };
    for (const Case& c : {Case{"qwen.route.csv", 44766, 48, 128, 6}, Case{"gemma.route.csv", 28260, 30, 128, 6},
                          Case{"switch-base-8.router-trace.v2.json", 1290, 6, 8, 1}}) {
      const std::string session = scratch_.path(std::string(c.file) + ".storm");
      const Json import = imported(traces + c.file, session);
      QVERIFY2(import["model"]["layers"] == c.layers && import["model"]["branches"] == c.branches && import["model"]["k"] == c.k, c.file);
      QVERIFY2(import["rows_read"] == c.rows, (c.file + import["rows_read"].dump()).c_str());
      int64_t choices = 0;
      const Json analysis = analyzed(session);
      for (size_t r = 0; r < analysis["routers"].size(); ++r)
        for (const int64_t load : loads_of(analysis, r)) choices += load;
      QCOMPARE(choices, c.rows);
    }
    // The table in the traces' README.
    const Json analysis = analyzed(scratch_.path("switch-base-8.router-trace.v2.json.storm"));
    QCOMPARE(loads_of(analysis, 0), (std::vector<int64_t>{17, 16, 32, 18, 46, 44, 21, 21}));
    QCOMPARE(loads_of(analysis, 5), (std::vector<int64_t>{25, 52, 27, 11, 35, 19, 18, 28}));
    QVERIFY(std::abs(analysis["routers"][2]["imbalance"]["max_over_mean_minus_1"].get<double>() - 1.12) < .005);
    // Layer 0 of Qwen while decoding: 107 of 128 branches touched, the 8 largest with 21.5 % of the choices.
    const SessionReader qwen(scratch_.path("qwen.route.csv.storm"));
    std::vector<int64_t> load(128);
    for (int64_t b = 0; b < qwen.find_run("").batches; ++b) {
      if (qwen.spaces(1, b).at(0).cells.phase != Phase::decode) continue;
      const auto decision = qwen.decision(1, 0, b);
      for (const int32_t choice : decision->choice) ++load[static_cast<size_t>(choice)];
    }
    QCOMPARE(std::count_if(load.begin(), load.end(), [](int64_t n) { return n > 0; }), std::ptrdiff_t{107});
    std::sort(load.rbegin(), load.rend());
    int64_t top = 0, all = 0;
    for (size_t i = 0; i < load.size(); ++i) all += load[i], top += i < 8 ? load[i] : 0;
    QVERIFY(std::abs(static_cast<double>(top) / static_cast<double>(all) - .215) < .0005);
  }

  // What does not -----------------------------------------------------------------------------------------------------

  void a_csv_that_is_no_trace() {
    verify_refused(scratch_.write("sales.csv", "day,sum\n1,2\n"), "line 1");
    verify_refused(scratch_.write("sales.csv", "day,sum\n1,2\n"), "line 1", {"--format", "route-trace"});
    verify_refused(scratch_.write("v2.csv", "# route_trace v2\n"), "line 1");
    verify_refused(scratch_.write("noise.bin", std::string("\0\1\2\3\4\5\6\7\x08", 9)), "line 1");
  }

  void rows_that_are_wrong_data() {
    QTest::addColumn<QString>("row");
    QTest::addColumn<QString>("words");
    QTest::newRow("a field too few") << "0,0,2,1,0,5,0.625,0"
                                     << "has 8 fields, the first row names 9";
    QTest::newRow("a field too many") << "0,0,2,1,0,5,0.625,0,1001,1"
                                      << "has 10 fields, the first row names 9";
    QTest::newRow("no number") << "0,0,2,1,0,five,0.625,0,1001"
                               << "expert is \"five\", not a whole number";
    QTest::newRow("expert too large") << "0,0,2,1,0,8,0.625,0,1001"
                                      << "expert 8 is out of range, 0 to 7";
    QTest::newRow("expert negative") << "0,0,2,1,0,-1,0.625,0,1001"
                                     << "expert -1 is out of range";
    QTest::newRow("layer too large") << "0,0,2,3,0,5,0.625,0,1001"
                                     << "layer 3 is out of range";
    QTest::newRow("slot too large") << "0,0,2,1,2,5,0.625,0,1001"
                                    << "slot 2 is out of range";
    QTest::newRow("phase") << "0,2,2,1,0,5,0.625,0,1001"
                           << "phase 2 is out of range";
    QTest::newRow("residency") << "0,0,2,1,0,5,0.625,3,1001"
                               << "residency 3 is out of range";
    QTest::newRow("NaN") << "0,0,2,1,0,5,nan,0,1001"
                         << "the weight is not a finite number";
    QTest::newRow("infinite") << "0,0,2,1,0,5,-inf,0,1001"
                              << "the weight is not a finite number";
    QTest::newRow("weight that is no number") << "0,0,2,1,0,5,much,0,1001"
                                              << "weight is \"much\", not a number";
    QTest::newRow("an expert twice") << "0,0,2,1,0,7,0.625,0,1001"
                                     << "expert 7 comes twice for step 2 in layer 1";
    QTest::newRow("a second preamble") << "# route_trace v1"
                                       << "a second preamble";
  }
  void rows_that_are_wrong() {
    QFETCH(QString, row);
    QFETCH(QString, words);
    std::string text = route_trace();
    const size_t at = text.find("\n0,0,2,1,0,") + 1;
    text.replace(at, text.find('\n', at) - at, row.toStdString());
    const auto line =
        std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n') + (words.startsWith("expert 7") ? 2 : 1);
    verify_refused(scratch_.write("wrong.csv", text), "line " + std::to_string(line) + ": " + words.toStdString());
  }

  void a_row_twice() {
    std::string text = route_trace();
    const size_t at = text.find("\n1,1,9,2,1,") + 1, end = text.find('\n', at) + 1;
    text.insert(end, text.substr(at, end - at));
    verify_refused(scratch_.write("twice.csv", text), "comes twice");
    // A whole step, long after it.
    std::string late = route_trace();
    late += late.substr(late.find("\n0,1,7,0,0,") + 1, late.find("\n0,1,8,0,0,") - late.find("\n0,1,7,0,0,"));
    verify_refused(scratch_.write("late.csv", late), "step 7 of turn 0 comes again");
  }

  void a_missing_row() {
    std::string text = route_trace();
    const size_t at = text.find("\n1,1,9,1,1,") + 1;
    text.erase(at, text.find('\n', at) + 1 - at);
    verify_refused(scratch_.write("missing.csv", text), "layer 1 of turn 1, step 9 has 1 of 2 choices");
  }

  void truncated_files() {
    const std::string text = route_trace();
    verify_refused(scratch_.write("cut-row.csv", text.substr(0, text.size() - 9)), "may be truncated");
    verify_refused(scratch_.write("cut-step.csv", text.substr(0, text.rfind("\n1,1,24,2,0,") + 1)), "may be truncated");
    verify_refused(scratch_.write("cut-prompt.csv", text.substr(0, text.find("\n0,0,2,1,0,") + 1)), "may be truncated");
    verify_refused(scratch_.write("cut-preamble.csv", text.substr(0, text.find("turn,"))), "truncated");
    verify_refused(scratch_.write("no-rows.csv", text.substr(0, text.find("\n0,0,0,0,0,") + 1)), "no rows");
    const std::string json = router_trace();
    for (const size_t size : {size_t{30}, json.find("],[") + 1, json.find("\"source\""), json.size() - 3})
      verify_refused(scratch_.write("cut.json", json.substr(0, size)), "", {"--format", "router-trace"});
    const std::string npy = npy_of("(2, 1, 2)", "<i4", std::vector<int32_t>{0, 1, 1, 2});
    verify_refused(scratch_.write("cut.npy", npy.substr(0, npy.size() - 4)), "truncated");
    const std::string native = Scratch::read(SmallTrace().write(scratch_.path("whole.safetensors")));
    verify_refused(scratch_.write("cut.safetensors", native.substr(0, native.size() - 4)), "");
  }

  void empty_and_missing_files() {
    verify_refused(scratch_.write("empty.csv", ""), "is empty");
    verify_refused(scratch_.write("empty.npy", ""), "is empty", {"--format", "npy"});
    verify_refused(scratch_.path("nothing.csv"), "No such file");
    verify_refused(scratch_.folder(), "is a folder");
  }

  void arrays_of_the_wrong_shape_or_type() {
    const std::vector<int32_t> four = {0, 1, 2, 3};
    verify_refused(scratch_.write("rank.npy", npy_of("(2, 2)", "<i4", four)), "expected [tokens, layers, k]");
    verify_refused(scratch_.write("rank4.npy", npy_of("(1, 2, 2, 1)", "<i4", four)), "expected [tokens, layers, k]");
    verify_refused(scratch_.write("none.npy", npy_of("(0, 2, 2)", "<i4", std::vector<int32_t>{})), "nothing is in it");
    verify_refused(scratch_.write("float.npy", npy_of("(2, 1, 2)", "<f4", std::vector<float>{0, 1, 2, 3})), "expected int32 or int64");
    verify_refused(scratch_.write("short.npy", npy_of("(2, 1, 2)", "<i2", std::vector<int16_t>{0, 1, 2, 3})), "'<i4'");
    verify_refused(scratch_.write("negative.npy", npy_of("(2, 1, 2)", "<i4", std::vector<int32_t>{0, 1, -2, 3})),
                   "element [1, 0, 0] is -2");
    verify_refused(scratch_.write("huge.npy", npy_of("(2, 1, 2)", "<i8", std::vector<int64_t>{0, 1, 2, int64_t{1} << 40})),
                   "element [1, 0, 1]");
    verify_refused(scratch_.write("twice.npy", npy_of("(2, 1, 2)", "<i4", std::vector<int32_t>{0, 1, 2, 2})),
                   "element [1, 0, 1] is 2, which the same cell chose", {},
                   scratch_.write("good.npy", npy_of("(2, 1, 2)", "<i4", std::vector<int32_t>{0, 1, 2, 1})));
    const std::string config =
        scratch_.write("mixtral/config.json", R"({"model_type": "mixtral", "num_hidden_layers": 2, "num_local_experts": 3})");
    verify_refused(scratch_.write("over.npy", npy_of("(1, 2, 2)", "<i4", four)), "is 3, -1 to 2 are allowed", {"--model-config", config});
    verify_refused(scratch_.write("layers.npy", npy_of("(2, 1, 2)", "<i4", std::vector<int32_t>{0, 1, 2, 1})), "has 1 layers",
                   {"--model-config", config});
  }

  void router_traces_that_are_wrong_data() {
    QTest::addColumn<QString>("from");
    QTest::addColumn<QString>("to");
    QTest::addColumn<QString>("words");
    QTest::newRow("expert too large") << "[[0,1]"
                                      << "[[0,8]"
                                      << "line 5: an expert is 8, 0 to 7 are allowed";
    QTest::newRow("expert negative") << "[[0,1]"
                                     << "[[0,-1]"
                                     << "line 5: an expert is -1";
    QTest::newRow("expert that is none") << "[[0,1]"
                                         << "[[0,1.5]"
                                         << "line 5: an expert is no whole number";
    QTest::newRow("expert twice") << "[[0,1]"
                                  << "[[1,1]"
                                  << "line 5: token 0, layer 0 has expert 1 twice";
    QTest::newRow("a choice too few") << "[[0,1]"
                                      << "[[0]"
                                      << "line 5: token 0, layer 0 has 1 selections";
    QTest::newRow("a choice too many") << "[[0,1]"
                                       << "[[0,1,2]"
                                       << "line 5: token 0, layer 0 has more selections";
    QTest::newRow("a layer too few") << "[[0,1],"
                                     << "["
                                     << "line 5: token 0 has 2 layers";
    QTest::newRow("fewer tokens") << "\"tokens\": 5"
                                  << "\"tokens\": 6"
                                  << "selections has 5 tokens, \"tokens\" says 6";
    QTest::newRow("more tokens") << "\"tokens\": 5"
                                 << "\"tokens\": 4"
                                 << "more than the 4 tokens";
    QTest::newRow("another version") << "\"version\": 2"
                                     << "\"version\": 3"
                                     << "version 3";
    QTest::newRow("no layers") << "\"layers\": 3"
                               << "\"layer\": 3"
                               << "layers is missing";
    QTest::newRow("no JSON") << "\"layers\": 3"
                             << "\"layers\": three"
                             << "line 2";
  }
  void router_traces_that_are_wrong() {
    QFETCH(QString, from);
    QFETCH(QString, to);
    QFETCH(QString, words);
    std::string text = router_trace();
    const size_t at = text.find(from.toStdString());
    QVERIFY(at != std::string::npos);
    text.replace(at, from.toStdString().size(), to.toStdString());
    verify_refused(scratch_.write("wrong.json", text), words.toStdString(), {}, scratch_.write("good.json", router_trace()));
  }

  void native_traces_that_are_wrong() {
    const std::string file = scratch_.path("wrong.safetensors"), good = SmallTrace().write(scratch_.path("good.safetensors"));
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
  }

  void a_trace_of_another_model() {
    const std::string session = scratch_.path("model.storm");
    imported(scratch_.write("model.csv", route_trace()), session);
    const std::string before = Scratch::read(session), other = scratch_.write("other.csv", route_trace({}, "other.gguf")),
                      wider = scratch_.write("wider.csv", route_trace({3, 16}));
    for (const std::string& trace : {other, wider}) VERIFY_REFUSED((Arguments{"import", trace, "-o", session}), session, "another model");
    QVERIFY(Scratch::read(session) == before);
    // And two that are of different models: nothing of the first stays.
    const std::string both = scratch_.path("both.storm");
    VERIFY_REFUSED((Arguments{"import", scratch_.path("model.csv"), other, "-o", both}), other, "another model");
    QVERIFY(!std::filesystem::exists(both));
    // A session of a model that was run here.
    const std::string run = scratch_.path("run.storm");
    VERIFY_DONE(run_program(short_run("run", switch_model(), switch_data(), {"-o", run})), Arguments{"run"});
    VERIFY_REFUSED((Arguments{"import", other, "-o", run}), run, "another model");
  }

  void a_file_that_is_no_session() {
    const std::string text = scratch_.write("diary.txt", "dear diary\n"), trace = scratch_.write("diary.csv", route_trace());
    VERIFY_REFUSED((Arguments{"import", trace, "-o", text}), text, "not a session");
    QCOMPARE(Scratch::read(text), std::string("dear diary\n"));
  }

  void usage() {
    const std::string trace = scratch_.write("usage.csv", route_trace()), session = scratch_.path("usage.storm");
    VERIFY_REFUSED((Arguments{"import"}), "TRACE", "is missing");
    VERIFY_REFUSED((Arguments{"import", trace}), "-o", "is missing");
    VERIFY_REFUSED((Arguments{"import", trace, "-o", "-"}), "-o", "standard output");
    VERIFY_REFUSED((Arguments{"import", "-", "-o", session}), "-", "standard input");
    VERIFY_REFUSED((Arguments{"import", trace, "-o", session, "--format", "excel"}), "--format", "route-trace, router-trace, native, npy");
    VERIFY_REFUSED((Arguments{"import", trace, "-o", session, "--hidden", "0"}), "--hidden", "does not fit");
    VERIFY_REFUSED((Arguments{"import", trace, "-o", session, "--model-config", "no/config.json"}), "no/config.json", "");
    VERIFY_REFUSED((Arguments{"import", trace, "-o", session, "--model-config", scratch_.write("dense.json", "{\"hidden_size\": 8}")}),
                   scratch_.path("dense.json"), "no number of experts");
    VERIFY_REFUSED((Arguments{"analyze"}), "SESSION", "is missing");
    VERIFY_REFUSED((Arguments{"analyze", "no/such.storm"}), "no/such.storm", "no such file");
    QVERIFY(!std::filesystem::exists(session));
  }

  void an_interrupted_import_leaves_a_valid_session() {
    // Large enough that a signal comes in the middle.
    const TraceSize size{24, 64, 4, 64, 20000, 1};
    const std::string trace = scratch_.write("large.csv", route_trace(size)), session = scratch_.path("interrupted.storm");
    for (const int signal : {SIGINT, SIGTERM}) {
      Running running({"import", trace, "-o", session});
      QVERIFY(running.wait_until([&] {
        std::error_code none;
        return std::filesystem::file_size(session + "-wal", none) > (1 << 20) && !none;
      }));
      running.signal(signal);
      const Ended ended = running.wait();
      QVERIFY2(ended.exit == 128 + signal && ended.out.empty(), told({"import"}, ended).c_str());
      QVERIFY2(defect_of_error_line(ended.err, session).empty(), ended.err.c_str());
      QVERIFY(!std::filesystem::exists(session + "-wal"));
      const SessionReader reader(session);
      const RunSummary run = reader.find_run("");
      QCOMPARE(static_cast<int>(run.status), static_cast<int>(RunStatus::interrupted));
      QVERIFY(run.batches > 0);
      for (int64_t b = 0; b < run.batches; ++b) QVERIFY(reader.decision(run.id, 0, b).has_value());
      QVERIFY(analyzed(session)["routers"].size() == 24);
    }
    // A killed one leaves what was there before it began.
    const size_t runs = SessionReader(session).runs().size();
    Running running({"import", trace, "-o", session});
    QVERIFY(running.wait_until([&] {
      std::error_code none;
      return std::filesystem::file_size(session + "-wal", none) > (1 << 20) && !none;
    }));
    running.signal(SIGKILL);
    running.wait();
    QCOMPARE(SessionReader(session).runs().size(), runs);
  }
};

STORMCELL_TEST(ContractImportTest)

}  // namespace stormcell::testing

#include "import_test.moc"
