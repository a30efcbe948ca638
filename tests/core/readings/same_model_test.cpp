// Whether two sessions are of one model: by fingerprints, else by names, which are spelt in many ways.
#include "core/readings/same_model.h"

#include <string>

#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

ModelSummary summary_of(const std::string& fingerprint, const std::string& name, const std::string& form) {
  ModelSummary m;
  m.fingerprint = fingerprint, m.name = name, m.form = form;
  return m;
}
RunSummary run_of(const std::string& dataset = "{}") {
  RunSummary run;
  run.dataset = dataset;
  return run;
}
SameModel told(const ModelSummary& a, const ModelSummary& b) { return same_model(a, run_of(), b, run_of()); }

}  // namespace

class SameModelTest : public QObject {
  Q_OBJECT
 private slots:
  void fingerprints_of_one_form_decide() {
    const ModelSummary here = summary_of("f1", "here", "sampled-256");
    QVERIFY(told(here, summary_of("f1", "there", "sampled-256")) == SameModel::yes);
    QVERIFY(told(here, summary_of("f2", "here", "sampled-256")) == SameModel::no);
  }

  void names_say_that_models_are_the_same_and_never_that_they_are_not() {
    const ModelSummary traced = summary_of("f1", "made.gguf", "trace");
    QVERIFY(told(traced, summary_of("f2", "made.gguf", "trace")) == SameModel::yes);
    QVERIFY(told(traced, summary_of("f1", "models/made", "trace")) == SameModel::not_known);
    QVERIFY(told(traced, summary_of("f2", "made.gguf", "sampled-256")) == SameModel::yes);
    QVERIFY(told(traced, summary_of("f2", "models/made", "sampled-256")) == SameModel::not_known);
  }

  void a_doubt_says_why() {
    const ModelSummary ours = summary_of("f1", "made.gguf", "trace"), other = summary_of("f2", "models/made", "trace"),
                       unnamed = summary_of("f3", "", "trace");
    const auto doubt = [](const std::string& why) {
      return "nobody knows whether b.storm is of this model: " + why + "; layers and experts agree";
    };
    QVERIFY(told(ours, unnamed) == SameModel::not_known);
    QCOMPARE(model_doubt_text("b.storm", other, run_of(), ours, run_of()),
             doubt("it is named models/made and not made.gguf"));
    const std::string nameless = doubt("a trace did not name its own");
    QCOMPARE(model_doubt_text("b.storm", unnamed, run_of(), ours, run_of()), nameless);
    QCOMPARE(model_doubt_text("b.storm", other, run_of(R"({"lacks": ["model"]})"), ours, run_of()), nameless);
  }
};

STORMCELL_TEST(SameModelTest)

}  // namespace stormcell::testing
#include "same_model_test.moc"
