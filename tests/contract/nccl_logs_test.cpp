// Logs with more than one output of nccl-tests: several runs, a launcher's tags and warnings, processes that ran side
// by side.
#include <QRegularExpression>
#include <cmath>
#include <functional>

#include "tests/contract/imports.h"

namespace stormcell::testing {
namespace {

/// A run as nccl-tests prints it: rows of 1 KiB to 1 MiB that take t0 + size / 100 GB/s.
struct NcclRun {
  std::string collective = "alltoall";
  int hosts = 1, gpus = 8;
  double t0_us = 20;
  bool named = false;  ///< versions since 2025 print the collective's name
  int rows = 6;
  int first_rank = 0;
  std::string gpu = "NVIDIA H100 80GB HBM3", host = "host-";

  bool is_sum() const { return collective == "all_reduce"; }
  std::string head() const {
    return (named ? "# Collective test starting: " + collective + "_perf\n" : "") +
           "# nThread 1 nGpus 1 minBytes 1024 maxBytes 1048576 step: 4(factor) warmup iters: 5 iters: 20 agg iters: 1 "
           "validation: 1 graph: "
           "0\n#\n"
           "# Using devices\n";
  }
  std::string ranks() const {
    std::string text;
    for (int r = first_rank; r < hosts * gpus; ++r)
      text += QString("#  Rank %1 Group  0 Pid %2 on  %3%4 device %5 [0x1b] %6\n")
                  .arg(r, 2)
                  .arg(4000 + r, 6)
                  .arg(host.c_str())
                  .arg(r / gpus)
                  .arg(r % gpus, 2)
                  .arg(gpu.c_str())
                  .toStdString();
    return text;
  }
  std::string columns(const std::string& last = "") const {
    return "#\n#                                                              out-of-place                       "
           "in-place          \n"
           "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   "
           "busbw #wrong" +
           last +
           "\n#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  "
           "(GB/s)       \n";
  }
  std::string table(const std::string& last = "") const {
    std::string text;
    const double n = hosts * gpus, factor = (is_sum() ? 2 : 1) * (n - 1) / n;
    int64_t size = 1024;
    for (int i = 0; i < rows; ++i, size *= 4) {
      const double us = t0_us + static_cast<double>(size) / 100e3, gb = static_cast<double>(size) / us / 1e3;
      text += QString("%1 %2     float  %3      -1  %4 %5 %6      0  %4 %5 %6    N/A")
                  .arg(size, 12)
                  .arg(size / 4, 13)
                  .arg(is_sum() ? "sum" : "none")
                  .arg(us, 7, 'f', 2)
                  .arg(gb, 6, 'f', 2)
                  .arg(gb * factor, 6, 'f', 2)
                  .toStdString() +
              last + "\n";
    }
    return text;
  }
  std::string foot() const {
    return "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 1.234 \n#\n" +
           (named ? "# Collective test concluded: " + collective + "_perf\n" : std::string());
  }
  std::string text() const { return head() + ranks() + columns() + table() + foot(); }
};

std::string each_line(const std::string& text, const std::function<std::string(int line)>& before) {
  std::string out;
  int number = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at) + 1;
    out += before(number++) + text.substr(at, end - at);
    at = end;
  }
  return out;
}
std::string seconds(int line) { return QString("%1").arg(line % 60, 2, 10, QChar('0')).toStdString(); }

const std::string kOpenMpi =
    "--------------------------------------------------------------------------\nWARNING: There was an error "
    "initializing an OpenFabrics "
    "device.\n\n  Local host:   node-0\n  Local device: "
    "mlx5_0\n--------------------------------------------------------------------------\n";

}  // namespace

class ContractNcclLogsTest : public QObject, private Imports {
  Q_OBJECT
  /// The expected fit: its collective, its ranks, and the beginning of its line.
  struct Fit {
    std::string what;
    int ranks;
    double t0_us;
  };
  void verify_fits(const std::string& log, const std::vector<Fit>& fits, int64_t calls,
                   const std::string& name = "log.txt", const Arguments& more = {}) {
    Arguments arguments = {"calibrate", scratch_.write(name, log), "-o", scratch_.path("cal.json"), "--json", "-"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Json j = json_of(arguments);
    QVERIFY2(j["calls"] == calls && j["fits"].size() == fits.size(), j.dump().c_str());
    for (const Fit& fit : fits) {
      const auto is_it = [&](const Json& f) {
        const bool ranks = f["ranks"].is_null() ? fit.ranks == 0 : f["ranks"] == fit.ranks;
        return f["what"] == fit.what + " nccl" && ranks && std::abs(f["t0_us"].get<double>() - fit.t0_us) < 0.02;
      };
      QVERIFY2(std::any_of(j["fits"].begin(), j["fits"].end(), is_it), (fit.what + ": " + j["fits"].dump()).c_str());
    }
  }
  void verify_refused_log(const std::string& log, const std::string& words, const std::string& name = "alltoall.txt") {
    const std::string file = scratch_.write(name, log);
    VERIFY_REFUSED((Arguments{"calibrate", file, "-o", scratch_.path("none.json")}), file, words);
    QVERIFY(!std::filesystem::exists(scratch_.path("none.json")));
  }

 private slots:
  void several_runs_are_several_sets_of_calls() {
    const NcclRun four{.gpus = 4, .t0_us = 10}, eight{.t0_us = 40};
    verify_fits(four.text() + eight.text(), {{"alltoall", 4, 10}, {"alltoall", 8, 40}}, 12, "alltoall-two.txt");
    const NcclRun sum{.collective = "all_reduce", .t0_us = 30, .named = true}, all{.t0_us = 20, .named = true};
    verify_fits(sum.text() + all.text(), {{"all_reduce", 8, 30}, {"alltoall", 8, 20}}, 12);
    // A run without a name does not get the name of the run before.
    const NcclRun unnamed{.collective = "all_reduce", .gpus = 4, .t0_us = 25};
    verify_fits(all.text() + unnamed.text(), {{"alltoall", 8, 20}, {"all_reduce", 4, 25}}, 12);
    // The same run twice gives the same fit, from twice as many calls.
    verify_fits(all.text() + all.text(), {{"alltoall", 8, 20}}, 12);
    // Two hosts after one; another GPU after the first.
    const NcclRun two{.hosts = 2, .gpus = 4, .t0_us = 50, .named = true};
    verify_fits(all.text() + two.text(), {{"alltoall", 8, 20}, {"alltoall", 0, 50}}, 12, "log.txt",
                {"--nic-gbit", "400"});
    const NcclRun other{.t0_us = 33, .named = true, .gpu = "NVIDIA A100-SXM4-80GB"};
    verify_fits(all.text() + other.text(), {{"alltoall", 8, 20}, {"alltoall", 8, 33}}, 12);
    const NcclRun third{.collective = "all_reduce", .gpus = 2, .t0_us = 12, .named = true};
    verify_fits(four.text() + sum.text() + third.text(),
                {{"alltoall", 4, 10}, {"all_reduce", 8, 30}, {"all_reduce", 2, 12}}, 18, "alltoall.txt");
  }

  // The commands that a shell prints name the collective of versions that do not.
  void the_command_above_names_a_run() {
    const NcclRun run{.t0_us = 15}, sum{.collective = "all_reduce", .t0_us = 35};
    verify_fits("+ mpirun -np 8 ./build/alltoall_perf -b 1K -e 1M -f 4 -g 1\n" + run.text() +
                    "+ mpirun -np 8 ./build/all_reduce_perf -b 1K -e 1M\n" + sum.text(),
                {{"alltoall", 8, 15}, {"all_reduce", 8, 35}}, 12);
    verify_refused_log("$ ./build/all_gather_perf -g 8\n" + run.text(),
                       "is all_gather_perf by line 1, which is not read");
  }

  // The file is named after an all-to-all, and its content names another collective.
  void a_command_in_the_file_wins_over_its_name_data() {
    QTest::addColumn<QString>("line");
    QTest::addColumn<QString>("collective");
    const char* const collectives[] = {"all_gather", "gather",    "scatter",       "broadcast",
                                       "sendrecv",   "hypercube", "reduce_scatter"};
    for (const char* c : collectives) {
      QTest::addRow("a comment with %s", c) << QString("# ./build/%1_perf -b 8").arg(c) << c;
      QTest::addRow("a printed command with %s", c) << QString("+ srun -n 8 /opt/%1_perf_mpi -b 8").arg(c) << c;
      QTest::addRow("a heading with %s", c) << QString("# Collective test starting: %1_perf").arg(c) << c;
    }
    QTest::newRow("a prompt of root") << "[root@host-0 ~]# ./build/gather_perf -g 8"
                                      << "gather";
    QTest::newRow("in quotes") << "+ bash -c 'NCCL_DEBUG=WARN ./build/gather_perf'"
                               << "gather";
    QTest::newRow("beside the name NCCL") << "# NCCL tests: ./build/gather_perf -g 8"
                                          << "gather";
  }
  void a_command_in_the_file_wins_over_its_name() {
    QFETCH(QString, line);
    QFETCH(QString, collective);
    const std::string words = "is " + collective.toStdString() + "_perf by line 1, which is not read",
                      first = line.toStdString() + "\n";
    verify_refused_log(first + NcclRun{}.text(), words);
    // sendrecv_perf and reduce_perf print a sum; between two GPUs its rates are those of an all-reduce.
    verify_refused_log(first + NcclRun{.collective = "all_reduce", .gpus = 2}.text(), words);
  }

  void a_command_and_rows_that_contradict_each_other_are_refused() {
    const NcclRun all, sum{.collective = "all_reduce"};
    verify_refused_log("# ./build/all_reduce_perf -b 8\n" + all.text(),
                       "has the redop \"none\", which all_reduce_perf of line 1 never has");
    verify_refused_log("# ./build/alltoall_perf -b 8\n" + sum.text(),
                       "has the redop \"sum\", which alltoall_perf of line 1 never has");
    // The second run may be of the collective that the first one names.
    verify_refused_log("# ./build/all_reduce_perf -b 8\n" + sum.text() + all.text(),
                       "does not say its collective, and line 1 names all_reduce_perf for an earlier run");
    verify_fits("# ./build/alltoall_perf -b 8\n" + all.text() + all.text(), {{"alltoall", 8, 20}}, 12, "alltoall.txt");
  }

  // Between two GPUs the rates of a reduce are those of an all-reduce. The command or the root tells them apart.
  void a_reduce_between_two_gpus_is_no_all_reduce() {
    const NcclRun pair{.collective = "all_reduce", .gpus = 2};
    const std::string all = pair.text();
    const std::string rooted = QString::fromStdString(all).replace("sum      -1", "sum       0").toStdString();
    QVERIFY(rooted != all);
    verify_refused_log("+ ./build/reduce_perf -b 8M -e 128M -f 2 -g 2\n" + rooted,
                       "is reduce_perf by line 1, which is not read");
    verify_refused_log("+ ./build/reduce_perf -b 8M -e 128M -f 2 -g 2\n" + all,
                       "is reduce_perf by line 1, which is not read");
    verify_refused_log("+ ./build/reduce_scatter_perf -g 2\n" + all, "is reduce_scatter_perf by line 1");
    verify_refused_log(rooted, "is neither all_reduce_perf nor alltoall_perf");
    verify_refused_log("+ ./build/all_reduce_perf -g 2\n" + rooted, "has a root, which all_reduce_perf never has");
    verify_fits(all, {{"all_reduce", 2, 20}}, 6);
    // A list of programs is no command: an all-gather has no redop.
    verify_fits("all_gather_perf  all_reduce_perf  reduce_perf\n" + all, {{"all_reduce", 2, 20}}, 6);
  }

  void what_a_launcher_puts_before_lines_is_no_field_data() {
    QTest::addColumn<int>("kind");
    const char* const names[] = {"kubectl logs --timestamps",
                                 "mpirun --timestamp-output",
                                 "srun -l",
                                 "mpirun --tag-output",
                                 "both of mpirun",
                                 "PRRTE",
                                 "ts",
                                 "docker compose",
                                 "MPICH -l",
                                 "kubectl logs --prefix --timestamps",
                                 "pdsh",
                                 "docker compose in colours",
                                 "lines in a colour",
                                 "a mark of UTF-8 and CRLF"};
    int kind = 0;
    for (const char* name : names) QTest::newRow(name) << kind++;
  }
  void what_a_launcher_puts_before_lines_is_no_field() {
    QFETCH(int, kind);
    const NcclRun four{.gpus = 4, .t0_us = 10, .named = true},
        eight{.collective = "all_reduce", .t0_us = 40, .named = true};
    std::string text = four.text() + eight.text();
    const std::vector<std::function<std::string(int)>> befores = {
        [](int i) { return "2026-09-21T10:11:" + seconds(i) + ".123456789Z "; },
        [](int i) { return "Mon Sep 21 10:11:" + seconds(i) + " 2026<stdout>:"; },
        [](int) { return " 0: "; },
        [](int) { return "[1,0]<stdout>:"; },
        [](int i) { return "[1,0]Mon Sep 21 10:11:" + seconds(i) + " 2026<stdout>: "; },
        [](int) { return "[prterun-node-0-4711@1,0]<stdout>: "; },
        [](int i) { return "Sep 21 10:11:" + seconds(i) + " "; },
        [](int) { return "nccl-1  | "; },
        [](int) { return "[0] "; },
        [](int i) { return "[pod/nccl-launcher/main] 2026-09-21T10:11:" + seconds(i) + "Z "; },
        [](int) { return "node-0: "; },
        [](int) { return "\x1b[1;36mnccl-1  |\x1b[0m "; },
        [](int) { return "\x1b[38;5;10m"; },
        [](int) { return ""; },
    };
    text = each_line(text, befores[static_cast<size_t>(kind)]);
    if (kind + 1 == std::ssize(befores))
      text = "\xEF\xBB\xBF" + QString::fromStdString(text).replace("\n", "\r\n").toStdString();
    verify_fits(text, {{"alltoall", 4, 10}, {"all_reduce", 8, 40}}, 12);
  }

  // The output's own column of -S 1.
  void a_column_of_times_is_no_measure() {
    const NcclRun run{.t0_us = 22, .named = true};
    const std::string text = run.head() + run.ranks() + run.columns("            timestamp") +
                             run.table("  2026-09-21 10:11:12") + run.foot();
    verify_fits(text, {{"alltoall", 8, 22}}, 6);
  }

  void warnings_of_a_launcher_are_passed_over() {
    const NcclRun run{.t0_us = 18, .named = true}, sum{.collective = "all_reduce", .t0_us = 28, .named = true};
    const std::string pile =
        "Warning: Permanently added 'host-1' (ED25519) to the list of known hosts.\n" + kOpenMpi +
        "[host-0:4711] 7 more processes have sent help message help-mpi-btl-openib.txt / error in device init\n"
        "libibverbs: Warning: couldn't load driver 'librxe-rdmav34.so': no such file\n"
        "host-0:4711:4711 [0] NCCL INFO Bootstrap : Using eth0:10.0.0.1<0>\n";
    verify_fits(pile + run.text() + pile + sum.text() + pile, {{"alltoall", 8, 18}, {"all_reduce", 8, 28}}, 12);
    // Between the ranks, and within a table.
    verify_fits(run.head() + pile + run.ranks() + pile + run.columns() + pile + run.table() + pile + run.foot(),
                {{"alltoall", 8, 18}}, 6);
  }

  void processes_that_were_each_rank_0_are_refused() {
    const NcclRun a{.gpus = 1, .host = "host-a"}, b{.gpus = 1, .host = "host-b"};
    const auto before_rows = [](const NcclRun& r) { return r.head() + r.ranks() + r.columns(); };
    const std::string alone = "each process ran alone, as rank 0";
    verify_refused_log(before_rows(a) + before_rows(b) + a.table() + b.table() + a.foot() + b.foot(), alone);
    verify_refused_log(before_rows(a) + before_rows(a) + a.table() + a.table() + a.foot() + a.foot(), alone);
    verify_refused_log(a.head() + b.head() + a.ranks() + b.ranks() + a.columns() + b.columns() + a.table() + b.table() +
                           a.foot() + b.foot(),
                       alone);
    // The runs follow one another.
    verify_refused_log(a.text() + b.text(), "so nothing was exchanged");
    // Processes with several GPUs: each has its own ranks, and the rows are of both.
    const NcclRun wide{.gpus = 4, .host = "host-a"}, other{.gpus = 4, .host = "host-b"};
    verify_refused_log(
        before_rows(wide) + before_rows(other) + wide.table() + other.table() + wide.foot() + other.foot(),
        "several processes ran side by side, and their rows are mixed");
    verify_refused_log(
        before_rows(wide) + before_rows(other) + wide.table() + wide.foot() + other.table() + other.foot(),
        "is before the line of columns");
  }

  // A run that broke off before its first row is skipped by name; the next one is read.
  void a_run_that_printed_no_row_is_passed_over() {
    const NcclRun broken{.gpus = 4}, run{.t0_us = 21};
    verify_fits(broken.head() + broken.ranks() + "srun: error: host-1: task 3: Killed\n" + run.text(),
                {{"alltoall", 8, 21}}, 6, "alltoall.txt");
    verify_fits(broken.head() + broken.ranks() + broken.columns() + run.text(), {{"alltoall", 8, 21}}, 6,
                "alltoall.txt");
    const Ended ended = run_program({"calibrate", scratch_.path("alltoall.txt"), "-o", scratch_.path("cal.json")});
    QVERIFY2(ended.err.find("line 4: begins a run of 4 ranks that printed no row; it is left out") != std::string::npos,
             ended.err.c_str());
    const NcclRun half{.gpus = 4, .rows = 2};
    verify_refused_log(half.head() + half.ranks() + half.columns() + half.table() + run.text(),
                       "ends before \"Out of bounds values\"");
  }

  void a_last_run_without_rows_is_refused_data() {
    QTest::addColumn<QString>("rest");
    const NcclRun last{.named = true};
    QTest::newRow("after its heading") << QString::fromStdString(last.head());
    QTest::newRow("after its list of ranks") << QString::fromStdString(last.head() + last.ranks());
    QTest::newRow("after its line of columns") << QString::fromStdString(last.head() + last.ranks() + last.columns());
    QTest::newRow("with a message") << QString::fromStdString(last.head() + last.ranks()) +
                                           "srun: error: host-1: task 3: Killed\n";
  }
  void a_last_run_without_rows_is_refused() {
    QFETCH(QString, rest);
    const std::string words = "the run broke off, or the file was cut";
    const NcclRun four{.gpus = 4, .named = true};
    verify_refused_log(four.text() + rest.toStdString(), words);
    verify_refused_log(four.text() + rest.toStdString(), "of the run that begins in line 23");
  }

  void a_rank_that_occurs_twice_is_named() {
    QString twice = QString::fromStdString(NcclRun{.gpus = 4}.text());
    const QString rank = QString::fromStdString(NcclRun{.gpus = 3}.ranks()).section('\n', 2, 2) + "\n";
    QVERIFY(twice.contains(rank));
    verify_refused_log(QString(twice).replace(rank, rank + rank).toStdString(),
                       "line 7: rank 2 occurs twice, first in line 6");
    const NcclRun a{.gpus = 4}, run{.t0_us = 21};
    // The list of the second run is sorted, the first one is not, and it printed no row.
    std::string mixed = a.ranks();
    const size_t second = mixed.find('\n') + 1;
    mixed = mixed.substr(second) + mixed.substr(0, second);
    verify_fits(a.head() + mixed + run.text(), {{"alltoall", 8, 21}}, 6, "alltoall.txt");
  }

  void lists_and_tables_that_cannot_be_are_refused() {
    const NcclRun run;
    QString holed = QString::fromStdString(run.text());
    holed.remove(QRegularExpression("#  Rank  2 [^\n]*\n"));
    verify_refused_log(holed.toStdString(), "the list of ranks above lacks rank 2");
    verify_refused_log(NcclRun{.first_rank = 1}.text(), "the list of ranks above lacks rank 0");
    verify_refused_log(run.text() + run.columns() + run.table() + run.foot(),
                       "begins a table without a list of ranks of its own");
    verify_refused_log(run.table() + run.text(), "line 1: is before the line of columns");
    verify_refused_log(QString::fromStdString(run.text()).replace("Rank  7 Group  0", "Rank  7 Group  1").toStdString(),
                       "are 2 groups, each with an exchange of its own");
    verify_refused_log(QString::fromStdString(run.text()).replace(" time ", " cputime ").toStdString(),
                       "times are those of the processor");
  }
};

STORMCELL_TEST(ContractNcclLogsTest)

}  // namespace stormcell::testing

#include "nccl_logs_test.moc"
