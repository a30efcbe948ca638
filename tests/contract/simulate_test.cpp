// What a recorded routing would do on GPUs that are not there: figures that agree with those of place, and what is refused.
#include <cmath>

#include "tests/contract/imports.h"

namespace stormcell::testing {
namespace {

const char* const kTwoNodes = R"({"schema": "stormcell.cluster/1", "name": "two nodes", "nodes": 2, "gpus_per_node": 2,
 "gpu": {"memory_bytes": 1e9, "memory_bytes_per_s": 1e12, "flops_per_s": 1e14}, "fabric": {"bytes_per_s": 1e11},
 "network": {"name": "n", "bytes_per_s": 1e10}})";

bool near(double a, double b) { return std::abs(a - b) <= 1e-9 * std::max(std::abs(a), std::abs(b)); }

double sum_of(const nlohmann::json& list, const char* key) {
  double sum = 0;
  for (const nlohmann::json& one : list) sum += one[key].get<double>();
  return sum;
}

}  // namespace

class ContractSimulateTest : public QObject, private Imports {
  Q_OBJECT

  const std::string cluster_ = scratch_.write("two.json", kTwoNodes);
  const Arguments sizes_ = {"--hidden", "64", "--ffn", "32"};

  std::string traced(const std::string& name) {
    const std::string session = scratch_.path(name + ".storm");
    imported(scratch_.write(name + ".csv", route_trace()), session);
    return session;
  }
  Json simulated(const std::string& session, Arguments more = {}) {
    const Arguments common = {"simulate", session, "--cluster", cluster_, "--json", "-"};
    more.insert(more.begin(), sizes_.begin(), sizes_.end());
    more.insert(more.begin(), common.begin(), common.end());
    return json_of(more);
  }

 private slots:
  void the_contiguous_layout_costs_what_place_says_of_it() {
    const std::string session = traced("same");
    const Json j = simulated(session);
    QCOMPARE(j["schema"].get<std::string>(), std::string("stormcell.simulate/1"));
    QCOMPARE(j["kind"].get<std::string>(), std::string("simulated"));
    const Json placed = json_of({"place", session, "--cluster", cluster_, "--fit-fraction", "1", "--hidden", "64", "--ffn", "32", "--json", "-"});
    const Json& contiguous = placed["layouts"][0]["fit"];
    QVERIFY(near(j["step_ms"]["mean"].get<double>(), contiguous["objective"].get<double>()));
    QVERIFY(near(j["step_ms"]["p95"].get<double>(), contiguous["step_ms"]["p95"].get<double>()));
    QVERIFY(near(sum_of(j["layers"], "compute_ms"), contiguous["step_ms"]["compute"].get<double>()));
    QVERIFY(near(sum_of(j["gpus"], "sent_bytes"), sum_of(j["gpus"], "received_bytes")));
    QCOMPARE(j["gpus"].size(), size_t{4});
    QVERIFY(j["tokens_per_s"].get<double>() > 0 && !j["sensitivity"].empty() && !j["assumptions"].empty());
    const Ended text = run_program({"simulate", session, "--cluster", cluster_, "--hidden", "64", "--ffn", "32"});
    VERIFY_DONE(text, Arguments{"simulate"});
    QVERIFY(text.out.find("simulated") != std::string::npos && text.out.find("assumed") != std::string::npos);
  }

  void a_stored_placement_is_simulated_by_its_number() {
    const std::string session = traced("stored");
    const Json placed = json_of({"place", session, "--cluster", cluster_, "--redundant", "4", "--solver", "joint", "--fit-fraction", "1",
                                 "--hidden", "64", "--ffn", "32", "--time-limit", "0.5", "--json", "-"});
    const Json j = simulated(session, {"--placement", "#" + std::to_string(placed["placement"].get<int>())});
    QCOMPARE(j["slots"].get<int>(), placed["slots"].get<int>());
    QVERIFY(near(j["step_ms"]["mean"].get<double>(), placed["layouts"][2]["fit"]["objective"].get<double>()));
  }

  void overlap_and_uplinks() {
    const std::string session = traced("overlap");
    const Json none = simulated(session), two = simulated(session, {"--overlap", "two-batch"}),
               narrow = simulated(session, {"--oversubscription", "4"});
    QVERIFY(near(two["step_ms"]["without_overlap"].get<double>(), none["step_ms"]["mean"].get<double>()));
    QVERIFY(two["step_ms"]["mean"].get<double>() > 0);
    QVERIFY(narrow["step_ms"]["mean"].get<double>() > none["step_ms"]["mean"].get<double>());
    QVERIFY(narrow["links"].dump().find("uplink") != std::string::npos && none["links"].dump().find("uplink") == std::string::npos);
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
          rate = link.find("fabric") != std::string::npos ? 1e11 : link.find("uplink") != std::string::npos ? 2e10 : 1e10;
          // Every message leaves one port of a GPU.
          if (link.find(" out") != std::string::npos && link.find("GPU") == 0)
            carried += span["link_share"][l].get<double>() * rate * (span["end_ms"].get<double>() - span["begin_ms"].get<double>()) / 1e3;
        }
      QVERIFY2(std::abs(carried / e["bytes"].get<double>() - 1) < 1e-6, e.dump().c_str());
    }
  }

  void what_cannot_be_simulated_is_refused() {
    const std::string session = traced("refused");
    const auto refused = [&](Arguments more, const std::string& where, const std::string& words) {
      const Arguments common = {"simulate", session, "--cluster", cluster_};
      more.insert(more.begin(), common.begin(), common.end());
      VERIFY_REFUSED(more, where, words);
    };
    refused({}, session, "says no sizes of the model");
    refused({"--hidden", "64", "--ffn", "32", "--overlap", "three"}, "--overlap", "is none (one of none, two-batch)");
    refused({"--hidden", "64", "--ffn", "32", "--oversubscription", "0.5"}, "--oversubscription", "a factor from 1 to 1000");
    refused({"--hidden", "64", "--ffn", "32", "--collective", "99"}, "--collective", "99");
    refused({"--hidden", "64", "--ffn", "32", "--collective", "0", "--step", "100000"}, "--step", "100000");
    refused({"--hidden", "64", "--ffn", "32", "--placement", "#77"}, session, "77");
    const std::string small = scratch_.write("small.json", R"({"schema": "stormcell.cluster/1", "name": "small", "nodes": 1, "gpus_per_node": 2,
 "gpu": {"memory_bytes": 1000, "memory_bytes_per_s": 1, "flops_per_s": 1}, "fabric": {"bytes_per_s": 1}})");
    VERIFY_REFUSED((Arguments{"simulate", session, "--cluster", small, "--hidden", "64", "--ffn", "32"}), "--cluster", "of experts and has");
    const std::string counts = scratch_.path("counts.storm");
    imported(scratch_.write("counts.json", R"({"logical_count": [[8,1,1,8]]})"), counts);
    VERIFY_REFUSED((Arguments{"simulate", counts, "--cluster", cluster_, "--hidden", "64", "--ffn", "32"}), counts, "one sum of many steps");
  }
};

STORMCELL_TEST(ContractSimulateTest)

}  // namespace stormcell::testing

#include "simulate_test.moc"
