// Tests optimize --time-limit, and the messages without one. No measured time decides a test: with these limits
// everything fits, or nothing.
#include <filesystem>

#include "core/session/session_reader.h"
#include "tests/contract/models.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
using Json = nlohmann::json;

class TimeLimitTest : public QObject {
  Q_OBJECT
  Scratch scratch_;

  std::pair<Ended, Json> run_and_read(Arguments arguments) const {
    const std::string file = scratch_.path("figures.json");
    std::filesystem::remove(file);
    arguments.insert(arguments.end(), {"--all", "--json", file});
    Ended ended = run_program(arguments);
    if (ended.exit != 0) QTest::qFail(told(arguments, ended).c_str(), __FILE__, __LINE__);
    return {ended, Json::parse(Scratch::read(file), nullptr, false)};
  }
  static bool says(const std::string& text, const char* words) { return text.find(words) != std::string::npos; }

 private slots:
  void without_a_limit_the_expected_time_is_printed_first() {
    const auto [ended, j] = run_and_read(short_run("optimize", switch_model(), "random:16x5", {"--batch", "2"}));
    QVERIFY2(ended.err.starts_with("expected time: "), ended.err.c_str());
    QVERIFY(says(ended.out, "were expected"));
    QVERIFY2(
        j["time_limit_seconds"].is_null() && j["left_out_for_time"].empty() && j["elapsed_seconds"].get<double>() > 0,
        j.dump().c_str());
    const Json& expected = j["expected_seconds"];
    QVERIFY2(expected.size() == 2 && expected[0].get<double>() > 0 && expected[0] <= expected[1],
             expected.dump().c_str());
    QCOMPARE(j["passes_tried_on"].get<int64_t>(), j["split"]["measured"].get<int64_t>());
    Arguments quiet = short_run("optimize", switch_model(), "random:16x5", {"--batch", "2", "--quiet"});
    const Ended silent = run_program(quiet);
    QVERIFY2(silent.exit == 0 && silent.err.empty() && silent.out.empty(), told(quiet, silent).c_str());
  }

  void a_limit_that_is_long_leaves_nothing_out() {
    const auto [ended, j] =
        run_and_read(short_run("optimize", switch_model(), "random:16x5", {"--batch", "2", "--time-limit", "3600"}));
    QVERIFY2(j["time_limit_seconds"] == 3600 && j["left_out_for_time"].empty(), j["left_out_for_time"].dump().c_str());
    QVERIFY(!says(ended.err, "expected time") && says(ended.out, "of a limit of 1.0 h"));
    QVERIFY(j["split"]["profiled"] == 2 && j["split"]["measured"] == 6);
    QVERIFY2(j["optimized"].is_null() || states_or_withholds(j), j.dump().c_str());
    for (const Json& pass : j["passes"])
      if (pass["applied"] == true) QVERIFY2(states_or_withholds(pass, "speedup_alone"), pass.dump().c_str());
  }

  /// Nothing fits: one batch of each part runs, one is verified, and no gain is stated.
  void a_limit_that_is_too_short_ends_well_and_says_what_it_left_out_data() {
    QTest::addColumn<QStringList>("more");
    QTest::addColumn<QString>("model");
    QTest::addColumn<QString>("data");
    const QString model = QString::fromStdString(switch_model());
    QTest::newRow("plain") << QStringList{} << model << "random:24x5";
    QTest::newRow("first quarter") << QStringList{"--profile-split", "first"} << model << "random:24x5";
    QTest::newRow("one pass") << QStringList{"--only", "horizontal-fusion"} << model << "random:24x5";
    QTest::newRow("no pass") << QStringList{"--only", "bf16-storage"} << model << "random:24x5";
    QTest::newRow("without dead-path") << QStringList{"--disable", "dead-path"} << model << "random:24x5";
    QTest::newRow("dense") << QStringList{"--dense"} << model << "random:24x5";
    QTest::newRow("a budget") << QStringList{"--weight-budget", "1MiB"} << model << "random:24x5";
    QTest::newRow("decoding") << QStringList{"--phase", "decode", "--max-new-tokens", "2"} << model << "random:24x5";
    QTest::newRow("a target of quality") << QStringList{"--target-quality", "20%"} << "demo:msdnet-digits"
                                         << "demo:msdnet-digits-sample";
    QTest::newRow("a target of time") << QStringList{"--target-latency", "10000ms"} << "demo:msdnet-digits"
                                      << "demo:msdnet-digits-sample";
    QTest::newRow("exits") << QStringList{} << "demo:msdnet-digits"
                           << "demo:msdnet-digits-sample";
  }
  void a_limit_that_is_too_short_ends_well_and_says_what_it_left_out() {
    QFETCH(QStringList, more);
    QFETCH(QString, model);
    QFETCH(QString, data);
    Arguments words = {"--batch", "2", "--time-limit", "1e-6"};
    for (const QString& word : more) words.push_back(word.toStdString());
    const std::string session =
        scratch_.path(std::string("s") + std::to_string(qHash(QString(QTest::currentDataTag()))) + ".storm");
    words.insert(words.end(), {"-o", session});
    const auto [ended, j] = run_and_read(short_run("optimize", model.toStdString(), data.toStdString(), words));
    const std::string left_out = j["left_out_for_time"].dump();
    const auto all = j["dataset"]["batches"].get<int64_t>();
    QVERIFY2(j["split"]["profiled"] == 1 && j["split"]["measured"] == 1, j["split"].dump().c_str());
    QVERIFY2(says(left_out, ("2 of " + std::to_string(all) + " batches ran").c_str()), left_out.c_str());
    QVERIFY2(j["verified"]["passed"] == true && j["verified"]["batches"].get<int64_t>() >= 1,
             j["verified"].dump().c_str());
    QVERIFY(says(left_out, "the verification compared"));
    // Measuring ran over other batches than this, so the words name the recording.
    QVERIFY2(says(left_out, "after measuring, the optimised plan was recorded on only 1 batch of the 2 that"),
             left_out.c_str());
    QVERIFY2(j["speedup"].is_null() && j["speedup_ci95"].is_null(), j["speedup"].dump().c_str());
    for (const Json& pass : j["passes"])
      QVERIFY2(pass["speedup_cumulative"].is_null() && pass["speedup_alone"].is_null(), pass.dump().c_str());
    if (j["optimized"].is_object() && !says(ended.err, "a speed-up is not stated"))
      QVERIFY2(says(j["speedup_withheld"].dump(), "pairs were measured") ||
                   says(j["speedup_withheld"].dump(), "pair was measured"),
               j["speedup_withheld"].dump().c_str());
    if (j["exit_target"].is_object())
      QVERIFY(j["exit_target"]["speedup_over_model"].is_null() && j["exit_target"]["speedup"].is_null());
    QVERIFY2(says(ended.err, "warning: for the time limit of 0 s: 2 of "), ended.err.c_str());
    const SessionReader reader(session);
    QCOMPARE(reader.runs().size(), size_t{2});
  }

  void both_phases_share_a_limit() {
    const auto [ended, j] =
        run_and_read(short_run("optimize", switch_model(), "random:8x5",
                               {"--batch", "2", "--phase", "both", "--max-new-tokens", "2", "--time-limit", "3600"}));
    QVERIFY(j["time_limit_seconds"] == 3600 && j["decode"]["time_limit_seconds"] == 3600);
    QVERIFY(j["left_out_for_time"].empty() && j["decode"]["left_out_for_time"].empty());
  }

  /// The expected time is printed after all refusals.
  void a_session_that_is_refused_is_one_line() {
    const std::string session = scratch_.path("other.storm");
    VERIFY_DONE(run_program(short_run("profile", "demo:msdnet-digits", "random:2", {"-o", session})),
                Arguments{"profile"});
    const std::string before = Scratch::read(session);
    const std::string defect =
        defect_of_refusal(short_run("optimize", switch_model(), "random:4x5", {"-o", session}), session, "");
    QVERIFY2(defect.empty(), defect.c_str());
    QVERIFY(Scratch::read(session) == before);
  }

  void what_is_no_limit_is_refused() {
    const std::string session = scratch_.path("none.storm");
    for (const char* word : {"0", "-1", "nan", "inf", "5s", "1e9", "soon"})
      VERIFY_REFUSED(
          (Arguments{"optimize", switch_model(), "--data", "random:4x5", "-o", session, "--time-limit", word}),
          "--time-limit", "seconds above 0 and at most 86400");
    QVERIFY(!std::filesystem::exists(session));
  }
};

STORMCELL_TEST(TimeLimitTest)

}  // namespace stormcell::testing

#include "time_limit_test.moc"
