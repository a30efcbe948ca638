// A pass that is wrong, through the whole program. A proof names it and leaves it out. Without time for a proof, the run
// fails whatever its speed, praises nothing and exports nothing.
#include <QFileInfo>

#include "tests/contract/models.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {
using Json = nlohmann::json;

bool holds(const std::string& text, std::string_view words) { return text.find(words) != std::string::npos; }

const Json* pass(const Json& summary, const std::string& name) {
  for (const Json& p : summary["passes"])
    if (p["name"] == name) return &p;
  return nullptr;
}

}  // namespace

class FaultyPassTest : public QObject {
  Q_OBJECT
  Scratch scratch_;

  /// Few cells a batch: what one leaves empty another needs.
  Arguments optimize(const Arguments& more, const std::string& model = switch_model()) const {
    Arguments arguments = {"optimize",          model, "--data",           "random:16x4", "--batch",   "1",
                           "--measure-seconds", "0.4", "--verify-seconds", "0",           "--threads", "1"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }

 private slots:
  void a_wrong_pass_fails_the_run_data() {
    QTest::addColumn<bool>("alone");
    QTest::addColumn<QString>("fixture");
    QTest::addColumn<QString>("annotation");
    const QString f32 = "encoder-decoder-8-experts";
    for (const char* fault : {"swap-experts", "drop-residual", "less-room", "unguarded", "slow-and-wrong"}) {
      for (const bool alone : {true, false})
        QTest::addRow("%s %s", fault, alone ? "alone" : "before the others") << alone << f32 << "";
      // Rounding is no excuse: the baseline rounds alike. Of an error as small as rounding, and of one that is not.
      if (std::string_view(fault) != "slow-and-wrong" && std::string_view(fault) != "drop-residual") continue;
      QTest::addRow("%s of a model in bf16", fault) << true << "stored-bf16"
                                                    << "";
      QTest::addRow("%s beside one value in bf16", fault)
          << true << f32 << "encoder.block.0.layer.1.mlp.act.storage=bf16";
    }
  }
  void a_wrong_pass_fails_the_run() {
    QFETCH(const bool, alone);
    QFETCH(const QString, fixture);
    QFETCH(const QString, annotation);
    const std::string model = switch_model(fixture.toStdString());
    const Arguments annotate = annotation.isEmpty() ? Arguments{} : Arguments{"--annotate", annotation.toStdString()};
    const std::string fault =
        std::string(QTest::currentDataTag()).substr(0, std::string(QTest::currentDataTag()).find(' '));
    const std::string config = scratch_.path("config.json"),
                      session = scratch_.path(std::string(QTest::currentDataTag()) + ".storm"),
                      report = scratch_.path("report.html"), figures = scratch_.path("figures.json");
    Arguments arguments =
        optimize({"--config-out", config, "-o", session, "--report", report, "--json", figures}, model);
    arguments.insert(arguments.end(), annotate.begin(), annotate.end());
    if (alone) arguments.insert(arguments.end(), {"--only", fault});
    const Ended ended = run_program(arguments, {.fault = fault});
    const std::string whole = told(arguments, ended);
    QVERIFY2(ended.exit == 1, whole.c_str());
    const size_t last = ended.err.rfind("stormcell: ");
    QVERIFY2(last != std::string::npos && holds(ended.err.substr(last), "could not be verified: "), whole.c_str());
    const Json j = Json::parse(Scratch::read(figures), nullptr, false);
    QVERIFY2(pass(j, fault) && pass(j, fault)->at("applied") == true && pass(j, fault)->at("left_out") == false,
             j["passes"].dump(1).c_str());
    QVERIFY2(j["verified"]["passed"] == false && !j["verified"]["reasons"].empty(), j["verified"].dump(1).c_str());
    QVERIFY(j["speedup"].is_null() && j["speedup_ci95"].is_null() && j["config"].is_null());
    for (const Json& p : j["passes"])
      for (const char* gain : {"speedup_alone", "speedup_cumulative", "speedup_own"})
        QVERIFY2(p[gain].is_null(), p.dump(1).c_str());
    // If the difference was seen on what was measured, the pass says so itself.
    if (fault != "less-room")
      QVERIFY2(holds(pass(j, fault)->at("reason"), "differs from the baseline: "), pass(j, fault)->dump(1).c_str());
    QVERIFY(!QFileInfo::exists(QString::fromStdString(config)));
    const std::string page = Scratch::read(report);
    QVERIFY(holds(page, "Not verified") && holds(page, "No speed-up is reported") && !holds(page, "times as fast"));

    // In words, too.
    QVERIFY2(holds(ended.out, "Not verified: no speed-up can be reported.") && holds(ended.out, "failed: ") &&
                 !holds(ended.out, "95 % interval") && !holds(ended.out, "optimised"),
             whole.c_str());
    // One time, the baseline's: that of the plan beside it would be a speed-up in other words.
    const size_t times = ended.out.find("latency of a batch, mean");
    const std::string line =
        times == std::string::npos ? std::string() : ended.out.substr(times, ended.out.find('\n', times) - times);
    QVERIFY2(line.find(" ms") != std::string::npos && line.find(" ms") == line.rfind(" ms"), whole.c_str());
    // And what the session keeps.
    const Arguments look = {"inspect", session, "--json", "-"};
    const Ended kept = run_program(look);
    QVERIFY2(kept.exit == 0, told(look, kept).c_str());
    const Json list = kept.json();
    for (const Json& run : list["runs"])
      QVERIFY2(!run.contains("speedup") || run["speedup"].is_null(), run.dump(1).c_str());
  }

  void without_the_wrong_pass_the_same_program_succeeds() {
    const std::string config = scratch_.path("right.json");
    const Arguments arguments = optimize({"--disable", "swap-experts", "--config-out", config, "--json", "-"});
    const Ended ended = run_program(arguments, {.fault = "swap-experts"});
    QVERIFY2(ended.exit == 0, told(arguments, ended).c_str());
    QVERIFY(ended.json()["verified"]["passed"] == true && QFileInfo::exists(QString::fromStdString(config)));
  }

  void a_pass_that_is_only_slow_is_left_out() {
    const Arguments arguments = optimize({"--only", "slow", "--json", "-"});
    const Ended ended = run_program(arguments, {.fault = "slow"});
    QVERIFY2(ended.exit == 0, told(arguments, ended).c_str());
    const Json j = ended.json();
    QVERIFY2(pass(j, "slow")->at("left_out") == true && j["verified"]["passed"] == true, j["passes"].dump(1).c_str());
    const bool withheld = pass(j, "slow")->at("speedup_withheld").is_string();
    QVERIFY2(
        holds(pass(j, "slow")->at("reason"),
              withheld ? "no gain was seen, and the cost was not measured well enough" : "of the speed without it"),
        j["passes"].dump(1).c_str());
  }

  void a_wrong_pass_is_named_and_left_out_by_a_proof_data() {
    QTest::addColumn<bool>("alone");
    for (const char* fault :
         {"swap-experts", "drop-residual", "less-room", "unguarded", "slow-and-wrong", "within-tolerance"})
      for (const bool alone : {true, false})
        QTest::addRow("%s %s", fault, alone ? "alone" : "before the others") << alone;
  }
  void a_wrong_pass_is_named_and_left_out_by_a_proof() {
    QFETCH(const bool, alone);
    const std::string fault =
        std::string(QTest::currentDataTag()).substr(0, std::string(QTest::currentDataTag()).find(' '));
    const std::string config = scratch_.path("without.json"), figures = scratch_.path("proved.json");
    Arguments arguments = optimize({"--config-out", config, "--json", figures, "--keep-all"});
    for (size_t i = 0; i + 1 < arguments.size(); ++i)
      if (arguments[i] == "--verify-seconds") arguments[i + 1] = "20";
    if (alone) arguments.insert(arguments.end(), {"--only", fault});
    const Ended ended = run_program(arguments, {.fault = fault});
    const std::string whole = told(arguments, ended);
    QVERIFY2(ended.exit == 0, whole.c_str());
    QVERIFY2(holds(ended.err, "stormcell: warning: pass " + fault + " is left out, because its plan is not equal"),
             whole.c_str());
    const Json j = Json::parse(Scratch::read(figures), nullptr, false);
    const Json* named = pass(j, fault);
    QVERIFY2(
        named && named->at("applied") == false && named->at("left_out") == true && named->at("differs").is_string(),
        j["passes"].dump(1).c_str());
    QVERIFY2(holds(named->at("reason"), "not be equal to the model"), named->dump(1).c_str());
    // No other pass is blamed, and the plan without the wrong one is equal.
    for (const Json& p : j["passes"]) QVERIFY2(p["name"] == fault || p["differs"].is_null(), p.dump(1).c_str());
    QVERIFY2(j["verified"]["passed"] == true, j["verified"].dump(1).c_str());
    if (alone) {
      QVERIFY2(j["verified"]["exact"].is_null(), j["verified"]["exact"].dump(1).c_str());
    } else {
      const Json& exact = j["verified"]["exact"];
      QVERIFY2(exact["equal"] == true && exact["draws"].get<int>() >= 4 && exact["draws"].get<int>() <= 16 &&
                   exact["nodes"].get<int>() > 0 && exact["branches_without_cells"] == 0 && exact["needs"].is_null() &&
                   exact["first_difference"].is_null(),
               exact.dump(1).c_str());
      QVERIFY2(holds(ended.out, "Equal exactly (") && holds(ended.out, "and numerically ("), whole.c_str());
    }
    QVERIFY(!holds(Scratch::read(config), fault));
  }

  void a_proof_without_time_is_not_silent() {
    const Arguments arguments = optimize({"--keep-all", "--json", "-"});
    const Ended ended = run_program(arguments, {.fault = "none"});
    QVERIFY2(ended.exit == 0, told(arguments, ended).c_str());
    const Json exact = ended.json()["verified"]["exact"];
    QVERIFY2(exact["equal"].is_null() && exact["draws"] == 0 && exact["needs"]["seconds"].get<double>() > 0 &&
                 exact["needs"]["bytes"].get<int64_t>() > 0 && exact["reason"].is_string(),
             exact.dump(1).c_str());
  }

  void an_older_configuration_stays_where_a_run_fails() {
    const std::string config = scratch_.write("old.json", "old");
    const Arguments arguments = optimize({"--only", "swap-experts", "--config-out", config});
    QCOMPARE(run_program(arguments, {.fault = "swap-experts"}).exit, 1);
    QCOMPARE(Scratch::read(config), std::string("old"));
  }
};

STORMCELL_TEST(FaultyPassTest)

}  // namespace stormcell::testing

#include "faulty_pass_test.moc"
