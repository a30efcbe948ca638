// Costs of steps in the layouts that place finds: by sizes, by phase, by nodes, of counts alone.
#include <cmath>

#include "tests/contract/placements.h"

namespace stormcell::testing {

class ContractPlaceCostsTest : public QObject, private Placements {
  Q_OBJECT
 private slots:
  void steps_are_costed_where_sizes_are_known() {
    const std::string session = scratch_.path("costed.storm"),
                      cluster = scratch_.write("two-gpus.json", R"({"schema": "stormcell.cluster/1",
 "nodes": 1, "gpus_per_node": 2, "gpu": {"memory_bytes": 1e11, "memory_bytes_per_s": 1e12, "flops_per_s": 1e14}, "fabric": {"bytes_per_s": 1e11}})");
    imported(scratch_.write("costed.csv", route_trace()), session);
    const Arguments common = {"--cluster", cluster, "--solver", "joint", "--time-limit", "0.5"};
    const auto with = [&](Arguments more) {
      more.insert(more.begin(), common.begin(), common.end());
      return placed(session, more);
    };
    const Json loads = with({});
    QVERIFY(loads["sizes"].is_null() && loads["backend"].is_null() &&
            loads["layouts"][2]["fit"]["objective"].is_null());
    QVERIFY(loads["warnings"].dump().find("sizes are not known") != std::string::npos);
    QVERIFY(loads["warnings"].dump().find(" 1 blocks") == std::string::npos);
    const Json j = with({"--hidden", "64", "--ffn", "32"});
    QCOMPARE(j["backend"].get<std::string>(), std::string("per-rank"));
    QCOMPARE(j["sizes"]["branch_bytes"].get<double>(), 1001.);  // the trace's own
    QCOMPARE(j["sizes"]["source"].get<std::string>(), std::string("--hidden, --ffn"));
    QCOMPARE(j["costed_steps"]["kind"].get<std::string>(), std::string("recorded"));
    for (const Json& line : j["layouts"])
      for (const char* part : {"fit", "held_out"}) {
        const Json& f = line[part];
        const double sum = f["step_ms"]["dispatch"].get<double>() + f["step_ms"]["compute"].get<double>() +
                           f["step_ms"]["combine"].get<double>();
        QVERIFY2(sum > 0 && std::abs(sum / f["objective"].get<double>() - 1) < 1e-9, f.dump().c_str());
        // Two GPUs, homes not known: half of the distinct GPUs are another.
        QVERIFY(std::abs(f["remote_bytes"].get<double>() - f["ranks_per_token"].get<double>() / 2 * 64 * 2) < 1e-6);
      }
    // Copies for each expert do not depend on the placement, and a gather on nothing.
    for (const char* backend : {"per-expert", "gather"}) {
      const Json other = with({"--hidden", "64", "--ffn", "32", "--backend", backend, "--tokens-per-step", "256"});
      QCOMPARE(other["costed_steps"]["kind"].get<std::string>(), std::string("drawn"));
      for (const Json& line : other["layouts"])
        QVERIFY(std::abs(line["fit"]["remote_bytes"].get<double>() -
                         (backend == std::string("gather") ? 1 : 2 * .5) * 128) < 1e-6);
    }
    // Which steps the objective is of, by itself and with the move.
    const Json of_few =
        with({"--hidden", "64", "--ffn", "32", "--tokens-per-step", "256", "--p95", "--amortise", "10"});
    QVERIFY2(of_few["warnings"].dump().find("steps of 256 tokens are drawn from ") != std::string::npos,
             of_few["warnings"].dump().c_str());
    QVERIFY(j["warnings"].dump().find("are drawn from") == std::string::npos);
    const Json drawn = of_few["costed_steps"];
    QVERIFY2(drawn["statistic"] == "p95" && drawn["tokens_per_step"] == 256 && drawn["amortise"] == 10,
             drawn.dump().c_str());
    QVERIFY(j["costed_steps"]["statistic"] == "mean" && j["costed_steps"]["tokens_per_step"].is_null() &&
            j["costed_steps"]["amortise"].is_null());
    const Json wide = with({"--hidden", "64", "--ffn", "32", "--dtype", "f32"});
    QCOMPARE(wide["sizes"]["branch_bytes"].get<double>(), 3. * 64 * 32 * 4);
    const Json moved = with({"--hidden", "64", "--ffn", "32", "--amortise", "10"});
    QVERIFY(moved["layouts"][2]["fit"]["objective"].get<double>() > j["layouts"][2]["fit"]["objective"].get<double>());
    QCOMPARE(moved["layouts"][0]["fit"]["objective"].get<double>(), j["layouts"][0]["fit"]["objective"].get<double>());
    const Arguments place = {"place", session, "--cluster", cluster};
    const auto refused = [&](Arguments more, const std::string& where, const std::string& words) {
      more.insert(more.begin(), place.begin(), place.end());
      VERIFY_REFUSED(more, where, words);
    };
    refused({"--hidden", "64"}, "--ffn", "is missing");
    refused({"--backend", "per-moon"}, "--backend", "is not known (one of per-expert, per-rank");
    refused({"--backend", "gather"}, session, "does not say the sizes of the model");
    refused({"--hidden", "64", "--ffn", "32", "--dtype", "i5"}, "--dtype", "is not a number format");
  }

  void each_phase_has_a_placement_of_its_own() {
    const std::string session = scratch_.path("phases.storm");
    imported(scratch_.write("phases.csv", route_trace()), session);
    const std::string two =
        scratch_.write("two-gpus.json", R"({"schema": "stormcell.cluster/1", "nodes": 1, "gpus_per_node": 2,
 "gpu": {"memory_bytes": 8e10, "memory_bytes_per_s": 3e12, "flops_per_s": 9e14}, "fabric": {"bytes_per_s": 4e11}})");
    const auto placed = [&](const Arguments& more) {
      Arguments all = {"place", session, "--cluster", two, "--fit-fraction", "1", "--json", "-"};
      all.insert(all.end(), more.begin(), more.end());
      return json_of(all);
    };
    const Json both = placed({"--phase", "each", "--name", "mine"});
    QVERIFY(both["phase"] == "each" && both["phases"].size() == 2);
    for (const size_t i : {0, 1}) {
      const std::string phase = i == 0 ? "prefill" : "decode";
      const Json& one = both["phases"][i];
      QCOMPARE(one["phase"].get<std::string>(), phase);
      QVERIFY(one["layouts"] == placed({"--phase", phase.c_str()})["layouts"]);
      // Each is found by its name.
      const Arguments out = {"export", session + "#mine-" + phase,    "--format", "vllm-pr49572",
                             "-o",     scratch_.path(phase + ".json")};
      VERIFY_DONE(run_program(out), out);
    }
    const Ended text = run_program({"place", session, "--cluster", two, "--phase", "each"});
    QVERIFY(text.exit == 0 && text.out.find(", prefill") != std::string::npos &&
            text.out.find(", decode") != std::string::npos);
    // Who named no solver is told of the search, once.
    const std::string further = " --solver joint searches further (default: 15 s)\n";
    QVERIFY2(text.out.find(further) != std::string::npos && text.out.find(further) == text.out.rfind(further) &&
                 text.out.find(further) < text.out.find("\n\n"),
             text.out.c_str());
    const Ended named = run_program({"place", session, "--cluster", two, "--solver", "eplb"});
    QVERIFY(named.exit == 0 && named.out.find("searches further") == std::string::npos);
    const std::string counts = scratch_.path("no-phases.storm");
    imported(scratch_.write("no-phases.json", R"({"logical_count": [[[4, 2]], [[1, 3]]]})"), counts);
    const Ended of_counts = run_program({"place", counts, "--cluster", two});
    QVERIFY(of_counts.exit == 0 && of_counts.out.find("searches further") == std::string::npos);
    VERIFY_REFUSED((Arguments{"place", counts, "--cluster", two, "--phase", "each"}), "--phase",
                   "each needs prompts and decoding");
    VERIFY_REFUSED((Arguments{"place", session, "--cluster", two, "--phase", "both"}), "--phase",
                   "prefill or decode; place takes each of both too");
  }

  /// Every token has an expert on the first GPU of each node. From each of the four homes alike: to other GPUs 1, 1, 2,
  /// 2 copies. By node, one crosses the network, and from a node's second GPU one more is forwarded on either side: 1,
  /// 1, 3, 3.
  void what_is_needed_elsewhere_and_what_travels_for_it() {
    const auto of_both_nodes = [](int64_t row, std::string& line) {
      size_t at = 0;
      for (int i = 0; i < 5; ++i) at = line.find(',', at) + 1;
      line.replace(at, line.find(',', at) - at, row % 2 == 0 ? "0" : "2");
    };
    const std::string session = scratch_.path("wire.storm"),
                      cluster = scratch_.write("wire.json", R"({"schema": "stormcell.cluster/1",
 "nodes": 2, "gpus_per_node": 2, "gpu": {"memory_bytes": 1e11, "memory_bytes_per_s": 1e12, "flops_per_s": 1e14},
 "fabric": {"bytes_per_s": 1e11}, "network": {"bytes_per_s": 1e10}})");
    imported(scratch_.write("wire.csv", route_trace({1, 4, 2, 1, 10, 2}, "made-up.gguf", of_both_nodes)), session);
    constexpr double kRow = 64 * 2;
    for (const auto& [backend, wire] : {std::pair{"per-rank", 1.5}, {"per-node", 2.}}) {
      const Arguments costed = {"--cluster", cluster, "--hidden", "64", "--ffn", "32", "--backend", backend};
      const Json contiguous = placed(session, costed)["layouts"][0];
      for (const char* part : {"fit", "held_out"}) {
        const Json& f = contiguous[part];
        QVERIFY2(std::abs(f["remote_bytes"].get<double>() - 1.5 * kRow) < 1e-6, f.dump().c_str());
        QVERIFY2(std::abs(f["wire_bytes"].get<double>() - wire * kRow) < 1e-6, f.dump().c_str());
      }
      Arguments simulate = {"simulate", session, "--json", "-"};
      simulate.insert(simulate.end(), costed.begin(), costed.end());
      const Json step = json_of(simulate);  // of all tokens, there and back
      QVERIFY(std::abs(step["wire_bytes"].get<double>() / step["remote_bytes"].get<double>() - wire / 1.5) < 1e-9);
      Arguments place = {"place", session};
      place.insert(place.end(), costed.begin(), costed.end());
      const Ended text = run_program(place);
      VERIFY_DONE(text, place);
      QVERIFY2(text.out.find("remote bytes  wire bytes\n") != std::string::npos, text.out.c_str());
    }
  }

  void counts_are_costed_by_what_they_say() {
    const std::string config = scratch_.write(
        "counted/config.json", R"({"model_type": "deepseek_v3", "num_hidden_layers": 3, "n_routed_experts": 12,
 "first_k_dense_replace": 1, "num_experts_per_tok": 2, "hidden_size": 64, "moe_intermediate_size": 32})");
    const std::string session = scratch_.path("counts-costed.storm"), cluster = scratch_.write("two.json", kTwoNodes);
    imported(scratch_.write("counts-costed.json", kCounts), session, {"--model-config", config});
    // One sum of all steps is no step; steps of so many tokens can be drawn from its shares.
    QVERIFY(placed(session, {"--cluster", cluster, "--redundant", "4"})["backend"].is_null());
    const Json j = placed(session, {"--cluster", cluster, "--redundant", "4", "--tokens-per-step", "1024"});
    QCOMPARE(j["backend"].get<std::string>(), std::string("per-expert"));
    QVERIFY(std::abs(j["layouts"][1]["fit"]["remote_bytes"].get<double>() - 2 * (1 - 1. / 8) * 128) < 1e-6);
    VERIFY_REFUSED((Arguments{"place", session, "--cluster", cluster, "--redundant", "4", "--tokens-per-step", "8",
                              "--backend", "per-rank"}),
                   "--backend", "needs single choices");
  }
};

STORMCELL_TEST(ContractPlaceCostsTest)

}  // namespace stormcell::testing

#include "place_costs_test.moc"
