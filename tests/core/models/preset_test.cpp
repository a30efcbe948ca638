// Presets: published architectures, opened without drawing a weight; seeded weights that depend on seed and name alone.
#include <chrono>
#include <cmath>

#include "core/base/error.h"
#include "core/graph/operator.h"
#include "core/models/presets.h"
#include "core/models/seeded_weights.h"
#include "tests/core/models/model_run.h"
#include "tests/testing/sanitized.h"
#include "tests/testing/testing.h"

using namespace stormcell;
using namespace stormcell::testing;

class PresetTest : public QObject {
  Q_OBJECT
 private slots:
  void every_preset_opens_without_its_weights() {
    for (const std::string_view name : preset_names()) {
      const auto model = open_model("preset:" + std::string(name));
      QVERIFY2(model->origin != WeightOrigin::trained && model->parameters > 0, model->name.c_str());
    }
  }

  void switch_presets_are_the_published_models_data() {
    QTest::addColumn<int>("experts");
    for (const int experts : {8, 16, 32, 64, 128, 256}) {
      if (kSanitized && experts > 32) break;  // of the same layers; that they open is looked at above
      QTest::addRow("switch-base-%d", experts) << experts;
    }
  }
  void switch_presets_are_the_published_models() {
    QFETCH(int, experts);
    const auto model = open_model("preset:switch-base-" + std::to_string(experts));
    QCOMPARE(model->origin, WeightOrigin::seeded);
    QCOMPARE(model->family, std::string("switch_transformers"));
    QVERIFY(model->generates);
    int64_t routers = 0;
    model->forward->for_each_node([&](NodeId id, int) {
      const Node& n = model->forward->node(id);
      if (n.op->name != "route") return;
      ++routers;
      QCOMPARE(model->forward->value(n.outputs[0]).branches, experts);
      QCOMPARE(n.attributes.integer("capacity"), int64_t{64});
    });
    QCOMPARE(routers, int64_t{12});
    // Switch Transformers (base): an expert has 4.72 M parameters, 12 layers of them.
    const int64_t expert = 2 * 768 * 3072, others = model->parameters - 12 * experts * (expert + 768);
    QCOMPARE(others,
             int64_t{32128 * 768 + 36 * 4 * 768 * 768 + 12 * expert + (12 * 2 + 12 * 3 + 2) * 768 + 2 * 32 * 12});
    QCOMPARE(model->weight_bytes, model->parameters * 4);
  }

  void seeded_weights_depend_on_seed_and_name_alone() {
    const auto a = open_model("preset:switch-base-8"), b = open_model("preset:switch-base-8");
    ModelOptions other;
    other.seed = 1;
    const auto c = open_model("preset:switch-base-8", other);
    QCOMPARE(a->fingerprint, b->fingerprint);
    QVERIFY(a->fingerprint != c->fingerprint);
    const char *name = "encoder.block.3.layer.0.SelfAttention.q.weight",
               *neighbour = "encoder.block.3.layer.0.SelfAttention.k.weight";
    const size_t size = 768 * 768 * 4;
    a->weights->bytes(neighbour);
    QVERIFY(std::memcmp(a->weights->bytes(name).get(), b->weights->bytes(name).get(), size) == 0);
    QVERIFY(std::memcmp(a->weights->bytes(name).get(), c->weights->bytes(name).get(), size) != 0);
    QVERIFY(std::memcmp(a->weights->bytes(name).get(), a->weights->bytes(neighbour).get(), size) != 0);
  }

  void a_part_is_drawn_as_the_whole_has_it() {
    SeededWeights weights(3);
    for (const DType type : {DType::f32, DType::bf16, DType::f16}) {
      const std::string name = std::string(to_text(type));
      const auto size = static_cast<int64_t>(element_size(type));
      weights.add({name, type, {6, 500}}, {0.5, 0.25});
      const auto whole = weights.bytes(name);
      for (const auto& [first, count] : {std::pair{0, 3000}, std::pair{500, 500}, std::pair{2999, 1}, std::pair{7, 0}})
        QVERIFY(std::memcmp(weights.range(name, first * size, count * size).get(), whole.get() + first * size,
                            static_cast<size_t>(count * size)) == 0);
      QVERIFY_THROWS_EXCEPTION(Error, weights.range(name, 1, size));
    }
  }

  void stated_elements_are_not_drawn() {
    SeededCatalog catalog(0, DType::f32,
                          [](std::string_view) {
                            return Initialisation{5, 1};
                          },
                          {{"b", {1, 2, 3}}, {"c", {1, 2}}});
    catalog.need("a", {3});
    catalog.need("b", {3});
    const auto drawn = catalog.source()->bytes("a"), stated = catalog.source()->bytes("b");
    const std::vector<float> expected{1, 2, 3};
    QVERIFY(std::memcmp(stated.get(), expected.data(), sizeof(float) * expected.size()) == 0);
    QVERIFY(std::memcmp(drawn.get(), expected.data(), sizeof(float) * expected.size()) != 0);
    QVERIFY_THROWS_EXCEPTION(Error, catalog.need("c", {3}));
  }

  void drawn_numbers_have_the_promised_spread() {
    SeededWeights weights(3);
    const int64_t n = 1 << 20;
    for (const DType type : {DType::f32, DType::bf16, DType::f16}) {
      const std::string name = std::string(to_text(type));
      weights.add({name, type, {n}}, {0.5, 0.25});
      std::vector<float> x(static_cast<size_t>(n));
      to_f32(weights.bytes(name).get(), type, x.data(), x.size());
      double sum = 0, squares = 0, fourth = 0;
      for (const float v : x) sum += v;
      const double mean = sum / static_cast<double>(n);
      for (const float v : x) squares += (v - mean) * (v - mean), fourth += std::pow(v - mean, 4);
      const double variance = squares / static_cast<double>(n);
      QVERIFY(std::fabs(mean - 0.5) < 2e-3);
      QVERIFY(std::fabs(std::sqrt(variance) - 0.25) < 2e-3);
      const double kurtosis = fourth / static_cast<double>(n) / (variance * variance);
      QVERIFY(kurtosis > 2.6 && kurtosis < 2.8);  // a sum of four uniform numbers: 2.7; normal: 3
    }
    const int64_t many = kSanitized ? n : 32 * n;
    const auto begin = std::chrono::steady_clock::now();
    weights.add({"large", DType::f32, {many}}, {0, 1});
    weights.bytes("large");
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    qInfo("seeded f32 weights: %.2f GB/s a thread", static_cast<double>(4 * many) / seconds * 1e-9);
  }

  void activations_of_a_preset_stay_sane() {
    ModelOptions options;
    options.preset_dtype = DType::bf16;
    const auto model = open_model("preset:switch-base-8", options);
    ModelInputs in;
    in.sequences = 1;
    in.length = in.decoder_length = 8;
    in.values["input_ids"] = in.values["decoder_input_ids"] = {5, 900, 31, 77, 12, 32000, 4, 1};
    in.values["attention_mask"] = in.values["decoder_attention_mask"] = std::vector<int32_t>(8, 1);
    OracleOptions oracle;
    oracle.threads = 2;
    oracle.keep_values = true;
    const auto result = run_oracle<float>(*model, *model->forward, in, 0, oracle);
    // The residual streams before the last norm, and the logits.
    for (const char* name :
         {"encoder.block.0.layer.1", "encoder.block.11.layer.1", "decoder.block.11.layer.2", "lm_head"}) {
      const std::vector<float>& x = result.values.at(model->forward->find_value(name)).reals;
      double squares = 0;
      for (const float v : x) squares += static_cast<double>(v) * static_cast<double>(v);
      const double rms = std::sqrt(squares / static_cast<double>(x.size()));
      qInfo("%s: rms %.2f", name, rms);
      QVERIFY(rms > 0.1 && rms < 20);
    }
    // Weights of branches are neither all 1 nor all alike.
    double least = 1, most = 0;
    for (const OracleDecision& d : result.decisions)
      for (const float w : d.weight) least = std::min<double>(least, w), most = std::max<double>(most, w);
    QVERIFY(least < 0.6 && most > 0.7);
  }
};
STORMCELL_TEST(PresetTest)
#include "preset_test.moc"
