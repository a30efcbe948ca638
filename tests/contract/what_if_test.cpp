// what-if: branches off, another k, forced choices. A planted network answers each label by one expert alone, and has an
// expert that no picture needs.
#include <algorithm>
#include <array>
#include <map>

#include "core/formats/safetensors_writer.h"
#include "tests/contract/models.h"
#include "tests/testing/file_bytes.h"
#include "tests/testing/stored_values.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {
using Json = nlohmann::json;

constexpr int kLabels = 3, kExperts = 4, kIdle = 3, kWidth = 8, kPictures = 20;
constexpr const char* kRouter = "stages.0.blocks.0.mlp";

/// Tensors of a network, zeros but for what is planted.
class Planted {
 public:
  std::vector<float>& add(const std::string& name, std::vector<int64_t> shape, float fill = 0) {
    int64_t count = 1;
    for (const int64_t n : shape) count *= n;
    shapes_[name] = std::move(shape);
    return values_[name] = std::vector<float>(static_cast<size_t>(count), fill);
  }
  void write(const std::string& path) const {
    std::vector<TensorToWrite> list;
    for (const auto& [name, shape] : shapes_) list.push_back({name, DType::f32, shape, values_.at(name).data()});
    write_safetensors(path, list);
  }

 private:
  std::map<std::string, std::vector<int64_t>> shapes_;
  std::map<std::string, std::vector<float>> values_;
};

/// One patch a picture, whose colour is its label: red, green or blue. The router sends each to the expert of its
/// colour, and that expert alone writes the feature by which the head answers the label.
std::string planted_model(const Scratch& scratch, int k = 1) {
  Json config = {{"model_type", "swinv2_moe"},
                 {"image_size", {2, 2}},
                 {"num_channels", 3},
                 {"num_labels", kLabels},
                 {"patch_size", 2},
                 {"embed_dim", kWidth},
                 {"depths", {1}},
                 {"num_heads", {1}},
                 {"window_sizes", {1}},
                 {"mlp_ratio", 1},
                 {"hidden_act", "gelu"},
                 {"position_width", 1},
                 {"position_bias", "none"},
                 {"moe_blocks", {0}},
                 {"num_experts", kExperts},
                 {"capacity_factor", 0},
                 {"experts_per_token", k},
                 {"expert_bias", "both"}};
  scratch.write("model/config.json", config.dump());
  Planted p;
  p.add("pixels.mean", {3}), p.add("pixels.deviation", {3}, 1);
  std::vector<float>& projection = p.add("patch.projection.weight", {kWidth, 12});
  p.add("patch.projection.bias", {kWidth});
  for (size_t pixel = 0; pixel < 4; ++pixel)
    for (size_t label = 0; label < kLabels; ++label) projection[label * 12 + pixel * 3 + label] = 1;
  const std::string block = "stages.0.blocks.0.";
  for (const std::string& norm :
       {std::string("patch.norm"), block + "attention_norm", block + "mlp_norm", std::string("norm")})
    p.add(norm + ".weight", {kWidth}, 1), p.add(norm + ".bias", {kWidth});
  for (const char* part : {"query", "key", "value", "output"})
    p.add(block + "attention." + part + ".weight", {kWidth, kWidth}),
        p.add(block + "attention." + part + ".bias", {kWidth});
  p.add(block + "attention.position.0.weight", {1, 2}), p.add(block + "attention.position.1.weight", {1, 1});
  std::vector<float>& gate = p.add(block + "mlp.gate.weight", {kExperts, kWidth});
  for (size_t label = 0; label < kLabels; ++label) gate[label * kWidth + label] = 1, gate[kIdle * kWidth + label] = -1;
  for (size_t e = 0; e < kExperts; ++e) {
    const std::string expert = block + "mlp.experts." + std::to_string(e);
    p.add(expert + ".up.weight", {kWidth, kWidth}), p.add(expert + ".up.bias", {kWidth});
    p.add(expert + ".down.weight", {kWidth, kWidth});
    p.add(expert + ".down.bias", {kWidth})[4 + e] = 50;
  }
  std::vector<float>& head = p.add("head.weight", {kLabels, kWidth});
  for (size_t label = 0; label < kLabels; ++label) head[label * kWidth + 4 + label] = 1;
  p.add("head.bias", {kLabels});
  p.write(scratch.path("model/model.safetensors"));
  return scratch.path("model");
}

/// A folder a label, of pictures of its colour in many shades.
std::string coloured_pictures(const Scratch& scratch) {
  for (int label = 0; label < kLabels; ++label)
    for (int n = 0; n < kPictures; ++n) {
      std::vector<uint8_t> pixels(12, static_cast<uint8_t>(n));
      for (size_t at = static_cast<size_t>(label); at < pixels.size(); at += 3)
        pixels[at] = static_cast<uint8_t>(150 + n);
      scratch.write("data/" + std::to_string(label) + "/" + std::to_string(100 + n) + ".npy",
                    npy_of("(2, 2, 3)", "|u1", pixels));
    }
  return scratch.path("data");
}

struct PlantedCase {
  Scratch scratch;
  std::string model, data;
  explicit PlantedCase(int k = 1) : model(planted_model(scratch, k)), data(coloured_pictures(scratch)) {}
  Arguments arguments(const std::string& verb, const Arguments& more) const {
    Arguments all = short_run(verb, model, data, {"--batch", "7"});
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  Arguments what_if(const Arguments& more) const { return arguments("what-if", more); }
};

std::string branch(int b) { return std::string(kRouter) + "/" + std::to_string(b); }

}  // namespace

class ContractWhatIfTest : public QObject {
  Q_OBJECT
 private slots:
  void an_expert_off_lowers_the_label_that_needs_it_beyond_its_interval() {
    const PlantedCase planted;
    const Json j = json_of(planted.what_if({"--off", branch(1)}));
    QVERIFY2(j["schema"] == Json("stormcell.what-if/1"), j.dump(1).c_str());
    QVERIFY2(j["before"]["verified"]["passed"] == true && j["after"]["verified"]["passed"] == true, j.dump(1).c_str());
    QVERIFY2(j["answers"]["changed"] == kPictures && j["answers"]["of"] == kLabels * kPictures, j.dump(1).c_str());
    const Json& quality = j["quality"];
    QVERIFY2(quality["before"] == 1.0 && quality["beyond"] == true, quality.dump(1).c_str());
    for (int label = 0; label < kLabels; ++label) {
      const Json& group = quality["groups"][static_cast<size_t>(label)];
      QVERIFY2(group["before"] == Json(1.0), group.dump(1).c_str());
      QVERIFY2(group["after"] == Json(label == 1 ? 0.0 : 1.0), group.dump(1).c_str());
      QVERIFY2(group["beyond"] == Json(label == 1), group.dump(1).c_str());
    }
    const Json& router = j["routers"].at(0);
    QVERIFY2(router["off"] == Json({1}), j.dump(1).c_str());
    QVERIFY2(router["load_before"] == Json({kPictures, kPictures, kPictures, 0}), j.dump(1).c_str());
    QVERIFY2(router["load_after"][1] == Json(0), j.dump(1).c_str());
    QCOMPARE(router["load_after"][0].get<int>() + router["load_after"][2].get<int>(), kLabels * kPictures);
  }

  void the_json_has_the_keys_that_users_depend_on() {
    const PlantedCase planted;
    const Json j = json_of(planted.what_if({"--off", branch(0)}));
    for (const char* key :
         {"schema", "version", "model", "dataset", "device", "phase", "settings", "changes", "item", "outputs",
          "answer", "answers", "quality", "operations", "routers", "before", "after", "warnings"})
      QVERIFY2(j.contains(key), (std::string(key) + "\n" + j.dump(1)).c_str());
    for (const char* side : {"before", "after"})
      for (const char* key : {"plan", "verified", "routing", "item_costs", "session", "session_run", "config"})
        QVERIFY2(j[side].contains(key), (std::string(side) + "." + key + "\n" + j.dump(1)).c_str());
    QVERIFY2(j["answers"]["share_ci95"].size() == 2 && j["outputs"]["share_ci95"].size() == 2, j.dump(1).c_str());
    QVERIFY2(j["quality"]["before_ci95"].size() == 2 && j["quality"]["after_ci95"].size() == 2, j.dump(1).c_str());
    QVERIFY2(!j["before"]["config"].contains("intervention"), j.dump(1).c_str());
    QVERIFY2(j["after"]["config"]["intervention"]["off"].at(0)["branch"] == 0, j.dump(1).c_str());
  }

  void an_expert_that_never_fires_changes_no_bit() {
    const PlantedCase planted;
    const Json j = json_of(planted.what_if({"--off", branch(kIdle)}));
    QVERIFY2(j["outputs"]["changed"] == 0 && j["outputs"]["of"] == kLabels * kPictures, j.dump(1).c_str());
    QVERIFY(j["answers"]["changed"] == 0 && j["quality"]["beyond"] == false);
    QVERIFY2(j["routers"][0]["load_before"] == j["routers"][0]["load_after"], j.dump(1).c_str());
    QVERIFY(j["operations"]["before"] == j["operations"]["after"]);
    const Arguments plain = planted.what_if({"--off", branch(kIdle)});
    const Ended told_so = run_program(plain);
    VERIFY_DONE(told_so, plain);
    QVERIFY2(told_so.out.find("No bit of any output differs") != std::string::npos, told_so.out.c_str());
  }

  void another_k_takes_more_experts_and_operations() {
    const PlantedCase planted(2);
    const Json j = json_of(planted.what_if({"--k", "3"}));
    QVERIFY2(j["after"]["verified"]["passed"] == true, j.dump(1).c_str());
    QVERIFY(j["operations"]["after"] > j["operations"]["before"]);
    const auto sum = [](const Json& load) {
      int64_t all = 0;
      for (const Json& n : load) all += n.get<int64_t>();
      return all;
    };
    QCOMPARE(sum(j["routers"][0]["load_before"]), int64_t{2} * kLabels * kPictures);
    QCOMPARE(sum(j["routers"][0]["load_after"]), int64_t{3} * kLabels * kPictures);
    const Json fewer = json_of(planted.what_if({"--k", "1", "--off", branch(0)}));
    QVERIFY2(fewer["after"]["verified"]["passed"] == true, fewer.dump(1).c_str());
    QCOMPARE(sum(fewer["routers"][0]["load_after"]), int64_t{kLabels} * kPictures);
    QVERIFY2(fewer["routers"][0]["load_after"][0] == Json(0), fewer.dump(1).c_str());
  }

  void choices_that_were_recorded_change_nothing_and_others_do() {
    const PlantedCase planted;
    const std::string recorded = planted.scratch.path("recorded.safetensors");
    const Arguments run = planted.arguments("run", {"--outputs", recorded});
    VERIFY_DONE(run_program(run), run);
    const Json same = json_of(planted.what_if({"--force", recorded}));
    QVERIFY2(same["outputs"]["changed"] == 0 && same["after"]["verified"]["passed"] == true, same.dump(1).c_str());

    // All of the first batch, and nothing else, go to the expert of label 2; pictures of all labels lie in it.
    const std::vector<int32_t> to_two(7, 2);
    const TensorToWrite tensor{std::string("b0.") + kRouter + ".branch", DType::i32, {7, 1}, to_two.data()};
    const std::string forced = planted.scratch.path("forced.safetensors");
    write_safetensors(forced, {&tensor, 1});
    const Json other = json_of(planted.what_if({"--force", forced}));
    QVERIFY2(other["after"]["verified"]["passed"] == true, other.dump(1).c_str());
    const int changed = other["answers"]["changed"];
    QVERIFY2(changed > 0 && changed <= 7 && other["outputs"]["changed"] == changed, other.dump(1).c_str());
    const Json& after = other["routers"][0]["load_after"];
    QVERIFY2(after[2] == kPictures + changed && after[0].get<int>() + after[1].get<int>() == 2 * kPictures - changed,
             other.dump(1).c_str());
  }

  void another_capacity_drops_cells_that_are_counted() {
    const PlantedCase planted;
    // One batch of 60 pictures, 20 a label: a quarter of them is 15 places an expert, so each label loses 5.
    const auto of_one_batch = [&](const Arguments& more) {
      Arguments all = short_run("what-if", planted.model, planted.data, {"--batch", "60"});
      all.insert(all.end(), more.begin(), more.end());
      return json_of(all);
    };
    const Json j = of_one_batch({"--capacity", "1x"}),
               named = of_one_batch({"--capacity", kRouter + std::string("=1x")});
    for (const Json& of : {j, named}) {
      QVERIFY2(of["after"]["verified"]["passed"] == true, of.dump(1).c_str());
      const Json& router = of["routers"].at(0);
      QVERIFY2(router["capacity"] == "1x" && router["dropped_before"] == 0 && router["dropped_after"] == 15,
               of.dump(1).c_str());
      QVERIFY2(router["load_after"] == Json({15, 15, 15, 0}), of.dump(1).c_str());
      QVERIFY2(of["outputs"]["changed"] == 15, of.dump(1).c_str());
    }
    QVERIFY2(
        j["after"]["config"]["intervention"]["capacities"] == Json::array({{{"router", nullptr}, {"capacity", "1x"}}}),
        j.dump(1).c_str());
    // The model has no limit as it came.
    const Json unlimited = of_one_batch({"--capacity", "all"});
    QVERIFY2(unlimited["outputs"]["changed"] == 0 && unlimited["routers"].at(0)["dropped_after"] == 0,
             unlimited.dump(1).c_str());
    const Arguments plain = short_run("what-if", planted.model, planted.data, {"--batch", "60", "--capacity", "1x"});
    const Ended told_so = run_program(plain);
    VERIFY_DONE(told_so, plain);
    QVERIFY2(told_so.out.find("0 choices found no place before, 15 after") != std::string::npos, told_so.out.c_str());
  }

  void a_capacity_of_cells_holds_for_each_sequence() {
    const Scratch scratch;
    const std::string model = switch_model("encoder-only-16-experts-gelu"), data = "random:3x12";
    const Json j = json_of(short_run("what-if", model, data, {"--capacity", "1"}));
    QVERIFY2(j["after"]["verified"]["passed"] == true, j.dump(1).c_str());
    for (const Json& router : j["routers"]) {
      // 12 cells of each of three sequences take at most one place a branch.
      int64_t kept = 0;
      for (const Json& load : router["load_after"]) {
        QVERIFY2(load <= 3, router.dump().c_str());
        kept += load.get<int64_t>();
      }
      QCOMPARE(kept + router["dropped_after"].get<int64_t>(), int64_t{3} * 12);
    }
    scratch.write("c.json", j["after"]["config"].dump());
    const Json again = json_of(short_run("run", model, data, {"--config", scratch.path("c.json")}));
    QVERIFY2(again["verified"]["passed"] == true, again.dump(1).c_str());
    QVERIFY2(again["routing"][0]["load"] == j["after"]["routing"][0]["load"], again.dump(1).c_str());
  }

  void both_runs_stand_in_the_session_and_are_compared() {
    const PlantedCase planted;
    const std::string session = planted.scratch.path("s.storm"), config = planted.scratch.path("c.json");
    const Json j = json_of(planted.what_if({"--off", branch(1), "-o", session}));
    QVERIFY2(j["before"]["session_run"] == 1 && j["after"]["session_run"] == 2, j.dump(1).c_str());
    const Json compared = json_of({"compare", session + "#1", session + "#2"});
    const Json& routing = compared["routing"];
    QVERIFY2(routing.is_array() && routing.size() == 1 && routing[0]["total_variation"] > 0.3,
             compared.dump(1).c_str());
    // The configuration of the second run holds what was changed, and runs again.
    planted.scratch.write("c.json", j["after"]["config"].dump());
    const Json again = json_of(planted.arguments("run", {"--config", config}));
    QVERIFY2(again["verified"]["passed"] == true, again.dump(1).c_str());
    QVERIFY2(again["routing"][0]["load"][1] == Json(0), again.dump(1).c_str());
  }

  void tokens_of_a_language_model_are_compared() {
    const Arguments arguments =
        short_run("what-if", mixtral_model(), "random:4x6", {"--k", "1", "--verify-seconds", "0"});
    const Json j = json_of(arguments);
    QVERIFY2(j["answer"] == "token" && j["answers"]["of"] == 24 && j["quality"].is_null(), j.dump(1).c_str());
    QVERIFY2(j["after"]["verified"]["passed"] == true, j.dump(1).c_str());
  }

  void the_conclusion_is_five_lines_at_most() {
    const PlantedCase planted;
    const Arguments arguments = planted.what_if({"--off", branch(1)});
    const Ended told_so = run_program(arguments);
    VERIFY_DONE(told_so, arguments);
    const std::string conclusion = told_so.out.substr(0, told_so.out.find("\n\n") + 1);
    QVERIFY2(std::count(conclusion.begin(), conclusion.end(), '\n') <= 5, told_so.out.c_str());
    for (const char* words :
         {"is off", "20 of 60", "beyond the intervals", "class 1 from 100", "the oracle made the same"})
      QVERIFY2(conclusion.find(words) != std::string::npos, (std::string(words) + "\n" + told_so.out).c_str());
  }

  void changes_that_do_not_fit_the_model_are_refused() {
    const PlantedCase planted;
    const auto refused = [&](const Arguments& more, const std::string& where, const std::string& words) {
      return defect_of_refusal(planted.what_if(more), where, words);
    };
    const std::array<std::string, 16> defects = {
        refused({"--capacity", "8"}, "--capacity", "1.25x"),
        refused({"--capacity", "none"}, "--capacity", "none"),
        refused({"--capacity", "stages.0.block.0.mlp=1x"}, "--capacity", kRouter),
        refused({}, "what-if", "--off"),
        refused({"--off", "1"}, "--off", "ROUTER/BRANCH"),
        refused({"--off", "stages.0.block.0.mlp/1"}, "--off", kRouter),
        refused({"--off", branch(4)}, "--off", "4 branches"),
        refused({"--off", branch(-1)}, "--off", "-1"),
        refused({"--off", branch(0), "--off", branch(1), "--off", branch(2), "--off", branch(3)}, "--off",
                "all 4 branches"),
        refused({"--k", "2"}, "--k", "batch-prioritized"),
        refused({"--k", "0"}, "--k", "0"),
        refused({"--force", planted.scratch.path("none")}, planted.scratch.path("none"), ""),
        refused({"--force", planted.scratch.path("model/model.safetensors")},
                planted.scratch.path("model/model.safetensors"), "run --outputs"),
        refused({"--phase", "decode", "--off", branch(1)}, planted.model, "cannot generate"),
        refused({"--phase", "both", "--off", branch(1)}, "--phase", "one phase"),
        refused({"--off", branch(1), "-o", "-"}, "-o", "standard output"),
    };
    for (const std::string& defect : defects) QVERIFY2(defect.empty(), defect.c_str());
    const PlantedCase two(2);
    QCOMPARE(defect_of_refusal(two.what_if({"--k", "5"}), "--k", "4 branches"), std::string());
    QCOMPARE(defect_of_refusal(two.what_if({"--capacity", "1x"}), "--capacity", "no capacity"), std::string());
    QCOMPARE(defect_of_refusal(two.what_if({"--k", "3", "--off", branch(0), "--off", branch(1)}), "--off", "keeps 2"),
             std::string());
    QCOMPARE(defect_of_refusal(short_run("what-if", switch_model("encoder-only-dense"), "random:1x4", {"--off", "a/0"}),
                               "--off", "no router"),
             std::string());
  }

  void forced_choices_of_another_shape_are_refused_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<int>("cells");
    QTest::addColumn<int>("k");
    QTest::addColumn<int>("choice");
    QTest::addColumn<QString>("words");
    QTest::newRow("cells") << "b0." << 6 << 1 << 0 << "[7, 1]";
    QTest::newRow("k") << "b0." << 7 << 2 << 0 << "[7, 1]";
    QTest::newRow("branch") << "b0." << 7 << 1 << 4 << "below 4";
    QTest::newRow("negative") << "b0." << 7 << 1 << -3 << "-3";
    QTest::newRow("batch") << "b99." << 7 << 1 << 0 << "batch 99";
    QTest::newRow("router") << "b0.x" << 7 << 1 << 0 << "no router";
    QTest::newRow("off") << "b0." << 7 << 1 << 2 << "off";
  }
  void forced_choices_of_another_shape_are_refused() {
    QFETCH(QString, name);
    QFETCH(int, cells);
    QFETCH(int, k);
    QFETCH(int, choice);
    QFETCH(QString, words);
    const PlantedCase planted;
    const std::vector<int32_t> choices(static_cast<size_t>(cells * k), choice);
    const TensorToWrite tensor{name.toStdString() + kRouter + ".branch", DType::i32, {cells, k}, choices.data()};
    const std::string file = planted.scratch.path("forced.safetensors");
    write_safetensors(file, {&tensor, 1});
    VERIFY_REFUSED(planted.what_if({"--force", file, "--off", branch(2)}), file, words.toStdString());
  }
};

STORMCELL_TEST(ContractWhatIfTest)

}  // namespace stormcell::testing

#include "what_if_test.moc"
