// The findings of optimize are written and read in one place, and whatever else is given instead is refused by name.
#include "core/configuration/plan_config.h"

#include "core/base/error.h"
#include "tests/testing/complaint.h"
#include "tests/testing/testing.h"

namespace stormcell::plan_config_test {

class PlanConfigTest : public QObject {
  Q_OBJECT
 private slots:
  void what_is_written_is_read_back() {
    PlanConfig c;
    c.model = "m", c.fingerprint = "f", c.device = "cpu", c.dtype = "bf16", c.phase = WorkPhase::decode,
    c.bucket_by_length = true;
    c.annotations = {"a.kernel=k"}, c.weight_budget = 4096;
    c.exits = {{"exits.0.router", -1}, {"exits.1.router", 0.87}, {"exits.2.router", 2}};
    c.intervention = {{{"a.mlp", 3}, {"b.mlp", 0}}, 2, "choices.safetensors"};
    c.passes = {{"dead-path", {{"max-share", "0"}}}, {"unpad", {}}};
    const std::string text = to_json(c);
    QVERIFY(has_configuration(text));
    const PlanConfig back = parse_plan_config(text, "c.json");
    QCOMPARE(back.version, std::string(STORMCELL_VERSION));
    QVERIFY(back.model == c.model && back.fingerprint == c.fingerprint && back.device == c.device &&
            back.dtype == c.dtype);
    QVERIFY(back.phase == c.phase && back.bucket_by_length && back.annotations == c.annotations);
    QVERIFY(back.exits == c.exits && parse_plan_config(to_json(PlanConfig{}), "c.json").exits.empty());
    QVERIFY(back.intervention == c.intervention && parse_plan_config(to_json(PlanConfig{}), "c.json").intervention.empty());
    QCOMPARE(back.passes.size(), size_t{2});
    for (const auto& [id, parameters] : c.passes)
      QVERIFY(std::find(back.passes.begin(), back.passes.end(), std::pair(id, parameters)) != back.passes.end());
    QVERIFY(back.weight_budget == 4096 && differences(back, c).empty());
    PlanConfig without = c;
    without.weight_budget = 0;
    QCOMPARE(differences(back, without).size(), size_t{1});
    QVERIFY(differences(back, without)[0].starts_with(
        "the configuration was found with --weight-budget 4096, here it is used with none"));
    QVERIFY(differences(parse_plan_config(to_json(without), "c.json"), c).empty());
  }
  void what_a_session_keeps_of_other_runs_is_none() {
    for (const char* text : {"", "{}", "null", R"({"schema": "stormcell.run/1"})"})
      QVERIFY2(!has_configuration(text), text);
  }
  void other_texts_are_refused_by_the_files_name() {
    for (const char* text :
         {"", "[]", "{}", R"({"schema": "stormcell.config/2", "passes": {}})", R"({"schema": "stormcell.config/1"})",
          R"({"schema": "stormcell.config/1", "passes": {"no-such-pass": {}}})",
          R"({"schema": "stormcell.config/1", "passes": {"unpad": 7}})",
          R"({"schema": "stormcell.config/1", "phase": "prefill", "passes": {}})",
          R"({"schema": "stormcell.config/1", "dtypes": {"products": "q8_0"}, "passes": {}})",
          R"({"schema": "stormcell.config/1", "passes": {}, "exits": {"a": 0.5}})",
          R"({"schema": "stormcell.config/1", "passes": {}, "intervention": []})",
          R"({"schema": "stormcell.config/1", "passes": {}, "intervention": {"off": "a/1"}})",
          R"({"schema": "stormcell.config/1", "passes": {}, "intervention": {"off": [{"router": "a"}]}})",
          R"({"schema": "stormcell.config/1", "passes": {}, "intervention": {"off": [{"router": "a", "branch": -1}]}})",
          R"({"schema": "stormcell.config/1", "passes": {}, "intervention": {"k": 0}})",
          R"({"schema": "stormcell.config/1", "passes": {}, "intervention": {"force": 1}})",
          R"({"schema": "stormcell.config/1", "passes": {}, "exits": [{"router": "a"}]})",
          R"({"schema": "stormcell.config/1", "passes": {}, "exits": [{"router": "a", "threshold": -1.1}]})",
          R"({"schema": "stormcell.config/1", "passes": {}, "exits": [{"router": "a", "threshold": 2.5}]})"}) {
      const std::string said = testing::bad_input_complaint([&] { parse_plan_config(text, "c.json"); });
      QVERIFY2(said.starts_with("c.json: "), (text + (": " + said)).c_str());
    }
  }
};

STORMCELL_TEST(PlanConfigTest)

}  // namespace stormcell::plan_config_test

#include "plan_config_test.moc"
