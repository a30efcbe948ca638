// Placements of servers, read back: each form's own rule, and what is wrong in one.
#include "core/placement/placement_files.h"

#include "core/base/error.h"
#include "core/placement/placement_text.h"
#include "tests/testing/complaint.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

const std::vector<LayerSlots> kTwoLayers = {{2, 0, 1, 0}, {0, 1, 2, 2}};

std::string refusal(const std::string& text) {
  return complaint([&] { parse_placement_file(text, "f"); });
}

}  // namespace

class PlacementFilesTest : public QObject {
  Q_OBJECT
 private slots:
  void each_form_says_the_same_slots_data() {
    QTest::addColumn<QString>("text");
    // Layer 0 of the model has no experts: SGLang and TensorRT-LLM count it, the others do not.
    QTest::newRow("sglang") << R"({"physical_to_logical_map": [[0,1,2,0],[2,0,1,0],[0,1,2,2]]})";
    QTest::newRow("vllm line")
        << R"({"record_type":"eplb_initial_mapping","version":1,"num_redundant_experts":1,"num_slots":4,
 "initial_global_assignments":{"1":[0,1,2,2],"0":[2,0,1,0]}})";
    QTest::newRow("vllm list") << "[[2,0,1,0],[0,1,2,2]]";
    QTest::newRow("vllm-ascend") << R"({"moe_layer_count":2,"layer_list":[
 {"layer_id":0,"device_count":2,"device_list":[{"device_id":1,"device_expert":[1,0]},{"device_id":0,"device_expert":[2,0]}]},
 {"layer_id":1,"device_count":2,"device_list":[{"device_id":0,"device_expert":[0,1]},{"device_id":1,"device_expert":[2,2]}]}]})";
    QTest::newRow("yaml, a line each")
        << "# where it comes from\nnum_slots: 4\ninitial_global_assignments:\n  1: [2, 0, 1, 0]\n"
           "  2: [0, 1, 2, 2]\nlayer_updates_per_iter: 0\n";
    QTest::newRow("yaml, lists over lines")
        << "initial_global_assignments:\n  1: [2, 0,\n    1, 0]\n  2:\n  - 0\n  - 1\n  - 2\n  - 2\n"
           "num_slots: 4\n";
  }
  void each_form_says_the_same_slots() {
    QFETCH(QString, text);
    const PlacementFile file = parse_placement_file(text.toStdString(), "f");
    const Placement p = placement_in_file(file, {1, 2}, 3, 3, 2, "f");
    QVERIFY(p.layers == kTwoLayers);
  }

  void servers_that_count_layers_with_experts_have_them_in_the_order_of_the_model() {
    const PlacementFile file = parse_placement_file("[[2,0,1,0],[0,1,2,2]]", "f");
    // The trace has layer 5 of the model before layer 3.
    QVERIFY(placement_in_file(file, {5, 3}, 0, 3, 2, "f").layers ==
            std::vector<LayerSlots>({kTwoLayers[1], kTwoLayers[0]}));
    QVERIFY(placement_in_file(file, {-1, -1}, 0, 3, 2, "f").layers == kTwoLayers);
    QVERIFY(order_in_model({5, 3, 4}) == std::vector<size_t>({1, 2, 0}));
    QVERIFY(order_in_model({5, -1, 4}) == std::vector<size_t>({0, 1, 2}));
  }

  void what_is_wrong_is_told_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("words");
    QTest::newRow("nothing") << ""
                             << "is empty, not a placement";
    QTest::newRow("another") << R"({"logical_count": []})"
                             << "is a dump of SGLang's counts of experts, not a placement";
    QTest::newRow("no slots") << R"({"physical_to_logical_map": [[]]})"
                              << "layer 0 is not a list";
    QTest::newRow("a share") << R"({"physical_to_logical_map": [[0.5]]})"
                             << "has a slot of 0.5";
    QTest::newRow("a layer's name")
        << R"({"record_type":"eplb_initial_mapping","initial_global_assignments":{"x":[0]}})"
        << "a layer is \"x\"";
    QTest::newRow("twice") << "initial_global_assignments:\n  1: [0]\n  1: [0]\n"
                           << "line 3: has layer 1 again";
    QTest::newRow("cut") << "initial_global_assignments:\n  1: [0, 1"
                         << "ends in the middle of a list";
    QTest::newRow("too few") << "num_slots: 3\ninitial_global_assignments:\n  1: [0, 1]\n"
                             << "layer 1 has 2 slots, num_slots is 3";
    QTest::newRow("no number") << "initial_global_assignments:\n  1: [0, one]\n"
                               << "line 2: a slot is \"one\"";
    QTest::newRow("in one line") << "initial_global_assignments: {1: [0]}\n"
                                 << "a line for each is expected";
    QTest::newRow("unlike devices")
        << R"({"layer_list":[{"layer_id":0,"device_list":[{"device_id":0,"device_expert":[0]},
 {"device_id":1,"device_expert":[1,2]}]}]})"
        << "devices hold different numbers";
    QTest::newRow("a device again")
        << R"({"layer_list":[{"layer_id":0,"device_list":[{"device_id":0,"device_expert":[0]},
 {"device_id":0,"device_expert":[1]}]}]})"
        << "layer 0 has device_id 0 again";
    QTest::newRow("a layer again")
        << R"({"layer_list":[{"layer_id":0,"device_list":[{"device_id":0,"device_expert":[0]}]},
 {"layer_id":0,"device_list":[{"device_id":0,"device_expert":[0]}]}]})"
        << "has layer_id 0 again";
    QTest::newRow("no devices") << R"({"layer_list":[{"layer_id":0,"device_list":[]}]})"
                                << "layer 0 has no devices";
    QTest::newRow("a device less") << R"({"layer_list":[{"layer_id":0,"device_count":2,
 "device_list":[{"device_id":0,"device_expert":[0]}]}]})"
                                   << "layer 0 has 1 devices, device_count is 2";
  }
  void what_is_wrong_is_told() {
    QFETCH(QString, text);
    QFETCH(QString, words);
    const std::string said = refusal(text.toStdString());
    QVERIFY2(said.find(words.toStdString()) != std::string::npos, said.c_str());
  }

  void a_file_of_another_model_or_cluster_is_refused() {
    const PlacementFile file = parse_placement_file("[[2,0,1,0],[0,1,2,2]]", "f");
    const auto refused = [&](const std::vector<int32_t>& numbers, int32_t branches, int32_t ranks) {
      try {
        placement_in_file(file, numbers, 0, branches, ranks, "f");
      } catch (const Error& e) {
        return std::string(e.what());
      }
      return std::string();
    };
    QVERIFY(refused({0, 1, 2}, 3, 2).find("has no layer 2") != std::string::npos);
    QVERIFY(refused({0, 1}, 4, 2).find("lacks branch 3") != std::string::npos);
    QVERIFY(refused({0, 1}, 3, 3).find("do not divide") != std::string::npos);
    QVERIFY(refused({0}, 3, 2).find("has 2 layers with experts, the model that was traced 1") != std::string::npos);
    const PlacementFile sglang = parse_placement_file(R"({"physical_to_logical_map": [[0,1]]})", "f");
    QVERIFY_THROWS_EXCEPTION(Error, placement_in_file(sglang, {-1}, 0, 2, 2, "f"));
    const PlacementFile ascend = parse_placement_file(R"({"layer_list":[{"layer_id":0,"device_count":2,"device_list":[
 {"device_id":0,"device_expert":[0,1]},{"device_id":1,"device_expert":[2,3]}]}]})",
                                                      "f");
    QCOMPARE(placement_in_file(ascend, {0}, 0, 4, 2, "f").slot_count(), 4);
    QVERIFY_THROWS_EXCEPTION(Error, placement_in_file(ascend, {0}, 0, 4, 4, "f"));
  }

  void layers_behind_the_last_of_the_model_are_refused() {
    const std::string yaml = "initial_global_assignments:\n  0: [0, 1]\n  1: [1, 0]\n  2: [0, 1]\n";
    for (const std::string& text : {std::string(R"({"physical_to_logical_map": [[0,1],[1,0],[0,1]]})"), yaml}) {
      const PlacementFile file = parse_placement_file(text, "f");
      const auto said = [&](const std::vector<int32_t>& numbers, int32_t model_layers) {
        try {
          placement_in_file(file, numbers, model_layers, 2, 2, "f");
        } catch (const Error& e) {
          return std::string(e.what());
        }
        return std::string();
      };
      QVERIFY(said({0, 1}, 3).empty() && said({1, 2}, 0).empty());  // a last layer without experts; all that is known
      for (const int32_t model_layers : {0, 2})
        QVERIFY2(said({0, 1}, model_layers).find("has 3 layers, the model that was traced 2") != std::string::npos,
                 said({0, 1}, model_layers).c_str());
    }
  }
};

STORMCELL_TEST(PlacementFilesTest)

}  // namespace stormcell::testing

#include "placement_files_test.moc"
