// The work of optimize: the batches that it profiles, passes that lose, guards that miss, configurations that are
// replayed.
#include <cmath>

#include "core/base/listed_words.h"
#include "core/passes/pass.h"
#include "core/session/session_reader.h"
#include "tests/contract/models.h"
#include "tests/testing/page_table.h"

namespace stormcell::testing {
using Json = nlohmann::json;

class OptimizeTest : public QObject {
  Q_OBJECT
  Scratch scratch_;

  /// Returns what one run says to people and what its JSON has; where it does not end with 0 the test fails.
  std::pair<Ended, Json> run_and_read(Arguments arguments) const {
    const std::string file = scratch_.path("figures.json");
    arguments.insert(arguments.end(), {"--json", file});
    Ended ended = run_program(arguments);
    if (ended.exit != 0) QTest::qFail(told(arguments, ended).c_str(), __FILE__, __LINE__);
    return {ended, Json::parse(Scratch::read(file), nullptr, false)};
  }

 private slots:
  void the_first_batches_can_be_profiled_and_one_batch_alone_is_both() {
    const Json first =
        json_of(short_run("optimize", switch_model(), "random:16x5", {"--batch", "2", "--profile-split", "first"}));
    QVERIFY2(
        first["split"] == (Json{{"rule", "first"}, {"profiled", 2}, {"measured", 6}, {"same", false}, {"held_out", 6}}),
        first["split"].dump().c_str());
    QCOMPARE(first["settings"]["profile_split"].get<std::string>(), std::string("first"));
    const Arguments one = short_run("optimize", switch_model(), switch_data());
    const auto [told, figures] = run_and_read(one);
    QVERIFY(figures["split"]["same"].get<bool>());
    QVERIFY2(told.out.find("profiled and measured on the same batch, the only one") != std::string::npos,
             told.out.c_str());
    QVERIFY(json_of(short_run("run", switch_model(), switch_data()))["split"].is_null());
  }

  void what_is_left_out_is_not_in_the_configuration() {
    // Without --keep-all: whatever chance decides, configuration, passes and plans say the same.
    const Json j =
        json_of({"optimize", switch_model(), "--data", "random:32x5", "--batch", "2", "--measure-seconds", "0.2"});
    size_t applied = 0;
    for (const Json& pass : j["passes"]) {
      const bool is = pass["applied"].get<bool>(), left_out = pass["left_out"].get<bool>();
      applied += is;
      QCOMPARE(j["config"]["passes"].contains(pass["name"].get<std::string>()), is);
      QVERIFY(!(is && left_out));
      QCOMPARE(pass["reason"].get<std::string>().starts_with("left out: "), left_out);
      if (left_out) {
        const std::string reason = pass["reason"];
        const auto says = [&](const char* words) { return reason.find(words) != std::string::npos; };
        const Json& own = pass["speedup_own_ci95"];
        if (pass["speedup_withheld"].is_string()) continue;
        const bool lost = own[1].get<double>() < 1,
                   gained_nothing = own[0].get<double>() <= 1 && says(" of memory more");
        QVERIFY2(lost || gained_nothing || says("all passes"), reason.c_str());
      }
      QCOMPARE(is && states_or_withholds(pass, "speedup_cumulative"), is);
    }
    QCOMPARE(j["optimized"].is_object(), applied > 0);
    QCOMPARE(states_or_withholds(j), applied > 0);
  }

  void optimize_takes_the_passes_it_is_told() {
    const Json only = json_of(short_run("optimize", switch_model(), switch_data(), {"--only", "horizontal-fusion"}));
    QCOMPARE(only["passes"].size(), size_t{1});
    QCOMPARE(only["passes"][0]["name"].get<std::string>(), std::string("horizontal-fusion"));
    const Json without =
        json_of(short_run("optimize", switch_model(), switch_data(), {"--disable", "dead-path,vertical-fusion"}));
    for (const Json& pass : without["passes"])
      QVERIFY(pass["name"] != "dead-path" && pass["name"] != "vertical-fusion");
  }

  void a_plan_that_computes_less_has_a_limit_of_its_own() {
    // Long and short lines by turns: nearly half of the cells pad.
    std::string lines;
    for (int i = 0; i < 20; ++i) lines += std::string(i % 2 ? 10 : 1, 'a') + "\n";
    const std::string model = model_with_tokenizer(scratch_), text = scratch_.write("uneven.txt", lines);
    const Json j = json_of(short_run("optimize", model, text, {"--batch", "5", "--only", "unpad", "--keep-all"}));
    QVERIFY2(j["passes"][0]["applied"].get<bool>(), j["passes"].dump().c_str());
    const auto limit = [&](const char* plan) {
      return j[plan]["limit_share"].get<double>() * j[plan]["latency_ms"]["mean"].get<double>();
    };
    QVERIFY2(limit("optimized") < 0.95 * limit("baseline"), j.dump().c_str());
    // Padding is no work that anybody asked for: both plans computed the same cells.
    const auto cells = [&](const char* plan) {
      return j[plan]["cells_per_s"].get<double>() * j[plan]["latency_ms"]["mean"].get<double>();
    };
    QVERIFY2(std::abs(cells("optimized") - cells("baseline")) < 1e-6 * cells("baseline"), j.dump().c_str());
    QVERIFY(cells("baseline") * 1e-3 * j["dataset"]["batches"].get<double>() < j["dataset"]["cells"].get<double>());
  }

  void options_of_passes_are_kept_and_replayed() {
    const std::string config = scratch_.path("options.json");
    const Json written =
        json_of(short_run("optimize", switch_model(), switch_data(),
                          {"--only", "vertical-fusion", "--pass-option", "vertical-fusion.activations=off",
                           "--pass-option", "vertical-fusion.norms=on", "--config-out", config}));
    const Json options = {{"activations", "off"}};
    QVERIFY2(written["passes"][0]["options"] == options, written["passes"][0].dump().c_str());
    const std::string reason = written["passes"][0]["reason"].get<std::string>();
    QVERIFY2(reason.starts_with("with activations=off: ") && reason.find("residual") != std::string::npos,
             reason.c_str());
    QVERIFY2(Json::parse(Scratch::read(config))["passes"]["vertical-fusion"] == options,
             written["config"].dump().c_str());
    const Json replayed = json_of(short_run("run", switch_model(), switch_data(), {"--config", config}));
    QVERIFY2(replayed["passes"][0]["options"] == options, replayed["passes"][0].dump().c_str());
    // Behind it optimize says what --keep-all kept, which the clock decides.
    QVERIFY2(reason.starts_with(replayed["passes"][0]["reason"].get<std::string>()), reason.c_str());
  }

  void without_a_pass_that_applied_nothing_is_compared() {
    const Arguments arguments =
        short_run("optimize", switch_model(), switch_data(), {"--disable", joined(ids_of(passes()), ",")});
    const auto [told, j] = run_and_read(arguments);
    QVERIFY(j["speedup"].is_null() && j["speedup_ci95"].is_null() && j["optimized"].is_null() &&
            j["baseline"].is_object());
    QVERIFY(told.out.find("No pass applied: there is nothing to compare.") != std::string::npos);
  }

  void guards_that_miss_are_warned_of_and_what_they_load_is_loaded() {
    // One token needs one branch of each router; other data need the others.
    const std::string config = scratch_.path("narrow.json");
    const Json narrow =
        json_of(short_run("optimize", switch_model(), "random:1x1x1", {"--only", "dead-path", "--config-out", config}));
    QVERIFY(narrow["unloaded_weight_bytes"].get<int64_t>() > 0 &&
            narrow["warnings"].dump().find("guards") == std::string::npos);
    const Json other = json_of(short_run("run", switch_model(), "random:16x12x12", {"--config", config}));
    QCOMPARE(other["unloaded_weight_bytes"].get<int64_t>(), int64_t{0});
    QVERIFY(other["routing_of"] == "optimized");
    QVERIFY(other["passes"][0]["fallbacks"].get<int64_t>() > 0 && other["passes"][0]["guard_hits"].get<int64_t>() == 0);
    QVERIFY2(other["warnings"].dump().find("guards missed") != std::string::npos, other["warnings"].dump().c_str());
    QVERIFY(other["verified"]["passed"].get<bool>());
  }

  void a_pass_whose_guards_never_hold_is_left_out_whatever_it_costs() {
    // Every fourth name is profiled; the others go elsewhere.
    std::string lines;
    for (int i = 0; i < 12; ++i) lines += i % 4 == 0 ? "а\n" : "Ρόδος και Κρήτη, Αθήνα\n";
    const std::string data = scratch_.write("narrow.txt", lines);
    const Json j = json_of({"optimize", "demo:switch-names", "--data", data, "--only", "dead-path", "--batch", "1",
                            "--measure-seconds", "0.2", "--verify-seconds", "0"});
    const Json& pass = j["passes"][0];
    QVERIFY2(pass["left_out"] == true && pass["applied"] == false, pass.dump(1).c_str());
    QVERIFY2(pass["reason"].get<std::string>().find("left out: its guards never held on the ") == 0,
             pass.dump(1).c_str());
    QVERIFY(j["verified"]["passed"] == true && j["config"]["passes"].empty());
  }

  void guards_are_counted_once_a_batch_wherever_they_are_shown() {
    const std::string config = scratch_.path("counted.json"), session = scratch_.path("counted.storm");
    json_of(short_run("optimize", switch_model(), "random:1x1x1", {"--only", "dead-path", "--config-out", config}));
    const Json j =
        json_of(short_run("run", switch_model(), "random:12x6x6", {"--batch", "2", "--config", config, "-o", session}));
    const int64_t hits = j["passes"][0]["guard_hits"].get<int64_t>(),
                  misses = j["passes"][0]["fallbacks"].get<int64_t>();
    const SessionReader reader(session);
    int64_t session_hits = 0, session_misses = 0;
    for (const BatchSummary& b : reader.batches(reader.find_run("").id, {0, 100}))
      session_hits += b.guard_hits, session_misses += b.guard_misses;
    QVERIFY(misses > 0);
    QCOMPARE(hits, session_hits);
    QCOMPARE(misses, session_misses);
    const Json found = json_of(short_run("optimize", switch_model(), "random:12x3x3",
                                         {"--batch", "1", "--only", "dead-path", "--keep-all", "-o", session}));
    const RunSummary run = reader.find_run("");
    int64_t all = 0;
    for (const BatchSummary& b : reader.batches(run.id, {0, 100})) all += b.guard_hits + b.guard_misses;
    QVERIFY(all > 0 && all % 12 == 0);
    QCOMPARE(found["passes"][0]["guard_hits"].get<int64_t>() + found["passes"][0]["fallbacks"].get<int64_t>(), all);
  }
};
STORMCELL_TEST(OptimizeTest)

}  // namespace stormcell::testing
#include "optimize_test.moc"
