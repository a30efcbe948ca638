// Standard input and output, what is quiet, what is logged, what is compared and done in batches.
#include <algorithm>
#include <cmath>
#include <csignal>

#include "tests/contract/models.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {
using Json = nlohmann::json;
}

class StreamsTest : public QObject {
  Q_OBJECT
  Scratch scratch_;

  /// Figures of a summary as `compare` reads them.
  std::string summary(const std::string& name, double speedup, double low, double high, double median) {
    const Json j = {{"schema", "stormcell.optimize/1"},
                    {"speedup", speedup > 0 ? Json(speedup) : Json()},
                    {"speedup_ci95", {low, high}},
                    {"between_spread", 0.02},
                    {"optimized", {{"latency_ms", {{"median", median}}}}},
                    {"passes", Json::array({{{"name", "dead-path"}, {"applied", true}}})},
                    {"routing", Json::array({{{"router", "encoder.block.1"}, {"load", {1, 2}}}})}};
    return scratch_.write(name, j.dump());
  }

 private slots:
  void data_may_be_lines_on_standard_input() {
    const std::string reader = model_with_tokenizer(scratch_);
    Surroundings around;
    around.input = "one line\nand another\nand a third\n";
    const Arguments arguments = short_run("run", reader, "-", {"--json", "-"});
    const Ended ended = run_program(arguments, around);
    VERIFY_DONE(ended, arguments);
    QCOMPARE(ended.json()["dataset"]["sequences"].get<int>(), 3);
  }

  void results_are_on_standard_output_and_progress_only_on_a_terminal() {
    const Arguments arguments = short_run("run", switch_model(), switch_data());
    const Ended ended = run_program(arguments);
    VERIFY_DONE(ended, arguments);
    QVERIFY2(ended.err.empty(), ended.err.c_str());
    for (const char* word : {"latency", "ms", "verified", "not verified"})
      QVERIFY2((ended.out.find(word) != std::string::npos) == (std::string(word) != "not verified"), ended.out.c_str());
    QVERIFY(ended.out.find('\033') == std::string::npos);
  }

  void quiet_says_nothing_but_what_was_asked_for() {
    Arguments arguments = short_run("run", switch_model(), switch_data(), {"--quiet"});
    const Ended silent = run_program(arguments);
    QVERIFY2(silent.exit == 0 && silent.out.empty() && silent.err.empty(), told(arguments, silent).c_str());
    arguments.insert(arguments.end(), {"--json", "-"});
    QVERIFY(run_program(arguments).json().is_object());
  }

  void verbose_tells_the_stages_on_standard_error() {
    const Arguments arguments = short_run("run", switch_model(), switch_data(), {"--verbose"});
    const Ended ended = run_program(arguments);
    VERIFY_DONE(ended, arguments);
    QVERIFY2(ended.err.find(" s\n") != std::string::npos, ended.err.c_str());
    QVERIFY(ended.out.find("entropy") != std::string::npos);
  }

  void the_log_file_is_appended_to() {
    const std::string log = scratch_.path("log");
    for (int i = 0; i < 2; ++i) run_program({"doctor", "--log-file", log});
    run_program({"inspect", "no/such/model", "--log-file", log});
    const std::string text = Scratch::read(log);
    QCOMPARE(std::count(text.begin(), text.end(), '\n') >= 6, true);
    QVERIFY(text.find("no/such/model") != std::string::npos && text.find("error: ") != std::string::npos);
  }

  void json_that_goes_to_standard_output_stands_there_alone() {
    const Arguments arguments = short_run("optimize", switch_model(), switch_data(), {"--json", "-"});
    const Ended ended = run_program(arguments);
    VERIFY_DONE(ended, arguments);
    QVERIFY(ended.json().is_object());
  }

  void a_file_is_replaced_when_it_is_complete_and_devices_are_written_as_they_are() {
    const std::string file = scratch_.write("doctor.json", "old");
    VERIFY_DONE(run_program({"doctor", "--json", file, "--quiet"}), Arguments{"doctor"});
    QVERIFY(Json::parse(Scratch::read(file), nullptr, false).is_object());
    QCOMPARE(run_program({"doctor", "--json", "/dev/null"}).exit, 0);
    QVERIFY(run_program({"doctor", "--json", "/dev/stdout", "--quiet"}).json().is_object());
  }

  void standard_output_that_is_full_is_a_failure() {
    Surroundings around;
    around.out_file = "/dev/full";
    const Ended ended = run_program({"doctor"}, around);
    QVERIFY2(ended.exit == 1 && defect_of_error_line(ended.err, "standard output").empty(), ended.err.c_str());
  }

  void a_reader_that_goes_away_is_no_failure() {
    const std::string pipe =
        "{ '" + program_path() + "' inspect '" + switch_model() + "' --text -; echo $? >&2; } | true";
    QProcess shell;
    shell.start("sh", {"-c", QString::fromStdString(pipe)});
    QVERIFY(shell.waitForFinished(60000));
    QCOMPARE(shell.readAllStandardError().toStdString(), std::string("0\n"));
  }

  void the_graph_is_written_as_text_and_for_graphviz() {
    QVERIFY(run_program({"inspect", switch_model(), "--text", "-"}).out.starts_with("stormcell.graph/1\n"));
    QVERIFY(run_program({"inspect", switch_model(), "--dot", "-"}).out.find("digraph") != std::string::npos);
  }

  // compare ----------------------------------------------------------------------------------------------------------

  void compare_tells_what_is_significant() {
    const std::string a = summary("a.json", 1.2, 1.15, 1.25, 10), b = summary("b.json", 1.5, 1.4, 1.6, 8),
                      c = summary("c.json", 1.22, 1.1, 1.3, 10);
    const auto row_of = [](const Json& j, const std::string& figure) {
      for (const Json& row : j["rows"])
        if (row["figure"] == figure) return row;
      return Json();
    };
    const Json far = run_program({"compare", a, b, "--json", "-"}).json(),
               near = run_program({"compare", a, c, "--json", "-"}).json();
    QVERIFY(row_of(far, "speedup")["significant"].get<bool>() && !row_of(near, "speedup")["significant"].get<bool>());
    QVERIFY(row_of(far, "speedup")["ci95"].size() == 2);
    QVERIFY(std::abs(row_of(far, "speedup")["difference"].get<double>() - 0.3) < 1e-12);
    QCOMPARE(row_of(far, "optimized.latency_ms.median")["difference"].get<double>(), -2.0);
    QVERIFY(row_of(far, "optimized.latency_ms.median")["ci95"].is_null());
    QVERIFY(row_of(far, "routing.encoder.block.1.load.1").is_object() &&
            row_of(far, "passes.dead-path.applied").is_object());
  }

  /// A null is not a figure. It equals neither a null of the other run nor a missing figure.
  void compare_calls_only_figures_equal_that_both_runs_have() {
    const auto written = [this](const char* name, const char* more) {
      Json j = {{"schema", "stormcell.optimize/1"}, {"x", 1}};
      j.update(Json::parse(more));
      return scratch_.write(name, j.dump());
    };
    struct Row {
      const char *name, *a, *b;
      const char* ends;  // of the line of --all
    };
    const std::vector<Row> rows = {{"null in both", R"({"y":null})", R"({"y":null})", "in neither"},
                                   {"null in b, absent in a", "{}", R"({"y":null})", "in neither"},
                                   {"null in b, an object in a", R"({"y":{"z":2}})", R"({"y":null})", "only in a"},
                                   {"null in a, an object in b", R"({"y":null})", R"({"y":{"z":2}})", "only in b"},
                                   {"a figure of a alone", R"({"y":2})", R"({"y":null})", "only in a"},
                                   {"a figure of b alone", "{}", R"({"y":2})", "only in b"}};
    for (const Row& row : rows) {
      const Arguments arguments = {"compare", written("one.json", row.a), written("other.json", row.b)};
      const Ended ended = run_program(arguments);
      VERIFY_DONE(ended, arguments);
      QVERIFY2(ended.out.find("\n1 figure is equal") != std::string::npos, (row.name + ("\n" + ended.out)).c_str());
      Arguments all = arguments;
      all.push_back("--all");
      const std::string out = run_program(all).out;
      const size_t line = out.find("\ny");
      QVERIFY2(
          line != std::string::npos && out.substr(line + 1, out.find('\n', line + 1) - line - 1).ends_with(row.ends),
          (row.name + ("\n" + out)).c_str());
    }
  }

  /// A warning that the runs must not be judged holds for the page, too.
  void compare_judges_nothing_if_the_data_differ() {
    const auto written = [this](const char* name, const char* data, double imbalance) {
      const Json j = {{"schema", "stormcell.run/1"},
                      {"phase", "forward"},
                      {"dataset", {{"name", data}, {"cells", 100}}},
                      {"routing", Json::array({{{"router", "r"}, {"imbalance", imbalance}}})}};
      return scratch_.write(name, j.dump());
    };
    const std::string a = written("even.json", "one", 0.5), b = written("uneven.json", "one", 0.75),
                      other = written("other.json", "two", 0.75);
    const Ended same = run_program({"compare", a, b}), unlike = run_program({"compare", a, other});
    QVERIFY2(same.out.find("B is worse than A beyond chance in 1 of ") != std::string::npos, same.out.c_str());
    QVERIFY2(same.out.find("The worst is routing.r.imbalance, from 0.50000 to 0.75000.") != std::string::npos,
             same.out.c_str());
    QVERIFY2(unlike.err.find("the data differ: one and two") != std::string::npos, unlike.err.c_str());
    QVERIFY2(unlike.out.starts_with("The two runs are not of the same model, data and terms, so none of ") &&
                 unlike.out.find("worse than A") == std::string::npos &&
                 unlike.out.find("The worst is") == std::string::npos,
             unlike.out.c_str());
  }

  void compare_fails_where_a_condition_holds_for_b() {
    const std::string a = summary("a.json", 1.2, 1.15, 1.25, 10), b = summary("b.json", 0.9, 0.8, 1.0, 12),
                      none = summary("none.json", 0, 0, 0, 12);
    const auto exit_of = [&](const std::string& other, const std::string& condition) {
      return run_program({"compare", a, other, "--fail-if", condition}).exit;
    };
    QCOMPARE(exit_of(b, "speedup<0.95"), 1);
    QCOMPARE(exit_of(b, "speedup < 0.85"), 0);
    QCOMPARE(exit_of(b, "optimized.latency_ms.median>1.1*a"), 1);
    QCOMPARE(exit_of(b, "optimized.latency_ms.median>1.3*a"), 0);
    QCOMPARE(exit_of(b, "optimized.latency_ms.median<=a"), 0);
    QCOMPARE(exit_of(none, "speedup<0.95"), 1);  // not verified: never reported as a speed-up
    const Ended failed = run_program({"compare", a, b, "--fail-if", "speedup<0.95"});
    QVERIFY2(defect_of_error_line(failed.err, "--fail-if").empty(), failed.err.c_str());
    QVERIFY(failed.out.find("speedup") != std::string::npos);
  }

  void compare_refuses_conditions_that_are_none() {
    const std::string a = summary("a.json", 1.2, 1.15, 1.25, 10);
    struct Row {
      const char *condition, *words;
    };
    const std::vector<Row> rows = {{"speedup", "has no < <= > >= == !="},
                                   {"", "has no < <= > >= == !="},
                                   {"<0.95", "names no figure"},
                                   {"speedup<", "\"\" is not a number, true or false"},
                                   {"speedup<fast", "\"fast\" is not a number, true or false"},
                                   {"speedup<1*b", "\"1*b\" is not a number, true or false"},
                                   {"speedup<<1", "\"<<\" is none of < <= > >= == !="},
                                   {"speedup=1", "\"=\" is none of < <= > >= == !="},
                                   {"no.such.figure<1", "there is no figure \"no.such.figure\""}};
    for (const Row& row : rows)
      VERIFY_REFUSED((Arguments{"compare", a, a, "--fail-if", row.condition}), "--fail-if", row.words);
  }

  void compare_refuses_files_that_are_no_summaries() {
    const std::string a = summary("a.json", 1.2, 1.15, 1.25, 10);
    VERIFY_REFUSED((Arguments{"compare", a, scratch_.write("list.json", "[1]")}), scratch_.path("list.json"),
                   "a file that --json wrote");
    VERIFY_REFUSED((Arguments{"compare", a, scratch_.write("other.json", "{\"schema\": \"pizza/1\"}")}),
                   scratch_.path("other.json"), "a file that --json wrote");
    VERIFY_REFUSED((Arguments{"compare", a, scratch_.write("broken.json", "{")}), scratch_.path("broken.json"), "JSON");
  }

  // batch ------------------------------------------------------------------------------------------------------------

  void a_batch_goes_on_after_a_failed_job_and_paths_count_from_its_file() {
    std::filesystem::create_directories(scratch_.path("jobs"));
    std::filesystem::copy(switch_model("two-experts-left-padding"), scratch_.path("jobs/model"));
    const Json jobs = {{"schema", "stormcell.jobs/1"},
                       {"jobs",
                        {{{"name", "bad"}, {"args", {"inspect", "nothing"}}},
                         {{"name", "good"}, {"args", {"inspect", "model"}}},
                         {{"name", "own"}, {"args", {"inspect", "model", "--json", "own.json"}}},
                         {{"name", "usage"}, {"args", {"inspect", "model", "--nonsense"}}}}}};
    const std::string file = scratch_.write("jobs/jobs.json", jobs.dump());
    const Ended ended = run_program({"batch", file, "--json", "-"});
    QVERIFY2(ended.exit == 1, told({"batch"}, ended).c_str());
    const Json j = ended.json();
    QCOMPARE(j["failed"].get<int>(), 2);
    QCOMPARE(j["jobs"].size(), size_t{4});
    QCOMPARE(j["jobs"][0]["exit"].get<int>(), 2);
    QVERIFY(j["jobs"][0]["error"].get<std::string>().starts_with("nothing: ") && j["jobs"][0]["json"].is_null());
    QVERIFY(j["jobs"][1]["exit"] == 0 && j["jobs"][1]["error"].is_null());
    QCOMPARE(j["jobs"][1]["json"]["schema"].get<std::string>(), std::string("stormcell.inspect/1"));
    QCOMPARE(j["jobs"][2]["json"]["schema"].get<std::string>(), std::string("stormcell.inspect/1"));
    QVERIFY(std::filesystem::exists(scratch_.path("jobs/own.json")));
    QVERIFY(j["jobs"][3]["error"].get<std::string>().starts_with("--nonsense: "));
    QVERIFY(j["jobs"][1]["args"] == (Json{"inspect", "model"}));
  }

  void an_interrupted_batch_ends_its_job() {
    const std::string session = scratch_.path("batch.storm");
    const Json jobs = {{"schema", "stormcell.jobs/1"},
                       {"jobs",
                        {{{"name", "long"},
                          {"args",
                           {"profile", switch_model(), "--data", "random:4000x16", "--batch", "1", "--measure-seconds",
                            "100000", "-o", session}}},
                         {{"name", "never"}, {"args", {"doctor"}}}}}};
    const std::string file = scratch_.write("long.json", jobs.dump()), out = scratch_.path("long-out.json");
    Running running({"batch", file, "--json", out});
    QVERIFY(running.wait_until([&] { return std::filesystem::exists(session); }));
    running.signal(SIGINT);
    const Ended ended = running.wait();
    QVERIFY2(ended.exit == 130, told({"batch"}, ended).c_str());
    const Json j = Json::parse(Scratch::read(out), nullptr, false);
    QCOMPARE(j["jobs"].size(), size_t{1});
    QCOMPARE(j["jobs"][0]["exit"].get<int>(), 143);
  }
};

STORMCELL_TEST(StreamsTest)

}  // namespace stormcell::testing

#include "streams_test.moc"
