// The memory planned for every preset, and every fixture of texts, against what is alive at once: forward passes and
// decoding.
#include <filesystem>

#include "core/cpu/cpu_device.h"
#include "core/models/presets.h"
#include "core/runtime/lower.h"
#include "core/runtime/memory_plan.h"
#include "core/runtime/weight_store.h"
#include "tests/core/models/model_run.h"
#include "tests/testing/counts.h"
#include "tests/testing/live_values.h"
#include "tests/testing/sanitized.h"
#include "tests/testing/testing.h"

using namespace stormcell;
using namespace stormcell::testing;

namespace {

/// The bounds at which a graph has so many items, of `length` tokens where they have any.
Bindings bounds_for(const Graph& graph, int64_t items, int64_t length, int64_t decoder_length) {
  Bindings bounds(graph.symbols.size(), 0);
  const std::pair<std::string_view, int64_t> extents[] = {
      {kSequences, items}, {kLength, length}, {kDecoderLength, decoder_length}};
  for (const auto& [symbol, value] : extents)
    if (const SymbolId id = graph.find_symbol(symbol); id != kNone) bounds[static_cast<size_t>(id)] = value;
  return bounds;
}

/// The planned arena, as a multiple of what is alive at once.
double planned_share(const std::shared_ptr<const Graph>& graph, const Bindings& bounds) {
  const Program program = lower(graph);
  const LiveBytes live = most_live_bytes(program, bounds);
  const bool top_1 =
      std::all_of(graph->values.begin(), graph->values.end(), [](const Value& v) { return v.fan_out <= 1; });
  const int64_t planned = plan_memory(program, bounds).arena_bytes, alive = top_1 ? live.by_load : live.by_place;
  const double share = static_cast<double>(planned) / static_cast<double>(alive);
  std::printf("%s, %lld items: planned %lld, %.3f of what is alive\n", QTest::currentDataTag(),
              static_cast<long long>(bounds.at(0)), static_cast<long long>(planned), share);
  return share;
}

}  // namespace

class MemoryTest : public QObject {
  Q_OBJECT
 private slots:
  void planned_memory_is_near_what_is_alive_data() {
    QTest::addColumn<QString>("name");
    for (const char* family : {"switch", "mixtral"})
      for (const auto& entry : std::filesystem::directory_iterator(reference_path(family)))
        if (entry.is_directory())
          QTest::newRow((family + ("/" + entry.path().filename().string())).c_str())
              << QString::fromStdString(entry.path().string());
    for (const int experts : {8, 16, 32, 64, 128, 256}) {
      if (kSanitized && experts > 32) break;  // minutes, of the same layers
      QTest::addRow("switch-base-%d", experts) << QString("preset:switch-base-%1").arg(experts);
    }
  }
  void planned_memory_is_near_what_is_alive() {
    QFETCH(QString, name);
    const auto model = open_model(name.toStdString());
    std::vector<std::shared_ptr<const Graph>> graphs{model->forward};
    if (model->generates) graphs.push_back(model->generate());
    for (const std::shared_ptr<const Graph>& graph : graphs)
      for (const int64_t sequences : {int64_t{1}, int64_t{8}, int64_t{32}}) {
        const double share = planned_share(graph, bounds_for(*graph, sequences, 128, 64));
        QVERIFY2(share <= 1.15, qPrintable(QString::number(share)));
      }
  }

  /// The six networks of the paper as it runs them, by their graphs alone.
  void presets_at_the_paper_s_scale_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<int>("items");
    for (const std::string_view name : preset_names()) {
      if (kSanitized && (name == "switch-base-64" || name == "switch-base-128" || name == "switch-base-256" ||
                         name == "qwen3-30b-a3b"))
        continue;  // as above
      const int items = name.starts_with("swinv2") || name.starts_with("switch") ? 8
                        : name.starts_with("task")                               ? 32
                                                                                 : 1;
      QTest::newRow(std::string(name).c_str()) << QString::fromStdString("preset:" + std::string(name)) << items;
    }
  }
  void presets_at_the_paper_s_scale() {
    QFETCH(QString, name);
    QFETCH(int, items);
    const auto model = open_model(name.toStdString());
    const int64_t length = name.contains("task") ? 64 : 128;
    const double share = planned_share(model->forward, bounds_for(*model->forward, items, length, 64));
    QVERIFY2(share <= 1.15, qPrintable(QString::number(share)));
  }

  /// One frame through ten networks: weights as the device holds them, activations, scratch memory.
  void livesr_takes_less_than_150_megabytes() {
    const auto model = open_model("preset:livesr-k10-f8");
    cpu::CpuDevice device(2);
    WeightStore store(device, model->weights);
    const auto program = std::make_shared<Program>(lower(model->forward));
    const ExecutableLayout layout =
        device.layout_of(program, store, CompileOptions{bounds_for(*model->forward, 1, 0, 0)});
    int64_t weights = 0;
    for (const WeightHandle handle : layout.always) weights += store.bytes(handle);
    const int64_t all = weights + layout.memory.arena_bytes + layout.scratch_bytes;
    std::printf("livesr-k10-f8: weights %lld, activations %lld, scratch %lld\n", static_cast<long long>(weights),
                static_cast<long long>(layout.memory.arena_bytes), static_cast<long long>(layout.scratch_bytes));
    QVERIFY(weights > 40'000'000 && layout.memory.arena_bytes > 40'000'000);
    QVERIFY2(all < 150'000'000, qPrintable(QString::number(all)));
  }
};
STORMCELL_TEST(MemoryTest)
#include "memory_test.moc"
