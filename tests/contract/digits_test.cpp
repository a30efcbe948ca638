// The trained network with exits on digits of our own, held to what PyTorch answers: exits, logits, accuracy, in every
// way in which the digits may be given.
#include <algorithm>
#include <cmath>
#include <filesystem>

#include "core/base/counted.h"
#include "tests/contract/models.h"
#include "tests/testing/counts.h"
#include "tests/testing/file_bytes.h"
#include "tests/testing/relative_difference.h"
#include "tests/testing/stored_values.h"
#include "tests/testing/testing.h"

namespace stormcell::testing::digits_test {
namespace {
using Json = nlohmann::json;

constexpr const char* kModel = "demo:msdnet-digits";
constexpr const char* kSample = "demo:msdnet-digits-sample";
constexpr size_t kDigits = 60, kClasses = 10, kPixels = 400;

/// Holds what tests/reference/make_msdnet_digits.py left, and the labels.
struct Expected {
  std::vector<float> logits;
  std::vector<int32_t> exit, labels;
  std::vector<uint8_t> pixels;

  int64_t at_exit(int32_t e) const { return std::count(exit.begin(), exit.end(), e); }
  bool is_right(size_t digit) const {
    const auto first = logits.begin() + static_cast<std::ptrdiff_t>(digit * kClasses);
    return std::max_element(first, first + kClasses) - first == labels[digit];
  }
  int64_t right() const {
    int64_t count = 0;
    for (size_t d = 0; d < kDigits; ++d) count += is_right(d);
    return count;
  }
};
Expected expected() {
  const auto reference = SafetensorsFile::open(reference_path("msdnet-digits/digits.safetensors"));
  const auto sample = SafetensorsFile::open(source_folder() + "/resources/sample/digits.safetensors");
  return {values_of<float>(*reference, "logits"), values_of<int32_t>(*reference, "exit"),
          values_of<int32_t>(*sample, "labels"), values_of<uint8_t>(*sample, "pixels")};
}

Arguments quick(const std::string& verb, const std::string& data, const Arguments& more = {}) {
  Arguments all = short_run(verb, kModel, data, {"--batch", "20"});
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

std::string npy_of_digit(const Expected& e, size_t digit) {
  const auto first = e.pixels.begin() + static_cast<std::ptrdiff_t>(digit * kPixels);
  return npy_of("(20, 20, 1)", "|u1", std::vector<uint8_t>(first, first + kPixels));
}

}  // namespace

class DigitsTest : public QObject {
  Q_OBJECT
 private slots:
  void the_reference_has_something_of_everything() {
    const Expected e = expected();
    QCOMPARE(e.logits.size(), kDigits * kClasses);
    QCOMPARE(e.exit.size(), kDigits);
    QCOMPARE(e.labels.size(), kDigits);
    for (const int32_t exit : {0, 1, 2}) QVERIFY(e.at_exit(exit) > 0);
    QVERIFY(e.right() > 50 && e.right() < static_cast<int64_t>(kDigits));  // right and wrong are both met
  }

  void answers_and_exits_are_those_of_pytorch() {
    const Expected e = expected();
    const Scratch scratch;
    const Arguments run = quick("run", kSample, {"--outputs", scratch.path("o.safetensors")});
    VERIFY_DONE(run_program(run), run);
    const auto outputs = SafetensorsFile::open(scratch.path("o.safetensors"));
    std::vector<float> logits;
    std::vector<int32_t> exit;
    for (const char* b : {"b0.", "b1.", "b2."}) {
      const std::vector<float> some = values_of<float>(*outputs, std::string(b) + "logits");
      logits.insert(logits.end(), some.begin(), some.end());
      std::vector<int32_t> taken = values_of<int32_t>(*outputs, std::string(b) + "exits.0.router.branch");
      const std::vector<int32_t> cell = values_of<int32_t>(*outputs, std::string(b) + "exits.1.router.cell"),
                                 later = values_of<int32_t>(*outputs, std::string(b) + "exits.1.router.branch");
      for (size_t c = 0; c < cell.size(); ++c)
        if (cell[c] >= 0) taken.at(static_cast<size_t>(cell[c])) += later.at(c);
      exit.insert(exit.end(), taken.begin(), taken.end());
    }
    QCOMPARE(exit, e.exit);
    QCOMPARE(logits.size(), e.logits.size());
    const float difference = relative_difference(logits, e.logits);
    QVERIFY2(difference <= 1e-4F, qPrintable(QString::number(static_cast<double>(difference))));
  }

  void accuracy_is_that_of_pytorch_of_every_plan() {
    const Expected e = expected();
    const Scratch scratch;
    const std::string session = scratch.path("x.storm"), config = scratch.path("c.json"), page = scratch.path("p.html");
    const Arguments optimize =
        quick("optimize", kSample, {"-o", session, "--config-out", config, "--report", page, "--json", "-"});
    const Ended optimized = run_program(optimize);
    VERIFY_DONE(optimized, optimize);
    const Json j = optimized.json(), quality = j["quality"];
    QVERIFY2(j["verified"]["passed"] == true, optimized.out.c_str());
    QVERIFY(quality["task"] == "classification" && quality["measure"] == "accuracy" && quality["interval"] == "Wilson");
    QVERIFY(quality["items"] == kDigits && quality["not_judged"] == 0);
    QVERIFY2(quality["baseline"]["counted"] == e.right(), quality.dump().c_str());
    QVERIFY(quality["baseline"]["value"] == static_cast<double>(e.right()) / kDigits);
    const double low = quality["baseline"]["value_ci95"][0], high = quality["baseline"]["value_ci95"][1];
    QVERIFY(low < quality["baseline"]["value"] && high > quality["baseline"]["value"] && high <= 1);
    if (!j["optimized"].is_null()) {
      QVERIFY(quality["optimized"] == quality["baseline"] && quality["better"] == 0 && quality["worse"] == 0);
    }
    QCOMPARE(quality["groups"].size(), kClasses);
    for (size_t digit = 0; digit < kClasses; ++digit) {
      int64_t right = 0;
      for (size_t d = digit; d < kDigits; d += kClasses) right += e.is_right(d);
      QVERIFY(quality["groups"][digit]["name"] == std::to_string(digit) && quality["groups"][digit]["items"] == 6);
      QVERIFY(quality["groups"][digit]["baseline"] == static_cast<double>(right) / 6);
    }
    const int64_t first = e.at_exit(0), on = static_cast<int64_t>(kDigits) - first;
    QVERIFY(j["routing"][0]["load"] == (Json{first, on}));
    QVERIFY(j["routing"][1]["load"] == (Json{e.at_exit(1), e.at_exit(2)}));
    QVERIFY(Scratch::read(page).find("<section id=\"quality\"") != std::string::npos);
    // The found thresholds, run alone: only the optimised plan is judged.
    const Arguments replay = quick("run", kSample, {"--config", config, "--json", "-"});
    const Ended replayed = run_program(replay);
    VERIFY_DONE(replayed, replay);
    QVERIFY(replayed.json()["quality"]["baseline"].is_null());
    QVERIFY(replayed.json()["quality"]["optimized"]["counted"] == e.right());
    const Arguments compare = {"compare", session, session, "--fail-if", "quality.baseline.value<0.9"};
    VERIFY_DONE(run_program(compare), compare);
  }

  void the_curve_of_thresholds_is_what_runs_with_them_give() {
    const Expected e = expected();
    const Json told = json_of(quick("run", kSample)), exits = told["exits"], costs = told["item_costs"];
    QVERIFY2(std::fabs(costs["share"].get<double>() - exits["chosen"]["mean_cost"].get<double>()) < 1e-12,
             costs.dump().c_str());
    QVERIFY2(std::fabs(costs["least"]["share"].get<double>() - exits["exits"][0]["cost"].get<double>()) < 1e-12 &&
                 costs["most"]["share"] == 1.0 && costs["item"] == "picture" && costs["items"] == kDigits &&
                 costs["served"].is_null(),
             costs.dump().c_str());
    QCOMPARE(costs["groups"].size(), kClasses);
    // The part behind an exit is one that may be left out.
    QVERIFY2(
        costs["parts"]["of"] == 2 && std::fabs(costs["parts"]["mean"].get<double>() -
                                               static_cast<double>(e.at_exit(1) + 2 * e.at_exit(2)) / kDigits) < 1e-12,
        costs.dump().c_str());
    QVERIFY(costs["groups"][9]["name"] == "9" && costs["groups"][9]["with"]["items"] == 6 &&
            costs["groups"][9]["without"].is_null());
    QVERIFY2(told["dataset"]["note"].get<std::string>().starts_with("drawings for a first look"),
             told["dataset"].dump().c_str());
    QVERIFY(exits["items"] == kDigits && exits["measure"] == "accuracy" && exits["exits"].size() == 3);
    QVERIFY(exits["chosen"]["items"] == (Json{e.at_exit(0), e.at_exit(1), e.at_exit(2)}));
    QVERIFY(exits["chosen"]["value"] == static_cast<double>(e.right()) / kDigits);
    // As the reference counted multiplications: 913,392, 1,684,832 and 2,140,496.
    QVERIFY(std::fabs(exits["exits"][0]["cost"].get<double>() - 0.4267) < 0.01);
    QVERIFY(std::fabs(exits["exits"][1]["cost"].get<double>() - 0.7871) < 0.01);
    QVERIFY(exits["exits"][2]["cost"] == 1.0 && exits["exits"][2]["router"].is_null());
    QVERIFY(exits["plan"] == "baseline" && exits["exits"][0]["baseline_cost"].is_null());
    int64_t of_classes = 0;
    for (const Json& of : exits["classes"])
      for (const Json& items : of["items"]) of_classes += items.get<int64_t>();
    QCOMPARE(of_classes, static_cast<int64_t>(kDigits));
    QVERIFY(exits["curve"].front()["items"] == (Json{kDigits, 0, 0}) &&
            exits["curve"].back()["items"] == (Json{0, 0, kDigits}));
    QVERIFY(exits["curve"].back()["value"] == exits["exits"][2]["value_of_all"]);
    const size_t points = exits["curve"].size();
    QVERIFY2(points > 15, exits["curve"].dump().c_str());
    for (const size_t p : {points / 4, points / 2, 3 * points / 4}) {
      const Json& point = exits["curve"][p];
      const double threshold = point["threshold"];
      const ModelCopy copy(source_folder() + "/resources/demos/msdnet-digits");
      copy.change_config([&](Json& config) { config["exit_thresholds"] = {threshold, threshold}; });
      Arguments run = short_run("run", copy.folder(), kSample, {"--batch", "20"});
      const Json real = json_of(run);
      QVERIFY2(point["value"] == real["quality"]["baseline"]["value"], point.dump().c_str());
      const Json &first = real["routing"][0]["load"], &second = real["routing"][1]["load"];
      QVERIFY2(point["items"] == (Json{first[0], second[0], second[1]}), point.dump().c_str());
    }
  }

  /// As the program counts them: folded norms have none of their own.
  void cards_have_the_parameters_that_inspect_has() {
    for (const char* name :
         {"msdnet-digits", "swinv2-moe-digits", "livesr-street", "dynamic-routing-street", "switch-names"}) {
      const int64_t parameters = json_of({"inspect", std::string("demo:") + name})["parameters"];
      const std::string card = Scratch::read(source_folder() + "/resources/demos/" + name + "/README.md");
      QVERIFY2(card.find(" " + with_commas(parameters) + " parameters,") != std::string::npos,
               (name + (": " + std::to_string(parameters))).c_str());
    }
  }

  void inspect_tells_what_each_exit_takes() {
    const Json j = json_of({"inspect", kModel});
    QVERIFY2(j["weights"] == "trained" && std::fabs(j["routers"][0]["exit_cost"].get<double>() - 0.4267) < 0.01 &&
                 std::fabs(j["routers"][1]["exit_cost"].get<double>() - 0.7871) < 0.01,
             j["routers"].dump().c_str());
    const double whole = j["item_flops"]["whole"], first = j["item_flops"]["first_exit"];
    // Two operations for each of the 2,140,496 multiplications of the reference; sums, activations and tests beside
    // them.
    QVERIFY2(whole > 2 * 2140496 && whole < 1.02 * 2 * 2140496 &&
                 std::fabs(first / whole - j["routers"][0]["exit_cost"].get<double>()) < 1e-9,
             j["item_flops"].dump().c_str());
    const std::string told = run_program({"inspect", kModel}).out, details = told.substr(told.find("\n\n") + 2),
                      head = details.substr(0, details.find('\n'));
    QVERIFY2(head.find(", trained weights, ") != std::string::npos &&
                 head.find(" MFLOP an item, from the first exit to the whole network") != std::string::npos &&
                 head.find("branches get as many") == std::string::npos,
             told.c_str());
    QVERIFY2(told.find("operations of an item that answers there") != std::string::npos, told.c_str());
  }

  void demo_data_of_the_other_kind_is_refused_as_a_file_is() {
    VERIFY_REFUSED(quick("run", "demo:switch-names-sample"), source_folder() + "/resources/sample/names.jsonl",
                   "holds no pictures that this version reads, and the model takes pictures");
    const std::string file = source_folder() + "/resources/sample/digits.safetensors";
    VERIFY_REFUSED(short_run("run", "demo:switch-names", kSample), file, "has no tensor input_ids");
  }

  void exits_are_not_placed() {
    const Scratch scratch;
    const std::string session = scratch.path("x.storm");
    const Arguments profile = quick("profile", kSample, {"-o", session});
    VERIFY_DONE(run_program(profile), profile);
    for (const char* verb : {"place", "simulate"})
      VERIFY_REFUSED((Arguments{verb, session, "--cluster", "preset:8x-h100"}), session,
                     "its routers are exits and not experts, so there is nothing to place");
  }

  /// The exits at which items leave need no labels.
  void pictures_without_labels_have_exits_too() {
    const Json j = json_of({"run", "demo:msdnet-digits", "--data", "random:3", "--measure-seconds", "0"});
    const Json& exits = j["exits"];
    QVERIFY2(
        exits["items"] == 3 && exits["judged"] == 0 && exits["chosen"]["value"].is_null() && exits["curve"].size() > 1,
        exits.dump().c_str());
    int64_t left = 0;
    for (const Json& at : exits["chosen"]["items"]) left += at.get<int64_t>();
    QCOMPARE(left, int64_t{3});
    QVERIFY(j["quality"].is_null() && j["item_costs"]["items"] == 3 && j["item_costs"]["groups"].empty() &&
            j["dataset"]["note"].is_null());
    const Arguments words = {"run", "demo:msdnet-digits", "--data", "random:3", "--measure-seconds", "0"};
    const std::string told = run_program(words).out;
    QVERIFY2(told.find(" of 3 pictures answer at exit 1") != std::string::npos, told.c_str());
  }

  void the_dense_plan_stands_beside_the_others() {
    const Scratch scratch;
    const std::string page = scratch.path("p.html");
    const Arguments optimize =
        quick("optimize", kSample, {"--dense", "--report", page, "--json", scratch.path("j.json")});
    const Ended ended = run_program(optimize);
    VERIFY_DONE(ended, optimize);
    const Json j = Json::parse(Scratch::read(scratch.path("j.json")));
    QVERIFY2(j["dense"]["latency_ms"]["mean"].get<double>() > 0, ended.err.c_str());
    QVERIFY2(states_or_withholds(j, "routing_speedup"), j.dump().c_str());
    const bool stated = j["routing_speedup"].is_number();
    if (stated) QVERIFY(j["routing_speedup"].get<double>() > 0 && j["routing_speedup_ci95"].size() == 2);
    const double beside = j["dense_baseline_latency_ms"]["mean"].get<double>();
    QVERIFY(beside > 0);
    // Its own pairs alone stand beside it.
    const size_t told = ended.out.find("dense (every cell through every branch, masked): ");
    QVERIFY2(told != std::string::npos &&
                 ended.out.find(stated ? " in the same pairs: routing alone makes it "
                                       : " in the same pairs; what routing saves was not measured well enough: ",
                                told) != std::string::npos,
             ended.out.c_str());
    QCOMPARE(ended.out.find("dense"), told);
    QVERIFY(Scratch::read(page).find("Dense, a batch") != std::string::npos);
    QVERIFY(json_of(quick("run", kSample))["dense"].is_null());
    QVERIFY(json_of(quick("run", kSample, {"--dense"}))["dense"]["latency_ms"]["mean"].get<double>() > 0);
    VERIFY_REFUSED(quick("run", kSample, {"--dense", "--weight-budget", "1GiB"}), "--dense", "--weight-budget");
    VERIFY_REFUSED((Arguments{"optimize", "demo:switch-names", "--data", "demo:switch-names-sample", "--phase",
                              "decode", "--dense"}),
                   "--dense", "--phase decode decodes");
  }

  /// If a sequence is routed, the decision alone tells which tokens a branch has.
  void a_network_without_a_dense_plan_says_why() {
    const Scratch scratch;
    const std::string model = reference_path("task-moe/one-table"), json = scratch.path("j.json");
    for (const char* verb : {"run", "optimize"}) {
      const Arguments asked = short_run(verb, model, "random:8x5", {"--batch", "2", "--dense", "--json", json});
      const Ended ended = run_program(asked);
      VERIFY_DONE(ended, asked);
      QVERIFY2(ended.err.find("stormcell: warning: --dense: there is no dense plan to show: ") != std::string::npos,
               ended.err.c_str());
      QVERIFY2(ended.err.find(" works on ragged cells") != std::string::npos, ended.err.c_str());
      QVERIFY(ended.out.find("routing alone") == std::string::npos);
      const Json j = Json::parse(Scratch::read(json));
      QVERIFY(j["dense"].is_null() && j["dense_baseline_latency_ms"].is_null() && j["routing_speedup"].is_null());
      QVERIFY2(j["warnings"].dump().find("there is no dense plan to show") != std::string::npos,
               j["warnings"].dump().c_str());
    }
  }

  void a_folder_a_class_and_a_file_of_labels_say_the_same() {
    const Expected e = expected();
    const Scratch scratch;
    std::string labels = "file,label\n";
    for (size_t d = 0; d < kDigits; ++d) {
      const std::string name = (d < 10 ? "0" : "") + std::to_string(d) + ".npy", label = std::to_string(e.labels[d]);
      scratch.write("classes/" + label + "/" + name, npy_of_digit(e, d));
      scratch.write("flat/" + name, npy_of_digit(e, d));
      if (d != 0) labels += name + "," + label + "\n";
    }
    scratch.write("flat/labels.csv", labels);
    const Json classes = json_of(quick("run", scratch.path("classes")));
    QVERIFY2(classes["quality"]["baseline"]["counted"] == e.right(), classes["quality"].dump().c_str());
    const Arguments flat = quick("run", scratch.path("flat"));
    const Ended ended = run_program(flat);
    VERIFY_DONE(ended, flat);
    QVERIFY2(ended.err.find("labels.csv: 1 picture has no line, and so no label; the first is \"00.npy\"") !=
                 std::string::npos,
             ended.err.c_str());
    const std::string said = std::to_string(e.right() - e.is_right(0)) + " of 59 pictures right";
    QVERIFY2(ended.out.find(said) != std::string::npos, ended.out.c_str());
    QVERIFY2(ended.out.find("of 1 picture more the data do not say what is right") != std::string::npos,
             ended.out.c_str());
    QVERIFY(json_of(quick("run", "random:8x20x20x1"))["quality"].is_null());
  }
};

STORMCELL_TEST(DigitsTest)

}  // namespace stormcell::testing::digits_test

#include "digits_test.moc"
