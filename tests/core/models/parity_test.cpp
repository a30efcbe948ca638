// Every fixture of the reference implementation, through the oracle: outputs within 1e-4, the same decisions, the same
// tokens.
#include <cstdio>
#include <filesystem>

#include "core/oracle/reference/attention.h"
#include "tests/core/models/model_run.h"
#include "tests/testing/counts.h"
#include "tests/testing/relative_difference.h"
#include "tests/testing/testing.h"

using namespace stormcell;
using namespace stormcell::testing;

namespace {

struct Parity {
  double difference = 0;  ///< the worst of the outputs
  int64_t decisions = 0, flips = 0, unexplained = 0, dropped = 0;
  double weight_difference = 0;
};

std::string folder_of(const char* case_name) { return reference_path(case_name); }

/// Decisions against b0.{router}.branch; -1 there is a cell that capacity dropped.
void compare_decisions(const OracleDecision& d, const SafetensorsFile& expected, Parity& parity) {
  const StoredTensor* branch = expected.find("b0." + d.router + ".branch");
  QVERIFY2(branch, d.router.c_str());
  const std::vector<int32_t> chosen = integers_of(*branch);
  const std::vector<float> weights = reals_of(*expected.find("b0." + d.router + ".weight"));
  const std::vector<float> margins = reals_of(*expected.find("b0." + d.router + ".margin"));
  QCOMPARE(d.choice.size(), chosen.size());
  parity.weight_difference = std::max(parity.weight_difference, relative_difference(d.weight, weights));
  for (size_t i = 0; i < chosen.size(); ++i) {
    ++parity.decisions;
    if (is_dropped(d.choice[i])) ++parity.dropped;
    if ((is_kept(d.choice[i]) ? d.choice[i] : -1) == chosen[i]) continue;
    ++parity.flips;
    // Probabilities of the fixture agree to about 1e-6; its margins are probabilities, never below 1e-4.
    const float margin = margins[i / static_cast<size_t>(d.shape.fan_out)];
    if (margin > 8e-6f) ++parity.unexplained;
  }
}

}  // namespace

class ParityTest : public QObject {
  Q_OBJECT
 private slots:
  void initTestCase() {
    std::printf("| case | max rel diff | weights | decisions | flips | dropped |\n|---|---|---|---|---|---|\n");
  }

  void the_oracle_computes_what_the_reference_computes_data() { add_cases(""); }
  void the_oracle_computes_what_the_reference_computes() {
    QFETCH(QString, name);
    const std::string folder = folder_of(name.toStdString().c_str());
    const auto model = open_model(folder);
    const ModelInputs in = read_inputs(folder + "/input.safetensors");
    const auto expected = SafetensorsFile::open(folder + "/expected.safetensors");
    const auto result = run_oracle<float>(*model, *model->forward, in);

    Parity parity;
    size_t compared = 0;
    for (const auto& [output, tensor] : result.outputs) {
      const StoredTensor* reference = expected->find("b0." + output);
      QVERIFY2(reference, output.c_str());
      // [cells, width] and [sequences, length, width] are the same rows.
      QCOMPARE(static_cast<int64_t>(tensor.reals.size()), reference->elements());
      parity.difference = std::max(parity.difference, relative_difference(tensor.reals, reals_of(*reference)));
      ++compared;
    }
    for (const OracleDecision& d : result.decisions) compare_decisions(d, *expected, parity);
    size_t known = 0;
    std::set<std::string> routers;
    for (const StoredTensor& t : expected->tensors()) {
      const bool of_router = t.name.ends_with(".branch") || t.name.ends_with(".weight") || t.name.ends_with(".margin");
      known += t.name.starts_with("b0.") && !of_router;
      if (t.name.ends_with(".branch")) routers.insert(t.name);
    }
    std::printf("| %s | %.1e | %.1e | %lld | %lld | %lld |\n", name.toStdString().c_str(), parity.difference,
                parity.weight_difference, static_cast<long long>(parity.decisions),
                static_cast<long long>(parity.flips), static_cast<long long>(parity.dropped));
    QCOMPARE(compared, known);
    QCOMPARE(result.decisions.size(), routers.size());
    QVERIFY(parity.difference <= 1e-4);
    QVERIFY(parity.weight_difference <= 1e-4);
    QCOMPARE(parity.unexplained, int64_t{0});
    if (name.contains("capacity")) QVERIFY(parity.dropped > 0);
  }

  void generate_writes_the_reference_s_tokens_data() { add_cases("generated"); }
  void generate_writes_the_reference_s_tokens() {
    QFETCH(QString, name);
    const std::string folder = folder_of(name.toStdString().c_str());
    const auto model = open_model(folder);
    QVERIFY(model->generates);
    const ModelInputs in = read_inputs(folder + "/input.safetensors");
    const auto expected_file = SafetensorsFile::open(folder + "/expected.safetensors");
    const StoredTensor* expected = expected_file->find("generated");
    const int64_t most = 12, length = expected->shape[1];
    const std::shared_ptr<const Graph> graph = model->generate();
    const auto result = run_oracle<float>(*model, *graph, in, most);
    const std::vector<int32_t> tokens = result.output(kGenerated).integers, wanted = integers_of(*expected);
    for (int64_t i = 0; i < in.sequences; ++i)
      for (int64_t t = 0; t < most; ++t)
        QCOMPARE(tokens[static_cast<size_t>(i * most + t)],
                 t < length ? wanted[static_cast<size_t>(i * length + t)] : -1);
  }

  void double_and_float_agree_data() { add_cases(""); }
  void double_and_float_agree() {
    QFETCH(QString, name);
    const std::string folder = folder_of(name.toStdString().c_str());
    const auto model = open_model(folder);
    const ModelInputs in = read_inputs(folder + "/input.safetensors");
    const auto exact = run_oracle<double>(*model, *model->forward, in);
    OracleOptions replayed;
    replayed.replay = replay_of(exact.decisions);
    replayed.threads = 2;
    const auto rounded = run_oracle<float>(*model, *model->forward, in, 0, replayed);
    for (size_t i = 0; i < exact.outputs.size(); ++i)
      QVERIFY(relative_difference(rounded.outputs[i].second.reals, exact.outputs[i].second.reals) <= 1e-5);
  }

  void relative_buckets_are_the_reference_s();

 private:
  static void add_cases(const char* with) {
    QTest::addColumn<QString>("name");
    for (const std::string& name : reference_cases(with)) QTest::newRow(name.c_str()) << QString::fromStdString(name);
  }
};

void ParityTest::relative_buckets_are_the_reference_s() {
  const auto file = SafetensorsFile::open(reference_path("switch/relative-buckets.safetensors"));
  const std::vector<int32_t> distances = integers_of(*file->find("distance"));
  int tables = 0;
  for (const StoredTensor& t : file->tensors()) {
    int buckets = 0, farthest = 0;
    const size_t at = t.name.find(".buckets_");
    if (at == std::string::npos ||
        std::sscanf(t.name.c_str() + at, ".buckets_%d.distance_%d", &buckets, &farthest) != 2)
      continue;
    const std::vector<int32_t> expected = integers_of(t);
    for (size_t i = 0; i < distances.size(); ++i)
      QCOMPARE(reference::relative_bucket(distances[i], buckets, farthest, t.name.starts_with("encoder")),
               int64_t{expected[i]});
    ++tables;
  }
  QVERIFY(tables >= 14);
}

STORMCELL_TEST(ParityTest)
#include "parity_test.moc"
