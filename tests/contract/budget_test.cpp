// --weight-budget: on the verbs that run a model, in every unit, refused where it is no size or too small.
#include "tests/contract/models.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
using Json = nlohmann::json;

class BudgetContractTest : public QObject {
  Q_OBJECT
 private slots:
  void verbs_that_run_a_model_take_it() {
    for (const char* verb : {"run", "generate", "profile", "optimize"}) {
      Arguments arguments = {verb, switch_model(),    "--data",  "random:4x6x5", "--batch", "2", "--verify-seconds",
                             "0",  "--weight-budget", "0.02MiB", "--json",       "-"};
      if (std::string_view(verb) == "generate") {
        arguments.insert(arguments.end(), {"--max-new-tokens", "2"});
      } else {
        arguments.insert(arguments.end(), {"--measure-seconds", "0"});
      }
      const Ended ended = run_program(arguments);
      VERIFY_DONE(ended, arguments);
      const Json figures = ended.json();
      QCOMPARE(figures["settings"]["weight_budget"].get<int64_t>(), int64_t{20971});
      const Json& budget = figures["weight_budget"];
      QVERIFY2(budget.is_object(), told(arguments, ended).c_str());
      QCOMPARE(budget["budget_bytes"].get<int64_t>(), int64_t{20971});
      for (const char* key : {"dense_bytes", "expert_bytes", "slot_bytes", "executions", "reads", "bytes_read", "evictions", "held_bytes"})
        QVERIFY2(budget[key].get<int64_t>() > 0, key);
      QVERIFY(budget["stall_seconds"].get<double>() >= 0 && budget["slot_bytes"] <= budget["budget_bytes"]);
    }
  }
  void people_are_told_what_was_read() {
    const Arguments plain = short_run("run", switch_model(), switch_data());
    Arguments arguments = plain;
    arguments.insert(arguments.end(), {"--weight-budget", "21kB"});
    const Ended ended = run_program(arguments), without = run_program(plain);
    for (const char* words : {"weights of branches", "--weight-budget 20.5 KiB", "evicted", "counted by the"})
      QVERIFY2(ended.out.find(words) != std::string::npos && without.out.find(words) == std::string::npos, told(arguments, ended).c_str());
  }
  void what_is_no_size_is_refused() {
    for (const char* wrong : {"0", "-5", "12G", "1e9", "much", "4 gb"}) {
      Arguments arguments = short_run("run", switch_model(), switch_data());
      arguments.push_back("--weight-budget=" + std::string(wrong));
      VERIFY_REFUSED(arguments, "--weight-budget", "does not fit");
    }
  }
  void too_small_a_budget_says_what_is_needed() {
    for (const char* verb : {"run", "generate", "profile", "optimize"})
      VERIFY_REFUSED((Arguments{verb, switch_model(), "--data", "random:2x3", "--weight-budget", "100"}), "--weight-budget",
                     "give at least ");
  }
};
STORMCELL_TEST(BudgetContractTest)

}  // namespace stormcell::testing
#include "budget_test.moc"
