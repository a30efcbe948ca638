// Tests runs that measure again in fresh processes: the stated figures, what these processes accept and refuse, and the
// words of a run that measured once.
#include <QRegularExpression>
#include <algorithm>
#include <array>
#include <cmath>

#include "tests/contract/models.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {
using Json = nlohmann::json;

bool holds(const std::string& text, std::string_view words) { return text.find(words) != std::string::npos; }

/// Student's t of 95 % by its degrees of freedom, from tables.
double student_t(size_t degrees) {
  return std::array{0.0, 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306}.at(degrees);
}

double deviation(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  double mean = 0, squares = 0;
  for (const double v : values) mean += v / n;
  for (const double v : values) squares += (v - mean) * (v - mean);
  return std::sqrt(squares / (n - 1));
}
/// The mean of the logarithms, of seven or more without the smallest and the largest fifth, and half its 95 % interval.
struct Trimmed {
  double mean = 0, half = 0;
  explicit Trimmed(const Json& measurements, const char* key) {
    std::vector<double> logs;
    for (const Json& m : measurements) logs.push_back(std::log(m[key].get<double>()));
    std::sort(logs.begin(), logs.end());
    const size_t n = logs.size(), cut = n < 7 ? 0 : n / 5, kept = n - 2 * cut;
    for (size_t i = cut; i < n - cut; ++i) mean += logs[i] / static_cast<double>(kept);
    std::vector<double> nearest = logs;
    for (double& l : nearest) l = std::clamp(l, logs[cut], logs[n - 1 - cut]);
    constexpr double kInCommon = 0.1;  // of the variance, by all processes of a run
    const double all = static_cast<double>(n), share = static_cast<double>(kept) / all;
    half = student_t(kept - 1) * deviation(nearest) / share * std::sqrt(1 / all + kInCommon / (1 - kInCommon));
  }
};

/// The seconds that each fresh process would take, as the run states them.
double seconds_each(const std::string& why_once) {
  const QRegularExpression words("^opening the model and measuring takes ([0-9.]+) s each time");
  return words.match(QString::fromStdString(why_once)).captured(1).toDouble();
}

}  // namespace

class MeasuredAgainTest : public QObject {
  Q_OBJECT
  Scratch scratch_;

  std::string request_of(const Json& run, bool beside_baseline) const {
    return scratch_.write("request.json", Json{{"beside_baseline", beside_baseline},
                                               {"settings", run["settings"]},
                                               {"config", run["config"]},
                                               {"seconds", 0},
                                               {"batches", Json::array({0})}}
                                              .dump());
  }
  Json measured(const std::string& request) const {
    const std::string figures = scratch_.path("figures.json");
    const Arguments arguments = {"measure-again", request, figures};
    const Ended ended = run_program(arguments);
    if (ended.exit != 0 || !ended.out.empty()) QTest::qFail(told(arguments, ended).c_str(), __FILE__, __LINE__);
    return Json::parse(Scratch::read(figures), nullptr, false);
  }
  static bool is_latency(const Json& l) {
    return l["runs"].get<int64_t>() >= 3 && 0 < l["min"] && l["min"] <= l["median"] && l["median"] <= l["p95"] &&
           l["min"] <= l["mean"];
  }

 private slots:
  void a_fresh_process_measures_the_plan_beside_the_baseline_or_alone() {
    const Json optimized =
        json_of(short_run("optimize", switch_model(), "random:9x5", {"--batch", "1", "--only", "vertical-fusion"}));
    const Json pair = measured(request_of(optimized, true));
    QVERIFY2(is_latency(pair["plan"]) && is_latency(pair["baseline"]), pair.dump().c_str());
    QVERIFY2(0 < pair["speedup_ci95"][0] && pair["speedup_ci95"][0] <= pair["speedup"] &&
                 pair["speedup"] <= pair["speedup_ci95"][1],
             pair.dump().c_str());
    const Json alone = measured(request_of(json_of(short_run("run", switch_model(), "random:9x5")), false));
    QVERIFY2(is_latency(alone["plan"]) && !alone.contains("baseline") && !alone.contains("speedup"),
             alone.dump().c_str());
  }

  void it_replays_decoding_budgets_and_thresholds_data() {
    QTest::addColumn<QStringList>("arguments");
    const auto row = [](const char* name, const Arguments& arguments) {
      QStringList words;
      for (const std::string& a : arguments) words << QString::fromStdString(a);
      QTest::newRow(name) << words;
    };
    row("decoding",
        short_run("optimize", switch_model(), switch_data(), {"--phase", "decode", "--max-new-tokens", "3"}));
    row("a budget", short_run("optimize", switch_model(), "random:8x5", {"--batch", "1", "--weight-budget", "2MiB"}));
    row("an annotation",
        short_run("optimize", switch_model(), "random:8x5", {"--annotate", "*.wi.kernel=linear.plain"}));
    row("batches of like length",
        short_run("optimize", switch_model(), "random:8x5", {"--batch", "2", "--bucket-by-length"}));
    row("the first batches",
        short_run("optimize", switch_model(), "random:8x5", {"--batch", "1", "--profile-split", "first"}));
    row("another format", short_run("optimize", switch_model(), "random:8x5", {"--dtype", "bf16", "--tolerance", "1"}));
    row("exits", short_run("optimize", "demo:msdnet-digits", "demo:msdnet-digits-sample",
                           {"--target-latency", "60%", "--batches", "8"}));
  }
  void it_replays_decoding_budgets_and_thresholds() {
    QFETCH(const QStringList, arguments);
    Arguments words;
    for (const QString& w : arguments) words.push_back(w.toStdString());
    const Json run = json_of(words);
    const Json pair = measured(request_of(run, true));
    QVERIFY2(is_latency(pair["plan"]) && is_latency(pair["baseline"]) && pair["speedup"] > 0, pair.dump().c_str());
  }

  void what_is_no_request_is_refused() {
    const Json run = json_of(short_run("run", switch_model(), switch_data()));
    Json other = run, none = run;
    other["config"]["model"]["fingerprint"] = std::string(64, 'a');
    none["settings"]["model"] = scratch_.path("no such model");
    const std::string figures = scratch_.path("refused.json");
    Json beyond = Json::parse(Scratch::read(request_of(run, false))), no_batches = beyond;
    beyond["batches"] = {0, 1000};
    no_batches["batches"] = Json::array();
    for (const std::string& request :
         {scratch_.write("broken.json", "{"), scratch_.write("list.json", "[]"), scratch_.write("empty.json", "{}"),
          scratch_.write("beyond.json", beyond.dump()), scratch_.write("no_batches.json", no_batches.dump()),
          request_of(other, true), request_of(none, false), scratch_.path("not there")}) {
      const Ended ended = run_program({"measure-again", request, figures});
      QVERIFY2(ended.exit == 2 && std::count(ended.err.begin(), ended.err.end(), '\n') == 1, ended.err.c_str());
      QVERIFY(!std::filesystem::exists(figures));
    }
  }

  void no_help_names_it() { QVERIFY(!holds(run_program({"--help"}).out, "measure-again")); }

  /// The machine decides whether there was time for it. The stated figures must fit the measured ones in any case.
  void the_speed_up_is_that_of_all_processes() {
    const std::string file = scratch_.path("run.json"), session = scratch_.path("again.storm");
    const Arguments arguments = {"optimize",
                                 switch_model(),
                                 "--data",
                                 "random:16x5",
                                 "--batch",
                                 "2",
                                 "--measure-seconds",
                                 "2",
                                 "--only",
                                 "unpad,vertical-fusion",
                                 "--keep-all",
                                 "--threads",
                                 "1",
                                 "--verify-seconds",
                                 "0",
                                 "--json",
                                 file,
                                 "-o",
                                 session};
    const Ended ended = run_program(arguments);
    VERIFY_DONE(ended, arguments);
    const Json j = Json::parse(Scratch::read(file), nullptr, false), &list = j["measurings"];
    const std::string lists = run_program({"inspect", session}).out;
    if (!j["measured_once"].is_null()) {
      QVERIFY2(list.size() < 3 && j["between_spread"].is_null() && holds(lists, "measured once"), j.dump(1).c_str());
      // Two processes have three quarters of the 2 s, so only a slow machine is a reason.
      QVERIFY2(seconds_each(j["measured_once"].get<std::string>()) > 0.7, j["measured_once"].dump().c_str());
      return;
    }
    QVERIFY2(list.size() >= 3 && !list[0]["fresh_process"].get<bool>() && list[1]["fresh_process"].get<bool>(),
             list.dump().c_str());
    const auto is = [](const Json& figure, double expected) {
      return std::fabs(figure.get<double>() / expected - 1) < 2e-3;
    };
    const double plan_ms = std::exp(Trimmed(list, "plan_ms").mean),
                 baseline_ms = std::exp(Trimmed(list, "baseline_ms").mean);
    QVERIFY2(is(j["optimized"]["latency_ms"]["mean"], plan_ms) && is(j["baseline"]["latency_ms"]["mean"], baseline_ms),
             j.dump(1).c_str());
    const Json& ends = j["optimized"]["latency_ms"]["mean_ci95"];
    QVERIFY2(ends[0] <= plan_ms && plan_ms <= ends[1] && j["measured_again_seconds"] > 0, j.dump(1).c_str());
    QVERIFY2(holds(ended.out, "; again in " + std::to_string(list.size() - 1) + " fresh processes, which took "),
             ended.out.c_str());
    QVERIFY2(!holds(lists, "measured once"), lists.c_str());
    QVERIFY2(j["speedup_withheld"].is_string() == must_withhold(j) && j["between_spread"].is_number(),
             j.dump(1).c_str());
    if (j["speedup_withheld"].is_string()) {  // a machine that was not quiet: no process states one
      for (const Json& m : list) QVERIFY2(m["speedup"].is_null() && m["speedup_ci95"].is_null(), list.dump().c_str());
      return;
    }
    double within = 0;
    std::vector<double> logs;
    for (const Json& m : list) {
      logs.push_back(std::log(m["speedup"].get<double>()));
      within += std::pow(std::log(m["speedup_ci95"][1].get<double>() / m["speedup_ci95"][0].get<double>()) / 2, 2);
    }
    const Trimmed speed(list, "speedup");
    const double mean = speed.mean, half = std::max(speed.half, std::sqrt(within) / static_cast<double>(list.size()));
    QVERIFY2(is(j["speedup"], std::exp(mean)) && is(j["between_spread"], deviation(logs)), j.dump(1).c_str());
    QVERIFY2(is(j["speedup_ci95"][0], std::exp(mean - half)) && is(j["speedup_ci95"][1], std::exp(mean + half)),
             j.dump(1).c_str());
    QVERIFY(j["passes"].back()["speedup_cumulative"] == j["speedup"] || !j["passes"].back()["applied"].get<bool>());
    QVERIFY2(holds(ended.out, std::to_string(list.size()) + " measurements, between which it varies by "),
             ended.out.c_str());
    // A run compared with itself has no warning and no difference.
    const Json same = run_program({"compare", file, file, "--json", "-"}).json();
    QVERIFY2(same["warnings"].empty(), same.dump(1).c_str());
    int with_interval = 0;
    for (const Json& row : same["rows"]) {
      QVERIFY2(row["significant"].is_null() || !row["significant"].get<bool>(), row.dump().c_str());
      if (row["figure"] != "speedup" && row["figure"] != "optimized.latency_ms.mean") continue;
      ++with_interval;
      QVERIFY2(row["between_runs"] == true && row["significant"] == false && row["ci95"][0] < 0 && row["ci95"][1] > 0,
               row.dump().c_str());
    }
    QVERIFY2(with_interval == 2, same["rows"].dump(1).c_str());
  }

  void a_run_that_measured_once_says_why() {
    const Arguments arguments =
        short_run("optimize", switch_model(), "random:9x5", {"--batch", "1", "--only", "vertical-fusion"});
    const Ended ended = run_program(arguments);
    QVERIFY2(holds(ended.out, "; measured once, so the spread between runs is not known (measured for less than 1 s)"),
             ended.out.c_str());
    const Json j = json_of(arguments);
    QVERIFY(j["measurings"].size() == 1 && j["between_spread"].is_null() && j["measured_again_seconds"].is_null());
    QVERIFY(j["optimized"]["latency_ms"]["mean_ci95"].is_null());
    // Lines on standard input can be read once.
    Surroundings around;
    around.input = "one line\nand another\n";
    const Ended lines = run_program({"run", model_with_tokenizer(scratch_), "--data", "-", "--measure-seconds", "1",
                                     "--verify-seconds", "0", "--threads", "1", "--json", "-"},
                                    around);
    QVERIFY2(holds(lines.json()["measured_once"].get<std::string>(), "standard input"), lines.err.c_str());
  }
};

STORMCELL_TEST(MeasuredAgainTest)

}  // namespace stormcell::testing

#include "measured_again_test.moc"
