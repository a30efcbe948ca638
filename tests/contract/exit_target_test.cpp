// Thresholds of exits for a quality or a cost: found on one part of the data, judged on the other, exported, replayed;
// what is refused.
#include <algorithm>
#include <cmath>

#include "tests/contract/models.h"
#include "tests/testing/file_bytes.h"
#include "tests/testing/testing.h"

namespace stormcell::testing::exit_target_test {
namespace {
using Json = nlohmann::json;

constexpr const char* kModel = "demo:msdnet-digits";
constexpr const char* kSample = "demo:msdnet-digits-sample";
constexpr int64_t kDigits = 60, kProfiled = 16;  // batches of 4: every fourth of fifteen

Arguments optimize(const Arguments& more) {
  Arguments all = short_run("optimize", kModel, kSample, {"--batch", "4", "--all"});
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

int64_t sum(const Json& list) {
  int64_t all = 0;
  for (const Json& entry : list) all += entry.get<int64_t>();
  return all;
}

}  // namespace

class ExitTargetTest : public QObject {
  Q_OBJECT
 private slots:
  void a_quality_is_found_on_one_part_judged_on_the_other_and_replayed() {
    const Scratch scratch;
    const std::string config = scratch.path("c.json"), page = scratch.path("p.html");
    const Arguments asked = optimize(
        {"--target-quality", "90%", "--config-out", config, "--report", page, "--json", scratch.path("j.json")});
    const Ended ended = run_program(asked);
    VERIFY_DONE(ended, asked);
    const Json j = Json::parse(Scratch::read(scratch.path("j.json"))), t = j["exit_target"];
    QVERIFY2(j["verified"]["passed"] == true, ended.out.c_str());
    QVERIFY(t["of"] == "quality" && t["target"] == 0.9 && t["is_optimum"] == true && t["fitted_ms"].is_null());
    QVERIFY2(t["fitted"]["value"].get<double>() >= 0.9, t.dump().c_str());
    QVERIFY(sum(t["fitted"]["items"]) == kProfiled && sum(t["held_out"]["items"]) == kDigits - kProfiled);
    // Really run, every digit leaves where the replay said.
    QVERIFY2(t["held_out"]["items"] == t["predicted"]["items"] && t["held_out"]["value"] == t["predicted"]["value"],
             t.dump().c_str());
    QVERIFY2(t["left_elsewhere"] == 0, t.dump().c_str());
    QVERIFY(ended.out.find("really run, every one of them left where the replay said") != std::string::npos);
    QVERIFY(std::fabs(t["held_out"]["mean_cost"].get<double>() - t["predicted"]["mean_cost"].get<double>()) < 1e-12);
    QVERIFY(t["held_out"]["value_ci95"].size() == 2 && t["own_thresholds"] == (Json{0.9, 0.9}));
    QVERIFY(t["met"] == (t["held_out"]["value"].get<double>() >= 0.9));
    QVERIFY(j["exits"]["thresholds"] == t["thresholds"]);
    for (const char* text :
         {"accuracy of at least 90.0 %", "44 pictures that it was not found on", "the oracle at these thresholds",
          "exit 1 (exits.0.router)", "with the thresholds that were found; with the model's own: ",
          " over 44 pictures that they were not found on", "no other thresholds are better there"})
      QVERIFY2(ended.out.find(text) != std::string::npos, (std::string(text) + "\n" + ended.out).c_str());
    QVERIFY(ended.out.find("msdnet-digits answers ") == std::string::npos);  // the sentence below said the same
    QVERIFY(Scratch::read(page).find("Thresholds for a target") != std::string::npos);
    // The headline of the run is the gain over the model as it came. The JSON has it beside the older figures.
    QVERIFY2(t["speedup_over_model"].get<double>() > 0 && t["speedup_over_model_ci95"].size() == 2, t.dump().c_str());
    const std::string gain = " times as fast as the model as it came, with its own thresholds";
    const size_t title = ended.out.find("speed-up  "), alone = ended.out.find("  by passes alone  ");
    QVERIFY2(ended.out.find(gain, title) < alone && alone < ended.out.size(), ended.out.c_str());
    QVERIFY(Scratch::read(page).find("Speed-up over the model as it came") != std::string::npos);
    Json taken = Json::array();
    const Json& left = t["held_out"]["items"];
    for (size_t e = 0; e < left.size(); ++e) {
      const std::string name = e + 1 < left.size() ? "exit " + std::to_string(e + 1) : "the end of the network";
      if (left[e] == 44) taken = Json::array({name + " takes all 44 pictures"});
      if (left[e] == 44) break;
      if (left[e] == 0) taken.push_back(name + " takes none of 44 pictures");
    }
    QCOMPARE(t["exits_taken"].dump(), taken.dump());
    // Thresholds that were found, written and replayed: all digits, as the summary of the curve says.
    const Json written = Json::parse(Scratch::read(config));
    QVERIFY(written["exits"].size() == 2 && written["exits"][1]["router"] == "exits.1.router");
    QVERIFY(written["exits"][0]["threshold"] == t["thresholds"][0]);
    const Json replayed = json_of(short_run("run", kModel, kSample, {"--batch", "4", "--config", config}));
    QVERIFY(replayed["verified"]["passed"] == true && replayed["exits"]["chosen"] == j["exits"]["chosen"]);
    QVERIFY(replayed["quality"]["optimized"]["value"] == j["exits"]["chosen"]["value"]);
    QVERIFY(replayed["routing"][0]["load"][0] == j["exits"]["chosen"]["items"][0]);
  }

  void a_cost_is_a_bound_of_the_operations_or_of_the_time() {
    const Json share = json_of(optimize({"--target-latency", "60%"}))["exit_target"];
    QVERIFY2(share["of"] == "operations" && share["fitted"]["mean_cost"].get<double>() <= 0.6, share.dump().c_str());
    QVERIFY(share["held_out"]["items"] == share["predicted"]["items"]);
    const Json time = json_of(optimize({"--target-latency", "1000ms"}))["exit_target"];
    QVERIFY2(time["of"] == "latency" && time["target"] == 1000 && time["met"] == true, time.dump().c_str());
    for (const char* key : {"fitted_ms", "predicted_ms", "held_out_ms"}) QVERIFY2(time[key].get<double>() > 0, key);
  }

  /// Work that only later exits need waits for the ones before them, and is not charged to who leaves there: a bound
  /// that the model's own order could not keep.
  void a_share_is_of_the_plan_that_runs() {
    const Scratch scratch;
    const std::string config = scratch.path("c.json");
    const Json j = json_of(optimize({"--target-latency", "40%", "--config-out", config})), t = j["exit_target"],
               exits = j["exits"];
    QVERIFY2(t["fitted"]["mean_cost"].get<double>() <= 0.4 && t["held_out"]["items"] == t["predicted"]["items"],
             t.dump().c_str());
    QVERIFY(exits["plan"] == "optimized" && exits["exits"][2]["cost"] == 1.0);
    const double first = exits["exits"][0]["cost"], own = exits["exits"][0]["baseline_cost"];
    // By hand from the layers' sizes: of 2,140,496 multiplications 913,392 stand before the first exit's test, and
    // 684,592 of these feed it.
    QVERIFY2(std::fabs(first - 684592.0 / 2140496) < 0.01 && std::fabs(own - 913392.0 / 2140496) < 0.01,
             exits["exits"].dump().c_str());
    // As the configuration runs: the same shares of the same plan.
    const Json replayed = json_of(short_run("run", kModel, kSample, {"--batch", "4", "--config", config}))["exits"];
    QVERIFY2(
        replayed["plan"] == "optimized" && replayed["exits"] == exits["exits"] && replayed["chosen"] == exits["chosen"],
        replayed["exits"].dump().c_str());
    VERIFY_REFUSED(optimize({"--target-latency", "40%", "--disable", "reorder"}), "--target-latency", "at 42.");
  }

  void a_configuration_without_thresholds_tells_of_the_model_s_own() {
    const Scratch scratch;
    const std::string config = scratch.path("c.json");
    const Json j = json_of(optimize({"--config-out", config})), exits = j["exits"];
    QVERIFY(j["exit_target"].is_null());
    QVERIFY(Json::parse(Scratch::read(config))["exits"].is_null() && exits["thresholds"] == (Json{0.9, 0.9}));
    const Json replayed = json_of(short_run("run", kModel, kSample, {"--batch", "4", "--config", config}))["exits"];
    for (const char* key : {"plan", "exits", "chosen"}) QCOMPARE(replayed[key].dump(), exits[key].dump());
  }

  /// All leave at the first exit: the plan takes the later ones for empty, behind a guard, and their work is counted
  /// all the same.
  void a_plan_that_takes_exits_away_is_counted_without_that() {
    const Json j = json_of(optimize({"--target-latency", "32.5%"})), t = j["exit_target"];
    const auto guarded =
        std::find_if(j["passes"].begin(), j["passes"].end(), [](const Json& p) { return p["name"] == "dead-path"; });
    QVERIFY2((*guarded)["applied"] == true && t["fitted"]["items"] == (Json{kProfiled, 0, 0}), t.dump().c_str());
    QCOMPARE(t["exits_taken"].dump(), Json::array({"exit 1 takes all 44 pictures"}).dump());
    QVERIFY2(j["exits"]["plan"] == "optimized" && t["met"] == true && t["held_out"]["mean_cost"].get<double>() <= 0.325,
             t.dump().c_str());
  }

  void a_last_batch_of_few_and_batches_of_one_are_predicted_too() {
    // 60 digits in batches of 8, the last of 4; and each alone.
    for (const char* batch : {"8", "1"}) {
      const Json t = json_of(
          short_run("optimize", kModel, kSample, {"--batch", batch, "--target-latency", "1000ms"}))["exit_target"];
      QVERIFY2(t["met"] == true && t["left_elsewhere"] == 0, t.dump().c_str());
      // How near they are is ExitTimesTest's: a busy machine measures what it measures.
      QVERIFY2(t["predicted_ms"] > 0 && t["held_out_ms"] > 0, t.dump().c_str());
    }
  }

  void thresholds_of_the_model_that_are_no_confidences_are_exported_as_such_that_are() {
    const Scratch scratch;
    const std::string config = scratch.path("c.json");
    const ModelCopy copy(source_folder() + "/resources/demos/msdnet-digits");
    // All leave at the first exit: what stood at the second stays, and so does what stood at the first.
    copy.change_config([&](Json& c) { c["exit_thresholds"] = {-1, 2}; });
    const Json t =
        json_of(short_run("optimize", copy.folder(), kSample,
                          {"--batch", "4", "--target-latency", "50%", "--config-out", config}))["exit_target"];
    QVERIFY2(t["own_thresholds"] == (Json{0.0, 2.0}), t.dump().c_str());
    const Json written = Json::parse(Scratch::read(config))["exits"];
    for (const Json& exit : written) QVERIFY2(exit["threshold"] >= 0 && exit["threshold"] <= 2, written.dump().c_str());
    const Json replayed = json_of(short_run("run", copy.folder(), kSample, {"--batch", "4", "--config", config}));
    QVERIFY(replayed["verified"]["passed"] == true && replayed["exits"]["thresholds"] == t["thresholds"]);
  }

  void what_fails_its_verification_states_no_gain_beside_its_own_thresholds() {
    const Scratch scratch;
    const Arguments asked = optimize(
        {"--target-quality", "90%", "--dtype", "bf16", "--tolerance", "1e-9", "--json", scratch.path("j.json")});
    const Ended ended = run_program(asked);
    QVERIFY2(ended.exit == 1, ended.err.c_str());
    const Json j = Json::parse(Scratch::read(scratch.path("j.json")));
    QVERIFY(j["verified"]["passed"] == false && j["speedup"].is_null());
    QVERIFY(j["exit_target"]["speedup_over_model"].is_null() &&
            ended.out.find("the model as it came") == std::string::npos);
    QVERIFY2(j["exit_target"]["speedup"].is_null() && j["exit_target"]["speedup_ci95"].is_null(),
             j["exit_target"].dump().c_str());
    QVERIFY(ended.out.find("times as fast as with the model's own") == std::string::npos);
  }

  void what_cannot_be_is_refused_in_a_line() {
    const Scratch scratch;
    const std::string session = scratch.path("x.storm");
    VERIFY_REFUSED(optimize({"--target-latency", "10%", "-o", session}), "--target-latency",
                   "is beyond every threshold on the 16 pictures");
    VERIFY_REFUSED(optimize({"--target-latency", "10%"}), "--target-latency",
                   "at 32.0 % of the operations");  // the best: all leave at the first exit
    VERIFY_REFUSED(optimize({"--target-latency", "0.000001"}), "--target-latency", "ms a batch");
    QVERIFY(!std::filesystem::exists(session));
    VERIFY_REFUSED(optimize({"--target-quality", "98"}), "--target-quality",
                   "give a share from 0 to 1, or up to 100 %: 0.98 or 98%");
    VERIFY_REFUSED(optimize({"--target-latency", "fast"}), "--target-latency", "does not fit");
    VERIFY_REFUSED(optimize({"--target-quality", "0.9", "--target-latency", "60%"}), "--target-latency",
                   "leave one of them out");
    VERIFY_REFUSED((short_run("optimize", kModel, kSample, {"--batch", "60", "--target-quality", "0.9"})),
                   "--target-quality", "one batch");
    VERIFY_REFUSED((short_run("optimize", kModel, "random:8x20x20x1", {"--target-quality", "0.9"})), "--target-quality",
                   "does not say which answers are right");
    VERIFY_REFUSED(
        (short_run("optimize", "demo:switch-names", "demo:switch-names-sample", {"--target-quality", "0.9"})),
        "--target-quality", "has no chain of exits");
    VERIFY_REFUSED((short_run("optimize", "demo:switch-names", "demo:switch-names-sample",
                              {"--target-quality", "0.9", "--phase", "decode"})),
                   "--target-quality", "--phase decode decodes");
  }

  void a_configuration_s_thresholds_are_those_of_the_model_s_exits_in_their_order() {
    const Scratch scratch;
    const auto refused = [&](const Json& exits, const char* model, const char* words) {
      const std::string config = scratch.write(
          "c.json", Json{{"schema", "stormcell.config/1"}, {"passes", Json::object()}, {"exits", exits}}.dump());
      VERIFY_REFUSED((Arguments{"run", model, "--data", model + std::string("-sample"), "--config", config}), config,
                     words);
    };
    const Json first = {{"router", "exits.0.router"}, {"threshold", 0.5}},
               second = {{"router", "exits.1.router"}, {"threshold", 0.5}};
    refused({second, first}, kModel, "in the order in which they run: exits.0.router, exits.1.router");
    refused(Json::array({first}), kModel, "expected one threshold for each exit");
    refused({first, {{"router", "exits.1.router"}, {"threshold", 3}}}, kModel,
            "the threshold 3 of \"exits.1.router\" is out of range: from -1 to 2 (");
    refused(Json::array({first}), "demo:switch-names", "demo:switch-names has none");
  }
};

STORMCELL_TEST(ExitTargetTest)

}  // namespace stormcell::testing::exit_target_test

#include "exit_target_test.moc"
