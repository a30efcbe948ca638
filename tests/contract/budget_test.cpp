// --weight-budget: on the verbs that run a model, in every unit, refused where it is no size or too small.
#include <cstdint>

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
      for (const char* key : {"dense_bytes", "expert_bytes", "slot_bytes", "executions", "reads", "bytes_read",
                              "evictions", "held_bytes"})
        QVERIFY2(budget[key].get<int64_t>() > 0, key);
      QVERIFY(budget["stall_seconds"].get<double>() >= 0 && budget["slot_bytes"] <= budget["budget_bytes"]);
      // The work of one execution, of generate beside the others, else of each plan.
      const Json& read =
          std::string_view(verb) == "generate" ? figures["weights_read"] : figures["baseline"]["weights_read"];
      for (const char* key : {"executions", "reads", "bytes_read", "stall_ms", "stall_share"})
        QVERIFY2(read.is_object() && read[key].get<double>() >= 0, key);
      QVERIFY2(read["executions"] > 0 && read["reads"] > 0 && read["bytes_read"] > 0 && read["stall_share"] <= 1,
               read.dump(1).c_str());
    }
  }
  void people_are_told_what_was_read() {
    const Arguments plain = short_run("run", switch_model(), switch_data());
    Arguments arguments = plain;
    arguments.insert(arguments.end(), {"--weight-budget", "21kB"});
    const Ended ended = run_program(arguments), without = run_program(plain);
    for (const char* words : {"weights of branches", "at a time (--weight-budget 20.5 KiB)", "other weights",
                              "each execution  ", "of files, and ", "(mean of ", "all executions",
                              "took the place of another", "memory planned", "memory held", "counted by the"})
      QVERIFY2(ended.out.find(words) != std::string::npos && without.out.find(words) == std::string::npos,
               told(arguments, ended).c_str());
  }
  void a_session_tells_a_run_under_a_budget_from_others() {
    const Scratch scratch;
    const std::string session = scratch.path("budgets.storm");
    const Arguments plain = short_run("run", switch_model(), switch_data(), {"-o", session});
    Arguments arguments = plain;
    arguments.insert(arguments.end(), {"--weight-budget", "21kB"});
    VERIFY_DONE(run_program(plain), plain);
    VERIFY_DONE(run_program(arguments), arguments);
    const Json runs = run_program({"inspect", session, "--json", "-"}).json()["runs"];
    QVERIFY2(runs[0]["weight_budget"].is_null() && runs[1]["weight_budget"] == 21000, runs.dump(1).c_str());
    const std::string list = run_program({"inspect", session}).out, words = "; 20.5 KiB for weights of branches";
    QVERIFY2(list.find(words) != std::string::npos && list.find(words) == list.rfind(words), list.c_str());
    // And what compares them warns, and shows what an execution read beside nothing.
    const Ended compared = run_program({"compare", session + "#1", session + "#2"});
    QVERIFY2(compared.err.find("the budgets for weights of branches differ (--weight-budget): none and 20.5 KiB") !=
                 std::string::npos,
             compared.err.c_str());
    for (const char* figure :
         {"weight_budget.budget_bytes", "baseline.weights_read.bytes_read", "baseline.weights_read.stall_share"})
      QVERIFY2(compared.out.find(figure) != std::string::npos, compared.out.c_str());
    QVERIFY2(compared.out.find("weight_budget.reads") == std::string::npos, compared.out.c_str());
  }
  void a_phase_has_the_budget_that_it_has_alone() {
    const Scratch scratch;
    const std::string config = scratch.path("forward.json");
    json_of(short_run("optimize", switch_model(), switch_data(),
                      {"--annotate", "*expert_0*.residency=pinned", "--annotate", "*expert_1*.format=bf16", "--only",
                       "vertical-fusion", "--keep-all", "--weight-budget", "120kB", "--config-out", config}));
    json_of(short_run("optimize", switch_model(), switch_data(),
                      {"--phase", "decode", "--max-new-tokens", "4", "--only", "vertical-fusion", "--keep-all",
                       "--config-out", scratch.path("forward.decode.json")}));
    const auto run = [&](const std::string& phase, Arguments more) {
      more.insert(more.end(), {"--phase", phase, "--max-new-tokens", "4", "--weight-budget", "120kB"});
      return json_of(short_run("run", switch_model(), switch_data(), more));
    };
    const Json both = run("both", {"--config", config}),
               alone = run("decode", {"--config", scratch.path("forward.decode.json")});
    QVERIFY2(both["weight_budget"]["pinned_bytes"] > 0, both["weight_budget"].dump(1).c_str());
    for (const char* key : {"pinned_bytes", "slot_bytes", "expert_bytes", "dense_bytes"})
      QCOMPARE(both["decode"]["weight_budget"][key].dump(), alone["weight_budget"][key].dump());
  }
  void what_is_no_size_is_refused() {
    for (const auto& [wrong, why] : {std::pair("0", "is too little"),
                                     {"-5", "is not a number of bytes"},
                                     {"12G", "is not a number of bytes"},
                                     {"much", "is not a number of bytes"}}) {
      Arguments arguments = short_run("run", switch_model(), switch_data());
      arguments.push_back("--weight-budget=" + std::string(wrong));
      VERIFY_REFUSED(arguments, "--weight-budget", why);
    }
  }
  void too_small_a_budget_says_what_is_needed() {
    for (const char* verb : {"run", "generate", "profile", "optimize"})
      VERIFY_REFUSED((Arguments{verb, switch_model(), "--data", "random:2x3", "--weight-budget", "100"}),
                     "--weight-budget", "give at least ");
  }
};
STORMCELL_TEST(BudgetContractTest)

}  // namespace stormcell::testing
#include "budget_test.moc"
