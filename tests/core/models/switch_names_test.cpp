// The trained demo: the oracle writes the names that the reference implementation writes with the same weights.
#include "core/formats/tokenizer.h"
#include "tests/core/models/model_run.h"
#include "tests/testing/counts.h"
#include "tests/testing/testing.h"

using namespace stormcell;
using namespace stormcell::testing;

class SwitchNamesTest : public QObject {
  Q_OBJECT
 private slots:
  void the_demo_opens_by_its_name() {
    const auto model = open_model("demo:switch-names");
    QCOMPARE(model->origin, WeightOrigin::trained);
    QCOMPARE(model->dtype, DType::bf16);
    QVERIFY(model->generates);
    QVERIFY(model->tokenizer);
    QVERIFY(model->tokenizer->vocabulary_size() <= model->vocabulary);
    QVERIFY(model->warnings.empty());
  }

  void it_writes_what_the_reference_writes_data() {
    QTest::addColumn<QString>("file");
    for (const char* file : {"first", "spread"}) QTest::newRow(file) << QString(file);
  }
  void it_writes_what_the_reference_writes() {
    QFETCH(QString, file);
    const auto fixture = SafetensorsFile::open(reference_path("switch-names/" + file.toStdString() + ".safetensors"));
    const auto model = open_model("demo:switch-names");
    const std::shared_ptr<const Graph> graph = model->generate();
    const StoredTensor &ids = *fixture->find("input_ids"), &written = *fixture->find("generated");
    const std::vector<int32_t> all_ids = integers_of(ids), mask = integers_of(*fixture->find("attention_mask")),
                               expected = integers_of(written);
    const int64_t names = ids.shape[0], width = ids.shape[1], length = written.shape[1], batch = 16;
    OracleOptions options;
    options.threads = 2;
    int64_t alike = 0;
    for (int64_t first = 0; first < names; first += batch) {
      ModelInputs in;
      in.sequences = std::min(batch, names - first);
      in.length = width;
      const auto part = [&](const std::vector<int32_t>& rows) {
        return std::vector<int32_t>(rows.begin() + first * width, rows.begin() + (first + in.sequences) * width);
      };
      in.values["input_ids"] = part(all_ids);
      in.values["attention_mask"] = part(mask);
      const auto result = run_oracle<float>(*model, *graph, in, length, options);
      const std::vector<int32_t>& tokens = result.output(kGenerated).integers;
      for (int64_t i = 0; i < in.sequences; ++i)
        alike += std::equal(tokens.begin() + i * length, tokens.begin() + (i + 1) * length,
                            expected.begin() + (first + i) * length);
    }
    QCOMPARE(alike, names);
  }
};
STORMCELL_TEST(SwitchNamesTest)
#include "switch_names_test.moc"
