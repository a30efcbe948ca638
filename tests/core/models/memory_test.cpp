// The memory planned for every fixture and preset, against what is alive at once: forward passes and decoding.
#include <filesystem>

#include "core/runtime/lower.h"
#include "core/runtime/memory_plan.h"
#include "tests/core/models/model_run.h"
#include "tests/testing/live_values.h"
#include "tests/testing/testing.h"

using namespace stormcell;
using namespace stormcell::testing;

class MemoryTest : public QObject {
  Q_OBJECT
 private slots:
  void planned_memory_is_near_what_is_alive_data() {
    QTest::addColumn<QString>("name");
    for (const char* family : {"switch", "mixtral"})
      for (const auto& entry : std::filesystem::directory_iterator(source_folder() + "/tests/reference/" + family))
        if (entry.is_directory())
          QTest::newRow((family + ("/" + entry.path().filename().string())).c_str()) << QString::fromStdString(entry.path().string());
    for (const int experts : {8, 16, 32, 64, 128, 256})
      QTest::addRow("switch-base-%d", experts) << QString("preset:switch-base-%1").arg(experts);
  }
  void planned_memory_is_near_what_is_alive() {
    QFETCH(QString, name);
    const auto model = open_model(name.toStdString());
    std::vector<std::shared_ptr<const Graph>> graphs{model->forward};
    if (model->generates) graphs.push_back(model->generate());
    for (const std::shared_ptr<const Graph>& graph : graphs)
      for (const int64_t sequences : {int64_t{1}, int64_t{8}, int64_t{32}}) {
        Bindings bounds(graph->symbols.size(), 0);
        const std::pair<std::string_view, int64_t> extents[] = {{kSequences, sequences}, {kLength, 128}, {kDecoderLength, 64}};
        for (const auto& [symbol, value] : extents)
          if (const SymbolId id = graph->find_symbol(symbol); id != kNone) bounds[static_cast<size_t>(id)] = value;
        const Program program = lower(graph);
        const LiveBytes live = most_live_bytes(program, bounds);
        const bool top_1 = std::all_of(graph->values.begin(), graph->values.end(), [](const Value& v) { return v.fan_out <= 1; });
        const int64_t planned = plan_memory(program, bounds).arena_bytes, alive = top_1 ? live.by_load : live.by_place;
        const double ratio = static_cast<double>(planned) / static_cast<double>(alive);
        std::printf("%s, %lld sequences: planned %lld, %.3f of what is alive\n", QTest::currentDataTag(), static_cast<long long>(sequences),
                    static_cast<long long>(planned), ratio);
        QVERIFY2(ratio <= 1.15, qPrintable(QString::number(ratio)));
      }
  }
};
STORMCELL_TEST(MemoryTest)
#include "memory_test.moc"
