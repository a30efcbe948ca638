// Outputs of nccl-tests as measured calls.
#include <cmath>

#include "tests/contract/imports.h"

namespace stormcell::testing {
namespace {

/// As nccl-tests print it: so many ranks on each host; rows of 4 to 2^20 floats that take t0 + size / rate.
std::string nccl_output(const std::string& collective, int hosts, int gpus, double t0_us, double bytes_per_us) {
  std::string text =
      "# nThread 1 nGpus 1 minBytes 8 maxBytes 4194304 step: 4(factor) warmup iters: 5 iters: 20 agg iters: 1 "
      "validation: 1 graph: 0\n#\n"
      "# Using devices\n";
  for (int r = 0; r < hosts * gpus; ++r)
    text += "#  Rank  " + std::to_string(r) + " Group  0 Pid  " + std::to_string(4000 + r) + " on  host-" +
            std::to_string(r / gpus) + " device  " + std::to_string(r % gpus) + " [0x1b] NVIDIA H100 80GB HBM3\n";
  text +=
      "NCCL version 2.28.9+cuda13.0\n#\n#                                                    out-of-place            "
      "in-place\n"
      "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw "
      "#wrong\n"
      "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)\n"
      "           0             0     float    none      -1     9.11    0.00    0.00      0     9.02    0.00    0.00   "
      " N/A\n";
  const bool sum = collective == "all_reduce";
  const double ranks = hosts * gpus, factor = (sum ? 2 : 1) * (ranks - 1) / ranks;
  for (int64_t size = 16; size <= 4194304; size *= 4) {
    const double us = t0_us + static_cast<double>(size) / bytes_per_us, gb = static_cast<double>(size) / us / 1e3;
    const QString row = QString("%1 %2 float %3 -1 %4 %5 %6 0 %4 %5 %6 %7\n")
                            .arg(size)
                            .arg(size / 4)
                            .arg(sum ? "sum" : "none")
                            .arg(us, 0, 'f', 2)
                            .arg(gb, 0, 'f', 2)
                            .arg(gb * factor, 0, 'f', 2)
                            .arg(sum ? "0" : "N/A");
    text += row.toStdString();
  }
  return text + "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 12.3\n#\n";
}

}  // namespace

class ContractCalibrateNcclTest : public QObject, private Imports {
  Q_OBJECT

 private slots:
  void outputs_of_nccl_tests_are_calls_data() {
    QTest::addColumn<QString>("collective");
    QTest::addColumn<QString>("op");
    QTest::newRow("all-reduce") << "all_reduce"
                                << "all_reduce";
    QTest::newRow("all-to-all") << "alltoall"
                                << "alltoall";
  }
  void outputs_of_nccl_tests_are_calls() {
    QFETCH(QString, collective);
    QFETCH(QString, op);
    const std::string name = collective.toStdString(), text = nccl_output(name, 1, 8, 20, 100e3),
                      cal = scratch_.path(name + ".json");
    const Json j = json_of({"calibrate", scratch_.write(name + "_perf.txt", text), "-o", cal, "--json", "-"});
    QVERIFY2(j["calls"] == 10 && j["fits"].size() == 1, j.dump().c_str());
    const Json& fit = j["fits"][0];
    QVERIFY2(fit["what"] == op.toStdString() + " nccl" && fit["gpu"] == "H100" && fit["fabric"] == "one fabric" &&
                 fit["ranks"] == 8,
             fit.dump().c_str());
    // Times are printed in hundredths. What an all-reduce moves is what a link of the ring carries.
    const double moved = op == "all_reduce" ? 2. * 7 / 8 : 1;
    QVERIFY(std::abs(fit["t0_us"].get<double>() - 20) < 0.01 &&
            std::abs(fit["rate"].get<double>() / (moved * 100e9) - 1) < 1e-3);
    // The calibration says the same as the output.
    const Json same = json_of({"calibrate", cal, "--check", scratch_.path(name + "_perf.txt"), "--json", "-"});
    QVERIFY(same["errors"].size() == 1 && same["errors"][0]["kind"] == "measured" && same["errors"][0]["calls"] == 10);
    // The log's own word wins over its file's name.
    const std::string told = "# Collective test starting: " + name + "_perf\n" + text;
    QCOMPARE(json_of({"calibrate", scratch_.write("out.log", told), "-o", scratch_.path("c.json"), "--json",
                      "-"})["fits"][0]["what"]
                 .dump(),
             fit["what"].dump());
  }

  void outputs_over_hosts_need_the_card() {
    const std::string file = scratch_.write("alltoall-2.txt", nccl_output("alltoall", 2, 8, 30, 40e3)),
                      cal = scratch_.path("two.json");
    VERIFY_REFUSED((Arguments{"calibrate", file, "-o", cal}), file, "line 26: the ranks above are on 2 hosts");
    const Json fit = json_of({"calibrate", file, "-o", cal, "--nic-gbit", "400", "--json", "-"})["fits"][0];
    QVERIFY2(fit["fabric"] == "400 Gbit/s" && fit["ranks"].is_null(), fit.dump().c_str());
    VERIFY_REFUSED((Arguments{"calibrate", file, "-o", cal, "--nic-gbit", "0"}), "--nic-gbit", "");
  }

  // A cost of a step from an output alone: bytes are bytes.
  void an_all_to_all_stands_for_both_ways_of_an_exchange() {
    const std::string session = scratch_.path("nccl.storm"), cal = scratch_.path("nccl.json");
    imported(scratch_.write("nccl.csv", route_trace()), session);
    json_of({"calibrate", scratch_.write("alltoall.txt", nccl_output("alltoall", 1, 4, 30, 40e3)), "-o", cal, "--json",
             "-"});
    const Json j = json_of({"simulate", session, "--cluster", four_gpus(), "--hidden", "2048", "--ffn", "32",
                            "--tokens-per-step", "64", "--calibration", cal, "--json", "-"})["calibration"];
    for (const size_t i : {0, 2}) {
      const Json& p = j["phases"][i];
      const double bytes = 64. / 4 * 2 * 2048 * 2;  // tokens of a GPU, choices, a row of 16 bits
      QVERIFY2(p["kind"] == "interpolated" && p["like"] == "alltoall nccl of H100", p.dump().c_str());
      QVERIFY2(std::abs(p["us"].get<double>() - (30 + bytes / 40e3)) < 0.02 &&
                   std::abs(p["t0_us"].get<double>() - 30) < 0.02,
               p.dump().c_str());
    }
  }

  void outputs_that_are_wrong_are_refused_data() {
    QTest::addColumn<QString>("from");
    QTest::addColumn<QString>("to");
    QTest::addColumn<QString>("words");
    const char* const row = "1024 256 float none -1 30.03";
    QTest::newRow("a word") << row << "1024 256 float none -1 fast"
                            << "line 21: time is \"fast\", no number from 0";
    QTest::newRow("negative") << row << "1024 256 float none -1 -30.03"
                              << "line 21: time is \"-30.03\"";
    QTest::newRow("endless") << row << "1024 256 float none -1 inf"
                             << "line 21: time is \"inf\"";
    QTest::newRow("zero") << row << "1024 256 float none -1 0.00"
                          << "line 21: time is 0";
    QTest::newRow("a size") << row << "x 256 float none -1 30.03"
                            << "line 21: size is \"x\"";
    QTest::newRow("a field less") << row << "1024 float none -1 30.03"
                                  << "line 21: has 12 fields, the line of columns has 13";
    QTest::newRow("wrong values") << " 0 30.03"
                                  << " 7 30.03"
                                  << "line 21: has wrong values: NCCL computed wrong results";
    QTest::newRow("two GPUs") << "device  1 [0x1b] NVIDIA H100"
                              << "device  1 [0x1b] NVIDIA A100"
                              << "line 5: is of \"A100\", the ranks before of \"H100\"";
    QTest::newRow("a torn rank") << "device  1 [0x1b] NVIDIA H100 80GB HBM3"
                                 << "device"
                                 << "line 5: is not a line of a rank";
    QTest::newRow("unlike hosts") << "host-0 device  1"
                                  << "host-9 device  1"
                                  << "the hosts above have different numbers of ranks";
    QTest::newRow("cut") << "1024 256"
                         << "# Out of\n1024"
                         << "line 22: has 12 fields";
    QTest::newRow("broken off") << "# Out of bounds values : 0 OK"
                                << "#"
                                << "ends before \"Out of bounds values\"";
    QTest::newRow("noise") << row << "Segmentation fault\n1024 256 float none -1 30.03"
                           << "line 21: has 2 fields";
  }
  void outputs_that_are_wrong_are_refused() {
    QFETCH(QString, from);
    QFETCH(QString, to);
    QFETCH(QString, words);
    const QString good = QString::fromStdString(nccl_output("alltoall", 1, 8, 30, 40e3)),
                  text = QString(good).replace(from, to);
    QVERIFY(text != good);
    const std::string file = scratch_.write("alltoall-wrong.txt", text.toStdString());
    VERIFY_REFUSED((Arguments{"calibrate", file, "-o", scratch_.path("wrong.json")}), file, words.toStdString());
  }
  /// As NVIDIA/nccl-tests issue 78 shows an all-to-all of NCCL 2.10 (the rows' figures are facts of that run,
  /// 2021-12-08), and mpirun's tags.
  void outputs_of_older_versions_and_of_mpirun_are_read() {
    const std::string head =
        "#                                                       out-of-place                       in-place          "
        "\n"
        "#       size         count      type   redop     time   algbw   busbw  error     time   algbw   busbw  error\n"
        "#        (B)    (elements)                       (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)  \n";
    const std::string rows =
        "   268435456       1048576     float           520935    0.52    0.51  0e+00   519562    0.52    0.51  1e+00\n"
        "   536870912       2097152     float          1041974    0.52    0.51  0e+00  1041299    0.52    0.51  "
        "1e+00\n";
    std::string ranks = "# Using devices\n";
    for (int r = 0; r < 64; ++r)
      ranks += "#   Rank " + std::to_string(r) + " Pid   " + std::to_string(1320 + r) + " on node-" +
               std::to_string(r / 8) + " device  " + std::to_string(r % 8) + " [0x1b] Tesla V100-SXM2-16GB\n";
    const std::string good =
        ranks + head + rows + "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 0.507636 \n";
    std::string tagged = good;
    for (size_t at = 0; at < tagged.size(); at = tagged.find('\n', at) + 1) tagged.insert(at, "[1,0]<stdout>:");
    for (const std::string& text : {good, tagged}) {
      const Json j = json_of({"calibrate", scratch_.write("alltoall.txt", text), "--nic-gbit", "100", "-o",
                              scratch_.path("old.json"), "--json", "-"});
      QVERIFY2(j["calls"] == 2 && j["fits"][0]["what"] == "alltoall nccl" && j["fits"][0]["gpu"] == "V100" &&
                   j["fits"][0]["fabric"] == "100 Gbit/s",
               j.dump().c_str());
    }
    std::string failed = good;
    failed.replace(failed.find("0 OK"), 4, "2 FAILED");
    const std::string file = scratch_.write("alltoall-failed.txt", failed);
    VERIFY_REFUSED((Arguments{"calibrate", file, "--nic-gbit", "100", "-o", scratch_.path("failed.json")}), file,
                   "has wrong values");
    const std::string cut = scratch_.write("alltoall-cut.txt", ranks + head + rows);
    VERIFY_REFUSED((Arguments{"calibrate", cut, "--nic-gbit", "100", "-o", scratch_.path("cut.json")}), cut,
                   "ends before \"Out of bounds values\"");
    const std::string sums =
        "   268435456      67108864     float     sum   122131    2.20    4.33  2e-06   122165    2.20    4.33  2e-06\n"
        "   536870912     134217728     float     sum   244833    2.19    4.32  2e-06   244844    2.19    4.32  "
        "2e-06\n";
    const std::string sum = scratch_.write("sum.txt", ranks + head + sums + "# Out of bounds values : 0 OK\n");
    const Json j = json_of({"calibrate", sum, "--nic-gbit", "100", "-o", scratch_.path("sum.json"), "--json", "-"});
    QVERIFY2(j["calls"] == 2 && j["fits"][0]["what"] == "all_reduce nccl", j.dump().c_str());
  }

  void an_output_that_does_not_say_its_collective_is_refused() {
    const std::string file = scratch_.write("output.txt", nccl_output("alltoall", 1, 8, 30, 40e3));
    VERIFY_REFUSED((Arguments{"calibrate", file, "-o", scratch_.path("c.json")}), file,
                   "does not say its collective (write the command above the run");
    const std::string gather = scratch_.write(
        "alltoall-not.txt", "# Collective test starting: all_gather_perf\n" + nccl_output("alltoall", 1, 8, 30, 40e3));
    VERIFY_REFUSED((Arguments{"calibrate", gather, "-o", scratch_.path("c.json")}), gather,
                   "is all_gather_perf by line 1, which is not read");
    const std::string alone = scratch_.write("alltoall-one.txt", nccl_output("alltoall", 1, 1, 30, 40e3));
    VERIFY_REFUSED((Arguments{"calibrate", alone, "-o", scratch_.path("c.json")}), alone, "so nothing was exchanged");
  }
};

STORMCELL_TEST(ContractCalibrateNcclTest)

}  // namespace stormcell::testing

#include "calibrate_nccl_test.moc"
