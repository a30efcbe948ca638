// Files of place: counts in, a placement for the server out and read back; and which counts and clusters are refused.
#include <cmath>
#include <fstream>

#include "tests/contract/placements.h"

namespace stormcell::testing {

class ContractPlaceFilesTest : public QObject, private Placements {
  Q_OBJECT
 private slots:
  void the_published_example_goes_from_counts_to_the_servers_file() {
    const std::string session = counted_session("published"), cluster = scratch_.write("two.json", kTwoNodes);
    const Json j = placed(session, {"--cluster", cluster, "--redundant", "4", "--groups", "4"});
    QCOMPARE(j["schema"].get<std::string>(), std::string("stormcell.place/1"));
    QCOMPARE(j["layouts"].size(), size_t{3});
    QCOMPARE(j["layouts"][1]["name"].get<std::string>(), std::string("eplb"));
    QVERIFY(std::abs(j["layouts"][1]["fit"]["imbalance"].get<double>() - (.208 + .242) / 2) < 1e-3);
    QVERIFY(j["layouts"][1]["held_out"].is_null() && j["bound"].is_null() &&
            j["layouts"][1]["fit"]["cross_pairs"].is_null());
    QVERIFY(j["advice"].get<std::string>().starts_with("eplb: "));
    const Json map = Json::parse(run_program({"export", session, "--format", "sglang"}).out);
    const Json expected = Json::parse(R"({"physical_to_logical_map": [[0,1,2,3,4,5,6,7,8,9,10,11,0,1,2,3],
 [5,6,5,7,8,4,3,4,10,9,10,2,0,1,11,1], [7,10,6,8,6,11,8,9,2,4,5,1,5,0,3,1]]})");
    QVERIFY(map == expected);
    VERIFY_DONE(run_program({"inspect", session, "--check"}), Arguments{"inspect"});
  }

  // To each server's file and back: the same slots.
  void an_exported_placement_reads_back_as_it_was_data() {
    QTest::addColumn<QString>("format");
    for (const char* format : {"sglang", "trtllm", "vllm-pr41141", "vllm-pr49572", "vllm-ascend"})
      QTest::newRow(format) << format;
  }
  void an_exported_placement_reads_back_as_it_was() {
    QFETCH(QString, format);
    const std::string name = "back-" + format.toStdString(), session = counted_session(name),
                      cluster = scratch_.write("two.json", kTwoNodes);
    placed(session, {"--cluster", cluster, "--redundant", "4", "--groups", "4"});
    const std::string file = scratch_.path(name + ".placement");
    const Arguments out = {"export", session, "--format", format.toStdString(), "-o", file};
    VERIFY_DONE(run_program(out), out);
    const Json j = placed(
        session, {"--cluster", cluster, "--redundant", "4", "--groups", "4", "--solver", "keep", "--from", file});
    QCOMPARE(j["moved_slots"].get<int64_t>(), int64_t{0});
    QCOMPARE(j["layouts"].size(), size_t{4});
    QCOMPARE(j["layouts"][2]["fit"].dump(), j["layouts"][1]["fit"].dump());  // it is the EPLB rule's
    const auto slots_of = [&](int64_t placement) {
      return run_program({"export", session + "#" + std::to_string(placement), "--format", "sglang"}).out;
    };
    QVERIFY(slots_of(j["placement"].get<int64_t>()) == slots_of(2));
    const Json same =
        placed(session, {"--cluster", cluster, "--redundant", "4", "--solver", "keep", "--from", session + "#2"});
    QCOMPARE(same["layouts"][2]["fit"].dump(), j["layouts"][2]["fit"].dump());
    VERIFY_REFUSED(
        (Arguments{"place", session, "--cluster", cluster, "--redundant", "12", "--solver", "keep", "--from", file}),
        "--from", "has 16 slots a layer, 24 are placed (--redundant 4)");
  }

  void a_placement_of_another_session_is_doubted_where_names_do_not_say_its_model() {
    const std::string cluster = scratch_.write("two.json", kTwoNodes);
    const auto traced = [&](const std::string& name, const std::string& model) {
      const std::string session = scratch_.path(name + ".storm");
      imported(scratch_.write(name + ".csv", route_trace({}, model)), session);
      return session;
    };
    const std::string first = traced("first", "made.gguf"), later = traced("later", "made.gguf"),
                      other = traced("another", "other.gguf");
    placed(first, {"--cluster", cluster});
    const auto doubts = [](const Json& j) {
      return j["warnings"].dump().find("nobody knows whether") != std::string::npos;
    };
    QVERIFY(!doubts(placed(later, {"--cluster", cluster, "--from", first + "#2"})));
    // Names are spelt in many ways.
    const std::string words =
        "nobody knows whether " + first + "#2 is of this model: it is named made.gguf and not other.gguf";
    const auto tells = [&](const Json& j) { return j["warnings"].dump().find(words) != std::string::npos; };
    QVERIFY(tells(placed(other, {"--cluster", cluster, "--from", first + "#2"})));
    const auto simulate = [&](const Arguments& more) {
      Arguments all = {"simulate", other, "--cluster", cluster, "--hidden",   "64",
                       "--ffn",    "32",  "--json",    "-",     "--placement"};
      all.insert(all.end(), more.begin(), more.end());
      return json_of(all);
    };
    QVERIFY(tells(simulate({first + "#2"})));
    // The recording that the placement was made from, too, where it is a server's file.
    const std::string file = scratch_.path("made-from.json");
    const Arguments exported = {"export", first + "#2", "--format", "vllm-pr49572", "-o", file};
    VERIFY_DONE(run_program(exported), exported);
    QVERIFY(!doubts(simulate({file})));
    const Json made_from = simulate({file, "--made-from", first});
    QVERIFY2(made_from["warnings"].dump().find("nobody knows whether " + first +
                                               "#1 is of this model: it is named made.gguf") != std::string::npos,
             made_from["warnings"].dump().c_str());
    QVERIFY(made_from["deployment"]["made_from"]["run"] == 1);
    // Counts name no model, so nobody knows; one session is of one model.
    const std::string counts = counted_session("unnamed"), more = counted_session("unnamed-too");
    placed(counts, {"--cluster", cluster, "--redundant", "4"});
    QVERIFY(doubts(placed(more, {"--cluster", cluster, "--redundant", "4", "--from", counts + "#2"})));
    QVERIFY(!doubts(placed(counts, {"--cluster", cluster, "--redundant", "4", "--from", counts + "#2"})));
  }

  void files_of_servers_have_their_form() {
    const std::string session = counted_session("forms"), cluster = scratch_.write("two.json", kTwoNodes);
    placed(session, {"--cluster", cluster, "--redundant", "4", "--groups", "4"});
    const auto exported = [&](Arguments more) {
      more.insert(more.begin(), {"export", session, "--format"});
      return run_program(more).out;
    };
    const std::string first = "[5, 6, 5, 7, 8, 4, 3, 4, 10, 9, 10, 2, 0, 1, 11, 1]", yaml = exported({"trtllm"});
    QVERIFY2(
        yaml.starts_with("# stormcell ") &&
            yaml.find("\nnum_slots: 16\ninitial_global_assignments:\n  1: " + first + "\n  2: [") != std::string::npos,
        yaml.c_str());
    QVERIFY(yaml.ends_with("\nlayer_updates_per_iter: 0\n"));
    QVERIFY(exported({"trtllm", "--what", "dynamic"}).ends_with("\nlayer_updates_per_iter: 1\n"));
    const Json line = Json::parse(exported({"vllm-pr41141"}));
    QVERIFY(line["record_type"] == "eplb_initial_mapping" && line["version"] == 1 &&
            line["num_redundant_experts"] == 4);
    QVERIFY(line["num_slots"] == 16 && line["initial_global_assignments"].size() == 2);
    QVERIFY(line["initial_global_assignments"]["0"] == Json::parse(first));
    const Json ascend = Json::parse(exported({"vllm-ascend"}));
    QVERIFY(ascend["moe_layer_count"] == 2 && ascend["layer_list"][0]["device_count"] == 8);
    QVERIFY(ascend["layer_list"][0]["device_list"][1] == Json::parse(R"({"device_id": 1, "device_expert": [5, 7]})"));
    VERIFY_REFUSED((Arguments{"export", session, "--format", "trtllm", "--what", "moon"}), "--what",
                   "is not a way of TensorRT-LLM");
  }

  // vllm-ascend's mix_placement: shared experts are experts of the map, and the server begins with each on every
  // device.
  void a_shared_expert_is_written_on_every_device_and_read_back() {
    const std::string session = counted_session("mixed"), cluster = scratch_.write("two.json", kTwoNodes);
    placed(session, {"--cluster", cluster, "--redundant", "4", "--groups", "4"});
    const std::string file = scratch_.path("mixed.json");
    const Arguments out = {"export", session, "--format", "vllm-ascend", "--shared-experts", "2", "-o", file};
    VERIFY_DONE(run_program(out), out);
    const Json map = Json::parse(Scratch::read(file));
    for (const Json& layer : map["layer_list"])
      for (const Json& device : layer["device_list"]) {
        QCOMPARE(device["device_expert"].size(), size_t{4});
        QVERIFY(device["device_expert"][2] == 12 && device["device_expert"][3] == 13);
      }
    const Arguments back = {"--cluster", cluster,    "--redundant", "4",      "--groups",
                            "4",         "--solver", "keep",        "--from", file};
    const Json j = placed(session, back);
    QVERIFY(j["moved_slots"] == 0 && j["slots"] == 16);
    Json other = map;
    other["layer_list"][1]["device_list"][3]["device_expert"][3] = 0;
    std::ofstream(file) << other.dump();
    Arguments refused = {"place", session};
    refused.insert(refused.end(), back.begin(), back.end());
    VERIFY_REFUSED(
        refused, file,
        "names expert 13, 12 are routed: a shared expert is read where each device holds it once, and device 3");
    for (const char* format : {"sglang", "trtllm", "vllm-pr41141", "csv"})
      VERIFY_REFUSED((Arguments{"export", session, "--format", format, "--shared-experts", "1"}), "--shared-experts",
                     "works with --format vllm-ascend only");
    VERIFY_REFUSED((Arguments{"export", session, "--format", "vllm-ascend", "--shared-experts", "65"}),
                   "--shared-experts", "at most 64");
  }

  void clusters_that_are_wrong_are_refused_data() {
    QTest::addColumn<QString>("from");
    QTest::addColumn<QString>("to");
    QTest::addColumn<QString>("words");
    QTest::newRow("no bandwidth") << "\"bytes_per_s\": 4e11"
                                  << "\"bytes_per_s\": 0"
                                  << "fabric.bytes_per_s is not a number above 0";
    QTest::newRow("negative") << "3e12"
                              << "-3e12"
                              << "gpu.memory_bytes_per_s is not a number above 0";
    QTest::newRow("no link between nodes") << "network"
                                           << "net"
                                           << "network is missing, and there are several nodes";
    QTest::newRow("no nodes") << "\"nodes\": 2"
                              << "\"nodes\": 0"
                              << "nodes is not a whole number";
    QTest::newRow("another schema") << "cluster/1"
                                    << "cluster/9"
                                    << "schema is not";
  }
  void clusters_that_are_wrong_are_refused() {
    QFETCH(QString, from);
    QFETCH(QString, to);
    QFETCH(QString, words);
    const QString text = QString(kTwoNodes).replace(from, to);
    const std::string session = counted_session("clusters"), cluster = scratch_.write("wrong.json", text.toStdString());
    VERIFY_REFUSED((Arguments{"place", session, "--cluster", cluster, "--redundant", "4"}), cluster,
                   words.toStdString());
  }

  void costs_between_ranks_that_are_wrong_are_refused_data() {
    QTest::addColumn<QString>("rows");
    QTest::addColumn<QString>("words");
    QTest::newRow("not square") << "[[0, 1], [1, 0, 1]]"
                                << "rank_ns_per_byte 1 has 3 costs, the cluster has 2 GPUs: it is not square";
    QTest::newRow("of other ranks") << "[[0, 1, 1], [1, 0, 1], [1, 1, 0]]"
                                    << "rank_ns_per_byte has 3 rows, the cluster has 2 GPUs";
    QTest::newRow("negative") << "[[0, -1], [1, 0]]"
                              << "rank_ns_per_byte 0 to 1 is not a cost from 0 to 10^9 ns a byte";
    QTest::newRow("no bandwidth")
        << "[[0, null], [1, 0]]"
        << "rank_ns_per_byte 0 to 1 is not a cost from 0 to 10^9 ns a byte: no bandwidth is none";
    QTest::newRow("as little") << "[[0, 1], [1e12, 0]]"
                               << "rank_ns_per_byte 1 to 0 is not a cost";
    QTest::newRow("endlessly fast") << "[[0, 1], [0, 0]]"
                                    << "rank_ns_per_byte 1 to 0 is 0: no link is endlessly fast";
    QTest::newRow("all but endlessly fast")
        << "[[0, 1], [1e-320, 0]]"
        << "rank_ns_per_byte 1 to 0 is below 10^-9 ns a byte: no link is endlessly fast";
    QTest::newRow("to itself") << "[[0, 1], [1, 2]]"
                               << "rank_ns_per_byte 1 to 1 is not 0: what stays is not sent";
    QTest::newRow("a number") << "7"
                              << "rank_ns_per_byte is not a list of rows";
    QTest::newRow("a row") << "[7, [1, 0]]"
                           << "rank_ns_per_byte 0 is not a list";
  }
  void costs_between_ranks_that_are_wrong_are_refused() {
    QFETCH(QString, rows);
    QFETCH(QString, words);
    const std::string session = counted_session("costs"),
                      cluster = scratch_.write("costs-wrong.json",
                                               R"({"schema": "stormcell.cluster/1", "nodes": 1, "gpus_per_node": 2,
 "gpu": {"memory_bytes": 1e11, "memory_bytes_per_s": 1, "flops_per_s": 1}, "rank_ns_per_byte": )" +
                                                   rows.toStdString() + "}");
    VERIFY_REFUSED((Arguments{"place", session, "--cluster", cluster}), cluster, words.toStdString());
  }

  void counts_that_are_wrong_are_refused_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("words");
    QTest::newRow("no counts") << R"({"logical_count": [[0,0],[0,0]]})"
                               << "is zero all over";
    QTest::newRow("negative") << R"({"logical_count": [[1,-2]]})"
                              << "line 1: a count is -2";
    QTest::newRow("a share") << R"({"logical_count": [[1,0.5]]})"
                             << "line 1: a count is not a whole number";
    QTest::newRow("ragged experts") << R"({"logical_count": [[1,2],[3]]})"
                                    << "step 0, layer 1 has 1 expert, the first row has 2";
    QTest::newRow("ragged layers") << R"({"logical_count": [[[1,2],[3,4]],[[1,2]]]})"
                                   << "step 1 has 1 layer, step 0 has 2";
    QTest::newRow("truncated") << R"({"logical_count": [[1,2],[3)"
                               << "the file ends in the middle";
    QTest::newRow("twice") << R"({"logical_count": [[1,2]], "logical_count": [[1,2]]})"
                           << "occurs twice";
  }
  void counts_that_are_wrong_are_refused() {
    QFETCH(QString, text);
    QFETCH(QString, words);
    verify_refused(scratch_.write("wrong.json", text.toStdString()), words.toStdString());
  }
};

STORMCELL_TEST(ContractPlaceFilesTest)

}  // namespace stormcell::testing

#include "place_files_test.moc"
