// Imports whatever the format: runs of one session, configurations, comparison, usage, interruption; what is refused
// leaves the session alone.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <filesystem>

#include "core/base/listed_words.h"
#include "core/comparison/compare.h"
#include "core/imports/import.h"
#include "core/readings/session_view.h"
#include "tests/contract/imports.h"
#include "tests/testing/page_table.h"

namespace stormcell::testing {

class ContractImportTest : public QObject, private Imports {
  Q_OBJECT
 private slots:
  void a_configuration_that_contradicts_the_trace_is_refused() {
    const std::string trace = scratch_.write("eight.csv", route_trace());
    const std::string config = scratch_.write(
        "other/config.json", R"({"model_type": "mixtral", "num_hidden_layers": 3, "num_local_experts": 6})");
    const std::string session = scratch_.path("contradicted.storm");
    VERIFY_REFUSED((Arguments{"import", trace, "-o", session, "--model-config", config}), trace,
                   "has 8 experts a layer, " + config + " 6");
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
    QVERIFY2(ended.err.find("the models differ: made-up.gguf and another.gguf") != std::string::npos,
             ended.err.c_str());
    QVERIFY(!compare_runs(a, b).same_model && compare_runs(a, a).same_model);
  }

  void several_traces_of_one_model_become_runs_of_one_session() {
    const std::string one = scratch_.write("monday.csv", route_trace()),
                      two = scratch_.write("tuesday.csv", route_trace({3, 8, 2, 3, 9, 1}));
    const std::string session = scratch_.path("days.storm");
    const Json import = json_of({"import", one, two, "-o", session, "--json", "-"});
    QVERIFY((import["runs"] == Json::array({1, 2})));
    const SessionReader reader(session);
    QCOMPARE(reader.runs().size(), size_t{2});
    QCOMPARE(reader.find_run("tuesday").id, int64_t{2});
    QVERIFY(analyzed(session + "#tuesday")["run"] == 2);
  }

  void a_file_that_the_session_has_adds_nothing() {
    const std::string session = scratch_.path("twice.storm"), trace = scratch_.write("twice.csv", route_trace());
    imported(trace, session);
    const std::string before = Scratch::read(session);
    const Json again = imported(trace, session);
    QVERIFY(again["runs"].empty() && again["files_known"] == 1 && again["runs_known"] == Json::array({1}));
    const std::string copy = scratch_.write("copy.csv", route_trace()),
                      other = scratch_.write("other.csv", route_trace({3, 8, 2, 3, 9, 1}));
    const Ended text = run_program({"import", copy, "-o", session});
    QVERIFY2(
        text.exit == 0 && text.out.find("left out  1 file that the session has already, as #1\n") != std::string::npos,
        text.out.c_str());
    QVERIFY(Scratch::read(session) == before);
    // Beside a new one it is left out; of a user who says more of it, it is read again, once.
    QVERIFY((json_of({"import", trace, other, "-o", session, "--json", "-"})["runs"] == Json::array({2})));
    for (const bool first : {true, false}) {
      const Json sized = imported(trace, session, {"--hidden", "64", "--ffn", "32"});
      QVERIFY2(sized[first ? "runs" : "runs_known"] == Json::array({3}) && sized[first ? "runs_known" : "runs"].empty(),
               sized.dump().c_str());
    }
    QCOMPARE(SessionReader(session).runs().size(), size_t{3});
    // Two of one content in one call are one.
    const Ended both = run_program({"import", trace, copy, "-o", scratch_.path("read-once.storm")});
    QVERIFY2(both.exit == 0 &&
                 both.err.find(copy + ": is the same trace as " + trace + ", which is read once") != std::string::npos,
             both.err.c_str());
    QCOMPARE(SessionReader(scratch_.path("read-once.storm")).runs().size(), size_t{1});
  }

  void a_large_file_that_was_corrected_is_read() {
    TraceSize large;
    large.steps = 8000;
    std::string text = route_trace(large);
    const std::string session = scratch_.path("large.storm"), trace = scratch_.write("large.csv", text);
    const auto written = std::filesystem::last_write_time(trace);
    imported(trace, session);
    QVERIFY(imported(trace, session)["runs"].empty());
    // Between two of the pieces by which a large file is known again.
    const size_t at = text.find("0.625", (text.size() - 4096) / 255 * 100 + 8192);
    text[at + 4] = '4';
    scratch_.write("large.csv", text);
    std::filesystem::last_write_time(trace, written + std::chrono::seconds(1));
    QVERIFY(imported(trace, session)["runs"] == Json::array({2}));
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
    for (const char* part : {"made-up.gguf", "Recorded by another system", "layer.2", "leaves them out: passes",
                             "guards", "An imported trace"})
      QVERIFY2(html.find(part) != std::string::npos, part);
    QVERIFY(html.find("Measured on") == std::string::npos);
    const auto loads = read_loads(session, 0);
    QCOMPARE(loads->rows.size(), size_t{3});
    QCOMPARE(loads->rows[0].load, loads_of(analyzed(session), 0));
    QCOMPARE(open_session(session).runs[0].kind, std::string("import"));
    VERIFY_REFUSED((Arguments{"export", session, "--format", "stormcell"}), session, "configuration");
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
      QVERIFY2(import["model"]["layers"] == c.layers && import["model"]["branches"] == c.branches &&
                   import["model"]["k"] == c.k,
               c.file);
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

  void truncated_files() {
    const std::string text = route_trace();
    verify_refused(scratch_.write("cut-row.csv", text.substr(0, text.size() - 9)), "the file may be cut");
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
    std::filesystem::create_directory(scratch_.path("folder"));
    verify_refused(scratch_.path("folder"), "is a folder without files");
  }

  void a_trace_of_another_model() {
    const std::string session = scratch_.path("model.storm");
    imported(scratch_.write("model.csv", route_trace()), session);
    const std::string before = Scratch::read(session),
                      other = scratch_.write("other.csv", route_trace({}, "other.gguf")),
                      wider = scratch_.write("wider.csv", route_trace({3, 16}));
    for (const std::string& trace : {other, wider})
      VERIFY_REFUSED((Arguments{"import", trace, "-o", session}), session, "another model");
    QVERIFY(Scratch::read(session) == before);
    // A session of a model that was run here.
    const std::string run = scratch_.path("run.storm");
    VERIFY_DONE(run_program(short_run("run", switch_model(), switch_data(), {"-o", run})), Arguments{"run"});
    VERIFY_REFUSED((Arguments{"import", other, "-o", run}), run, "another model");
  }

  void a_file_that_is_no_session() {
    const std::string text = scratch_.write("diary.txt", "dear diary\n"),
                      trace = scratch_.write("diary.csv", route_trace());
    VERIFY_REFUSED((Arguments{"import", trace, "-o", text}), text, "not a session");
    QCOMPARE(Scratch::read(text), std::string("dear diary\n"));
  }

  void usage() {
    const std::string trace = scratch_.write("usage.csv", route_trace()), session = scratch_.path("usage.storm");
    VERIFY_REFUSED((Arguments{"import"}), "TRACE", "is missing");
    VERIFY_REFUSED((Arguments{"import", trace}), "-o", "is missing");
    VERIFY_REFUSED((Arguments{"import", trace, "-o", "-"}), "-o", "standard output");
    VERIFY_REFUSED((Arguments{"import", "-", "-o", session}), "-", "standard input");
    VERIFY_REFUSED((Arguments{"import", trace, "-o", session, "--format", "excel"}), "--format",
                   joined(ids_of(import_formats())));
    VERIFY_REFUSED((Arguments{"import", trace, "-o", session, "--hidden", "0"}), "--hidden", "does not fit");
    VERIFY_REFUSED((Arguments{"import", trace, "-o", session, "--model-config", "no/config.json"}), "no/config.json",
                   "");
    VERIFY_REFUSED((Arguments{"import", trace, "-o", session, "--model-config",
                              scratch_.write("dense.json", "{\"hidden_size\": 8}")}),
                   scratch_.path("dense.json"), "no number of experts");
    VERIFY_REFUSED((Arguments{"analyze"}), "SESSION", "is missing");
    VERIFY_REFUSED((Arguments{"analyze", "no/such.storm"}), "no/such.storm", "no such file");
    QVERIFY(!std::filesystem::exists(session));
  }

  void an_interrupted_import_leaves_a_valid_session() {
    // Large enough that a signal comes in the middle.
    const TraceSize size{24, 64, 4, 64, 20000, 1};
    const std::string trace = scratch_.write("large.csv", route_trace(size)),
                      session = scratch_.path("interrupted.storm");
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
