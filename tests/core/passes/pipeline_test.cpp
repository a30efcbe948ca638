// Which passes run, in which order, on what; configurations done again.
#include "core/passes/pipeline.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/listed_words.h"
#include "core/graph/text.h"
#include "tests/core/passes/plan.h"
#include "tests/testing/complaint.h"
#include "tests/testing/mixture_case.h"
#include "tests/testing/page_table.h"

using namespace stormcell;
using namespace stormcell::testing;

namespace {

std::vector<std::string> ids(const PassSelection& selection) {
  std::vector<std::string> all;
  for (const ChosenPass& chosen : select_passes(selection)) all.emplace_back(chosen.pass->id);
  return all;
}
using Ids = std::vector<std::string>;

/// Those that run where nothing is said, in their order, without some.
Ids all_but(const Ids& left_out) {
  Ids all;
  for (const Pass& pass : passes())
    if (!pass.lossy && std::find(left_out.begin(), left_out.end(), pass.id) == left_out.end())
      all.emplace_back(pass.id);
  return all;
}

/// "one of A, B, C", of all that there are.
std::string listed() { return "one of " + joined(ids_of(passes())); }

/// Holds what ran of one pass, among outcomes or chosen passes.
template <class Ran>
const Ran& of(const std::vector<Ran>& all, std::string_view id) {
  for (const Ran& one : all)
    if (one.pass->id == id) return one;
  qFatal("%s did not run", std::string(id).c_str());
}

std::string complaint(const PassSelection& selection) {
  return bad_input_complaint([&] { select_passes(selection); });
}

RandomCase one_mixture(int64_t branches = 4) {
  MixtureBuilder b(1);
  const ValueId x = b.tokens(2, 8, 16);
  Mixture shape;
  shape.branches = branches;
  b.output("y", b.mixture(x, b.labelled(b.space_of(x), branches, "moe"), shape, "moe"));
  return b.take("one mixture");
}
LoadProfile loads(std::vector<int64_t> load, int64_t cells) {
  LoadProfile profile;
  profile.routers["moe"] = {std::move(load), cells, 1};
  return profile;
}

}  // namespace

class PipelineTest : public QObject {
  Q_OBJECT
 private slots:
  void options_choose_passes_and_keep_their_order() {
    QCOMPARE(ids({}), all_but({}));
    QCOMPARE(ids({.disable = {"dead-path"}}), all_but({"dead-path"}));
    QCOMPARE(ids({.only = {"horizontal-fusion", "dead-path"}}), (Ids{"dead-path", "horizontal-fusion"}));
    QCOMPARE(ids({.enable = {"vertical-fusion"}, .only = {"dead-path"}}), (Ids{"dead-path", "vertical-fusion"}));
    // Both at once says two things.
    QCOMPARE(complaint({.disable = {"dead-path"}, .only = {"dead-path"}}),
             std::string("--disable: pass dead-path is asked for by --only too (name it in one of them)"));
  }

  void an_unknown_pass_is_bad_input_that_names_the_nearest_or_all() {
    const std::string list = " (" + listed() + ")";
    QCOMPARE(complaint({.enable = {"dead-paths"}}),
             std::string("--enable: \"dead-paths\" is not a pass (did you mean dead-path?)"));
    QCOMPARE(complaint({.enable = {"quick"}}), "--enable: \"quick\" is not a pass" + list);
    QCOMPARE(complaint({.only = {""}}), "--only: \"\" is not a pass" + list);
    for (const std::string_view id : planned_passes())
      QCOMPARE(complaint({.disable = {std::string(id)}}),
               "--disable: \"" + std::string(id) + "\" is not in this version" + list);
  }

  void a_pass_is_there_or_planned_and_told_to_users() {
    for (const std::string_view id : planned_passes()) QVERIFY2(!find_pass(id), std::string(id).c_str());
    // The table of passes of concepts.md has them in the order of the list.
    QCOMPARE(first_words_of_table("concepts.md", "| pass | name | does |"), ids_of(passes()));
  }

  void each_pass_runs_on_its_own_and_upon_the_others() {
    const RandomCase from = one_mixture();
    const LoadProfile profile = loads({16, 0, 0, 0}, 16);
    const PassInput input = pass_input(from.graph, profile);
    const PipelineResult result = run_passes(input, select_passes({}));
    QCOMPARE(result.outcomes.size(), all_but({}).size());
    for (const PassOutcome& outcome : result.outcomes)
      QCOMPARE(to_text(outcome.alone.graph), to_text(outcome.pass->run(input).graph));
    const PassOutcome& behind = of(result.outcomes, "vertical-fusion");
    QCOMPARE(count_nodes(behind.alone.graph, "guard"), size_t{0});
    QCOMPARE(count_nodes(behind.cumulative.graph, "guard"), size_t{1});
    QCOMPARE(to_text(result.outcomes.back().cumulative.graph), to_text(result.graph));
    QVERIFY(run_passes(input, select_passes({}), OnTheirOwn::no).outcomes[0].alone.reason.empty());
  }

  void a_configuration_does_the_same_again_without_a_profile() {
    const RandomCase from = one_mixture();
    const LoadProfile profile = loads({9, 0, 7, 0}, 16), none;
    const PipelineResult first = run_passes(pass_input(from.graph, profile), select_passes({}));
    std::map<std::string, PassParameters> configuration;
    for (const PassOutcome& outcome : first.outcomes)
      configuration[std::string(outcome.pass->id)] = saved_parameters(outcome);
    const PassInput input = pass_input(from.graph, none);
    QCOMPARE(to_text(replay_passes(input, configuration).graph), to_text(first.graph));
    configuration = {{"placement", {}}};
    QVERIFY_THROWS_EXCEPTION(Error, replay_passes(input, configuration));
  }

  void options_are_checked() {
    const auto with = [](const std::string& id, const PassParameters& options) {
      return PassSelection{.options = {{id, options}}};
    };
    QCOMPARE(complaint(with("dead-paths", {})),
             std::string("--pass-option: \"dead-paths\" is not a pass (did you mean dead-path?)"));
    QCOMPARE(complaint(with("dead-path", {{"share", "0"}})),
             std::string("--pass-option: pass dead-path has no option \"share\" (did you mean max-share?)"));
    QCOMPARE(complaint(with("unpad", {{"share", "0"}})),
             std::string("--pass-option: pass unpad has no option \"share\" (it has none)"));
    for (const char* wrong : {"", "-0.1", "0.51", "nan", "0.1 ", "1e999", "on"})
      QCOMPARE(complaint(with("dead-path", {{"max-share", wrong}})),
               "--pass-option dead-path.max-share: expected a share from 0 to 0.5, got \"" + std::string(wrong) + "\"");
    QCOMPARE(complaint(with("horizontal-fusion", {{"min-branches", "2.5"}})),
             std::string(
                 "--pass-option horizontal-fusion.min-branches: expected a whole number from 1 to 65536, got \"2.5\""));
    QCOMPARE(complaint(with("vertical-fusion", {{"norms", "no"}})),
             std::string("--pass-option vertical-fusion.norms: expected on or off, got \"no\""));
    PassSelection off = with("dead-path", {{"max-share", "0.1"}});
    off.disable = {"dead-path"};
    QCOMPARE(complaint(off),
             std::string("--pass-option: pass dead-path does not run (enable it, or leave its option out)"));
    // An option at its default is not set at all; the rest has one form.
    const std::vector<ChosenPass> chosen =
        select_passes({.options = {{"dead-path", {{"max-share", "0.250"}}},
                                   {"vertical-fusion", {{"norms", "on"}, {"gates", "off"}}}}});
    QCOMPARE(of(chosen, "dead-path").options, (PassParameters{{"max-share", "0.25"}}));
    QCOMPARE(of(chosen, "vertical-fusion").options, (PassParameters{{"gates", "off"}}));
  }

  void branches_with_little_load_are_left_out_where_allowed() {
    const RandomCase from = one_mixture();
    const LoadProfile profile = loads({88, 1, 0, 11}, 100);
    const auto dead = [&](const char* share) {
      return find_pass("dead-path")->run({from.graph, profile, nullptr, {{"max-share", share}}}).parameters;
    };
    QCOMPARE(dead("0"), (PassParameters{{"moe", "2"}}));
    QCOMPARE(dead("0.01"), (PassParameters{{"moe", "1,2"}}));
    QCOMPARE(dead("0.1"), (PassParameters{{"moe", "1,2"}}));
    QCOMPARE(dead("0.2"), (PassParameters{{"moe", "1,2,3"}}));
  }

  void routers_with_few_branches_stay_where_asked() {
    const RandomCase from = one_mixture();
    const LoadProfile none;
    const auto fused = [&](const char* least) {
      return find_pass("horizontal-fusion")->run({from.graph, none, nullptr, {{"min-branches", least}}});
    };
    QVERIFY(fused("4").applied);
    QVERIFY(!fused("5").applied);
    QVERIFY2(fused("5").reason.find("4 branches left, fewer than 5") != std::string::npos, fused("5").reason.c_str());
  }

  void each_kind_of_folding_can_be_left_out() {
    const RandomCase from = one_mixture();
    const LoadProfile none;
    const auto fold = [&](const PassParameters& options) {
      return find_pass("vertical-fusion")->run({from.graph, none, nullptr, options});
    };
    const std::string all = fold({}).reason;
    QVERIFY2(all.find("activation") != std::string::npos && all.find("residual") != std::string::npos, all.c_str());
    QCOMPARE(fold({{"activations", "off"}}).reason.find("activation"), std::string::npos);
    QCOMPARE(fold({{"residuals", "off"}}).reason.find("residual"), std::string::npos);
    const PassResult nothing =
        fold({{"norms", "off"}, {"scales", "off"}, {"activations", "off"}, {"gates", "off"}, {"residuals", "off"}});
    QVERIFY(!nothing.applied);
    QCOMPARE(to_text(nothing.graph), to_text(from.graph));
  }

  void a_passed_graph_passes_unchanged() {
    for (uint64_t seed = 0; seed < 20; ++seed) {
      const RandomCase from = random_mixtures(seed);
      const LoadProfile profile = profile_of(from, {from.inputs});
      const PipelineResult once = run_passes(pass_input(from.graph, profile), select_passes({}), OnTheirOwn::no);
      const PipelineResult twice = run_passes(pass_input(once.graph, profile), select_passes({}), OnTheirOwn::no);
      QCOMPARE(to_text(twice.graph), to_text(once.graph));
    }
  }
};
STORMCELL_TEST(PipelineTest)
#include "pipeline_test.moc"
