// `run --outputs`: written batch by batch, the same as each batch alone.
#include "core/formats/safetensors.h"
#include "tests/contract/models.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {

class OutputsTest : public QObject {
  Q_OBJECT
  Scratch scratch_;

 private slots:
  void several_batches_are_those_of_each_batch() {
    // Two batches of two sequences, then one.
    const std::string all = scratch_.path("all.safetensors"), first = scratch_.path("first.safetensors");
    const Arguments whole = short_run("run", switch_model(), "random:5x7x4", {"--batch", "2", "--verify-seconds", "0", "--outputs", all});
    VERIFY_DONE(run_program(whole), whole);
    const Arguments one = short_run("run", switch_model(), "random:5x7x4", {"--batch", "2", "--batches", "1", "--outputs", first});
    VERIFY_DONE(run_program(one), one);
    QVERIFY(!std::filesystem::exists(all + ".partial"));
    const auto file = SafetensorsFile::open(all), alone = SafetensorsFile::open(first);
    QCOMPARE(file->tensors().size(), 3 * alone->tensors().size());
    QCOMPARE(alone->tensors().size(), size_t{3 + 2 * 3});
    for (const StoredTensor& t : alone->tensors()) {
      const StoredTensor* same = file->find(t.name);
      QVERIFY2(same, std::string(t.name).c_str());
      QCOMPARE(same->shape, t.shape);
      QVERIFY2(std::equal(same->bytes.begin(), same->bytes.end(), t.bytes.begin(), t.bytes.end()), std::string(t.name).c_str());
    }
    QCOMPARE(file->find("b1.logits")->shape, (std::vector<int64_t>{2, 4, 50}));
    QCOMPARE(file->find("b2.encoder_hidden")->shape, (std::vector<int64_t>{1, 7, 32}));
    QCOMPARE(file->find("b2.encoder.block.1.layer.1.mlp.branch")->shape, (std::vector<int64_t>{7, 1}));
    QCOMPARE(file->find("b2.decoder.block.1.layer.2.mlp.weight")->shape, (std::vector<int64_t>{4, 1}));
  }
};

STORMCELL_TEST(OutputsTest)

}  // namespace stormcell::testing

#include "outputs_test.moc"
