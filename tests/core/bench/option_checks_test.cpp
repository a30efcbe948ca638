// Options of texts that contradict each other, before anything is opened.
#include "core/bench/option_checks.h"

#include "core/bench/sampling_options.h"
#include "tests/testing/complaint.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {

class OptionChecksTest : public QObject {
  Q_OBJECT
 private slots:
  void prompts_are_valid_text_and_the_only_source() {
    const auto said = [](const std::function<void(ExperimentOptions&)>& change) {
      ExperimentOptions o;
      o.prompts = {"a"};
      change(o);
      return QString::fromStdString(complaint([&] { check_prompts(o); }));
    };
    QVERIFY(said([](ExperimentOptions&) {}).isEmpty());
    QVERIFY(said([](ExperimentOptions& o) { o.prompts.clear(); }).startsWith("--data: is missing"));
    QVERIFY(said([](ExperimentOptions& o) { o.data = "x.txt"; }).startsWith("--prompt: is a second source"));
    QVERIFY(said([](ExperimentOptions& o) { o.prompts = {"a", ""}; }).startsWith("--prompt: is empty"));
    QVERIFY(
        said([](ExperimentOptions& o) { o.prompts = {"caf\xe9"}; }).startsWith("--prompt: byte 4 is not valid UTF-8"));
    QVERIFY(said([](ExperimentOptions& o) { o.stop = {"\xff"}; }).startsWith("--stop: byte 1 is not valid UTF-8"));
    QVERIFY(said([](ExperimentOptions& o) { o.system = "x"; }).startsWith("--system: belongs to a chat"));
    QVERIFY(said([](ExperimentOptions& o) { o.special_tokens = true; }).isEmpty());
    QVERIFY(said([](ExperimentOptions& o) {
              o.prompts.clear(), o.data = "x.txt", o.special_tokens = true;
            }).startsWith("--special-tokens: has no effect"));
    QVERIFY(said([](ExperimentOptions& o) { o.chat = true, o.system = "x", o.date = "2026-08-05"; }).isEmpty());
  }

  void a_rule_draws_if_any_part_of_it_is_given() {
    ExperimentOptions o;
    o.seed = 9;
    QVERIFY(!sampling_of(o));
    o.top_k = 4;
    QVERIFY(sampling_of(o) == (SamplingRule{9, 1, 4, 1}));
    o.temperature = 0.5, o.top_p = 0.25;
    QVERIFY(sampling_of(o) == (SamplingRule{9, 0.5, 4, 0.25}));
    QVERIFY(complaint([&] { check_sampling(o); }).empty());
    for (const double temperature : {0.0, 1e-320}) {
      o.temperature = temperature;
      QVERIFY(complaint([&] { check_sampling(o); }).starts_with("--temperature: "));
    }
    o.temperature = 1, o.top_p = 0.0;
    QVERIFY(complaint([&] { check_sampling(o); }).starts_with("--top-p: "));
  }
};
STORMCELL_TEST(OptionChecksTest)

}  // namespace stormcell::testing
#include "option_checks_test.moc"
