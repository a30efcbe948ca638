// Loads are counts: as exact in the windows that views show as in the session.
#include "core/readings/selected_view.h"
#include "core/readings/session_view.h"
#include "core/session/blob.h"
#include "core/session/sqlite.h"
#include "tests/core/session/session_fixture.h"
#include "tests/testing/testing.h"

using namespace stormcell;
using namespace stormcell::testing;

class LoadWindowsTest : public QObject {
  Q_OBJECT
 private slots:
  void counts_beyond_2_to_the_24_are_exact() {
    const QTemporaryDir folder;
    const std::string path = make_session(folder.filePath("many.storm").toStdString(), 2);
    constexpr int64_t kMany = (int64_t{1} << 24) + 1;
    {
      // As a run of that many cells leaves it.
      RouterLoads loads(8);
      loads.batches = 1, loads.cells = 4 * kMany;
      loads.load[3] = kMany, loads.padding[3] = kMany - 2, loads.dropped[3] = kMany + 2;
      blob::Bytes bytes;
      blob::put_loads(loads, bytes);
      sqlite::Database db(path, sqlite::OpenMode::create);
      sqlite::Statement update(
          db, "UPDATE load_window SET cells = ?, data = ? WHERE router = 4096 AND level = 0 AND number = 0");
      update.bind(1, loads.cells).bind(2, std::span<const uint8_t>(bytes)).run();
    }
    const auto windows = read_load_windows(path, 1, {0, 1}, 256);
    const LoadWindows::Router& router = windows->routers.at(0);
    QCOMPARE(static_cast<int64_t>(router.cells.at(0)), 4 * kMany);
    QCOMPARE(static_cast<int64_t>(router.load.at(3)), kMany);
    QCOMPARE(static_cast<int64_t>(router.padding.at(3)), kMany - 2);
    QCOMPARE(static_cast<int64_t>(router.dropped.at(3)), kMany + 2);
    const auto phase = read_phase_windows(path, 1, "forward", {0, 1}, 256);
    QCOMPARE(static_cast<int64_t>(phase->routers.at(0).load.at(3)), kMany);
  }
};
STORMCELL_TEST(LoadWindowsTest)
#include "load_windows_test.moc"
