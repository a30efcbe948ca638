// inspect --segments: what of a plan the device runs without the host, for forward passes, decoding, budgets and
// configurations.
#include <cstdint>

#include "tests/contract/models.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {
using Json = nlohmann::json;

/// Leaves in order; what is wrong with the tree goes to `defect`.
void add_leaves(const Json& segment, std::vector<Json>& leaves, std::string& defect) {
  if (segment["kind"] == "leaf") {
    if (segment["leaf"] != leaves.size() || !segment["children"].empty()) defect = segment.dump();
    leaves.push_back(segment);
    return;
  }
  if (!segment["leaf"].is_null()) defect = segment.dump();
  int64_t at = segment["begin"];
  for (const Json& child : segment["children"]) {
    if (child["begin"] != at) defect = child.dump();
    at = child["end"];
    add_leaves(child, leaves, defect);
  }
  if (at != segment["end"]) defect = segment.dump();
}

int64_t count(const Json& segment, const std::string& kind) {
  int64_t n = segment["kind"] == kind;
  for (const Json& child : segment["children"]) n += count(child, kind);
  return n;
}

}  // namespace

class InspectSegmentsTest : public QObject {
  Q_OBJECT
  static Json plan_of(Arguments arguments) {
    const Scratch scratch;
    arguments.insert(arguments.begin(), "inspect");
    arguments.insert(arguments.end(), {"--segments", scratch.path("tree.txt")});
    const Json plan = json_of(arguments)["plan"];
    std::vector<Json> leaves;
    std::string defect;
    add_leaves(plan["program"], leaves, defect);
    if (!defect.empty()) qWarning("%s", defect.c_str());
    if (!QTest::qVerify(defect.empty(), "a tree", defect.c_str(), __FILE__, __LINE__)) return {};
    if (!QTest::qVerify(plan["leaves"] == leaves.size() && plan["steps"] == plan["program"]["end"], "counts", "",
                        __FILE__, __LINE__))
      return {};
    return plan;
  }

 private slots:
  void without_a_budget_a_plan_is_resident_data() {
    QTest::addColumn<QString>("phase");
    QTest::newRow("forward") << "forward";
    QTest::newRow("decode") << "decode";
  }
  void without_a_budget_a_plan_is_resident() {
    QFETCH(const QString, phase);
    const Arguments arguments = {"inspect", switch_model(), "--phase", phase.toStdString(), "--segments", "-"};
    const Ended ended = run_program(arguments);
    VERIFY_DONE(ended, arguments);
    QVERIFY2(ended.out.starts_with("program: steps 0 to ") && ended.out.find("\n  leaf 0: ") != std::string::npos &&
                 ended.out.find(", resident, ") != std::string::npos && ended.out.find("leaf 1") == std::string::npos,
             ended.out.c_str());
    const Json plan = plan_of({switch_model(), "--phase", phase.toStdString()});
    QVERIFY(plan["resident"] == true && plan["leaves"] == 1 && plan["ends"] == 0 && plan["weight_budget"].is_null());
    const Json& leaf = plan["program"]["children"][0];
    QVERIFY(leaf["kernels"] > 20 && leaf["branches"] > 10);
    QCOMPARE(leaf["repeats"].get<int>(), phase == "decode" ? 1 : 0);
  }
  void under_a_budget_it_says_where_the_host_is_asked_for() {
    const Json forward = plan_of({switch_model(), "--weight-budget", "0.02MiB"});
    QVERIFY(forward["resident"] == false && forward["weight_budget"] == 20971);
    QCOMPARE(count(forward["program"], "repeat"), int64_t{0});
    QVERIFY(count(forward["program"], "branch") > 10);
    const Json decode = plan_of({switch_model(), "--phase", "decode", "--weight-budget", "0.02MiB"});
    QCOMPARE(count(decode["program"], "repeat"), int64_t{1});
    QVERIFY(decode["ends"] > 10);
    const Arguments arguments = {"inspect",         switch_model(), "--phase",    "decode",
                                 "--weight-budget", "0.02MiB",      "--segments", "-"};
    const std::string text = run_program(arguments).out;
    for (const char* words :
         {"\n  repeat decode: steps ", "branch 7 of ", "; may end for parts of the branches that were chosen ",
          "; may end for parts of the branches that are left "})
      QVERIFY2(text.find(words) != std::string::npos, text.c_str());
    const Ended words =
        run_program({"inspect", switch_model(), "--weight-budget", "0.02MiB", "--segments", "/dev/null"});
    QVERIFY2(
        words.out.find("plan of one forward pass with 20.5 KiB for the weights of branches: ") != std::string::npos,
        words.out.c_str());
  }
  void a_configuration_is_shown_with_its_guards() {
    const Scratch scratch;
    const std::string config = scratch.path("c.json");
    Arguments optimize =
        short_run("optimize", switch_model(), "random:4x2", {"--only", "dead-path", "--config-out", config});
    VERIFY_DONE(run_program(optimize), optimize);
    const Json plan = plan_of({switch_model(), "--config", config});
    QVERIFY2(count(plan["program"], "fallback") > 0 && plan["ends"] > 0, plan.dump(1).c_str());
    VERIFY_REFUSED((Arguments{"inspect", switch_model(), "--phase", "decode", "--config", config}), config,
                   "was found for --phase forward");
    VERIFY_REFUSED((Arguments{"inspect", mixtral_model(), "--config", config}), config, "was found for another model");
  }
  void what_leaves_padding_out_is_shown_where_nothing_is_run() {
    const Scratch scratch;
    for (const char* phase : {"forward", "decode"}) {
      const std::string config = scratch.path(phase);
      const Arguments optimize = short_run(
          "optimize", switch_model(), switch_data(),
          {"--only", "unpad", "--keep-all", "--config-out", config, "--phase", phase, "--max-new-tokens", "2"});
      const Json found = json_of(optimize);
      const Arguments inspect = {"inspect", switch_model(), "--config", config, "--phase", phase};
      const Json shown = json_of(inspect);
      const bool applied = found["passes"][0]["applied"];
      QVERIFY2(shown["warnings"].empty() && shown["operators"].contains("compact") == applied, shown.dump(1).c_str());
      if (std::string_view(phase) == "forward") QVERIFY2(applied, found["passes"].dump(1).c_str());
      VERIFY_DONE(run_program(inspect), inspect);
      plan_of({switch_model(), "--config", config, "--phase", phase});
    }
  }
  void a_configuration_found_under_another_budget_says_so() {
    const Scratch scratch;
    const std::string config = scratch.path("c.json");
    const Arguments optimize = short_run("optimize", switch_model(), "random:4x2",
                                         {"--only", "dead-path", "--weight-budget", "21kB", "--config-out", config});
    VERIFY_DONE(run_program(optimize), optimize);
    const auto warned = [&](const Arguments& more) {
      Arguments inspect = {"inspect", switch_model(), "--config", config};
      inspect.insert(inspect.end(), more.begin(), more.end());
      return run_program(inspect).err;
    };
    QVERIFY(
        warned({"--segments", "/dev/null"}).find("was found with --weight-budget 21000, here it is used with none") !=
        std::string::npos);
    QVERIFY(warned({"--segments", "/dev/null", "--weight-budget", "1MB"})
                .find("here it is used with --weight-budget 1000000") != std::string::npos);
    // Nothing else depends on it.
    QCOMPARE(warned({"--segments", "/dev/null", "--weight-budget", "21kB"}), std::string());
    QCOMPARE(warned({}), std::string());
  }
  void what_says_nothing_is_refused() {
    VERIFY_REFUSED((Arguments{"inspect", switch_model(), "--weight-budget", "1GB"}), "--weight-budget", "--segments");
    VERIFY_REFUSED((Arguments{"inspect", switch_model(), "--weight-budget", "100", "--segments", "-"}),
                   "--weight-budget", "give at least ");
    VERIFY_REFUSED((Arguments{"inspect", switch_model(), "--text", "-", "--segments", "-"}), "-", "--segments");
    VERIFY_REFUSED((Arguments{"inspect", switch_model(), "--phase", "both", "--segments", "-"}), "--phase",
                   "one phase");
    VERIFY_REFUSED((Arguments{"inspect", "preset:patch-mixture", "--phase", "decode"}), "preset:patch-mixture",
                   "cannot generate");
  }
};
STORMCELL_TEST(InspectSegmentsTest)

}  // namespace stormcell::testing
#include "segments_test.moc"
