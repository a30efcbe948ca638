// Times of products over rows from a recorded run: planted events in, medians of like rows out.
#include "core/planning/session_products.h"

#include <QTemporaryDir>
#include <cmath>

#include "core/planning/call_labels.h"
#include "core/profile/recorder.h"
#include "core/session/session_writer.h"
#include "tests/core/session/session_fixture.h"
#include "tests/testing/complaint.h"
#include "tests/testing/testing.h"

namespace stormcell::testing::session_products_test {
namespace {

constexpr int64_t kHidden = 48, kFfn = 160;

/// Holds what is planted: 2 experts of so many products, batches of so many rows for the first.
struct Planted {
  const char* machine = R"({"backend":"cpu","name":"Some CPU","threads":2})";
  const char* dataset = R"({"settings":{"dtype":"bf16"}})";
  const char* op = "linear";
  int products = 3;
  std::vector<int32_t> rows = {3, 3, 3, 40, 40, 40, 41, 200, 200};
  double planned = 100.5;  // rows of an expert, an even share of all
  bool twice = false;      // each step in two parts
  int router = 0;          // of the steps
};

/// The down product takes 10 us and 2 a row, the others 20 and 1; in every third batch something else holds it up by
/// 1000.
int64_t us_of(bool down, int64_t rows, size_t batch) {
  return (down ? 10 + 2 * rows : 20 + rows) + (batch % 3 == 1 ? 1000 : 0);
}

std::string make_session(const std::string& path, const Planted& p = {}) {
  RunLayout layout;
  layout.spaces = {"token"};
  layout.routers.push_back({"layer.0.mlp", 2, 1, "top-k", 0, "model", 0, 0});
  layout.steps.push_back({"norm", "rms_norm", -1, -1, 1, 1});
  for (int branch = 0; branch < 2; ++branch)
    for (int product = 0; product < p.products; ++product)
      layout.steps.push_back({"expert_" + std::to_string(branch) + "." + std::to_string(product), p.op, p.router,
                              std::string_view(p.op) == "linear" ? branch : -1, p.planned * 2 * kHidden * kFfn, 1});
  SessionWriter writer(path, some_model());
  RunStart start = some_run("profile", layout);
  start.machine = p.machine, start.dataset = p.dataset;
  auto run = writer.begin_run(start);
  Recorder recorder({run.get()});
  for (size_t b = 0; b < p.rows.size(); ++b) {
    BatchRecord& batch = recorder.begin_batch();
    batch.number = static_cast<int64_t>(b);
    const int32_t cells = p.rows[b] + 5;  // five rows of the second expert in each
    batch.add_space(0, {static_cast<int64_t>(b), 1, cells, 0, Phase::forward, 0});
    std::vector<int32_t> choice(static_cast<size_t>(cells), 1);
    std::fill_n(choice.begin(), p.rows[b], 0);
    batch.add_decision({.router = 0, .choice = choice});
    uint64_t now = 1000;
    for (size_t s = 0; s < layout.steps.size(); ++s) {
      const int64_t rows = layout.steps[s].branch == 0 ? p.rows[b] : 5;
      const bool down = s > 0 && static_cast<int>(s) % p.products == 0;
      for (int part = 0; part < (p.twice ? 2 : 1); ++part) {
        const uint64_t end = now + static_cast<uint64_t>(1000 * us_of(down, rows, b));
        batch.events.push_back({now, end, static_cast<uint32_t>(s), 0}), now = end;
      }
    }
    batch.add_sequence("");
    recorder.submit();
  }
  recorder.finish();
  run->finish(RunStatus::finished, "{}");
  run.reset();
  writer.close();
  return path;
}

SizeOptions sizes() {
  SizeOptions out;
  out.hidden = kHidden, out.ffn = kFfn;
  return out;
}

}  // namespace

class SessionProductsTest : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;
  std::string path_of(const std::string& name) { return folder_.filePath(QString::fromStdString(name)).toStdString(); }

 private slots:
  void medians_of_like_rows_are_told_data() {
    QTest::addColumn<int>("products");
    QTest::newRow("gated") << 3;
    QTest::newRow("plain") << 2;
  }
  void medians_of_like_rows_are_told() {
    QFETCH(int, products);
    Planted p;
    p.products = products;
    const std::string path = make_session(path_of("planted" + std::to_string(products) + ".storm"), p);
    const std::vector<MeasuredCall> calls = read_session_products(path, sizes(), {});
    // 5 rows in nine batches, 3 in three, 40 and 41 together in four; twice 200 are too few of the down product, where
    // gated enough of the others.
    std::map<std::pair<int64_t, int64_t>, double> us;
    for (const MeasuredCall& c : calls) {
      QVERIFY(c.op == "product" && c.gpu == "Some CPU" && c.mode == "2 threads" && c.dtype == "bf16" && c.experts == 1);
      QVERIFY(c.outputs == (c.inputs == kHidden ? kFfn : kHidden) &&
              c.source.find(", median of ") != std::string::npos);
      us[{c.inputs, c.rows}] = c.us;
    }
    for (const bool down : {false, true})
      for (const int64_t rows : {3, 5, 40}) {
        const std::pair<int64_t, int64_t> key = {down ? kFfn : kHidden, rows};
        QVERIFY2(us.contains(key) &&
                     std::fabs(us[key] - static_cast<double>(us_of(down, rows, 0))) <= (rows == 40 ? 1.5 : 1e-6),
                 (std::to_string(key.first) + " " + std::to_string(rows) + " " + std::to_string(us[key])).c_str());
      }
    QCOMPARE(us.contains({kHidden, 200}), products == 3);
    QVERIFY(!us.contains({kFfn, 200}));
  }

  void another_device_is_called_as_clusters_call_it() {
    Planted p;
    p.machine = R"({"backend":"cuda","name":"NVIDIA H100 80GB HBM3"})";
    SizeOptions options = sizes();
    options.dtype = "f8";
    const std::vector<MeasuredCall> calls = read_session_products(make_session(path_of("gpu.storm"), p), options, {});
    QVERIFY(calls[0].gpu == "H100" && calls[0].mode.empty() && calls[0].dtype == "f8");
    QCOMPARE(gpu_label("NVIDIA A100-PCIE-40GB"), std::string("A100 PCIe"));
    QCOMPARE(gpu_label("NVIDIA GeForce RTX 3090 Ti"), std::string("RTX 3090 Ti"));
    QVERIFY(is_gpu_of("H100", "H100 SXM5 80GB") && !is_gpu_of("H100", "H100 PCIe 80GB") &&
            !is_gpu_of("RTX 3090", "RTX 3090 Ti"));
  }

  void what_a_session_lacks_is_told_data() {
    QTest::addColumn<QString>("what");
    QTest::addColumn<QString>("words");
    QTest::newRow("no sizes") << "no sizes"
                              << "says no sizes of its experts (--model-config config.json, or --hidden N --ffn N)";
    QTest::newRow("wrong sizes") << "wrong sizes"
                                 << "expert_0.0 is not a product with 49 x 160 weights, which --hidden, --ffn says";
    QTest::newRow("half as wide")
        << "half"
        << "was recorded with 48 for --hidden, and --hidden, --ffn says 24 (leave the sizes out)";
    QTest::newRow("together")
        << "together"
        << "keeps no times of single experts' products (record one: stormcell profile MODEL --data D -o S.storm)";
    QTest::newRow("another router") << "router"
                                    << "keeps no times of single experts' products (record one";
    QTest::newRow("in parts") << "in parts"
                              << "has no number of rows at which a product was timed three times";
    QTest::newRow("one size")
        << "one size"
        << "timed products at 5 rows only, which is not a curve (record more batches, of several sizes";
    QTest::newRow("four products") << "four"
                                   << "is one of 4 products of its expert, not of 2 or 3";
    QTest::newRow("a budget") << "budget"
                              << "read weights while it ran";
    QTest::newRow("no device") << "no device"
                               << "does not say what device it ran on";
    QTest::newRow("no format") << "no format"
                               << "does not say the number format of its weights (--dtype does)";
  }
  void what_a_session_lacks_is_told() {
    QFETCH(QString, what);
    QFETCH(QString, words);
    Planted p;
    SizeOptions options = sizes();
    if (what == "no sizes") options = {};
    if (what == "wrong sizes") options.hidden = 49;
    // Operations alone fit as well: of an even share of twice as many rows.
    if (what == "half")
      p.dataset = R"({"settings":{"dtype":"bf16"},"hidden":48,"ffn":160})", options.hidden = kHidden / 2;
    if (what == "together") p.op = "grouped_linear";
    if (what == "router") p.router = 100000;
    if (what == "in parts") p.twice = true;
    if (what == "one size") p.rows = {5, 5, 5};
    if (what == "four") p.products = 4;
    if (what == "budget") p.dataset = R"({"settings":{"dtype":"bf16","weight_budget":1000}})";
    if (what == "no device") p.machine = "{}";
    if (what == "no format") p.dataset = "{}";
    const std::string path = make_session(path_of(what.toStdString() + ".storm"), p);
    const std::string said = bad_input_complaint([&] { read_session_products(path, options, {}); });
    QVERIFY2(said.starts_with(path) && said.find(words.toStdString()) != std::string::npos, said.c_str());
  }
};

STORMCELL_TEST(SessionProductsTest)

}  // namespace stormcell::testing::session_products_test

#include "session_products_test.moc"
