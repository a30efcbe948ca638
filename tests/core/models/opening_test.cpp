// Opening a model of many tensors: the work grows as their number does, and the fingerprint reads few of them.
#include <time.h>

#include <fstream>

#include "core/formats/weight_files.h"
#include "core/graph/builder.h"
#include "core/models/fingerprint.h"
#include "core/models/model.h"
#include "tests/core/formats/scratch.h"
#include "tests/testing/many_tensors.h"
#include "tests/testing/sanitized.h"
#include "tests/testing/testing.h"

using namespace stormcell;
using namespace stormcell::testing;

namespace {

/// Seconds of this thread's own work, the least of three: what else the machine does hardly shows.
double seconds_of(const std::function<void()>& act) {
  double least = 1e9;
  for (int i = 0; i < 3; ++i) {
    timespec begin, end;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    act();
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
    least = std::min(least, static_cast<double>(end.tv_sec - begin.tv_sec) +
                                1e-9 * static_cast<double>(end.tv_nsec - begin.tv_nsec));
  }
  return least;
}

void declare_weights(int64_t n) {
  GraphBuilder b;
  for (int64_t i = 0; i < n; ++i)
    b.weight("model.layers.block_sparse_moe.experts." + std::to_string(i), DType::f32, {4, 4});
}

std::shared_ptr<const Model> open_unchecked(const Scratch& scratch) {
  ModelOptions options;
  options.check_weights = false;
  return open_model(scratch.folder(), options);
}

/// Changes the first byte of a tensor.
void change(const Scratch& scratch, const std::string& name) {
  const auto files = WeightFiles::open(scratch.folder());
  const auto at = files->find(name)->begin;
  std::fstream file(scratch.path("model.safetensors"), std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(at);
  file.put('\x01');
}

}  // namespace

class OpeningTest : public QObject {
  Q_OBJECT
 private slots:
  // Eight times as much costs 8 times the time where it is linear, 64 where it is quadratic; 24 lies between.
  void declaring_eight_times_the_weights_takes_about_eight_times_as_long() {
    const double some = seconds_of([] { declare_weights(4000); }), many = seconds_of([] { declare_weights(32000); });
    QVERIFY2(many < 24 * some, qPrintable(QString("%1 s and %2 s").arg(some).arg(many)));
  }
  void opening_eight_times_the_experts_takes_about_eight_times_as_long_data() {
    QTest::addColumn<bool>("stacked");
    QTest::newRow("a tensor each") << false;
    QTest::newRow("recipes of stacked ones") << true;
  }
  void opening_eight_times_the_experts_takes_about_eight_times_as_long() {
    QFETCH(const bool, stacked);
    const auto opening = [&](int64_t layers) {
      const Scratch scratch;
      write_many_tensors(
          scratch.folder(),
          {.layers = layers, .experts = 128, .per_expert = 6, .width = 8, .ffn_width = 8, .stacked = stacked});
      return seconds_of([&] { open_unchecked(scratch); });
    };
    const int64_t layers = kSanitized ? 2 : 4;
    const double some = opening(layers), many = opening(8 * layers);
    QVERIFY2(many < 24 * some, qPrintable(QString("%1 s and %2 s").arg(some).arg(many)));
  }
  void all_experts_are_there_and_the_others_are_warned_of() {
    const Scratch scratch;
    const int64_t tensors = write_many_tensors(scratch.folder(), {.layers = 3, .experts = 16, .per_expert = 5});
    QCOMPARE(tensors, int64_t{3 + 3 * (7 + 16 * 5)});
    const auto model = open_unchecked(scratch);
    QCOMPARE(std::count_if(model->forward->values.begin(), model->forward->values.end(),
                           [](const Value& v) { return v.kind == ValueKind::weight; }),
             std::ptrdiff_t{3 + 3 * (7 + 16 * 3)});
    QCOMPARE(model->warnings.size(), size_t{1});
    QVERIFY(model->warnings[0].starts_with("96 tensors that this family does not know are not used"));
  }
  void a_layer_more_than_the_configuration_says_is_still_refused() {
    const Scratch scratch;
    write_many_tensors(scratch.folder(), {.layers = 3});
    const std::string config = scratch.path("config.json");
    std::string text = Scratch::read(config);
    text.replace(text.find("\"num_hidden_layers\":3"), 21, "\"num_hidden_layers\":2");
    scratch.write("config.json", text);
    VERIFY_BAD_INPUT(open_unchecked(scratch), config,
                     "the weights hold \"model.layers.2\", by config.json \"model.layers.1\" is the last one");
  }

  void the_fingerprint_of_few_tensors_is_what_it_always_was() {
    const Scratch scratch;
    QVERIFY(write_many_tensors(scratch.folder(), {.layers = 2, .experts = 8}) <= static_cast<int64_t>(kSampledTensors));
    const auto model = open_unchecked(scratch);
    QVERIFY(!model->older_fingerprint);
    QCOMPARE(model->fingerprint, fingerprint_of_all(model->config, *WeightFiles::open(scratch.folder())));
  }
  void of_many_tensors_256_are_sampled_evenly_and_older_fingerprints_are_known() {
    const Scratch scratch;
    const auto n = static_cast<size_t>(write_many_tensors(scratch.folder(), {.layers = 8, .experts = 32}));
    QVERIFY(n > 2 * kSampledTensors);
    const auto files = WeightFiles::open(scratch.folder());
    const auto before = open_unchecked(scratch);
    QVERIFY(before->older_fingerprint);
    const std::string older = before->older_fingerprint();
    QVERIFY(older != before->fingerprint);
    QVERIFY(before->is_known_as(before->fingerprint));
    QVERIFY(before->is_known_as(fingerprint_of_all(before->config, *files)));
    QVERIFY(!before->is_known_as(std::string(64, '0')));
    // Number 1 of 3 or more a stride is not looked at by the new form, but is by the old one.
    change(scratch, files->tensors()[1].name);
    const auto beside = open_unchecked(scratch);
    QCOMPARE(beside->fingerprint, before->fingerprint);
    QVERIFY(beside->older_fingerprint() != older);
    for (const size_t i : {size_t{0}, size_t{1}, size_t{100}, kSampledTensors - 1}) {
      const std::string now = open_unchecked(scratch)->fingerprint;
      change(scratch, files->tensors()[i * n / kSampledTensors].name);
      QVERIFY(open_unchecked(scratch)->fingerprint != now);
    }
  }
};
STORMCELL_TEST(OpeningTest)
#include "opening_test.moc"
