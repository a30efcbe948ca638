// Caches of experts on recorded choices: the verb cache, and its older spelling.
#include <cmath>

#include "tests/contract/imports.h"
#include "tests/contract/server_traces.h"

namespace stormcell::testing {
namespace {

/// One token a step, one layer, experts of 1,000 bytes: each digit is the expert of a step.
std::string trace_of_digits(const std::string& digits) {
  std::string text =
      "# route_trace v1\n# n_layer=1 n_expert=8 n_expert_used=1\n# layer=0 expert_bytes=1000 dense_bytes=9000\n"
      "turn,phase,step,layer,slot,expert\n";
  for (size_t step = 0; step < digits.size(); ++step)
    text += "0,1," + std::to_string(step) + ",0,0," + digits[step] + "\n";
  return text;
}
// Through three entries LRU hits 8, LFU 9 and Belady 11 of these 20: a string of textbooks on operating systems.
const std::string kStringOfDigits = "70120304230321201701";

}  // namespace

class ContractCacheTest : public QObject, private Imports {
  Q_OBJECT
  std::string session_, plain_, no_sizes_;

 private slots:
  void initTestCase() {
    session_ = scratch_.path("digits.storm"), plain_ = scratch_.path("plain.storm");
    no_sizes_ = scratch_.path("sizes.storm");
    imported(scratch_.write("digits.csv", trace_of_digits(kStringOfDigits)), session_);
    imported(scratch_.write("plain.csv", route_trace()), plain_);
    std::string without = trace_of_digits(kStringOfDigits);
    const size_t line = without.find("# layer=0");
    without.erase(line, without.find('\n', line) + 1 - line);
    imported(scratch_.write("sizes.csv", without), no_sizes_);
  }

  void policies_stand_beside_the_best_that_is_possible() {
    const Arguments arguments = {"cache", session_, "--memory", "3000B", "--disk", "1MB/s", "--json", "-"};
    const Ended ended = run_program(arguments);
    QVERIFY2(ended.exit == 0 && ended.err.empty(), told(arguments, ended).c_str());
    const Json json = ended.json();
    QVERIFY(json["schema"] == "stormcell.cache/1" && json["session"] == session_ && json["run"] == 1);
    QVERIFY(json["judged"] == "decode" && json["tokens"] == 20 && json["steps"] == 20);
    QVERIFY(json["memory_bytes"] == 3000 && json["disk_bytes_per_s"] == 1e6);
    QVERIFY(json["cliff_bytes"] == 1000 && json["experts_bytes"] == 6000 && json["demand_bytes_per_token"] == 1000);
    QCOMPARE(json["budgets"].size(), size_t{4});
    const int hits[] = {8, 9, 11, 7};
    const char* const policies[] = {"lru", "lfu", "belady", "wait"};
    for (size_t p = 0; p < 4; ++p) {
      const Json& row = json["budgets"][p];
      QVERIFY2(row["policy"] == policies[p] && row["bytes"] == 3000, row.dump().c_str());
      QVERIFY2(row["decode"]["hits"] == hits[p] && row["decode"]["lookups"] == 20, row.dump().c_str());
      QVERIFY2(row["all"] == row["decode"] && row["all"]["missed_bytes"] == 1000 * (20 - hits[p]), row.dump().c_str());
      QVERIFY2(std::abs(row["hit_rate"].get<double>() - hits[p] / 20.) < 1e-9, row.dump().c_str());
      QVERIFY2(std::abs(row["oracle_hit_rate"].get<double>() - .55) < 1e-9, row.dump().c_str());
      QVERIFY2(std::abs(row["bytes_per_token"].get<double>() - 50 * (20 - hits[p])) < 1e-6, row.dump().c_str());
      QVERIFY2(std::abs(row["tokens_per_s"].get<double>() - 1e6 / (50 * (20 - hits[p]))) < 1e-6, row.dump().c_str());
    }
    // LFU reads 550 bytes a token, Belady 450: 100 / 550.
    QVERIFY(std::abs(json["most_saved"].get<double>() - 100. / 550) < 1e-9);
    QVERIFY2(
        json["verdict"] == "No policy can save more than 19 % of what lfu reads at 2.9 KiB, which is 550 B a token",
        json["verdict"].dump().c_str());
    QVERIFY(json["best_split"].is_null() && json["flags"].is_null());
  }

  void several_budgets_end_where_all_experts_fit() {
    const Json json = json_of({"cache", session_, "--json", "-"});
    QVERIFY(json["memory_bytes"].is_null() && json["disk_bytes_per_s"].is_null());
    const Json& last = json["budgets"].back();
    // Seven, nought, one, two, three and four are read once each.
    QVERIFY2(last["bytes"] == 6000 && last["decode"]["hits"] == 14 && last["tokens_per_s"].is_null(),
             last.dump().c_str());
    for (size_t i = 4; i < json["budgets"].size(); ++i) {
      const Json &row = json["budgets"][i], &smaller = json["budgets"][i - 4];
      QVERIFY(row["policy"] == smaller["policy"] && row["bytes"] > smaller["bytes"]);
      QVERIFY(row["bytes_per_token"] >= row["oracle_bytes_per_token"]);
    }
    const Ended text = run_program({"cache", session_});
    QVERIFY2(text.exit == 0 && text.out.starts_with("No policy can save more than "), text.out.c_str());
    for (const char* part : {"One token takes 1000 B of experts", "At 2.9 KiB LRU hits 40.0 %, LFU 45.0 %", "55.0 %",
                             "Next: stormcell cache ", "--memory 3000 --disk 7GB/s", "of experts"})
      QVERIFY2(text.out.find(part) != std::string::npos, text.out.c_str());
  }

  void the_older_spelling_works_and_names_the_verb() {
    const Arguments older = {"analyze", session_, "--cache", "lfu", "--budget", "3000", "--json", "-"};
    const Ended ended = run_program(older);
    QVERIFY2(ended.exit == 0 &&
                 ended.err.find("stormcell: warning: --cache is a verb of its own: stormcell cache SESSION\n") !=
                     std::string::npos,
             told(older, ended).c_str());
    const Json cache = ended.json()["cache"];
    QVERIFY2(cache["policy"] == "lfu" && cache["budget_bytes"] == 3000 && cache["decode"]["hits"] == 9 &&
                 cache["decode"].size() == 3,
             cache.dump().c_str());
  }

  void sizes_that_the_recording_lacks_are_given() {
    VERIFY_REFUSED((Arguments{"cache", no_sizes_}), no_sizes_ + "#1", "lacks branch_bytes");
    const Json given = json_of({"cache", no_sizes_, "--expert-bytes", "2000", "--memory", "6000", "--json", "-"});
    QVERIFY(given["cliff_bytes"] == 2000 && given["budgets"][1]["decode"]["hits"] == 9);
    // Sizes that are recorded count more.
    const Json recorded = json_of({"cache", session_, "--expert-bytes", "2000", "--memory", "3000", "--json", "-"});
    QVERIFY(recorded["cliff_bytes"] == 1000);
  }

  void a_budget_below_one_token_is_warned_of() {
    // A token takes two of eight experts at each of three layers, of 1,000 to 1,002 bytes.
    const Arguments arguments = {"cache", plain_, "--memory", "3000"};
    const Ended ended = run_program(arguments);
    QVERIFY2(ended.exit == 0 && ended.err.starts_with("stormcell: warning: --memory: 2.9 KiB is less than the ") &&
                 ended.err.find('\n') == ended.err.size() - 1,
             told(arguments, ended).c_str());
  }

  void wrong_options_are_refused() {
    VERIFY_REFUSED((Arguments{"cache", session_, "--memory", "999"}), "--memory", "is less than one expert");
    VERIFY_REFUSED((Arguments{"cache", session_, "--memory", "much"}), "--memory", "is not a number of bytes above 0");
    VERIFY_REFUSED((Arguments{"cache", session_, "--disk", "0GB/s"}), "--disk",
                   "is not a number of bytes a second above 0");
    VERIFY_REFUSED((Arguments{"cache", session_, "--expert-bytes", "0"}), "--expert-bytes",
                   "is not a number of bytes above 0");
    const std::string counts = scratch_.path("counts.storm");
    imported(scratch_.write("counts.jsonl", vllm_loads()), counts);
    VERIFY_REFUSED((Arguments{"cache", counts}), counts, "keeps no decisions, only their sums");
  }
};

STORMCELL_TEST(ContractCacheTest)

}  // namespace stormcell::testing

#include "cache_test.moc"
