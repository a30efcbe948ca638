#include "core/cpu/kernels/isa.h"

#include <QFile>
#include <QProcess>
#include <QRegularExpression>
#include <QStandardPaths>
#include <QTest>
#include <algorithm>

#include "core/base/checkout.h"
#include "core/cpu/kernels/kernel_table.h"
#include "core/cpu/machine.h"
#include "tests/testing/testing.h"

namespace stormcell::cpu::testing {

class IsaTest : public QObject {
  Q_OBJECT
 private slots:
  void the_list_goes_from_special_to_generic() {
    const auto isas = available_isas();
    QVERIFY(!isas.empty());
    QCOMPARE(isas.back(), Isa::generic);
    QVERIFY(std::is_sorted(isas.begin(), isas.end(), std::greater<>()));
  }

  void the_environment_sets_an_upper_bound() {
    for (const Isa isa : available_isas()) {
      qputenv("STORMCELL_ISA", to_text(isa).data());
      set_isa_for_test({});
      QCOMPARE(active_isa(), isa);
      set_isa_for_test(Isa::generic);
      QCOMPARE(active_isa(), Isa::generic);
    }
    qunsetenv("STORMCELL_ISA");
    set_isa_for_test({});
    const auto isas = available_isas();
    QVERIFY(std::find(isas.begin(), isas.end(), active_isa()) != isas.end());
  }

  // An inline function that such an object shares with baseline code could replace the baseline copy at link time, and
  // the program would stop with an illegal instruction on older processors. Hence every symbol that might be shared
  // must carry the name of its instruction set. A typeinfo, which a sanitizer asks for, holds no instructions.
  void special_objects_share_no_functions_with_baseline_code() {
    const QString nm = QStandardPaths::findExecutable("nm"),
                  library = QString::fromStdString(checkout_build_folder()) + "/libstormcell_cpu.a";
    if (nm.isEmpty() || !QFile::exists(library)) QSKIP("needs nm and the static library");
    QProcess process;
    process.start(nm, {"-C", "--defined-only", library});
    QVERIFY(process.waitForFinished());
    QString object;
    int symbols = 0;
    for (const QString& line : QString::fromLocal8Bit(process.readAllStandardOutput()).split('\n')) {
      if (line.endsWith(':')) object = line;
      const QString kind = line.section(' ', 1, 1), name = line.section(' ', 2);
      if (!object.contains(".avx") || !QString("WVuw").contains(kind) || kind.isEmpty() || name.startsWith("DW.ref.") ||
          name.startsWith("typeinfo"))
        continue;
      ++symbols;
      QVERIFY2(name.contains("avx", Qt::CaseInsensitive), qPrintable(object + " " + name));
    }
    QVERIFY(symbols > 0);
  }

  // GCC keeps an array of vectors in memory as soon as one loop over it is not unrolled in time; that costs a factor
  // of 2.4 to 4 and no test of values sees it. A tile may touch the stack for constants before its loop, not for its
  // sums at every step.
  void tiles_keep_their_sums_in_registers() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    QSKIP("sanitized code uses the stack");
#endif
    const QString objdump = QStandardPaths::findExecutable("objdump"),
                  library = QString::fromStdString(checkout_build_folder()) + "/libstormcell_cpu.a";
    if (objdump.isEmpty() || !QFile::exists(library)) QSKIP("needs objdump and the static library");
    QProcess process;
    process.start(objdump, {"-d", "-C", "--no-show-raw-insn", library});
    QVERIFY(process.waitForFinished(120000));
    const QRegularExpression on_stack("[yz]mm.*\\(%r[sb]p|\\(%r[sb]p.*[yz]mm");
    QString tile;
    int tiles = 0, touches = 0;
    for (const QByteArray& line : process.readAllStandardOutput().split('\n')) {
      if (line.endsWith(">:")) {
        tile = line.contains("isa_avx") && line.contains("::multiply_tile<") ? QString(line) : QString();
        tiles += !tile.isEmpty();
        touches = 0;
      } else if (!tile.isEmpty() && on_stack.match(QString(line)).hasMatch()) {
        QVERIFY2(++touches <= 8, qPrintable(tile));
      }
    }
    QVERIFY(tiles >= 30);
  }

  void probes_give_figures() {
    const Processor processor = describe_processor();
    QVERIFY(processor.cores >= 1 && processor.logical_processors >= 1);
    for (const int threads : {1, 2}) {
      ThreadTeam team(threads);
      const PlacementProbe placement = probe_placement(team);
      QVERIFY(!to_text(placement.placement).empty());
      QCOMPARE(placement.placement == Placement::one_thread, threads == 1);
      const Ceilings ceilings = probe_ceilings(team);
      QVERIFY(ceilings.f32_gflops > 0 && ceilings.bf16_gflops >= ceilings.f32_gflops && ceilings.read_gbs > 0);
    }
  }
};

}  // namespace stormcell::cpu::testing

using stormcell::cpu::testing::IsaTest;
STORMCELL_TEST(IsaTest)
#include "isa_test.moc"
