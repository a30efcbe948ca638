// Perplexity: by hand, over the real tokens behind the first of each sequence, of texts alone.
#include <cmath>

#include "core/formats/tokenizer.h"
#include "core/quality/quality_meter.h"
#include "core/quality/task.h"
#include "core/summary/quality_text.h"
#include "tests/core/formats/scratch.h"
#include "tests/testing/counts.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

constexpr int64_t kVocabulary = 424;

Model reader() {
  Model model;
  model.vocabulary = kVocabulary;
  model.answer = {Task::language, "logits", 0};
  return model;
}

std::shared_ptr<const Dataset> texts(const Scratch& scratch, const std::string& lines, int64_t batch) {
  DataOptions o;
  o.batch = batch;
  o.inputs = {{"input_ids", DType::i32, InputRole::ids, "token", "sequence", 0, {}, 0},
              {"attention_mask", DType::i32, InputRole::mask, "token", "sequence", 0, {}, 0}};
  return Dataset::open(scratch.write("texts.txt", lines), Tokenizer::open_at(reference_path("text/qwen3.json"), {}), o);
}

/// Logits that give the token behind each place `right`, and all others 0.
OutputValue logits_for(const Batch& batch, float right) {
  const std::vector<int32_t>& ids = batch.integers("input_ids");
  OutputValue out{"logits", DType::f32, {std::ssize(ids), kVocabulary}, {}, {}};
  out.reals.assign(ids.size() * static_cast<size_t>(kVocabulary), 0);
  for (size_t t = 0; t + 1 < ids.size(); ++t)
    out.reals[t * static_cast<size_t>(kVocabulary) + static_cast<size_t>(ids[t + 1])] = right;
  return out;
}

QualityFigures judged(const Dataset& data, float right) {
  QualityMeter meter(reader(), data);
  for (int64_t b = 0; b < data.batch_count(); ++b) {
    const Batch batch = data.batch(b);
    meter.add(JudgedAs::baseline, batch, {logits_for(batch, right)});
  }
  std::vector<std::string> warnings;
  const auto figures = meter.figures(warnings);
  return figures.value_or(QualityFigures());
}

}  // namespace

class LanguageTest : public QObject {
  Q_OBJECT
  const Scratch scratch_;
  static constexpr const char* kLines = "the cat sat on a wall\nit\ncafé look down and we'll see\n";

 private slots:
  void logits_that_say_nothing_have_the_vocabulary_as_perplexity() {
    const QualityFigures q = judged(*texts(scratch_, kLines, 2), 0);
    QCOMPARE(q.measure, std::string("perplexity"));
    QVERIFY(std::fabs(q.baseline->value - kVocabulary) < 1e-6 * kVocabulary);
    QVERIFY(q.baseline->value_ci95.has_value());
    QCOMPARE(quality_value_text(q.unit, 12.3456), std::string("12.35"));
  }
  void logits_that_know_the_next_token_have_a_perplexity_by_the_formula() {
    // Each token is foreseen with the probability e^3 / (e^3 + 423), padding or not.
    const double expected = (std::exp(3.0) + kVocabulary - 1) / std::exp(3.0);
    for (const int64_t batch : {1, 3}) {
      const QualityFigures q = judged(*texts(scratch_, kLines, batch), 3);
      QVERIFY2(std::fabs(q.baseline->value - expected) < 1e-5 * expected, std::to_string(q.baseline->value).c_str());
    }
  }
  void fewer_than_two_tokens_are_not_judged() {
    const auto data = texts(scratch_, "a\nthe cat sat\n", 2);
    const int64_t short_one = data->batch(0).spaces.back().per_item;
    QVERIFY(short_one > 1);
    const QualityFigures q = judged(*data, 0);
    QCOMPARE(q.items + q.not_judged, int64_t{2});
    QCOMPARE(q.not_judged, int64_t{1});
  }
  void token_ids_that_are_no_text_are_not_judged() {
    DataOptions o;
    o.vocabulary = kVocabulary;
    o.inputs = {{"input_ids", DType::i32, InputRole::ids, "token", "sequence", 0, {}, 0}};
    QVERIFY(!QualityMeter(reader(), *Dataset::open("random:4x6", nullptr, o)).open());
  }
};
STORMCELL_TEST(LanguageTest)

}  // namespace stormcell::testing
#include "language_test.moc"
