// --annotate: which kernel runs a node, how a value lies, how a weight is held; shown, kept, replayed, and refused in
// one line.
#include <cstdint>
#include <nlohmann/json.hpp>

#include "tests/contract/models.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

using Json = nlohmann::json;
using namespace std::string_literals;

const std::string kWi = "encoder.block.0.layer.1.mlp.wi", kAct = "encoder.block.0.layer.1.mlp.act";

Arguments annotated(const std::string& verb, const std::vector<std::string>& annotations, const Arguments& more = {}) {
  Arguments all = more;
  for (const std::string& text : annotations) all.insert(all.end(), {"--annotate", text});
  return short_run(verb, switch_model(), switch_data(), all);
}

}  // namespace

class AnnotateTest : public QObject {
  Q_OBJECT
  const Scratch scratch_;

 private slots:
  void a_kernel_forced_by_hand_gives_the_same_answer() {
    const std::string forced = "*.mlp.wi.kernel=linear.plain";
    for (const char* verb : {"run", "profile", "optimize"}) {
      const Json j = json_of(annotated(verb, {forced}));
      QVERIFY2(j["verified"]["passed"] == true, j["verified"].dump().c_str());
      QVERIFY2(j["settings"]["annotations"] == Json(std::vector<std::string>{forced}), j["settings"].dump().c_str());
      const std::string told = j["annotated"].dump();
      QVERIFY2(j["annotated"].size() == 1 && told.find(": " + forced) != std::string::npos &&
                   told.find("node") != std::string::npos,
               told.c_str());
    }
    // And what follows it is folded no further into it than a plan says.
    const Json j = json_of(annotated("optimize", {kAct + ".kernel=activation"}, {"--only", "vertical-fusion"}));
    const std::string reason = j["passes"][0]["reason"].get<std::string>();
    QVERIFY2(reason.find("not folded, because of their annotations: activation \"" + kAct + "\"") != std::string::npos,
             reason.c_str());
  }

  void what_is_asked_to_round_is_held_to_the_tolerance_of_what_rounds() {
    const Json plain = json_of(annotated("run", {"*.mlp.wi.kernel=linear.plain"}));
    QVERIFY2(plain["verified"]["tolerance"] == 1e-4, plain["verified"].dump().c_str());
    for (const char* asked : {"*wi.weight.format=bf16", "*.scatter.storage=bf16"}) {
      const Json v = json_of(annotated("run", {asked}))["verified"];
      QVERIFY2(v["passed"] == true && v["tolerance"] == 2e-2 && v["max_rel_diff"] > 1e-4, v.dump().c_str());
    }
    // Weights that are stored in f16 round as well.
    const Json f16 = json_of(short_run("run", switch_model("stored-f16"), "random:6x9x5",
                                       {"--batch", "2", "--annotate", "*mlp*wi.weight.format=bf16"}));
    QVERIFY2(f16["verified"]["passed"] == true && f16["verified"]["tolerance"] == 2e-2 &&
                 f16["verified"]["max_rel_diff"] > 1e-4,
             f16["verified"].dump().c_str());
  }

  void inspect_shows_them() {
    const Arguments inspect = {"inspect",    switch_model(),        "--annotate", kWi + ".kernel=linear.plain",
                               "--annotate", kAct + ".storage=bf16"};
    Arguments with_text = inspect;
    with_text.insert(with_text.end(), {"--text", "-"});
    const std::string text = run_program(with_text).out;
    QVERIFY2(text.find("%" + kWi + " : f32 token [48] = linear(") != std::string::npos, text.c_str());
    QVERIFY(text.find(" @kernel=linear.plain\n") != std::string::npos);
    QVERIFY(text.find("%" + kAct + " : f32 token [48] @storage=bf16 = activation(") != std::string::npos);
    const Json j = json_of(inspect);
    QVERIFY2(j["annotations"] == Json(std::vector<std::string>{kWi + ".kernel=linear.plain", kAct + ".storage=bf16"}),
             j.dump().c_str());
    const std::string shown = run_program(inspect).out;
    QVERIFY(shown.find("  " + kAct + ".storage=bf16\n") != std::string::npos);
    // The kernels that kernel= may name, and how small a budget may be.
    QVERIFY2(shown.find("linear.panels, linear.blocks, linear.plain") != std::string::npos, shown.c_str());
    const int64_t least = j["least_weight_budget"].get<int64_t>();
    QVERIFY(least > 0 && least <= j["expert_bytes"].get<int64_t>());
    QVERIFY(shown.find("--weight-budget from " + std::to_string(least) + " bytes on") != std::string::npos);
    const auto with = [&](int64_t bytes) {
      return short_run("run", switch_model(), switch_data(), {"--weight-budget", std::to_string(bytes)});
    };
    VERIFY_DONE(run_program(with(least)), with(least));
    VERIFY_REFUSED(with(least - 1), "--weight-budget", "give at least " + std::to_string(least) + " bytes");
  }

  void a_configuration_keeps_and_replays_them() {
    const std::string config = scratch_.path("config.json");
    const std::vector<std::string> said = {kWi + ".kernel=linear.plain"};
    const Json found = json_of(annotated(
        "optimize", said, {"--only", "horizontal-fusion,vertical-fusion", "--config-out", config, "--keep-all"}));
    QVERIFY2(found["config"]["annotations"] == Json(said), found["config"].dump().c_str());
    const Json replayed = json_of(short_run("run", switch_model(), switch_data(), {"--config", config}));
    QVERIFY2(replayed["config"]["annotations"] == Json(said) && replayed["verified"]["passed"] == true,
             replayed.dump().c_str());
    // Beside it others may be said, and those of the command line stand above it.
    const Json more = json_of(annotated("run", {kAct + ".kernel=activation"}, {"--config", config}));
    QVERIFY2(more["config"]["annotations"] == Json(std::vector<std::string>{said[0], kAct + ".kernel=activation"}),
             more["config"].dump().c_str());
    const std::string panels = kWi + ".kernel=linear.panels";
    const Json above = json_of(annotated("run", {panels}, {"--config", config}));
    QVERIFY2(above["warnings"].dump().find("--annotate " + panels + " overrules what " + config +
                                           " says: " + said[0]) != std::string::npos,
             above["warnings"].dump().c_str());
    QVERIFY2(above["config"]["annotations"] == Json(std::vector<std::string>{said[0], panels}),
             above["config"].dump().c_str());
    const Json shown = json_of({"inspect", switch_model(), "--annotate", panels, "--config", config});
    QVERIFY2(shown["annotations"].dump().find("linear.plain") == std::string::npos,
             shown["annotations"].dump().c_str());
    const Json twice = json_of(annotated("run", {said[0], panels}));
    QVERIFY(twice["warnings"].dump().find("--annotate " + panels + " overrules --annotate " + said[0]) !=
            std::string::npos);
    // A configuration of before says nothing.
    Json old = Json::parse(Scratch::read(config));
    old.erase("annotations");
    QVERIFY(json_of(short_run("run", switch_model(), switch_data(),
                              {"--config", scratch_.write("old.json", old.dump())}))["verified"]["passed"] == true);
    for (const auto& [said_wrongly, words] : std::vector<std::pair<Json, const char*>>{
             {7, "a list of texts as \"annotations\""},
             {Json::array({7}), "a list of texts as \"annotations\""},
             {Json::array({"no.such.kernel=linear.plain"}), "the model has no node"},
             {Json::array({kWi + ".kernel=linear.fast"}),
              "expected kernel linear.panels, linear.blocks or linear.plain"},
             {Json::array({kWi + ".storage=bf16"}), "no kernel reads %"}}) {
      Json wrong = old;
      wrong["annotations"] = said_wrongly;
      const std::string file = scratch_.write("wrong.json", wrong.dump());
      VERIFY_REFUSED(short_run("run", switch_model(), switch_data(), {"--config", file}), file, words);
      VERIFY_REFUSED((Arguments{"inspect", switch_model(), "--config", file}), file, words);
    }
    // And so with what a pass is to do again.
    Json wrong = old;
    wrong["passes"]["dead-path"] = {{"encoder.block.1.layer.1.mlp", "99"}};
    const std::string file = scratch_.write("wrong.json", wrong.dump());
    VERIFY_REFUSED(short_run("run", switch_model(), switch_data(), {"--config", file}), file, "there is no branch 99");
    VERIFY_REFUSED((Arguments{"inspect", switch_model(), "--config", file}), file, "there is no branch 99");
  }

  void a_configuration_and_the_command_line_say_it_of_one_plan() {
    const std::string config = scratch_.path("one.json"), first = "*expert_0.wi.kernel=linear.plain",
                      second = "*expert_1.wi.kernel=linear.plain", other = "*expert_0.wi.kernel=linear.panels";
    json_of(annotated("optimize", {first}, {"--only", "vertical-fusion", "--config-out", config, "--keep-all"}));
    const auto with = [&](const std::vector<std::string>& said, Arguments more) {
      more.insert(more.end(), {"--weight-budget", "64kB"});
      return json_of(annotated("run", said, more));
    };
    // A weight counts in the layout that the plan has it in, and in no other.
    const Json together = with({second}, {"--config", config}), by_hand = with({first, second}, {}),
               over = with({other}, {"--config", config}), plain = with({}, {});
    QVERIFY(by_hand["weight_budget"]["expert_bytes"] != plain["weight_budget"]["expert_bytes"]);
    QCOMPARE(together["weight_budget"]["expert_bytes"].dump(), by_hand["weight_budget"]["expert_bytes"].dump());
    QCOMPARE(over["weight_budget"]["expert_bytes"].dump(), plain["weight_budget"]["expert_bytes"].dump());
    // And of two annotations the one that holds counts it.
    QCOMPARE(together["annotated"].dump(), Json::array({"3 nodes: " + first, "3 nodes: " + second}).dump());
    QCOMPARE(over["annotated"].dump(), Json::array({"3 nodes: " + other}).dump());
    const Arguments shown = annotated("run", {second}, {"--config", config});
    const std::string text = run_program(shown).out;
    QVERIFY2(text.find("annotated") == text.rfind("annotated"), text.c_str());
  }

  void residency_that_changes_nothing_is_said() {
    const std::string pinned = "*.expert_0.wi.weight.residency=pinned", dense = "shared.weight.residency=pinned";
    const auto warned = [](const Json& j, const std::string& annotation) {
      for (const Json& w : j["warnings"])
        if (const std::string text = w.get<std::string>();
            text.starts_with("--annotate " + annotation + " has no effect: "))
          return text.substr(text.find("effect: ") + 8);
      return std::string();
    };
    const std::string no_budget = "without --weight-budget all weights stay in memory",
                      no_branch = "only weights of branches are loaded on demand, and this is not one";
    QCOMPARE(warned(json_of(annotated("run", {pinned})), pinned), no_budget);
    QCOMPARE(warned(json_of(annotated("run", {pinned}, {"--weight-budget", "64KiB"})), pinned), std::string());
    QCOMPARE(warned(json_of(annotated("run", {dense}, {"--weight-budget", "64KiB"})), dense), no_branch);
    QCOMPARE(warned(json_of({"inspect", switch_model(), "--annotate", dense}), dense), no_branch);
    QCOMPARE(warned(json_of({"inspect", switch_model(), "--annotate", pinned}), pinned), std::string());
    QCOMPARE(warned(json_of({"inspect", switch_model(), "--annotate", pinned, "--segments", "/dev/null"}), pinned),
             no_budget);
  }

  void a_session_lists_them() {
    const std::string session = scratch_.path("said.storm"), said = kWi + ".kernel=linear.plain";
    json_of(annotated("run", {}, {"-o", session}));
    json_of(annotated("run", {said}, {"-o", session}));
    const Json runs = json_of({"inspect", session})["runs"];
    QVERIFY2(runs[0]["annotations"] == Json::array() && runs[1]["annotations"] == Json::array({said}),
             runs.dump(1).c_str());
    const std::string list = run_program({"inspect", session}).out, words = "annotated " + said;
    QVERIFY2(list.find(words) != std::string::npos && list.find(words) == list.rfind(words), list.c_str());
  }

  /// A node that decoding alone has, and one that a forward pass alone has.
  void a_name_is_looked_for_in_the_graphs_that_run_data() {
    QTest::addColumn<QString>("verb");
    for (const char* verb : {"run", "profile", "optimize"}) QTest::newRow(verb) << verb;
  }
  void a_name_is_looked_for_in_the_graphs_that_run() {
    QFETCH(const QString, verb);
    const std::string of_turns = "step.hidden.kernel=reduce", of_both = "model.norm.kernel=rms_norm";
    const auto with = [&](const std::string& phase, const std::string& annotation) {
      return short_run(verb.toStdString(), mixtral_model(), "random:4x5",
                       {"--phase", phase, "--max-new-tokens", "4", "--annotate", annotation});
    };
    const auto warned = [](const Json& j) {
      std::string all;
      for (const Json& warning : j["warnings"])
        if (const std::string text = warning.get<std::string>(); text.find("has no effect") != std::string::npos)
          all += text + "\n";
      return all;
    };
    QCOMPARE(warned(json_of(with("decode", of_turns))), std::string());
    QCOMPARE(warned(json_of(with("forward", of_turns))),
             "--annotate " + of_turns +
                 " has no effect: only the graph of decoding has this name, and --phase forward does not run it\n");
    const Json both = json_of(with("both", of_turns));
    QCOMPARE(warned(both) + warned(both["decode"]), std::string());
    QVERIFY2(both["config"]["annotations"] == Json::array(), both["config"].dump().c_str());
    QVERIFY2(both["decode"]["config"]["annotations"] == Json::array({of_turns}),
             both["decode"]["config"].dump().c_str());
    QCOMPARE(warned(json_of(with("decode", of_both))), std::string());
    for (const char* phase : {"forward", "decode", "both"})
      VERIFY_REFUSED(with(phase, "no.such.kernel=reduce"), "--annotate", "the model has no node \"no.such\"");
    // Kernels that decoding lacks are refused there and nowhere else.
    const Arguments wrong = with("decode", "step.hidden.kernel=rms_norm");
    VERIFY_REFUSED(wrong, "--annotate", "step.hidden");
    QCOMPARE(run_program(with("forward", "step.hidden.kernel=rms_norm")).exit, 0);
  }

  void rows_in_bf16_are_verified_twice() {
    const std::string config = scratch_.path("bf16.json");
    const Arguments as_bf16 = {"--dtype", "bf16", "--tolerance", "1"};
    Arguments arguments = as_bf16;
    arguments.insert(arguments.end(), {"--only", "bf16-storage", "--keep-all", "--config-out", config});
    const Json j = json_of(short_run("optimize", switch_model(), switch_data(), arguments));
    QVERIFY2(j["verified"]["passed"] == true, j["verified"].dump().c_str());
    const Json& pass = j["passes"][0];
    if (!pass["applied"].get<bool>()) {
      QVERIFY2(pass["reason"] == "products of this device read activations in f32", pass.dump().c_str());
      QSKIP("this processor's products do not round their input");
    }
    QVERIFY2(pass["reason"].get<std::string>().find(" values that only products in bf16 read are stored in bf16: ") !=
                 std::string::npos,
             pass.dump().c_str());
    QVERIFY(j["optimized"]["peak_activation_bytes"].get<int64_t>() <=
            j["baseline"]["peak_activation_bytes"].get<int64_t>());
    Arguments replay = as_bf16;
    replay.insert(replay.end(), {"--config", config});
    const Json replayed = json_of(short_run("run", switch_model(), switch_data(), replay));
    QVERIFY2(pass["reason"].get<std::string>().starts_with(replayed["passes"][0]["reason"].get<std::string>()) &&
                 replayed["verified"]["passed"] == true,
             replayed.dump().c_str());
    // For weights in f32 it says why not.
    const Json plain = json_of(short_run("optimize", switch_model(), switch_data(), {"--only", "bf16-storage"}));
    QVERIFY2(plain["passes"][0]["applied"] == false &&
                 plain["passes"][0]["reason"] == "no product has weights in bf16 (--dtype bf16 converts them)",
             plain["passes"].dump().c_str());
  }

  void pinned_weights_are_read_once_and_replayed() {
    const std::string config = scratch_.path("pinned.json"),
                      pinned = "encoder.block.*.mlp.experts.expert_0.*.weight.residency=pinned";
    const Arguments budget = {"--weight-budget", "64KiB"};
    const auto with = [&](Arguments more) {
      more.insert(more.end(), budget.begin(), budget.end());
      return more;
    };
    const Json streamed = json_of(annotated("optimize", {}, with({}))),
               kept = json_of(annotated("optimize", {pinned}, with({"--config-out", config, "--keep-all"})));
    QVERIFY2(kept["verified"]["passed"] == true, kept["verified"].dump(1).c_str());
    QCOMPARE(streamed["weight_budget"]["pinned_bytes"].get<int64_t>(), int64_t{0});
    const Json& b = kept["weight_budget"];
    QVERIFY2(b["pinned_bytes"].get<int64_t>() > 0 &&
                 b["pinned_bytes"].get<int64_t>() + b["slot_bytes"].get<int64_t>() <= b["budget_bytes"].get<int64_t>(),
             b.dump(1).c_str());
    QVERIFY2(kept["config"]["annotations"] == Json(std::vector<std::string>{pinned}), kept["config"].dump(1).c_str());
    const Json replayed = json_of(short_run("run", switch_model(), switch_data(), with({"--config", config})));
    // The plan alone: what only its fallbacks read is not there as long as no guard misses.
    QVERIFY2(replayed["verified"]["passed"] == true && replayed["weight_budget"]["pinned_bytes"].get<int64_t>() > 0 &&
                 replayed["weight_budget"]["pinned_bytes"] <= b["pinned_bytes"],
             replayed["weight_budget"].dump(1).c_str());
    Arguments inspect = {"inspect", switch_model(), "--annotate", pinned, "--text", "-"};
    QVERIFY(run_program(inspect).out.find(" @residency=pinned") != std::string::npos);
    VERIFY_REFUSED(annotated("run", {"*.weight.residency=pinned"}, {"--weight-budget", "21kB"}), "--weight-budget",
                   "are pinned (residency=pinned)");
    VERIFY_REFUSED(annotated("run", {"*.weight.residency=often"}), "--annotate",
                   "expected residency streamed or pinned");
  }

  void what_no_kernel_supports_is_one_line() {
    const auto refused = [](const std::string& text) { return annotated("run", {text}); };
    VERIFY_REFUSED(refused("no.such.kernel=linear.plain"), "--annotate", "the model has no node \"no.such\"");
    VERIFY_REFUSED(refused(kWi + ".speed=high"), "--annotate",
                   "\"speed\" is not an annotation (kernel, storage, format or residency)");
    VERIFY_REFUSED(refused(kWi), "--annotate", "is not NAME.KEY=WORD");
    VERIFY_REFUSED(
        refused(kWi + ".kernel=linear.fast"), "--annotate",
        "linear \"" + kWi + "\": expected kernel linear.panels, linear.blocks or linear.plain, got \"linear.fast\"");
    VERIFY_REFUSED(refused(kWi + ".storage=f64"), "--annotate", "expected storage f32 or bf16, got \"f64\"");
    VERIFY_REFUSED(refused(kWi + ".storage=bf16"), "--annotate",
                   "activation \"" + kAct + "\": no kernel reads %" + kWi + " in bf16");
    // inspect asks alike.
    for (const auto& [text, words] :
         {std::pair{"no.such.kernel=linear.plain"s, "has no node"},
          {kWi + ".kernel=linear.fast", "got \"linear.fast\""},
          {kWi + ".storage=bf16", "no kernel reads %"},
          {"input_ids.storage=bf16", "is an input, and storage is said of what nodes make"}}) {
      VERIFY_REFUSED(refused(text), "--annotate", words);
      VERIFY_REFUSED((Arguments{"inspect", switch_model(), "--annotate", text}), "--annotate", words);
    }
    const Json of_turns = json_of({"inspect", mixtral_model(), "--annotate", "step.hidden.kernel=reduce"});
    QVERIFY2(of_turns["warnings"].dump().find("only the graph of decoding has this name") != std::string::npos,
             of_turns.dump().c_str());
  }
};
STORMCELL_TEST(AnnotateTest)

}  // namespace stormcell::testing
#include "annotations_test.moc"
