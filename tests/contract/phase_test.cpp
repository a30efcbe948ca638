// --phase: decoding is profiled, optimised, measured and verified as a forward pass is.
#include <QFileInfo>
#include <filesystem>

#include "core/session/session_reader.h"
#include "core/summary/settings.h"
#include "tests/contract/models.h"
#include "tests/testing/testing.h"

namespace stormcell::testing::phase_test {
namespace {
using Json = nlohmann::json;

const Json* pass(const Json& summary, const std::string& name) {
  for (const Json& p : summary["passes"])
    if (p["name"] == name) return &p;
  return nullptr;
}

}  // namespace

class PhaseTest : public QObject {
  Q_OBJECT
  Scratch scratch_;

  /// Few cells a batch, so that branches stay empty.
  static Arguments decoding(const std::string& verb, const std::string& model, const Arguments& more,
                            const std::string& phase = "decode") {
    Arguments all = short_run(verb, model, "random:8x4",
                              {"--batch", "2", "--phase", phase, "--max-new-tokens", "6", "--threads", "1"});
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  static void each_model() {
    QTest::addColumn<QString>("model");
    QTest::newRow("encoder-decoder") << QString::fromStdString(switch_model());
    QTest::newRow("decoder-only") << QString::fromStdString(mixtral_model());
  }

 private slots:
  void optimize_decodes_faster_or_says_why_not_data() { each_model(); }
  void optimize_decodes_faster_or_says_why_not() {
    QFETCH(const QString, model);
    const Scratch scratch;
    const std::string session = scratch.path("s.storm"), config = scratch.path("c.json"), page = scratch.path("r.html");
    const Json j =
        json_of(decoding("optimize", model.toStdString(), {"-o", session, "--config-out", config, "--report", page}));
    QCOMPARE(j["phase"].get<std::string>(), std::string("decode"));
    QVERIFY(j["decode"].is_null());
    for (const char* plan : {"baseline", "optimized"}) {
      QVERIFY2(j[plan]["tokens_per_s"].get<double>() > 0, j[plan].dump().c_str());
      QVERIFY(j[plan]["latency_ms"]["mean"].get<double>() > 0);
    }
    QVERIFY2(j["verified"]["passed"] == true && j["verified"]["tokens"]["compared"].get<int64_t>() > 0,
             j["verified"].dump(1).c_str());
    QVERIFY(j["verified"]["batches"].get<int64_t>() >= 1 && states_or_withholds(j));
    QVERIFY2(pass(j, "vertical-fusion")->at("applied") == true, j["passes"].dump(1).c_str());
    QCOMPARE(j["config"]["phase"].get<std::string>(), std::string("decode"));
    QCOMPARE(parse_settings(j["settings"].dump())->phase, std::string("decode"));
    QCOMPARE(j["settings"]["most_new_tokens"].get<int64_t>(), int64_t{6});

    // Its session: a profile and the plan, each by turns, each named.
    const Json runs = json_of({"inspect", session})["runs"];
    QCOMPARE(runs.size(), size_t{2});
    for (const Json& run : runs) QCOMPARE(run["phase"].get<std::string>(), std::string("decode"));
    const SessionReader reader(session);
    const std::vector<Phase> phases = reader.phases(reader.find_run("").id);
    QVERIFY(std::find(phases.begin(), phases.end(), Phase::decode) != phases.end());
    QVERIFY(Scratch::read(page).find("optimize, decoding") != std::string::npos);

    // The configuration does the same again, and only there.
    const Json again = json_of(decoding("run", model.toStdString(), {"--config", config}));
    QCOMPARE(again["phase"].get<std::string>(), std::string("decode"));
    QVERIFY(again["verified"]["passed"] == true && again["baseline"].is_null());
    QCOMPARE(again["config"]["passes"].dump(), j["config"]["passes"].dump());
    for (const char* phase : {"forward", "both"})
      VERIFY_REFUSED(decoding("run", model.toStdString(), {"--config", config}, phase), config,
                     "was found for --phase decode");
    const std::string forward = scratch.path("f.json");
    json_of(decoding("optimize", model.toStdString(), {"--config-out", forward}, "forward"));
    VERIFY_REFUSED(decoding("run", model.toStdString(), {"--config", forward}), forward,
                   "was found for --phase forward");
  }

  void both_phases_are_two_runs_and_forward_s_keys_are_on_top_data() { each_model(); }
  void both_phases_are_two_runs_and_forward_s_keys_are_on_top() {
    QFETCH(const QString, model);
    const Scratch scratch;
    const std::string session = scratch.path("s.storm"), config = scratch.path("plan.json");
    for (const char* verb : {"run", "profile", "optimize"}) {
      Arguments arguments = decoding(verb, model.toStdString(), {"-o", session}, "both");
      if (std::string_view(verb) == "optimize") arguments.insert(arguments.end(), {"--config-out", config});
      const Json j = json_of(arguments);
      QCOMPARE(j["phase"].get<std::string>(), std::string("forward"));
      QCOMPARE(j["decode"]["phase"].get<std::string>(), std::string("decode"));
      for (const Json* of : {&j, &j["decode"]}) {
        QVERIFY2((*of)["verified"]["passed"] == true, (*of)["verified"].dump(1).c_str());
        QCOMPARE((*of)["settings"]["phase"].dump(), (*of)["phase"].dump());
      }
      QVERIFY(j["baseline"]["tokens_per_s"].is_null() && j["decode"]["baseline"]["tokens_per_s"].is_number());
      QVERIFY(j["session_run"].get<int64_t>() < j["decode"]["session_run"].get<int64_t>());
      if (std::string_view(verb) == "profile")
        QVERIFY(j["decode"]["decisions"].get<int64_t>() > j["decisions"].get<int64_t>());
    }
    std::vector<std::string> named;
    const Json runs = json_of({"inspect", session})["runs"];
    for (const Json& run : runs)
      named.push_back(run["kind"].get<std::string>() + " " + run["phase"].get<std::string>());
    QCOMPARE(named,
             (std::vector<std::string>{"run forward", "run decode", "profile forward", "profile decode",
                                       "profile forward", "optimize forward", "profile decode", "optimize decode"}));
    // Four batches, however many turns each of them took.
    for (const Json& run : runs) QCOMPARE(run["batches"].get<int64_t>(), int64_t{4});
    QCOMPARE(Json::parse(Scratch::read(config))["phase"].get<std::string>(), std::string("forward"));
    QCOMPARE(Json::parse(Scratch::read(scratch.path("plan.decode.json")))["phase"].get<std::string>(),
             std::string("decode"));
    // Both are replayed, each in its phase; one alone says nothing of the other.
    const Json again = json_of(decoding("run", model.toStdString(), {"--config", config}, "both"));
    QCOMPARE(again["config"]["phase"].dump(), again["phase"].dump());
    QCOMPARE(again["decode"]["config"]["phase"].dump(), again["decode"]["phase"].dump());
    std::filesystem::remove(scratch.path("plan.decode.json"));
    VERIFY_REFUSED(decoding("run", model.toStdString(), {"--config", config}, "both"), "--config",
                   "plan.decode.json is not there");
  }

  void of_two_phases_each_has_its_title_and_its_warnings() {
    const Arguments both = decoding("run", switch_model(), {"--tolerance", "1"}, "both");
    const Ended ended = run_program(both);
    VERIFY_DONE(ended, both);
    const size_t forward = ended.out.find("\nforward\n"), decoded = ended.out.find("\ndecoding\n");
    QVERIFY2(forward != std::string::npos && decoded != std::string::npos && forward < decoded, ended.out.c_str());
    for (const char* words :
         {"warning: forward: --tolerance has no effect", "warning: decoding: --tolerance has no effect"})
      QVERIFY2(ended.err.find(words) != std::string::npos, ended.err.c_str());
    const Arguments one = decoding("run", switch_model(), {"--tolerance", "1"}, "forward");
    const Ended alone = run_program(one);
    QVERIFY2(alone.out.find("\nforward\n") == std::string::npos &&
                 alone.err.find("warning: --tolerance") != std::string::npos,
             told(one, alone).c_str());
  }

  void a_pass_that_is_wrong_in_decoding_fails_the_run_data() {
    QTest::addColumn<QString>("model");
    for (const char* fault : {"swap-experts", "drop-residual"}) {
      QTest::addRow("%s encoder-decoder", fault) << QString::fromStdString(switch_model());
      QTest::addRow("%s decoder-only", fault) << QString::fromStdString(mixtral_model());
    }
  }
  void a_pass_that_is_wrong_in_decoding_fails_the_run() {
    QFETCH(const QString, model);
    const std::string row = QTest::currentDataTag(), fault = row.substr(0, row.find(' ')),
                      config = scratch_.path("wrong.json");
    // Without time for a proof.
    const Arguments arguments =
        decoding("optimize", model.toStdString(), {"--config-out", config, "--json", "-", "--verify-seconds", "0"});
    const Ended ended = run_program(arguments, {.fault = fault});
    const std::string whole = told(arguments, ended);
    QVERIFY2(ended.exit == 1, whole.c_str());
    QVERIFY2(ended.err.find("could not be verified: ") != std::string::npos, whole.c_str());
    const Json j = ended.json();
    QVERIFY(j["verified"]["passed"] == false && j["speedup"].is_null() && j["config"].is_null());
    QVERIFY(!QFileInfo::exists(QString::fromStdString(config)));
  }

  void a_pass_that_is_wrong_in_decoding_is_left_out_by_a_proof_data() {
    a_pass_that_is_wrong_in_decoding_fails_the_run_data();
  }
  void a_pass_that_is_wrong_in_decoding_is_left_out_by_a_proof() {
    QFETCH(const QString, model);
    const std::string row = QTest::currentDataTag(), fault = row.substr(0, row.find(' ')),
                      config = scratch_.path("without.json");
    const Arguments arguments =
        decoding("optimize", model.toStdString(), {"--config-out", config, "--json", "-", "--verify-seconds", "20"});
    const Ended ended = run_program(arguments, {.fault = fault});
    const std::string whole = told(arguments, ended);
    QVERIFY2(ended.exit == 0, whole.c_str());
    QVERIFY2(ended.err.find("stormcell: warning: pass " + fault + " is left out, because its plan is not equal") !=
                 std::string::npos,
             whole.c_str());
    const Json j = ended.json();
    const Json* named = pass(j, fault);
    QVERIFY2(
        named && named->at("applied") == false && named->at("left_out") == true && named->at("differs").is_string(),
        j["passes"].dump(1).c_str());
    for (const Json& p : j["passes"]) QVERIFY2(p["name"] == fault || p["differs"].is_null(), p.dump(1).c_str());
    QVERIFY2(j["verified"]["passed"] == true && j["verified"]["exact"]["equal"] == true, j["verified"].dump(1).c_str());
    QVERIFY(Scratch::read(config).find(fault) == std::string::npos);
  }

  void what_cannot_decode_is_refused_before_anything_is_written() {
    const std::string model = switch_model("encoder-only-dense"), session = scratch_.path("none.storm");
    for (const char* verb : {"run", "profile", "optimize"})
      for (const char* phase : {"decode", "both"}) {
        VERIFY_REFUSED(decoding(verb, model, {"-o", session}, phase), model, "cannot generate");
        QVERIFY(!QFileInfo::exists(QString::fromStdString(session)));
      }
    VERIFY_REFUSED(decoding("run", switch_model(), {}, "prefill"), "--phase", "forward, decode or both");
    VERIFY_REFUSED(decoding("run", switch_model(), {"--outputs", scratch_.path("o.safetensors")}), "--outputs",
                   "generate");
    VERIFY_REFUSED(decoding("optimize", switch_model(), {"--config-out", "-"}, "both"), "--config-out", "two files");
    VERIFY_REFUSED((Arguments{"generate", switch_model(), "--data", "random:2x3", "--phase", "decode"}), "--phase", "");
  }
};

STORMCELL_TEST(PhaseTest)

}  // namespace stormcell::testing::phase_test

#include "phase_test.moc"
