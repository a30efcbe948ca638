// Every simulation begins with its contents. It states tokens a second only with a calibration or a stated rest of the
// step.
#include <cmath>

#include "tests/contract/simulations.h"

namespace stormcell::testing {
namespace {

constexpr const char* kBare = "experts and exchange only; a lower bound";

}  // namespace

class ContractSimulateContentsTest : public QObject, private Simulations {
  Q_OBJECT

  std::string named_session_;

  /// Calls on the cluster's own links, only of `gpu`: start-up 40 us, 4 us a row.
  std::string calls(const std::string& gpu) {
    std::string rows =
        "id,op,gpu,laboratory,nodes,ranks,gpus_per_node,nic_gbit,tokens_per_rank,top_k,bytes_per_copy,hidden,us,"
        "source\n";
    for (const std::string op : {"dispatch", "combine"})
      for (const int tokens : {1, 4, 16, 64, 256})
        rows += op + std::to_string(tokens) + "," + op + "," + gpu + ",here,2,4,2,80," + std::to_string(tokens) +
                ",2,128,64," + std::to_string(40 + 4 * tokens) + ",planted\n";
    const std::string file = scratch_.path("calls-" + gpu + ".json");
    json_of({"calibrate", scratch_.write("calls-" + gpu + ".csv", rows), "-o", file, "--json", "-"});
    return file;
  }
  /// The cluster with the name of a GPU, so that calls can match it.
  Json on_named(const Arguments& more) {
    const std::string named = scratch_.write(
        "named.json",
        QString(kTwoNodes).replace("\"memory_bytes\"", "\"name\": \"G 80GB\", \"memory_bytes\"").toStdString());
    Arguments all = {"simulate", named_session_, "--cluster", named, "--tokens-per-step", "64", "--json", "-"};
    all.insert(all.end(), sizes_.begin(), sizes_.end());
    all.insert(all.end(), more.begin(), more.end());
    return json_of(all);
  }

 private slots:
  void initTestCase() { named_session_ = traced("named"); }

  void contents_and_rates_data() {
    QTest::addColumn<QStringList>("more");
    QTest::addColumn<double>("rest_ms");  // 0: not stated
    const auto row = [](const char* name, const QStringList& more, double rest_ms) {
      QTest::newRow(name) << more << rest_ms;
    };
    row("data sheets", {}, 0);
    row("drawn steps", {"--tokens-per-step", "64"}, 0);
    row("two micro-batches", {"--overlap", "two-batch"}, 0);
    row("uplinks", {"--oversubscription", "2"}, 0);
    row("an exchange", {"--collective", "0"}, 0);
    row("a capacity", {"--capacity-factor", "1"}, 0);
    row("an experiment", {"--residence", "follow"}, 0);
    row("a rest", {"--rest-ms", "4"}, 4);
    row("a long rest", {"--rest-ms", "1250.5"}, 1250.5);
    row("a rest in exponents", {"--rest-ms", "2.5e-3"}, 2.5e-3);
    row("a rest of drawn steps", {"--tokens-per-step", "64", "--rest-ms", "3"}, 3);
    row("a rest that nothing overlaps", {"--overlap", "two-batch", "--rest-ms", "0.75"}, 0.75);
  }
  void contents_and_rates() {
    QFETCH(QStringList, more);
    QFETCH(double, rest_ms);
    const std::string session = traced(QTest::currentDataTag());
    Arguments with, without;
    for (const QString& word : more) with.push_back(word.toStdString());
    for (size_t i = 0; i < with.size(); ++i)
      if (with[i] == "--rest-ms")
        ++i;
      else
        without.push_back(with[i]);
    const Json j = simulated(session, with), bare = simulated(session, without);
    QVERIFY2(bare["contents"] == kBare && bare["tokens_per_s"].is_null() && bare["rest_ms"].is_null(),
             bare.dump().c_str());
    QVERIFY(bare["tokens_per_s_withheld"].get<std::string>().find(
                "attention, norms and sampling are not in the step") == 0);
    const double tokens = bare["tokens_per_step"].get<double>();
    for (const char* time : {"mean", "p50", "p95", "without_overlap"})
      QVERIFY2(near(j["step_ms"][time].get<double>(), bare["step_ms"][time].get<double>() + rest_ms), time);
    if (rest_ms == 0) return;
    QVERIFY(near(j["rest_ms"].get<double>(), rest_ms) && j["tokens_per_s_withheld"].is_null());
    QVERIFY(near(j["tokens_per_s"].get<double>(), 1e3 * tokens / (bare["step_ms"]["mean"].get<double>() + rest_ms)));
    const std::string contents = j["contents"].get<std::string>();
    QVERIFY2(contents.starts_with("experts, exchange and a stated rest of ") &&
                 contents.find("a lower bound if the rest") < contents.size(),
             contents.c_str());
    // A tenth more of the rest makes the step longer by a tenth of its share.
    const Json& last = j["sensitivity"].back();
    QVERIFY(last["figure"] == "stated rest" &&
            near(last["elasticity"].get<double>(), rest_ms / j["step_ms"]["mean"].get<double>()));
  }

  void every_result_begins_with_it() {
    const std::string session = traced("begins"), page = scratch_.path("page.html");
    for (const bool stated : {false, true}) {
      Arguments all = {"simulate", session, "--cluster", cluster_, "--hidden", "64", "--ffn", "32", "--report", page};
      if (stated) all.insert(all.end(), {"--rest-ms", "4"});
      const std::string contents =
          stated ? "experts, exchange and a stated rest of 4 ms; a lower bound if the rest is right" : kBare;
      const Ended text = run_program(all);
      VERIFY_DONE(text, all);
      QVERIFY2(text.out.starts_with("A step here is " + contents + ".\n"), text.out.c_str());
      QVERIFY((text.out.find("not stated: attention, norms and sampling") != std::string::npos) == !stated);
      QVERIFY((text.out.find(" at most: a step of experts, exchange and a stated rest of 4 ms") != std::string::npos) ==
              stated);
      const std::string html =
          QString::fromStdString(Scratch::read(page)).replace(QChar(QChar::Nbsp), ' ').toStdString();
      const size_t body = html.find("<header>"), said = html.find("E" + contents.substr(1)), title = html.find("<h1>");
      QVERIFY(body < said && said < title && title != std::string::npos);
      QVERIFY((html.find("<dt>tokens a second</dt><dd>not stated") != std::string::npos) == !stated);
      all.insert(all.end(), {"--json", "-"});
      const std::string json = run_program(all).out;
      QVERIFY2(json.find("\"kind\"") != std::string::npos && json.find("\"contents\"") < json.find("\"kind\"") &&
                   json.find(contents) < json.find("\"session\""),
               json.c_str());
    }
  }

  void a_calibration_counts_where_it_is_about_the_step() {
    const Json about = on_named({"--calibration", calls("G")}), other = on_named({"--calibration", calls("Other")});
    QVERIFY2(about["tokens_per_s"].is_number() && about["contents"] == kBare &&
                 about["calibrated"]["share"].get<double>() > 0,
             about.dump().c_str());
    QVERIFY(near(about["tokens_per_s"].get<double>(), 1e3 * 64 / about["step_ms"]["mean"].get<double>()));
    // Calls of another GPU are borrowed, and the output says so.
    QVERIFY2(other["tokens_per_s"].is_number() && other["calibrated"]["kind"] == "borrowed", other.dump().c_str());
    const Json both = on_named({"--calibration", calls("Other"), "--rest-ms", "2"});
    QVERIFY(both["tokens_per_s"].is_number());
  }

  void what_is_no_rest_is_refused() {
    const std::string session = traced("refused");
    for (const char* word : {"0", "-1", "nan", "inf", "4ms", "", "1e12"})
      VERIFY_REFUSED(
          (Arguments{"simulate", session, "--cluster", cluster_, "--hidden", "64", "--ffn", "32", "--rest-ms", word}),
          "--rest-ms", "milliseconds above 0 and at most 3,600,000");
  }

  void a_placement_says_what_its_steps_are_made_of() {
    const Arguments place = {"place", traced("placed"), "--cluster", cluster_, "--hidden", "64", "--ffn", "32"};
    const Ended text = run_program(place);
    VERIFY_DONE(text, place);
    QVERIFY2(text.out.find(kBare) != std::string::npos, text.out.c_str());
    Arguments as_json = place;
    as_json.insert(as_json.end(), {"--json", "-"});
    QCOMPARE(json_of(as_json)["step_contents"].get<std::string>(), std::string(kBare));
  }
};

STORMCELL_TEST(ContractSimulateContentsTest)

}  // namespace stormcell::testing

#include "simulate_contents_test.moc"
