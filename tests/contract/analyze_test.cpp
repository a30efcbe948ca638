// Figures of analyze beside loads: transitions, co-activation, another recording, slots of a server.
#include <cmath>
#include <random>

#include "tests/contract/imports.h"
#include "tests/contract/server_traces.h"

namespace stormcell::testing {
namespace {

bool is_near(const nlohmann::json& value, double expected) {
  return value.is_number() && std::abs(value.get<double>() - expected) < 1e-9;
}

/// A trace of tokens that are decoded one after the other, one expert a layer.
std::string decoded_trace(int steps, int layers, const std::function<int(int step, int layer)>& expert) {
  std::string text = "# route_trace v1\n# n_layer=" + std::to_string(layers) +
                     " n_expert=4 n_expert_used=1\nturn,phase,step,layer,slot,expert\n";
  for (int s = 0; s < steps; ++s)
    for (int l = 0; l < layers; ++l)
      text += "0,1," + std::to_string(s) + "," + std::to_string(l) + ",0," + std::to_string(expert(s, l)) + "\n";
  return text;
}
int in_turn(int step, int) { return step % 4; }
int always_first(int, int) { return 0; }

}  // namespace

class ContractAnalyzeTest : public QObject, private Imports {
  Q_OBJECT
  std::string session_of(const std::string& name, const std::string& trace, const char* extension = ".csv") {
    const std::string session = scratch_.path(name + ".storm");
    imported(scratch_.write(name + extension, trace), session);
    return session;
  }
  std::string text_of(const Arguments& arguments) {
    const Ended ended = run_program(arguments);
    if (ended.exit != 0) QTest::qFail(told(arguments, ended).c_str(), __FILE__, __LINE__);
    return ended.out;
  }
  Json against(const std::string& session, const std::string& other) {
    return json_of({"analyze", session, "--against", other, "--json", "-"})["against"];
  }

 private slots:
  void figures_stand_beside_those_of_an_even_router() {
    // Layer 0 is dealt in turn, layer 1 goes to branch 0 every second time.
    const std::string session = session_of("chance", decoded_trace(400, 2, [](int step, int layer) {
                                             return layer == 0 || step % 2 == 0 ? step / 2 % 4 : 0;
                                           }));
    const Json analysis = analyzed(session), even = analysis["routers"][0]["chance"],
               skewed = analysis["routers"][1]["chance"];
    QVERIFY(even["gini"]["beside"] == "more even" && even["gini"]["low"] > 0 && even["method"] == "draws");
    QVERIFY(skewed["imbalance"]["beside"] == "more skewed" && skewed["beyond"] == true);
    QVERIFY(skewed["imbalance"]["high"] < analysis["routers"][1]["imbalance_real"]["max_over_mean_minus_1"]);
    QVERIFY(skewed["entropy_bits"]["low"] > analysis["routers"][1]["entropy_bits_real"]);
    QVERIFY(analysis["transitions"][0]["likeliest_chance"]["method"] == "closed form");
    QVERIFY(analysis["transitions"][0]["pairs_tested"] == 16 && analysis["transitions"][0]["pairs_beyond"] > 0);
    QVERIFY(analysis["transitions"][0]["strongest"][0]["beyond_chance"].is_boolean());
    QVERIFY(analysis["chance"]["beyond"] == true && analysis["chance"]["coactivation_beyond"] == Json::array());
    QVERIFY(analysis["chance"]["random_tokens"]["looks_random"] == false);
    QVERIFY(text_of({"analyze", session}).find("beyond chance") != std::string::npos);
    const std::string page = text_of({"report", session, "-o", "-"});
    QVERIFY(page.find(" of 2 routers are beyond chance") != std::string::npos);
    QVERIFY(page.find("looks like random tokens") == std::string::npos);
  }

  void random_tokens_are_warned_of() {
    std::mt19937 random(3);
    const std::string session =
        session_of("random", decoded_trace(600, 1, [&](int, int) { return static_cast<int>(random() % 4); }));
    const Ended ended = run_program({"analyze", session});
    QVERIFY(ended.exit == 0 && ended.err.find("looks like random tokens") != std::string::npos);
    QCOMPARE(ended.err.find('\n'), ended.err.size() - 1);
    QVERIFY(analyzed(session)["chance"]["beyond"] == false);
    const std::string page = text_of({"report", session, "-o", "-"});
    for (const char* part : {"The loads are within chance", "This recording looks like random tokens",
                             "<g class=\"grey\">", "Grey rows are within chance."})
      QVERIFY2(page.find(part) != std::string::npos, part);
  }

  void transitions_are_told_with_their_share() {
    // 40 tokens go from 0 to 2, 15 from 1 to 3, 5 from 1 to 2.
    const std::string session =
        session_of("transitions", decoded_trace(60, 2, [](int step, int layer) {
                     return layer == 0 ? (step < 40 ? 0 : 1) : (step < 40 || step >= 55 ? 2 : 3);
                   }));
    const Json analysis = analyzed(session);
    QCOMPARE(analysis["transitions"].size(), size_t{1});
    const Json& edge = analysis["transitions"][0];
    QVERIFY(edge["router"] == analysis["routers"][0]["router"] && edge["next"] == analysis["routers"][1]["router"]);
    QCOMPARE(edge["pairs"].get<int64_t>(), int64_t{60});
    QVERIFY(is_near(edge["likeliest"], 55. / 60) && is_near(edge["likeliest_by_load"], 45. / 60));
    const Json expected = Json::parse(R"([
      {"branch": 0, "next_branch": 2, "cells": 40, "of_cells": 40, "probability": 1.0, "by_chance": 30.0},
      {"branch": 1, "next_branch": 3, "cells": 15, "of_cells": 20, "probability": 0.75, "by_chance": 5.0},
      {"branch": 1, "next_branch": 2, "cells": 5, "of_cells": 20, "probability": 0.25, "by_chance": 15.0}])");
    Json strongest = edge["strongest"];
    for (Json& pair : strongest) {
      QVERIFY(is_near(pair["lift"], pair["cells"].get<double>() / pair["by_chance"].get<double>()));
      pair.erase("lift"), pair.erase("beyond_chance");
    }
    QVERIFY2(strongest == expected, edge.dump().c_str());
    QVERIFY(analysis["coactivation"] == Json::array());
    const std::string text = text_of({"analyze", session});
    for (const char* part :
         {"transitions from", "91.7 %", "75.0 %", "#0 -> #2 100 %  #1 -> #3 75.0 %  #1 -> #2 25.0 %"})
      QVERIFY2(text.find(part) != std::string::npos, text.c_str());
    QVERIFY(text.find("chosen together") == std::string::npos);
  }

  void of_several_branches_a_cell_each_transition_goes_up_to_all() {
    // Each token takes an expert and the one behind it, at the next layer the one before and the same.
    TraceSize size;
    size.steps = 200;
    const std::string session = session_of("several", route_trace(size));
    const Json analysis = analyzed(session);
    QCOMPARE(analysis["transitions"].size(), size_t{2});
    for (const Json& edge : analysis["transitions"]) {
      QVERIFY2(is_near(edge["likeliest"], 1) && is_near(edge["strongest"][7]["probability"], 1), edge.dump().c_str());
      QVERIFY2(std::abs(edge["strongest"][8]["probability"].get<double>() - .5) < .02, edge.dump().c_str());
    }
    QCOMPARE(analysis["coactivation"].size(), size_t{3});
    for (const Json& router : analysis["coactivation"]) {
      QVERIFY2(router["strongest"].size() == 8, router.dump().c_str());
      for (const Json& pair : router["strongest"]) {
        const int64_t apart = pair["branches"][1].get<int64_t>() - pair["branches"][0].get<int64_t>();
        QVERIFY2(apart == 1 || apart == 7, pair.dump().c_str());
        // Each of 28 pairs by chance, one of 8 in truth.
        QVERIFY2(std::abs(pair["lift"].get<double>() - 3.5) < .1, pair.dump().c_str());
        QVERIFY(is_near(pair["lift"], pair["cells"].get<double>() / pair["by_chance"].get<double>()));
      }
    }
    const std::string text = text_of({"analyze", session});
    for (const char* part : {"chosen together above chance", " x", " + "})
      QVERIFY2(text.find(part) != std::string::npos, text.c_str());
  }

  void counts_have_neither() {
    const Json analysis = analyzed(session_of("counts", vllm_loads(), ".jsonl"));
    QVERIFY(analysis["transitions"].is_null() && analysis["coactivation"].is_null());
    QVERIFY(analysis["lacks"].dump().find("decisions") != std::string::npos && analysis["against"].is_null());
  }

  void another_recording_is_judged_as_the_halves_are() {
    const std::string one = session_of("one", decoded_trace(200, 1, in_turn)),
                      same = session_of("same", decoded_trace(200, 1, in_turn)),
                      other = session_of("other", decoded_trace(200, 1, always_first));
    const Json halves = analyzed(one)["drift"], alike = against(one, same), unlike = against(one, other + "#1");
    for (const auto& [key, value] : halves.items()) QVERIFY2(unlike["drift"][key].is_number(), key.c_str());
    QCOMPARE(unlike["drift"].size(), halves.size());
    QVERIFY(unlike["session"].get<std::string>() == other && unlike["run"] == 1 && unlike["status"] == "finished" &&
            unlike["why_not"].is_null());
    QVERIFY2(is_near(alike["drift"]["total_variation"], 0) && is_near(alike["drift"]["confidence"], 0),
             alike.dump().c_str());
    QVERIFY2(is_near(unlike["drift"]["total_variation"], .75) && unlike["drift"]["blocks"] == 50,
             unlike.dump().c_str());
    QVERIFY2(unlike["drift"]["p_value"].get<double>() <= .005, unlike.dump().c_str());
    const Arguments older = {"analyze", one, "--against", other};
    const Ended ended = run_program(older);
    QVERIFY2(ended.err == "stormcell: warning: --against is a verb of its own: stormcell drift A B\n",
             told(older, ended).c_str());
    const Json newer = json_of({"drift", one, other, "--json", "-"});
    QVERIFY2(newer["schema"] == "stormcell.drift/1" && newer["drift"] == unlike["drift"] && newer["differ"] == true &&
                 newer["b"]["session"] == other,
             newer.dump().c_str());
    QVERIFY(text_of({"drift", one, other}).starts_with(one + "#1 goes elsewhere than " + other + "#1.\n"));
    const std::string& text = ended.out;
    for (const std::string& part :
         {"drift from " + other + "#1: total variation 0.750, by chance ", std::string("(they differ, p = ")})
      QVERIFY2(text.find(part) != std::string::npos, text.c_str());
  }

  void counts_are_judged_by_their_steps() {
    const auto counts = [](const std::string& step) {
      std::string steps;
      for (int i = 0; i < 40; ++i) steps += (i > 0 ? "," : "") + step;
      return "{\"logical_count\": [" + steps + "]}";
    };
    const std::string one = session_of("steps-one", counts("[[8,1,1,8]]"), ".json"),
                      other = session_of("steps-other", counts("[[1,8,8,1]]"), ".json");
    const Json drift = against(one, other)["drift"];
    QVERIFY2(is_near(drift["total_variation"], 7. / 9) && drift["blocks"] == 10, drift.dump().c_str());
    QVERIFY2(drift["p_value"].get<double>() <= .05, drift.dump().c_str());
  }

  void too_few_steps_are_not_judged() {
    const std::string one = session_of("long", decoded_trace(200, 1, in_turn)),
                      other = session_of("short", decoded_trace(15, 1, in_turn));
    const Json judged = against(one, other);
    QVERIFY2(judged["drift"].is_null() && judged["why_not"].get<std::string>().find("too few steps") == 0,
             judged.dump().c_str());
    QVERIFY(text_of({"analyze", one, "--against", other}).find("#1: not judged: too few steps: ") != std::string::npos);
  }

  void recordings_of_other_models_are_refused() {
    const std::string session = session_of("made", route_trace()), wider = session_of("wider", route_trace({3, 16}));
    const auto refused = [&](const std::string& other, const std::string& where, const std::string& words) {
      VERIFY_REFUSED((Arguments{"analyze", session, "--against", other}), where, words);
    };
    refused(wider, wider,
            "is of another model than " + session + ": 3 routers of 16 branches and not 3 routers of 8 branches");
    refused("no/such.storm", "no/such.storm", "no such file");
    // For models that ran here their weights say it.
    const ModelCopy copy;
    copy.poison("shared.weight", .25f);
    const auto profiled = [&](const std::string& model, const std::string& name) {
      const Arguments arguments = short_run("profile", model, switch_data(), {"-o", scratch_.path(name)});
      VERIFY_DONE(run_program(arguments), arguments);
    };
    profiled(switch_model(), "weights.storm"), profiled(copy.folder(), "other-weights.storm");
    const std::string other = scratch_.path("other-weights.storm");
    VERIFY_REFUSED((Arguments{"analyze", scratch_.path("weights.storm"), "--against", other}), other,
                   "is of another model than " + scratch_.path("weights.storm") + ": " + copy.folder() + " and not " +
                       switch_model());
  }

  void a_recording_whose_model_is_not_known_is_judged_with_a_doubt() {
    TraceSize size;
    size.steps = 200;
    const std::string session = session_of("named", route_trace(size)),
                      same = session_of("named-alike", route_trace(size)),
                      renamed = session_of("renamed", route_trace(size, "other.gguf"));
    QVERIFY(against(session, same)["doubt"].is_null());
    const std::string doubt =
        "nobody knows whether " + renamed + "#1 is of this model: it is named other.gguf and not made-up.gguf";
    const Json judged = against(session, renamed);
    QVERIFY2(judged["drift"].is_object() && judged["doubt"].get<std::string>().starts_with(doubt),
             judged.dump().c_str());
    // It stands behind the conclusion that it casts doubt on, and in the details.
    const std::string text = text_of({"analyze", session, "--against", renamed}),
                      all = text_of({"analyze", session, "--against", renamed, "--all"});
    QVERIFY2(text.substr(0, text.find("\n\n")).find(". N" + doubt.substr(1)) != std::string::npos, text.c_str());
    QVERIFY2(all.find("\n" + doubt) != std::string::npos, all.c_str());
    const char* const counts = R"({"logical_count": [[8,1,1,8]]})";
    const Json unnamed = against(session_of("unnamed", counts, ".json"), session_of("unnamed-too", counts, ".json"));
    QVERIFY2(unnamed["doubt"].get<std::string>().find("a trace did not name its own") != std::string::npos,
             unnamed.dump().c_str());
  }

  void slots_are_told_where_a_server_counted_them() {
    const std::string line =
        R"({"record_type":"eplb_load_stats","version":1,"step":7,"num_ranks":2,"num_layers":1,"tokens":[[3,2]],"expert_load":[[2,5,1,2]],"p2l_map":[[0,1,2,0]]})";
    const std::string session = session_of("slots", line + "\n", ".jsonl");
    const Json analysis = analyzed(session);
    for (const Json& imbalance : {analysis["routers"][0]["imbalance"], analysis["imbalance"]}) {
      QVERIFY2(is_near(imbalance["max_over_mean_minus_1"], .5), imbalance.dump().c_str());  // 4, 5 and 1 of the experts
      QVERIFY2(is_near(imbalance["trtllm_by_slot"], 1) && is_near(imbalance["trtllm_by_rank"], .4),
               imbalance.dump().c_str());
    }
    const std::string text = text_of({"analyze", session});
    for (const char* part : {"by slot", "by GPU", "TensorRT-LLM"})
      QVERIFY2(text.find(part) != std::string::npos, text.c_str());
    // Experts moved between the steps of the other: what a slot got is not what its expert got.
    const std::string moved = session_of("moved", vllm_loads(), ".jsonl");
    QVERIFY(analyzed(moved)["imbalance"]["trtllm_by_slot"].is_null());
    QVERIFY(text_of({"analyze", moved}).find("by slot") == std::string::npos);
  }
};

STORMCELL_TEST(ContractAnalyzeTest)

}  // namespace stormcell::testing

#include "analyze_test.moc"
