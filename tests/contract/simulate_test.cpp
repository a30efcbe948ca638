// Steps of a recorded routing on GPUs that are not there: figures that agree with those of place, and refusals.
#include <cmath>

#include "core/formats/file_text.h"
#include "tests/contract/simulations.h"

namespace stormcell::testing {

class ContractSimulateTest : public QObject, private Simulations {
  Q_OBJECT
 private slots:
  void the_contiguous_layout_costs_what_place_says_of_it() {
    const std::string session = traced("same");
    const Json j = simulated(session);
    QCOMPARE(j["schema"].get<std::string>(), std::string("stormcell.simulate/1"));
    QCOMPARE(j["kind"].get<std::string>(), std::string("simulated"));
    const Json placed = json_of({"place", session, "--cluster", cluster_, "--fit-fraction", "1", "--hidden", "64",
                                 "--ffn", "32", "--json", "-"});
    const Json& contiguous = placed["layouts"][0]["fit"];
    QVERIFY(near(j["step_ms"]["mean"].get<double>(), contiguous["objective"].get<double>()));
    QVERIFY(near(j["step_ms"]["p95"].get<double>(), contiguous["step_ms"]["p95"].get<double>()));
    QVERIFY(near(sum_of(j["layers"], "compute_ms"), contiguous["step_ms"]["compute"].get<double>()));
    QVERIFY(near(sum_of(j["gpus"], "sent_bytes"), sum_of(j["gpus"], "received_bytes")));
    QCOMPARE(j["gpus"].size(), size_t{4});
    QVERIFY(j["tokens_per_s"].is_null() && !j["sensitivity"].empty() && !j["assumptions"].empty());
    const Ended text = run_program({"simulate", session, "--cluster", cluster_, "--hidden", "64", "--ffn", "32"});
    VERIFY_DONE(text, Arguments{"simulate"});
    QVERIFY(text.out.find("simulated") != std::string::npos && text.out.find("assumed") != std::string::npos);
    for (const char* words :
         {"us in a step, simulated", "computes, us", "(--hidden, --ffn; taken as gated: 3 matrices)"})
      QVERIFY2(text.out.find(words) != std::string::npos, text.out.c_str());
    const std::string warnings = placed["warnings"].dump();
    QVERIFY2(warnings.find("nothing is held out") != std::string::npos &&
                 warnings.find("what is held out") == std::string::npos,
             warnings.c_str());
  }

  void what_little_was_recorded_is_said() {
    const std::string session = scratch_.path("little.storm");
    imported(scratch_.write("little.csv", route_trace({3, 8, 2, 3, 40, 1})), session);
    const std::string warnings = simulated(session, {"--tokens-per-step", "4300"})["warnings"].dump();
    for (const char* words :
         {"steps of 4,300 tokens are drawn from 4", "so fewer experts are met", "the trace is one request"})
      QVERIFY2(warnings.find(words) != std::string::npos, warnings.c_str());
    const std::string two = simulated(traced("two requests"))["warnings"].dump();
    QVERIFY2(two.find("one request") == std::string::npos && two.find("drawn") == std::string::npos, two.c_str());
  }

  void a_stored_placement_is_simulated_by_its_number() {
    const std::string session = traced("stored");
    const Json placed =
        json_of({"place", session, "--cluster", cluster_, "--redundant", "4", "--solver", "joint", "--fit-fraction",
                 "1", "--hidden", "64", "--ffn", "32", "--time-limit", "0.5", "--repeatable", "--json", "-"});
    const Json j = simulated(session, {"--placement", "#" + std::to_string(placed["placement"].get<int>())});
    QCOMPARE(j["slots"].get<int>(), placed["slots"].get<int>());
    QVERIFY(near(j["step_ms"]["mean"].get<double>(), placed["layouts"][2]["fit"]["objective"].get<double>()));
  }

  void tokens_may_follow_their_heaviest_expert() {
    const std::string session = traced("follow");
    const Json home = simulated(session), follow = simulated(session, {"--residence", "follow"});
    QVERIFY(home["residence"] == "home" && follow["residence"] == "follow");
    QVERIFY(follow["assumptions"].dump().find("an experiment") != std::string::npos);
    // The heaviest of two experts says it where the token goes on: of what comes back only the other one's half
    // travels.
    QVERIFY(follow["remote_bytes"].get<double>() < home["remote_bytes"].get<double>());
    for (size_t l = 0; l < home["layers"].size(); ++l)
      QCOMPARE(follow["layers"][l]["compute_ms"].get<double>(), home["layers"][l]["compute_ms"].get<double>());
    QVERIFY(near(sum_of(follow["gpus"], "sent_bytes"), sum_of(follow["gpus"], "received_bytes")));
    const Json placed = json_of({"place", session, "--cluster", cluster_, "--fit-fraction", "1", "--hidden", "64",
                                 "--ffn", "32", "--residence", "follow", "--json", "-"});
    QVERIFY(placed["residence"] == "follow" && placed["warnings"].dump().find("an experiment") != std::string::npos);
    QVERIFY(near(placed["layouts"][0]["fit"]["objective"].get<double>(), follow["step_ms"]["mean"].get<double>()));
    const Arguments common = {"simulate", session, "--cluster", cluster_,     "--hidden",
                              "64",       "--ffn", "32",        "--residence"};
    const auto with = [&](const Arguments& more) {
      Arguments all = common;
      all.insert(all.end(), more.begin(), more.end());
      return all;
    };
    VERIFY_REFUSED(with({"somewhere"}), "--residence", "\"somewhere\" is not known (one of home, follow)");
    VERIFY_REFUSED(with({"follow", "--replicas", "nearest"}), "--residence",
                   "which replica is nearest depends on where the token is");
    // Behind the first layer everybody knows where a token is, so rows of 64 numbers are whole; of a prompt of 5 tokens
    // at most one row each comes to where its heaviest expert is, from the other one.
    const Json exchange = simulated(session, {"--residence", "follow", "--collective", "1"})["collective"];
    const auto rows = [&](const char* way) { return exchange[way]["bytes"].get<double>() / (64 * 2); };
    QVERIFY(rows("dispatch") > 0 && rows("dispatch") == std::round(rows("dispatch")) &&
            rows("combine") == std::round(rows("combine")));
    QVERIFY(rows("combine") > 0 && rows("combine") <= 5);
    QVERIFY(exchange["dispatch"]["messages_are_means"] == false && exchange["combine"]["messages_are_means"] == false);
    for (const char* way : {"dispatch", "combine"})
      QVERIFY(exchange[way]["filled_ms"].get<double>() >= exchange[way]["closed_form_ms"].get<double>() * (1 - 1e-9));
    const std::string unweighted = scratch_.path("unweighted.storm");
    imported(scratch_.write("unweighted.json", router_trace()), unweighted);
    VERIFY_REFUSED((Arguments{"simulate", unweighted, "--cluster", cluster_, "--hidden", "64", "--ffn", "32",
                              "--residence", "follow"}),
                   "--residence", "the weights of single choices, and the data lacks them");
    VERIFY_REFUSED((Arguments{"place", scratch_counts(), "--cluster", cluster_, "--residence", "follow"}),
                   "--residence", "the data has counts");
    // A search whose aim is what steps cost follows them too; exactly it is done for few arrangements of two layers.
    const Json searched =
        json_of({"place", session, "--cluster", cluster_, "--fit-fraction", "1", "--hidden", "64", "--ffn", "32",
                 "--residence", "follow", "--solver", "joint", "--time-limit", "0.5", "--json", "-"});
    QVERIFY(searched["layouts"][2]["fit"]["objective"].get<double>() <=
            searched["layouts"][1]["fit"]["objective"].get<double>());
    VERIFY_REFUSED((Arguments{"place", session, "--cluster", cluster_, "--hidden", "64", "--ffn", "32", "--residence",
                              "follow", "--solver", "exact"}),
                   "--solver",
                   "more than 100 arrangements a layer, each after each of the layer before: 8 experts on 4 GPUs");
  }

  void what_does_not_divide_is_told_by_what_there_is() {
    const std::string session = traced("divides"),
                      three = scratch_.write("three.json", QString(kTwoNodes)
                                                               .replace("\"nodes\": 2", "\"nodes\": 3")
                                                               .replace("\"gpus_per_node\": 2", "\"gpus_per_node\": 1")
                                                               .toStdString());
    const Arguments simulate = {"simulate", session, "--cluster", three, "--hidden", "64", "--ffn", "32"};
    VERIFY_REFUSED(
        simulate, "--cluster",
        "do not divide among 3 GPUs (--placement of one with spare slots, which stormcell place --redundant");
  }

  void a_word_that_is_no_phase_is_refused() {
    const std::string session = traced("phase");
    for (const char* word : {"each", "decoding"})
      VERIFY_REFUSED(
          (Arguments{"simulate", session, "--cluster", cluster_, "--hidden", "64", "--ffn", "32", "--phase", word}),
          "--phase", "is not a phase of a placement (prefill or decode");
  }

  void dropped_choices_are_counted() {
    std::string text = route_trace();
    const std::string columns = "weight,residency,expert_bytes\n";
    const size_t head = text.find(columns) + columns.size();
    std::string dropping = text.substr(0, head - 1) + ",dropped\n";
    int64_t row = 0;
    for (size_t at = head; at < text.size();) {  // of every tenth cell the second choice
      const size_t end = text.find('\n', at);
      dropping += text.substr(at, end - at) + (row++ % 20 == 1 ? ",1\n" : ",0\n");
      at = end + 1;
    }
    const std::string session = scratch_.path("dropped.storm");
    imported(scratch_.write("dropped.csv", dropping), session);
    const int64_t dropped = (row + 18) / 20;
    const Json j = simulated(session);
    QCOMPARE(j["dropped_choices"].get<int64_t>(), dropped);
    QVERIFY(j["assumptions"].dump().find(std::to_string(dropped) + " choices dropped by capacity cost nothing") !=
            std::string::npos);
    // Choices that were dropped then do not come back.
    const Json wide = simulated(session, {"--capacity-factor", "8"});
    QVERIFY2(wide["capacity"]["dropped"] == 0 && wide["capacity"]["lossless"] == false,
             wide["capacity"].dump().c_str());
    QVERIFY(wide["warnings"].dump().find("no capacity factor is lossless here") != std::string::npos);
    QVERIFY(j["warnings"].dump().find("lossless") == std::string::npos);
    const Json prefill = simulated(session, {"--phase", "prefill"}), decode = simulated(session, {"--phase", "decode"});
    QCOMPARE(prefill["dropped_choices"].get<int64_t>() + decode["dropped_choices"].get<int64_t>(), dropped);
    const Json placed = json_of({"place", session, "--cluster", cluster_, "--json", "-"});
    QCOMPARE(placed["dropped_choices"].get<int64_t>(), dropped);
    QVERIFY(placed["warnings"].dump().find("dropped by capacity are in no figure") != std::string::npos);
    QCOMPARE(simulated(traced("kept"))["dropped_choices"].get<int64_t>(), int64_t{0});
  }

  void what_a_capacity_would_drop_is_told() {
    const std::string session = traced("capacity");
    const Json whole = simulated(session), wide = simulated(session, {"--capacity-factor", "8"}),
               tight = simulated(session, {"--capacity-factor", "0.5"});
    QVERIFY(whole["capacity"].is_null() && whole["assumptions"].dump().find("capacity factor") == std::string::npos);
    // Enough for all: nothing is otherwise.
    QVERIFY2(wide["capacity"]["dropped"] == 0 && wide["capacity"]["dropped_share"] == 0 &&
                 wide["capacity"]["lossless"] == true,
             wide["capacity"].dump().c_str());
    for (const char* key : {"step_ms", "remote_bytes", "wire_bytes", "tokens_per_step", "layers", "links"})
      QVERIFY2(wide[key] == whole[key], key);
    const Json& c = tight["capacity"];
    const double share = c["dropped_share"].get<double>();
    QVERIFY2(c["factor"] == 0.5 && c["lossless"] == false && share > 0 && share < 1, c.dump().c_str());
    QVERIFY(near(share, c["dropped"].get<double>() / c["choices"].get<double>()) && tight["dropped_choices"] == 0);
    QVERIFY(tight["remote_bytes"].get<double>() < whole["remote_bytes"].get<double>());
    QVERIFY(near(tight["tokens_per_step"].get<double>(),
                 whole["tokens_per_step"].get<double>()));  // dropped choices are no tokens
    QVERIFY(tight["assumptions"].dump().find(
                "dropped at no cost, by a capacity factor of 0.5: not lossless, the model would answer") !=
            std::string::npos);
    const Arguments verb = {"simulate", session, "--cluster",         cluster_, "--hidden", "64",
                            "--ffn",    "32",    "--capacity-factor", "0.5"};
    const Ended text = run_program(verb);
    VERIFY_DONE(text, verb);
    QVERIFY2(text.out.find("% of them, by a capacity factor of 0.5: not lossless") != std::string::npos,
             text.out.c_str());
    // Halves of a step share its places, and an exchange is of what is left.
    const Json halves = simulated(session, {"--capacity-factor", "0.5", "--overlap", "two-batch", "--collective", "0"});
    QVERIFY(halves["capacity"] == c &&
            near(halves["step_ms"]["without_overlap"].get<double>(), tight["step_ms"]["mean"].get<double>()));
    QVERIFY(halves["collective"]["dispatch"]["bytes"].get<double>() <
            simulated(session, {"--collective", "0"})["collective"]["dispatch"]["bytes"].get<double>());
    // From the counts 90, 60, 30 and 20 of 200 at most 50 each stay.
    const Json counts = json_of({"simulate", scratch_counts(), "--cluster", cluster_, "--hidden", "64", "--ffn", "32",
                                 "--capacity-factor", "1", "--json", "-"});
    QVERIFY2(near(counts["capacity"]["dropped_share"].get<double>(), 50. / 200), counts["capacity"].dump().c_str());
    for (const char* factor : {"0", "nan", "many", "1e9"})
      VERIFY_REFUSED((Arguments{"simulate", session, "--cluster", cluster_, "--hidden", "64", "--ffn", "32",
                                "--capacity-factor", factor}),
                     "--capacity-factor", "a factor above 0, at most 1000");
    SmallTrace stepless;
    stepless.about["lacks"] = "steps";
    const std::string unknown = scratch_.path("stepless.storm");
    imported(stepless.write(scratch_.path("stepless.safetensors")), unknown);
    VERIFY_REFUSED((Arguments{"simulate", unknown, "--cluster", cluster_, "--hidden", "64", "--ffn", "32",
                              "--capacity-factor", "1"}),
                   "--capacity-factor", "does not say which tokens were one step (--tokens-per-step N");
  }

  void pages_of_a_placement_and_of_a_simulation() {
    const std::string session = traced("pages"), placed = scratch_.path("placed.html"),
                      page = scratch_.path("simulated.html");
    const Arguments place = {"place",    session, "--cluster",    cluster_, "--hidden",    "64", "--ffn",    "32",
                             "--solver", "joint", "--time-limit", "0.5",    "--redundant", "4",  "--report", placed};
    const Ended first = run_program(place);
    VERIFY_DONE(first, place);
    QVERIFY2(first.out.ends_with("report  " + placed + "\n"), first.out.c_str());
    const std::string about = read_file_text(placed, 1 << 26);
    for (const char* text : {"<section id=\"placements\"",
                             "Before (the contiguous layout that servers begin with) and after, on what was held out",
                             "Assumed for #2", "replicas share evenly"})
      QVERIFY2(about.find(text) != std::string::npos, text);
    const Arguments simulate = {"simulate", session,       "--cluster", cluster_,       "--hidden", "64",       "--ffn",
                                "32",       "--placement", "#2",        "--collective", "1",        "--report", page};
    const Ended second = run_program(simulate);
    VERIFY_DONE(second, simulate);
    QVERIFY2(second.out.ends_with("report  " + page + "\n"), second.out.c_str());
    const std::string told = read_file_text(page, 1 << 26);
    for (const char* text :
         {"<section id=\"layers\"", "<section id=\"sensitivity\"", "<h3>dispatch</h3>", "<section id=\"assumed\""})
      QVERIFY2(told.find(text) != std::string::npos, text);
    // On standard output the page stands alone.
    Arguments alone = simulate;
    alone.back() = "-";
    const Ended streamed = run_program(alone);
    QVERIFY(streamed.exit == 0 && streamed.out == told);
    for (const Arguments& verb : {place, simulate}) {
      Arguments both = verb;
      both.back() = "-";
      both.insert(both.end(), {"--json", "-"});
      VERIFY_REFUSED(both, "--report", "standard output is taken already");
      Arguments nowhere = verb;
      nowhere.back() = scratch_.path("no/such/page.html");
      VERIFY_REFUSED(nowhere, nowhere.back(), "");
    }
  }

  void overlap_and_uplinks() {
    const std::string session = traced("overlap");
    const Json none = simulated(session), two = simulated(session, {"--overlap", "two-batch"}),
               narrow = simulated(session, {"--oversubscription", "4"});
    QVERIFY(near(two["step_ms"]["without_overlap"].get<double>(), none["step_ms"]["mean"].get<double>()));
    QVERIFY(two["step_ms"]["mean"].get<double>() > 0);
    QVERIFY(narrow["step_ms"]["mean"].get<double>() > none["step_ms"]["mean"].get<double>());
    QVERIFY(narrow["links"].dump().find("uplink") != std::string::npos &&
            none["links"].dump().find("uplink") == std::string::npos);
  }

  void one_exchange_in_time() {
    const Json c = simulated(traced("collective"), {"--collective", "1", "--step", "2"})["collective"];
    QCOMPARE(c["step"].get<int>(), 2);
    for (const char* way : {"dispatch", "combine"}) {
      const Json& e = c[way];
      QVERIFY(e["filled_ms"].get<double>() >= e["closed_form_ms"].get<double>() * (1 - 1e-9));
      QCOMPARE(e["timeline"].size(), size_t{64});
      double carried = 0, rate = 0;
      for (const Json& span : e["timeline"])
        for (size_t l = 0; l < c["links"].size(); ++l) {
          const std::string link = c["links"][l];
          rate = link.find("fabric") != std::string::npos   ? 1e11
                 : link.find("uplink") != std::string::npos ? 2e10
                                                            : 1e10;
          // Every message leaves one port of a GPU.
          if (link.find(" out") != std::string::npos && link.find("GPU") == 0)
            carried += span["link_share"][l].get<double>() * rate *
                       (span["end_ms"].get<double>() - span["begin_ms"].get<double>()) / 1e3;
        }
      QVERIFY2(std::abs(carried / e["bytes"].get<double>() - 1) < 1e-6, e.dump().c_str());
      QVERIFY(e["messages_are_means"] == true);  // nobody knows where tokens live
      // Who sends how much to whom, and when it has come.
      QCOMPARE(e["single_messages"].size(), e["messages"].get<size_t>());
      QVERIFY(near(sum_of(e["single_messages"], "bytes"), e["bytes"].get<double>()));
      double last = 0;
      for (const Json& m : e["single_messages"]) {
        QVERIFY(m["from"] != m["to"] && m["to"].get<int>() < 4 && m["end_ms"].get<double>() > 0);
        last = std::max(last, m["end_ms"].get<double>());
      }
      QVERIFY(near(last, e["timeline"].back()["end_ms"].get<double>()));
    }
    const std::string many =
        scratch_.write("many.json", QString(kTwoNodes).replace("\"nodes\": 2", "\"nodes\": 4").toStdString());
    const Json large = json_of({"simulate", scratch_.path("collective.storm"), "--cluster", many, "--hidden", "64",
                                "--ffn", "32", "--collective", "1", "--json", "-"});
    QCOMPARE(large["cluster"]["ranks"].get<int>(), 8);
    QVERIFY(large["collective"]["dispatch"]["single_messages"].is_array());
  }

  void the_nearest_replicas_keep_tokens_at_home() {
    const std::string session = traced("nearest");
    const auto with = [&](const char* verb, Arguments more) {
      const Arguments common = {verb, session, "--cluster", cluster_, "--hidden", "64", "--ffn", "32", "--json", "-"};
      more.insert(more.begin(), common.begin(), common.end());
      return json_of(more);
    };
    // Eight spare slots: each expert of eight may stand on both nodes.
    const Json placed =
        with("place", {"--redundant", "8", "--fit-fraction", "1", "--replicas", "nearest", "--solver", "load"});
    QVERIFY(placed["replicas"] == "nearest" &&
            placed["warnings"].dump().find("by the nearest replicas") != std::string::npos);
    const std::string number = "#" + std::to_string(placed["placement"].get<int>());
    const Json even = with("simulate", {"--placement", number}),
               nearest = with("simulate", {"--placement", number, "--replicas", "nearest"});
    QVERIFY(even["replicas"] == "even" && nearest["replicas"] == "nearest");
    QVERIFY(nearest["remote_bytes"].get<double>() < even["remote_bytes"].get<double>());
    QVERIFY(near(nearest["step_ms"]["mean"].get<double>(), placed["layouts"][2]["fit"]["objective"].get<double>()));
    // Without replicas there is nothing to choose.
    QVERIFY(near(simulated(session)["step_ms"]["mean"].get<double>(),
                 simulated(session, {"--replicas", "nearest"})["step_ms"]["mean"].get<double>()));
    for (const char* verb : {"place", "simulate"}) {
      VERIFY_REFUSED(
          (Arguments{verb, session, "--cluster", cluster_, "--hidden", "64", "--ffn", "32", "--replicas", "next"}),
          "--replicas", "is not known (one of even, nearest)");
    }
    VERIFY_REFUSED((Arguments{"simulate", session, "--cluster", cluster_, "--replicas", "nearest"}), session,
                   "does not say the sizes of the model");
    // Balance and traffic need no sizes.
    const Json sizeless = json_of({"place", session, "--cluster", cluster_, "--redundant", "8", "--fit-fraction", "1",
                                   "--replicas", "nearest", "--solver", "load", "--json", "-"});
    QVERIFY(sizeless["replicas"] == "nearest" && sizeless["sizes"].is_null());
    for (const char* figure : {"imbalance", "cross_pairs", "ranks_per_token"})
      QVERIFY(sizeless["layouts"][2]["fit"][figure] == placed["layouts"][2]["fit"][figure]);
    // A search whose aim is what steps cost knows the nearest replicas, and has nothing to warn of.
    const Json searched = with("place", {"--redundant", "8", "--fit-fraction", "1", "--replicas", "nearest", "--solver",
                                         "joint", "--time-limit", "0.5"});
    QVERIFY(searched["warnings"].dump().find("nearest") == std::string::npos);
    QVERIFY(searched["layouts"][2]["fit"]["objective"].get<double>() <=
            searched["layouts"][1]["fit"]["objective"].get<double>());
    const Json traffic = with("place", {"--redundant", "8", "--fit-fraction", "1", "--replicas", "nearest", "--solver",
                                        "joint", "--aim", "traffic", "--time-limit", "0.5"});
    QVERIFY(traffic["warnings"].dump().find("by the nearest replicas") != std::string::npos);
    // Balance and traffic are of the nearest too: the same layout, judged by either.
    const Json kept_even = with("place", {"--from", session + number, "--redundant", "8", "--solver", "keep"}),
               kept = with("place", {"--from", session + number, "--redundant", "8", "--solver", "keep", "--replicas",
                                     "nearest"});
    for (const char* part : {"fit", "held_out"}) {
      const Json& a = kept_even["layouts"][2][part];
      const Json& b = kept["layouts"][2][part];
      QVERIFY(b["ranks_per_token"].get<double>() < a["ranks_per_token"].get<double>());
      QVERIFY(b["cross_pairs"].get<double>() < a["cross_pairs"].get<double>());
    }
    // One exchange: all that leaves a GPU in that layer, as the whole step counts it.
    const Json one = with("simulate",
                          {"--placement", number, "--replicas", "nearest", "--collective", "0"})["collective"],
               other = with("simulate", {"--placement", number, "--collective", "0"})["collective"];
    QVERIFY(one["dispatch"]["bytes"].get<double>() < other["dispatch"]["bytes"].get<double>());
    QVERIFY(one["dispatch"]["filled_ms"].get<double>() >= one["dispatch"]["closed_form_ms"].get<double>() * (1 - 1e-9));
  }

  // Every pair at the same cost is one fabric; and who is far from the others is felt.
  void costs_between_ranks_are_a_cluster() {
    const std::string session = traced("pairs");
    const auto cluster = [&](const std::string& name, double far, const std::string& rates) {
      Json rows = Json::array();
      for (int from = 0; from < 4; ++from) {
        Json row = Json::array();
        for (int to = 0; to < 4; ++to) row.push_back(from == to ? 0. : from == 3 || to == 3 ? far : 0.01);
        rows.push_back(row);
      }
      return scratch_.write(
          name + ".json",
          R"({"schema": "stormcell.cluster/1", "nodes": 1, "gpus_per_node": 4, "gpu": {"memory_bytes": 1e9,
 "memory_bytes_per_s": 1e12, "flops_per_s": 1e14})" +
              rates + (far > 0 ? ", \"rank_ns_per_byte\": " + rows.dump() : "") + "}");
    };
    const std::string fabric = R"(, "fabric": {"bytes_per_s": 1e11})";
    const auto on = [&](const std::string& file) {
      return json_of({"simulate", session, "--cluster", file, "--hidden", "64", "--ffn", "32", "--json", "-"});
    };
    const Json plain = on(cluster("plain", 0, fabric)), even = on(cluster("even", 0.01, "")),
               both = on(cluster("both", 0.01, fabric)), far = on(cluster("far", 0.1, ""));
    QVERIFY(near(even["step_ms"]["mean"].get<double>(), plain["step_ms"]["mean"].get<double>()));
    QVERIFY(near(both["step_ms"]["p95"].get<double>(), plain["step_ms"]["p95"].get<double>()));
    QCOMPARE(even["layers"].size(), plain["layers"].size());
    QVERIFY(far["step_ms"]["mean"].get<double>() > 1.5 * even["step_ms"]["mean"].get<double>());
    QCOMPARE(even["remote_bytes"].get<double>(), plain["remote_bytes"].get<double>());
    QCOMPARE(even["links"].size(), size_t{8});
    double busiest = 0;
    std::string who;
    for (const Json& link : far["links"])
      if (link["busy_share"].get<double>() > busiest)
        busiest = link["busy_share"].get<double>(), who = link["name"].get<std::string>();
    QVERIFY2(who.starts_with("GPU 3, ") && busiest <= 1, who.c_str());
    QVERIFY(far["sensitivity"].dump().find("costs between ranks") != std::string::npos &&
            far["sensitivity"].dump().find("fabric") == std::string::npos);
    const Json placed =
        json_of({"place", session, "--cluster", scratch_.path("far.json"), "--fit-fraction", "1", "--hidden", "64",
                 "--ffn", "32", "--solver", "joint", "--time-limit", "0.5", "--repeatable", "--json", "-"});
    QVERIFY(near(placed["layouts"][0]["fit"]["objective"].get<double>(), far["step_ms"]["mean"].get<double>()));
    VERIFY_REFUSED((Arguments{"simulate", session, "--cluster", scratch_.path("far.json"), "--hidden", "64", "--ffn",
                              "32", "--oversubscription", "4"}),
                   "--oversubscription", "costs between GPUs, which know no links");
    QVERIFY(placed["layouts"][2]["fit"]["objective"].get<double>() <=
            placed["layouts"][1]["fit"]["objective"].get<double>() * (1 + 1e-9));
    const auto exchange_on = [&](const std::string& name) {
      return json_of({"simulate", session, "--cluster", scratch_.path(name + ".json"), "--hidden", "64", "--ffn", "32",
                      "--collective", "0", "--json", "-"});
    };
    const Json by_fabric = exchange_on("plain")["collective"], by_costs = exchange_on("even")["collective"],
               slow = exchange_on("far");
    QCOMPARE(by_costs["links"][0].get<std::string>(), std::string("GPU 0, out"));
    for (const char* way : {"dispatch", "combine"}) {
      QVERIFY(near(by_costs[way]["filled_ms"].get<double>(), by_fabric[way]["filled_ms"].get<double>()));
      QCOMPARE(by_costs[way]["bytes"].get<double>(), by_fabric[way]["bytes"].get<double>());
      QVERIFY(slow["collective"][way]["filled_ms"].get<double>() >=
              slow["collective"][way]["closed_form_ms"].get<double>() * (1 - 1e-9));
    }
    QVERIFY(slow["assumptions"].dump().find("take turns in small pieces") != std::string::npos);
  }

  void what_cannot_be_simulated_is_refused() {
    const std::string session = traced("refused");
    const auto refused = [&](Arguments more, const std::string& where, const std::string& words) {
      const Arguments common = {"simulate", session, "--cluster", cluster_};
      more.insert(more.begin(), common.begin(), common.end());
      VERIFY_REFUSED(more, where, words);
    };
    refused({}, session, "does not say the sizes of the model");
    refused({"--hidden", "64", "--ffn", "32", "--overlap", "three"}, "--overlap",
            "is not known (one of none, two-batch)");
    refused({"--hidden", "64", "--ffn", "32", "--oversubscription", "0.5"}, "--oversubscription",
            "a factor from 1 to 1000");
    refused({"--hidden", "64", "--ffn", "32", "--collective", "99"}, "--collective", "99");
    refused({"--hidden", "64", "--ffn", "32", "--collective", "0", "--step", "100000"}, "--step", "100000");
    refused({"--hidden", "64", "--ffn", "32", "--placement", "#77"}, session, "holds no placement yet");
    const std::string small = scratch_.write(
        "small.json", R"({"schema": "stormcell.cluster/1", "name": "small", "nodes": 1, "gpus_per_node": 2,
 "gpu": {"memory_bytes": 1000, "memory_bytes_per_s": 1, "flops_per_s": 1}, "fabric": {"bytes_per_s": 1}})");
    VERIFY_REFUSED((Arguments{"simulate", session, "--cluster", small, "--hidden", "64", "--ffn", "32"}), "--cluster",
                   "of experts and has");
    const std::string counts = scratch_.path("counts.storm");
    imported(scratch_.write("counts.json", R"({"logical_count": [[8,1,1,8]]})"), counts);
    VERIFY_REFUSED((Arguments{"simulate", counts, "--cluster", cluster_, "--hidden", "64", "--ffn", "32"}), counts,
                   "one sum of many steps");
  }

  void a_cluster_that_no_machine_is_like_is_doubted() {
    const std::string session = traced("doubted"),
                      words = "a network card is no faster than the link by which the GPU reaches it",
                      cluster = scratch_.write("swift.json", QString(kTwoNodes).replace("1e10", "2e11").toStdString());
    for (const char* verb : {"place", "simulate"}) {
      const auto doubts = [&](const std::string& file) {
        const Json j = json_of({verb, session, "--cluster", file, "--hidden", "64", "--ffn", "32", "--json", "-"});
        return j["warnings"].dump().find(words) != std::string::npos;
      };
      QVERIFY2(doubts(cluster) && !doubts(cluster_), verb);
    }
    const Ended text = run_program({"simulate", session, "--cluster", cluster, "--hidden", "64", "--ffn", "32"});
    QVERIFY2(text.exit == 0 && text.err.find("stormcell: warning: ") != std::string::npos &&
                 text.err.find(words) != std::string::npos,
             text.err.c_str());
  }
};

STORMCELL_TEST(ContractSimulateTest)

}  // namespace stormcell::testing

#include "simulate_test.moc"
