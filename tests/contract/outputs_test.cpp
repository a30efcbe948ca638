// `run --outputs`: written batch by batch, the same as each batch alone.
#include <algorithm>
#include <cmath>
#include <set>

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
    const Arguments whole =
        short_run("run", switch_model(), "random:5x7x4", {"--batch", "2", "--verify-seconds", "0", "--outputs", all});
    VERIFY_DONE(run_program(whole), whole);
    const Arguments one =
        short_run("run", switch_model(), "random:5x7x4", {"--batch", "2", "--batches", "1", "--outputs", first});
    VERIFY_DONE(run_program(one), one);
    QVERIFY(!std::filesystem::exists(all + ".partial"));
    const auto file = SafetensorsFile::open(all), alone = SafetensorsFile::open(first);
    QCOMPARE(file->tensors().size(), 3 * alone->tensors().size());
    QCOMPARE(alone->tensors().size(), size_t{3 + 2 * 3});
    for (const StoredTensor& t : alone->tensors()) {
      const StoredTensor* same = file->find(t.name);
      QVERIFY2(same, std::string(t.name).c_str());
      QCOMPARE(same->shape, t.shape);
      QVERIFY2(std::equal(same->bytes.begin(), same->bytes.end(), t.bytes.begin(), t.bytes.end()),
               std::string(t.name).c_str());
    }
    QCOMPARE(file->find("b1.logits")->shape, (std::vector<int64_t>{2, 4, 50}));
    QCOMPARE(file->find("b2.encoder_hidden")->shape, (std::vector<int64_t>{1, 7, 32}));
    QCOMPARE(file->find("b2.encoder.block.1.layer.1.mlp.branch")->shape, (std::vector<int64_t>{7, 1}));
    QCOMPARE(file->find("b2.decoder.block.1.layer.2.mlp.weight")->shape, (std::vector<int64_t>{4, 1}));
  }

  void batches_of_like_length_say_whose_rows_they_hold() {
    std::string lines;
    for (int i = 0; i < 11; ++i) lines += std::string(static_cast<size_t>(1 + i * 7 % 11), 'a') + "\n";
    const std::string model = model_with_tokenizer(scratch_), text = scratch_.write("lengths.txt", lines);
    const std::string given_file = scratch_.path("given.safetensors"), like_file = scratch_.path("like.safetensors");
    const Arguments given_arguments = short_run("run", model, text, {"--batch", "4", "--outputs", given_file}),
                    like_arguments =
                        short_run("run", model, text, {"--batch", "4", "--outputs", like_file, "--bucket-by-length"});
    VERIFY_DONE(run_program(given_arguments), given_arguments);
    VERIFY_DONE(run_program(like_arguments), like_arguments);
    const auto given = SafetensorsFile::open(given_file), like = SafetensorsFile::open(like_file);
    QVERIFY(!given->find("b0.items"));
    // The cells of each item are the same, as far as both batches hold them.
    const auto rows = [](const SafetensorsFile& file, int64_t batch, int64_t row, int64_t cells) {
      const StoredTensor& t = *file.find("b" + std::to_string(batch) + ".encoder_hidden");
      const auto* values = reinterpret_cast<const float*>(t.bytes.data()) + row * t.shape[1] * t.shape[2];
      return std::vector<float>(values, values + std::min(cells, t.shape[1]) * t.shape[2]);
    };
    std::set<int64_t> seen;
    for (int64_t b = 0; b < 3; ++b) {
      const StoredTensor* items = like->find("b" + std::to_string(b) + ".items");
      QVERIFY(items);
      for (int64_t i = 0; i < items->shape[0]; ++i) {
        const int64_t item = reinterpret_cast<const int64_t*>(items->bytes.data())[i];
        seen.insert(item);
        // At least one piece, and the end token.
        const std::vector<float> here = rows(*like, b, i, 2), there = rows(*given, item / 4, item % 4, 2);
        QCOMPARE(here.size(), there.size());
        for (size_t v = 0; v < here.size(); ++v) QVERIFY(std::abs(here[v] - there[v]) < 1e-4F);
      }
    }
    QCOMPARE(seen.size(), size_t{11});
  }
};

STORMCELL_TEST(OutputsTest)

}  // namespace stormcell::testing

#include "outputs_test.moc"
