// Results of simulate beside measured ones: loads that were recorded under a placement, and calls of a cluster.
#include <cmath>
#include <filesystem>

#include "core/formats/file_text.h"
#include "tests/contract/simulations.h"

namespace stormcell::testing {

class ContractSimulateMeasuredTest : public QObject, private Simulations {
  Q_OBJECT

  // Steps of one layer of vLLM, 4 experts in 6 slots on 2 GPUs, as its open pull request writes them.
  std::string vllm_steps(const std::string& name, const std::vector<std::string>& loads, const std::string& map,
                         int ranks = 2) {
    std::string lines;
    for (size_t s = 0; s < loads.size(); ++s)
      lines += R"({"record_type":"eplb_load_stats","version":1,"step":)" + std::to_string(s) + R"(,"num_ranks":)" +
               std::to_string(ranks) + R"(,"num_layers":1,"tokens":[[1,1]],"expert_load":[)" + loads[s] +
               R"(],"p2l_map":[)" + map + "]}\n";
    const std::string session = scratch_.path(name + ".storm");
    imported(scratch_.write(name + ".jsonl", lines), session);
    return session;
  }

  // Calls of the cluster's own links: start-up 40 us, 4 us a row of a GPU's network port.
  std::string calls(const std::string& name, double factor) {
    std::string rows =
        "id,op,gpu,laboratory,nodes,ranks,gpus_per_node,nic_gbit,tokens_per_rank,top_k,bytes_per_copy,hidden,us,"
        "source\n";
    for (const std::string op : {"dispatch", "combine"})
      for (const int tokens : {1, 4, 16, 64, 256})
        rows += op + std::to_string(tokens) + "," + op + ",G,here,2,4,2,80," + std::to_string(tokens) + ",2,128,64," +
                std::to_string(factor * (40 + 4. * tokens)) + ",planted\n";
    const std::string file = scratch_.path(name + ".json");
    json_of({"calibrate", scratch_.write(name + ".csv", rows), "-o", file, "--json", "-"});
    return file;
  }

 private slots:
  void what_a_placement_promised_stands_beside_what_was_recorded_under_it() {
    const std::string two = scratch_.write(
        "pair.json", QString(kTwoNodes).replace("\"gpus_per_node\": 2", "\"gpus_per_node\": 1").toStdString());
    const std::string before = vllm_steps("before", {"[40,20,20,20,0,0]", "[40,20,20,20,0,0]"}, "[0,1,2,3,0,1]");
    // as vLLM's other pull request reads it
    const std::string placement = scratch_.write("deployed.json", "[[0,1,2,0,3,1]]");
    // In each step the GPUs would get 20 + 10 + 20 and 20 + 20 + 10. Recorded by slots are 75 and 20; the experts' 40,
    // 30, 15 and 10 shared evenly make 20 + 15 + 15 and 20 + 10 + 15.
    const std::vector<std::string> steps(2, "[35,25,15,5,10,5]");
    const std::string after = vllm_steps("after", steps, "[0,1,2,0,3,1]");
    const auto compared = [&](const std::string& session, const std::string& named, const Arguments& more) {
      Arguments all = {"simulate", session, "--cluster",   two,   "--hidden", "64",
                       "--ffn",    "32",    "--placement", named, "--json",   "-"};
      all.insert(all.end(), more.begin(), more.end());
      return json_of(all)["deployment"];
    };
    const Json d = compared(after, placement, {"--made-from", before});
    QVERIFY2(d["made_from"]["session"] == before && d["made_from"]["run"] == 1 && d["why_not_slots"].is_null(),
             d.dump().c_str());
    for (const Json& told : {d["imbalance"], d["layers"][0]["imbalance"]}) {
      QVERIFY2(
          std::abs(told["predicted"].get<double>()) < 1e-12 && near(told["shared_evenly"].get<double>(), 50 / 47.5 - 1),
          told.dump().c_str());
      QVERIFY(near(told["recorded"].get<double>(), 75 / 47.5 - 1) &&
              near(told["difference"].get<double>(), 75 / 47.5 - 1));
    }
    const Ended text = run_program({"simulate", after, "--cluster", two, "--hidden", "64", "--ffn", "32", "--placement",
                                    placement, "--made-from", before});
    QVERIFY2(text.exit == 0 && text.out.find("recorded, shared evenly") != std::string::npos, text.err.c_str());
    // A stored placement says itself which run it was searched for; of that run there is nothing to compare.
    const Json placed = json_of({"place", before, "--cluster", two, "--redundant", "2", "--solver", "keep", "--from",
                                 placement, "--hidden", "64", "--ffn", "32", "--json", "-"});
    const std::string stored = before + "#" + std::to_string(placed["placement"].get<int>());
    QVERIFY(compared(after, stored, {}) == d);
    QVERIFY(compared(before, stored, {}).is_null() && compared(after, placement, {}).is_null());
    // If slots say nothing of this placement, their experts' loads still do.
    const auto without_slots = [&](const std::string& session, const std::string& why) {
      const Json j = compared(session, placement, {"--made-from", before});
      return j["layers"][0]["imbalance"]["recorded"].is_null() &&
             j["why_not_slots"].get<std::string>().find(why) != std::string::npos &&
             near(j["imbalance"]["difference"].get<double>(), j["imbalance"]["shared_evenly"].get<double>());
    };
    // Which slot of its GPU holds an expert says nothing.
    QVERIFY(compared(vllm_steps("turned", steps, "[1,0,2,1,3,0]"), placement, {"--made-from", before})["why_not_slots"]
                .is_null());
    QVERIFY(without_slots(vllm_steps("moved", steps, "[0,1,3,0,2,1]"), "another placement"));
    QVERIFY(without_slots(vllm_steps("more", steps, "[0,1,2,0,3,1]", 3), "recorded on 3 GPUs"));
    QVERIFY(without_slots(scratch_counts(), "does not say what each slot got"));
    VERIFY_REFUSED(
        (Arguments{"simulate", after, "--cluster", two, "--hidden", "64", "--ffn", "32", "--made-from", before}),
        "--made-from", "none is named");
    VERIFY_REFUSED((Arguments{"simulate", after, "--cluster", two, "--hidden", "64", "--ffn", "32", "--placement",
                              placement, "--made-from", traced("another model")}),
                   "--made-from", "has 3 layers of 8 experts, the recorded run 1 of 4");
    VERIFY_REFUSED((Arguments{"simulate", after, "--cluster", two, "--hidden", "64", "--ffn", "32", "--placement",
                              placement, "--made-from", after}),
                   "--made-from", "is the recorded run itself");
  }

  void measured_calls_say_start_up_and_rate() {
    const std::string session = traced("calibrated");
    const std::string own = scratch_.write(
        "own.json",
        QString(kTwoNodes).replace("\"memory_bytes\"", "\"name\": \"G 80GB\", \"memory_bytes\"").toStdString());
    const auto on_own = [&](const Arguments& more) {
      Arguments all = {"simulate", session, "--cluster",         own,  "--hidden", "64",
                       "--ffn",    "32",    "--tokens-per-step", "64", "--json",   "-"};
      all.insert(all.end(), more.begin(), more.end());
      return json_of(all);
    };
    const Json plain = on_own({}), j = on_own({"--calibration", calls("own-calls", 1)}),
               slower = on_own({"--calibration", calls("slower", 1.3)});
    QVERIFY(plain["calibration"].is_null() && plain["calibrated"].is_null());
    QCOMPARE(j["calibration"]["phases"].size(), size_t{3});
    QCOMPARE(j["calibration"]["tokens_per_step"].get<double>(), 64.);
    for (const size_t i : {0, 2}) {
      const Json& p = j["calibration"]["phases"][i];
      // 16 tokens on each of 4 GPUs: 32 rows, half of which leave the node.
      QVERIFY2(p["kind"] == "interpolated" && near(p["us"].get<double>(), 40 + 4. * 16) && p["why_not"].is_null(),
               p.dump().c_str());
      QVERIFY(std::abs(p["t0_us"].get<double>() - 40) < 1e-6 && p["held_out_error"].is_number() && !p["from"].empty());
    }
    const Json& experts = j["calibration"]["phases"][1];
    QVERIFY(experts["kind"].is_null() && experts["us"].is_null() &&
            experts["why_not"] == "no products of G 80GB were measured");
    QVERIFY(j["calibrated"]["kind"] == "interpolated" && j["calibrated"]["share"].get<double>() > 0.5 &&
            j["calibrated"]["held_out_error"].get<double>() < 1e-6);
    for (size_t l = 0; l < j["layers"].size(); ++l) {
      const Json &a = plain["layers"][l], &b = j["layers"][l], &c = slower["layers"][l];
      QCOMPARE(b["compute_ms"].get<double>(), a["compute_ms"].get<double>());
      for (const char* way : {"dispatch_ms", "combine_ms"})
        QVERIFY(b[way].get<double>() > 0.04 && near(c[way].get<double>(), 1.3 * b[way].get<double>()));
    }
    QVERIFY(j["sensitivity"].dump().find("start of calls") != std::string::npos &&
            plain["sensitivity"].dump().find("start") == std::string::npos);
    // place costs the same steps alike.
    const Json placed = json_of({"place", session, "--cluster", own, "--fit-fraction", "1", "--hidden", "64", "--ffn",
                                 "32", "--tokens-per-step", "64", "--calibration", calls("again", 1), "--json", "-"});
    const Json& contiguous = placed["layouts"][0]["fit"];
    QVERIFY(near(j["step_ms"]["mean"].get<double>(), contiguous["objective"].get<double>()));
    QCOMPARE(placed["calibration"]["phases"].dump(), j["calibration"]["phases"].dump());
    QCOMPARE(contiguous["calibrated"].dump(), j["calibrated"].dump());
    // One exchange in time: the same start, and rates that are slower by as much.
    const Json c = on_own({"--calibration", calls("collective", 1), "--collective", "1"})["collective"]["dispatch"];
    QVERIFY(c["closed_form_ms"].get<double>() > 0.04 &&
            c["filled_ms"].get<double>() >= c["closed_form_ms"].get<double>() * (1 - 1e-9));
    const Ended text = run_program(
        {"simulate", session, "--cluster", own, "--hidden", "64", "--ffn", "32", "--calibration", calls("text", 1)});
    VERIFY_DONE(text, Arguments{"simulate"});
    QVERIFY2(text.out.find("no products of G 80GB were measured") != std::string::npos &&
                 text.out.find("held out") != std::string::npos,
             text.out.c_str());
  }

  // Published calls: what they say of two clusters, and all of it 1.3 times as much where the calls take 1.3 times as
  // long.
  void calls_of_laboratories_are_taken_data() {
    QTest::addColumn<QString>("cluster");
    QTest::addColumn<QString>("kind");
    QTest::newRow("within a node") << "preset:8x-h200"
                                   << "extrapolated";
    QTest::newRow("over a network") << "preset:2x8-h100"
                                    << "borrowed";
  }
  void calls_of_laboratories_are_taken() {
    QFETCH(QString, cluster);
    QFETCH(QString, kind);
    if (shared_folder().empty()) QSKIP("../shared is not there");
    const std::string session = scratch_.path("laboratories.storm"), file = scratch_.path("laboratories.json");
    if (!std::filesystem::exists(session))
      imported(scratch_.write("laboratories.csv", route_trace({2, 16, 2, 3, 40, 1})), session);
    json_of({"calibrate", shared_folder() + "/data/calls/measured.csv", "-o", file, "--json", "-"});
    Json calls = Json::parse(read_file_text(file, 1 << 20));
    for (Json& c : calls["calls"]) c["us"] = 1.3 * c["us"].get<double>();
    const std::string slower = scratch_.write("laboratories-slower.json", calls.dump());
    const auto on = [&](Arguments more) {
      const Arguments common = {"simulate",          session, "--cluster", cluster.toStdString(),
                                "--hidden",          "2048",  "--ffn",     "768",
                                "--tokens-per-step", "1024",  "--json",    "-"};
      more.insert(more.begin(), common.begin(), common.end());
      return json_of(more);
    };
    const Json sheets = on({}), a = on({"--calibration", file}), b = on({"--calibration", slower});
    QVERIFY2(a["calibrated"]["kind"] == kind.toStdString(), a["calibration"].dump().c_str());
    QVERIFY(a["calibrated"]["held_out_error"].get<double>() < 0.2);
    // bf16 experts; the products were measured in 8 bits.
    QVERIFY(a["calibration"]["phases"][1]["kind"].is_null() && a["calibration"]["phases"][1]["why_not"].is_string());
    for (size_t l = 0; l < a["layers"].size(); ++l)
      for (const char* way : {"dispatch_ms", "combine_ms"}) {
        QVERIFY(a["layers"][l][way].get<double>() > sheets["layers"][l][way].get<double>());
        QVERIFY(near(b["layers"][l][way].get<double>(), 1.3 * a["layers"][l][way].get<double>()));
      }
  }

  void a_calibration_that_is_wrong_is_refused() {
    const std::string session = traced("wrong-calibration");
    const std::string negative =
        scratch_.write("negative.json", R"({"schema": "stormcell.calibration/1", "calls": [{"id": "a", "op": "dispatch",
 "gpu": "G", "nodes": 1, "ranks": 4, "tokens_per_rank": 8, "top_k": 2, "bytes_per_copy": 128, "us": -4}]})");
    for (const std::string verb : {"place", "simulate"}) {
      const auto refused = [&](const std::string& file, const std::string& where, const std::string& words) {
        VERIFY_REFUSED(
            (Arguments{verb, session, "--cluster", cluster_, "--hidden", "64", "--ffn", "32", "--calibration", file}),
            where, words);
      };
      const std::string missing = scratch_.path("missing.json"),
                        other = scratch_.write("other.json", R"({"schema": "stormcell.place/1"})"),
                        cut = scratch_.write("cut.json", "{\"schema\": \"stormc");
      refused(missing, missing, "");
      refused(other, other,
              "is a file of figures that this program wrote, schema \"stormcell.place/1\", not a calibration");
      refused(cut, cut, "line 1");
      refused(negative, negative, "call 0: us is not a number from 0");
      VERIFY_REFUSED((Arguments{verb, session, "--cluster", cluster_, "--calibration", negative}), session,
                     "does not say the sizes of the model");
    }
    const std::string counts = scratch_.path("one-sum.storm");
    imported(scratch_.write("one-sum.json", R"({"logical_count": [[8,1,1,8]]})"), counts);
    VERIFY_REFUSED(
        (Arguments{"place", counts, "--cluster", cluster_, "--hidden", "64", "--ffn", "32", "--calibration", negative}),
        "--calibration", "is about steps, and the data is one sum of many");
  }
};

STORMCELL_TEST(ContractSimulateMeasuredTest)

}  // namespace stormcell::testing

#include "simulate_measured_test.moc"
