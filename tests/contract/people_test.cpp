// The trained segmenting network on tiles of our own, held to what PyTorch makes of them: logits, open paths, IoU; and
// what its card says.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/formats/safetensors.h"
#include "core/graph/operator.h"
#include "core/models/model.h"
#include "tests/contract/models.h"
#include "tests/testing/counts.h"
#include "tests/testing/testing.h"

namespace stormcell::testing::people_test {
namespace {
using Json = nlohmann::json;

constexpr const char* kModel = "demo:dynamic-routing-street";
constexpr const char* kSample = "demo:dynamic-routing-street-sample";
constexpr const char* kCard = "/resources/demos/dynamic-routing-street/";
constexpr int kTiles = 6;

template <class T>
std::vector<T> values_of(const StoredTensor& t) {
  std::vector<T> values(static_cast<size_t>(t.elements()));
  if (!values.empty()) std::memcpy(values.data(), t.bytes.data(), values.size() * sizeof(T));
  return values;
}

/// The choices of the cells that were there: PyTorch has no rows for those that no path reached, `run --outputs` says
/// -2 of them.
std::vector<int32_t> choices_of(const StoredTensor& t) {
  std::vector<int32_t> choices = values_of<int32_t>(t);
  std::erase(choices, -2);
  return choices;
}

/// Returns what tests/reference/make_dynamic_routing_street.py left.
std::shared_ptr<const SafetensorsFile> expected() {
  return SafetensorsFile::open(reference_path("dynamic-routing-street/people.safetensors"));
}
Json card_figures() {
  const std::string text = Scratch::read(source_folder() + kCard + "expected.json");
  return Json::parse(text);
}

/// Tile by tile, what PyTorch's decisions send it through, counted node by node.
class Walk {
 public:
  Walk() : reference_(expected()), model_(open_model(source_folder() + kCard)), graph_(*model_->forward) {}

  double operations(int tile) const {
    return summed([&](SpaceId space) { return contains(tiles_of(space), tile) ? 1.0 : 0.0; });
  }
  double of_all() const {
    return summed([](SpaceId) { return 1.0; });
  }
  /// That compute something for the tile: those whose gates are open, as PyTorch decided.
  int nodes(int tile) const {
    int open = 0;
    graph_.for_each_node([&](NodeId id, int) {
      const std::string& name = graph_.node(id).name;
      if (!name.ends_with(".compute")) return;
      const Value& decision = graph_.value(graph_.node(id).outputs[0]);
      const std::vector<int> came = tiles_of(decision.type.space);
      const auto at = std::find(came.begin(), came.end(), tile);
      if (at == came.end()) return;
      const std::vector<int32_t> choices = values_of<int32_t>(*reference_->find(name + ".branch"));
      open += choices[static_cast<size_t>(at - came.begin())] == 1;
    });
    return open;
  }
  /// Multiplications of products alone, with every gate open: as the card counts them.
  double products() const {
    double sum = 0;
    graph_.for_each_node([&](NodeId id, int) {
      const Node& n = graph_.node(id);
      for (const ValueId v : n.inputs) {
        const Value& w = graph_.value(v);
        if (w.kind != ValueKind::weight || w.type.content.size() < 2) continue;
        double each = 1;
        for (const Dim& d : w.type.content) each *= static_cast<double>(d.constant());
        const std::vector<Dim> shape = graph_.shape(n.outputs[0]);  // of maps [tiles, height, width, channels]
        sum += shape.size() < 4 ? each : each * static_cast<double>(shape[1].constant() * shape[2].constant());
      }
    });
    return sum;
  }

 private:
  static bool contains(const std::vector<int>& tiles, int tile) {
    return std::find(tiles.begin(), tiles.end(), tile) != tiles.end();
  }
  double summed(const std::function<double(SpaceId)>& rows) const {
    const CostContext context{graph_, [&](SpaceId space) { return space == kNone ? 1.0 : rows(space); },
                              Bindings(graph_.symbols.size(), 1)};
    double sum = 0;
    graph_.for_each_node([&](NodeId id, int) {
      const Node& n = graph_.node(id);
      if (n.op->cost) sum += n.op->cost(context, n).flops;
    });
    return sum;
  }
  /// The tiles that are in a branch, in their order; there are as many rows of a router's choices as tiles come to it.
  std::vector<int> tiles_of(SpaceId space) const {
    const CellSpace& s = graph_.space(space);
    std::vector<int> tiles;
    if (s.kind == SpaceKind::root) {
      for (int tile = 0; tile < kTiles; ++tile) tiles.push_back(tile);
      return tiles;
    }
    const std::vector<int> came = tiles_of(s.parent);
    if (came.empty()) return tiles;
    const StoredTensor& t = *reference_->find(graph_.node(graph_.value(s.decision).producer).name + ".branch");
    const std::vector<int32_t> choices = values_of<int32_t>(t);
    const size_t ways = choices.size() / came.size();
    for (size_t row = 0; row < came.size(); ++row)
      if (std::find(&choices[row * ways], &choices[row * ways] + ways, s.branch) != &choices[row * ways] + ways)
        tiles.push_back(came[row]);
    return tiles;
  }

  std::shared_ptr<const SafetensorsFile> reference_;
  std::shared_ptr<const Model> model_;
  const Graph& graph_;
};

}  // namespace

class PeopleTest : public QObject {
  Q_OBJECT
 private slots:
  void logits_and_paths_are_those_of_pytorch() {
    const auto reference = expected();
    const Scratch scratch;
    const Arguments run =
        short_run("run", kModel, kSample, {"--batch", "6", "--outputs", scratch.path("o.safetensors")});
    VERIFY_DONE(run_program(run), run);
    const auto outputs = SafetensorsFile::open(scratch.path("o.safetensors"));
    const std::vector<float> ours = values_of<float>(*outputs->find("b0.logits")),
                             theirs = values_of<float>(*reference->find("logits"));
    QCOMPARE(ours.size(), theirs.size());
    float largest = 0, difference = 0;
    for (size_t i = 0; i < ours.size(); ++i) {
      largest = std::max(largest, std::fabs(theirs[i]));
      difference = std::max(difference, std::fabs(ours[i] - theirs[i]));
    }
    QVERIFY2(difference <= 1e-4F * largest, qPrintable(QString::number(static_cast<double>(difference / largest))));
    int routers = 0, closed = 0, open = 0;
    for (const StoredTensor& t : reference->tensors()) {
      if (!t.name.ends_with(".branch")) continue;
      const StoredTensor* chosen = outputs->find("b0." + t.name);
      QVERIFY2(chosen || t.elements() == 0, t.name.c_str());
      if (!chosen) continue;
      ++routers;
      const std::vector<int32_t> branches = values_of<int32_t>(t);
      QVERIFY2(choices_of(*chosen) == branches, t.name.c_str());
      if (!t.name.ends_with(".compute.branch")) continue;
      closed += static_cast<int>(std::count(branches.begin(), branches.end(), 0));
      open += static_cast<int>(std::count(branches.begin(), branches.end(), 1));
    }
    QVERIFY(routers > 0 && closed > 0 && open > 0);
  }

  void quality_is_the_overlap_that_pytorch_has() {
    const std::vector<int32_t> overlap = values_of<int32_t>(*expected()->find("overlap"));
    const Arguments optimize = short_run("optimize", kModel, kSample, {"--batch", "2", "--json", "-"});
    const Ended optimized = run_program(optimize);
    VERIFY_DONE(optimized, optimize);
    const Json j = optimized.json(), quality = j["quality"];
    QVERIFY2(j["verified"]["passed"] == true, optimized.out.c_str());
    QVERIFY(quality["task"] == "segmentation" && quality["measure"] == "mean IoU" && quality["unit"] == "share");
    QVERIFY(quality["interval"] == "bootstrap" && quality["items"] == kTiles && quality["not_judged"] == 0);
    double sum = 0;
    for (size_t c = 0; c < 2; ++c) {
      const double iou = static_cast<double>(overlap[2 * c]) / overlap[2 * c + 1];
      QVERIFY2(std::fabs(quality["groups"][c]["baseline"].get<double>() - iou) < 1e-3, quality.dump().c_str());
      sum += iou;
    }
    QVERIFY(quality["groups"][0]["name"] == "background" && quality["groups"][1]["name"] == "person");
    QVERIFY2(std::fabs(quality["baseline"]["value"].get<double>() - sum / 2) < 1e-3, quality.dump().c_str());
    if (!j["optimized"].is_null()) QVERIFY(quality["better"] == 0 && quality["worse"] == 0);
    // The cost of each tile by PyTorch's decisions.
    const Walk walk;
    const std::vector<uint8_t> targets = values_of<uint8_t>(
        *SafetensorsFile::open(source_folder() + "/resources/sample/people.safetensors")->find("targets"));
    const auto pixels = static_cast<std::ptrdiff_t>(targets.size() / kTiles);
    double with = 0, without = 0, parts_with = 0, parts_without = 0;
    int people = 0;
    for (int tile = 0; tile < kTiles; ++tile) {
      const auto first = targets.begin() + tile * pixels;
      const bool shows = std::find(first, first + pixels, 1) != first + pixels;
      (shows ? with : without) += walk.operations(tile) / walk.of_all();
      (shows ? parts_with : parts_without) += walk.nodes(tile);
      people += shows;
    }
    const Json& costs = j["item_costs"];
    QVERIFY2(costs["groups"].size() == 1 && costs["groups"][0]["name"] == "person", costs.dump().c_str());
    const Json &its = costs["groups"][0]["with"], &others = costs["groups"][0]["without"];
    QVERIFY(its["items"] == people && others["items"] == kTiles - people && people > 1 && people < kTiles - 1);
    QVERIFY2(std::fabs(its["share"].get<double>() - with / people) < 1e-12 &&
                 std::fabs(others["share"].get<double>() - without / (kTiles - people)) < 1e-12,
             costs.dump().c_str());
    QVERIFY(std::fabs(costs["share"].get<double>() - (with + without) / kTiles) < 1e-12);
    QVERIFY2(costs["parts"]["of"] == 18 && its["parts"]["mean"] == parts_with / people &&
                 others["parts"]["mean"] == parts_without / (kTiles - people) &&
                 costs["parts"]["mean"] == (parts_with + parts_without) / kTiles,
             costs.dump().c_str());
    QVERIFY(std::fabs(costs["operations_of_all"].get<double>() - walk.of_all()) < 1);
    QVERIFY2(std::fabs(walk.products() / card_figures()["multiplications_all_open"].get<double>() - 1) < 1e-9,
             qPrintable(QString::number(walk.products(), 'f', 0)));
  }

  /// Gates that the profiled tiles hold open or closed are made straight; where a tile after them decides otherwise the
  /// fallback runs, its answers are the oracle's, and the cells that were held out say so.
  void ways_that_never_change_are_made_straight() {
    const Arguments optimize = short_run("optimize", kModel, kSample,
                                         {"--batch", "1", "--only", "constant-decision", "--pass-option",
                                          "constant-decision.min-cells=1", "--json", "-"});
    const Ended optimized = run_program(optimize);
    VERIFY_DONE(optimized, optimize);
    const Json j = optimized.json(), pass = j["passes"][0];
    QVERIFY2(j["verified"]["passed"] == true && j["verified"]["batches"] == kTiles, optimized.out.c_str());
    QVERIFY2(pass["applied"] == true && pass["parameters"].size() > 20, pass.dump().c_str());
    QVERIFY2(pass["guard_hits"].get<int64_t>() > 0 && pass["fallbacks"].get<int64_t>() > 0, pass.dump().c_str());
    // Tiles 0 and 4 are profiled. No router decides about more of the other four than there are.
    QCOMPARE(pass["held_out"].size(), pass["parameters"].size());
    int64_t all = 0, otherwise = 0;
    for (const Json& router : pass["held_out"]) {
      QVERIFY2(pass["parameters"].contains(router["router"].get<std::string>()) && router["cells"] <= 4 &&
                   router["otherwise"] <= router["cells"],
               router.dump().c_str());
      all += router["cells"] == 4, otherwise += router["otherwise"].get<int64_t>();
    }
    QVERIFY(all > 0 && otherwise > 0);
    QVERIFY2(pass["reason"].get<std::string>().find(" held-out cells otherwise") != std::string::npos,
             pass.dump().c_str());
  }

  /// Whether anything arrived at a node is a number a picture, the gates' scores are one for each way.
  void scores_of_every_router_are_recorded() {
    const Scratch scratch;
    const std::string session = scratch.path("x.storm"), trace = scratch.path("t.safetensors");
    const Arguments profile = short_run("profile", kModel, kSample, {"--batch", "2", "--record-scores", "-o", session});
    VERIFY_DONE(run_program(profile), profile);
    const Arguments native = {"export", session, "--format", "native", "-o", trace};
    VERIFY_DONE(run_program(native), native);
  }

  /// Held out in the model card; who has the data can do it again. The floors: 0.5, and a quarter of the operations.
  void the_card_s_quality_is_what_training_left() {
    const Json figures = card_figures();
    QVERIFY(figures["iou_person_near"].get<double>() >= 0.5);
    QVERIFY(figures["saved_without_people"].get<double>() >= 0.25);
    const std::string card = Scratch::read(source_folder() + kCard + "README.md");
    for (const char* key : {"iou_person_near", "iou_person_all", "iou_mean_near"}) {
      const QString value = QString::number(figures[key].get<double>(), 'f', 3);
      QVERIFY2(card.find(value.toStdString()) != std::string::npos, qPrintable(value));
    }
    const QString saved = QString::number(100 * figures["saved_without_people"].get<double>(), 'f', 1) + " %";
    QVERIFY2(card.find(saved.toStdString()) != std::string::npos, qPrintable(saved));
  }
};

STORMCELL_TEST(PeopleTest)

}  // namespace stormcell::testing::people_test

#include "people_test.moc"
