// `run --outputs` of routers to which only some cells come: their rows say whose they are.
#include "core/bench/outputs.h"

#include <set>

#include "core/cpu/cpu_device.h"
#include "core/formats/safetensors.h"
#include "core/formats/safetensors_writer.h"
#include "core/graph/input_specs.h"
#include "core/models/model.h"
#include "tests/core/formats/scratch.h"
#include "tests/testing/graph_case.h"
#include "tests/testing/testing.h"

namespace stormcell::testing::outputs_test {
namespace {

constexpr int64_t kSide = 4, kChannels = 3;

/// Pictures go one of two ways by their label; on the second a router of its own scores them.
RandomCase nested_pictures() {
  CaseBuilder b(11);
  const SpaceId pictures = b.root_space("picture", b.bound_symbol("N", 5));
  const ValueId pixels = b.floats("pixels", pictures, {kSide, kSide, kChannels}, InputRole::pixels);
  const ValueId way = b.integers("way", pictures, 2, InputRole::label);
  const ValueId mean = b.value("pool", {pixels}, {{"kind", std::string("global_average")}}, "mean");
  Protocol by_label;
  by_label.kind = ProtocolKind::label;
  const std::vector<ValueId> parts = b.scatter(mean, b.route(way, by_label, "outer", 2), {0, 1});
  const ValueId inner = b.route(b.linear(parts[1], 3, "inner.head"), {}, "inner");
  std::vector<ValueId> inside = b.scatter(parts[1], inner, {0, 1, 2});
  for (size_t i = 0; i < inside.size(); ++i) inside[i] = b.linear(inside[i], 4, "inside." + std::to_string(i));
  const ValueId joined = b.gather(std::move(inside), b.space_of(parts[1]), "place", kNone, "joined");
  b.output("y", b.gather({b.linear(parts[0], 4, "plain"), joined}, pictures, "place", kNone, "y"));
  return b.take("nested pictures");
}

template <class T>
std::vector<T> values(const SafetensorsFile& file, const std::string& name) {
  const StoredTensor* t = file.find(name);
  if (!t) return {};
  const auto* from = reinterpret_cast<const T*>(t->bytes.data());
  return {from, from + t->elements()};
}

}  // namespace

class NestedOutputsTest : public QObject {
  Q_OBJECT
 private slots:
  void rows_of_a_nested_router_name_their_cell() {
    const Scratch scratch;
    const RandomCase c = nested_pictures();
    const std::vector<float> pixels(7 * kSide * kSide * kChannels, 0.5F);
    const std::vector<int64_t> ways{1, 0, 1, 0, 0, 0, 0};
    write_safetensors(scratch.path("x.safetensors"),
                      std::vector<TensorToWrite>{{"pixels", DType::f32, {7, kSide, kSide, kChannels}, pixels.data()},
                                                 {"labels", DType::i64, {7}, ways.data()}});
    auto model = std::make_shared<Model>();
    model->name = c.name;
    model->forward = std::make_shared<Graph>(c.graph);
    model->inputs = input_specs(c.graph);
    ExperimentState s;
    s.model = model;
    s.data = Dataset::open(scratch.path("x.safetensors"), nullptr, {.batch = 5, .inputs = model->inputs});
    s.device = std::make_unique<cpu::CpuDevice>(1);
    s.picture = {kSide, kSide};
    s.graph = model->forward;
    s.store = std::make_unique<WeightStore>(*s.device, c.weights);
    s.memory = std::make_shared<SharedMemory>(*s.device);
    const auto plan = s.make_plan("baseline", s.graph, 0, {});
    const std::string path = scratch.path("o.safetensors");
    OutputWriter writer(path, s, *plan);
    ExecuteOptions execute;
    execute.outputs = execute.record = true;
    for (int64_t b = 0; b < s.data->batch_count(); ++b) {
      const Batch batch = s.data->batch(b);
      s.run_batch(*plan, batch, execute);
      writer.add(batch);
    }
    writer.finish();
    const auto file = SafetensorsFile::open(path);
    // As many rows as may come; the pictures 0 and 2 did.
    QCOMPARE(values<int32_t>(*file, "b0.outer.branch"), (std::vector<int32_t>{1, 0, 1, 0, 0}));
    QCOMPARE(values<int32_t>(*file, "b0.inner.cell"), (std::vector<int32_t>{0, 2, -1, -1, -1}));
    const std::vector<int32_t> inner = values<int32_t>(*file, "b0.inner.branch");
    QCOMPARE(inner.size(), size_t{5});
    for (size_t row = 0; row < inner.size(); ++row) QCOMPARE(inner[row] >= 0 && inner[row] < 3, row < 2);
    for (size_t row = 2; row < inner.size(); ++row) QCOMPARE(inner[row], -2);
    // Nobody comes from the second batch.
    QCOMPARE(values<int32_t>(*file, "b1.inner.cell"), (std::vector<int32_t>{-1, -1}));
    QCOMPARE(values<int32_t>(*file, "b1.inner.branch"), (std::vector<int32_t>{-2, -2}));
    QVERIFY(!file->find("b0.outer.cell"));
    QCOMPARE(file->find("b0.y")->shape, (std::vector<int64_t>{5, 4}));
  }
};

STORMCELL_TEST(NestedOutputsTest)

}  // namespace stormcell::testing::outputs_test

#include "outputs_test.moc"
