// --annotate: which kernel runs a node, how a value lies, how a weight is held; shown, kept, replayed, and refused in one line.
#include <nlohmann/json.hpp>

#include "tests/contract/models.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

using Json = nlohmann::json;

const std::string kWi = "encoder.block.0.layer.1.mlp.wi", kAct = "encoder.block.0.layer.1.mlp.act";

Arguments annotated(const std::string& verb, const std::vector<std::string>& annotations, const Arguments& more = {}) {
  Arguments all = more;
  for (const std::string& text : annotations) all.insert(all.end(), {"--annotate", text});
  return short_run(verb, switch_model(), switch_data(), all);
}

}  // namespace

class AnnotateTest : public QObject {
  Q_OBJECT
  const Scratch scratch_;

 private slots:
  void a_kernel_forced_by_hand_gives_the_same_answer() {
    const std::string forced = "*.mlp.wi.kernel=linear.plain";
    for (const char* verb : {"run", "profile", "optimize"}) {
      const Json j = json_of(annotated(verb, {forced}));
      QVERIFY2(j["verified"]["passed"] == true, j["verified"].dump().c_str());
      QVERIFY2(j["settings"]["annotations"] == Json(std::vector<std::string>{forced}), j["settings"].dump().c_str());
    }
    // And what follows it is folded no further into it than a plan says.
    const Json j = json_of(annotated("optimize", {kAct + ".kernel=activation"}, {"--only", "vertical-fusion"}));
    const std::string reason = j["passes"][0]["reason"].get<std::string>();
    QVERIFY2(reason.find("not folded, because of their annotations: activation \"" + kAct + "\"") != std::string::npos, reason.c_str());
  }

  void inspect_shows_them() {
    const Arguments inspect = {"inspect", switch_model(), "--annotate", kWi + ".kernel=linear.plain", "--annotate", kAct + ".storage=bf16"};
    Arguments with_text = inspect;
    with_text.insert(with_text.end(), {"--text", "-"});
    const std::string text = run_program(with_text).out;
    QVERIFY2(text.find("%" + kWi + " : f32 token [48] = linear(") != std::string::npos, text.c_str());
    QVERIFY(text.find(" @kernel=linear.plain\n") != std::string::npos);
    QVERIFY(text.find("%" + kAct + " : f32 token [48] @storage=bf16 = activation(") != std::string::npos);
    const Json j = json_of(inspect);
    QVERIFY2(j["annotations"] == Json(std::vector<std::string>{kWi + ".kernel=linear.plain", kAct + ".storage=bf16"}), j.dump().c_str());
    QVERIFY(run_program(inspect).out.find("  " + kAct + ".storage=bf16\n") != std::string::npos);
  }

  void a_configuration_keeps_and_replays_them() {
    const std::string config = scratch_.path("config.json");
    const std::vector<std::string> said = {kWi + ".kernel=linear.plain"};
    const Json found =
        json_of(annotated("optimize", said, {"--only", "horizontal-fusion,vertical-fusion", "--config-out", config, "--keep-all"}));
    QVERIFY2(found["config"]["annotations"] == Json(said), found["config"].dump().c_str());
    const Json replayed = json_of(short_run("run", switch_model(), switch_data(), {"--config", config}));
    QVERIFY2(replayed["config"]["annotations"] == Json(said) && replayed["verified"]["passed"] == true, replayed.dump().c_str());
    // Beside it others may be said.
    const Json more = json_of(annotated("run", {kAct + ".kernel=activation"}, {"--config", config}));
    QVERIFY2(more["config"]["annotations"] == Json(std::vector<std::string>{kAct + ".kernel=activation", said[0]}),
             more["config"].dump().c_str());
    // A configuration of before says nothing.
    Json old = Json::parse(Scratch::read(config));
    old.erase("annotations");
    QVERIFY(json_of(short_run("run", switch_model(), switch_data(),
                              {"--config", scratch_.write("old.json", old.dump())}))["verified"]["passed"] == true);
    for (const auto& [said_wrongly, words] : std::vector<std::pair<Json, const char*>>{
             {7, "a list of texts as \"annotations\""},
             {Json::array({7}), "a list of texts as \"annotations\""},
             {Json::array({"no.such.kernel=linear.plain"}), "the model has none of this name"},
             {Json::array({kWi + ".kernel=linear.fast"}), "expected kernel linear.panels or linear.plain"}}) {
      Json wrong = old;
      wrong["annotations"] = said_wrongly;
      const std::string file = scratch_.write("wrong.json", wrong.dump());
      VERIFY_REFUSED(short_run("run", switch_model(), switch_data(), {"--config", file}), file, words);
    }
  }

  void rows_in_bf16_are_verified_twice() {
    const std::string config = scratch_.path("bf16.json");
    const Arguments as_bf16 = {"--dtype", "bf16", "--tolerance", "1"};
    Arguments arguments = as_bf16;
    arguments.insert(arguments.end(), {"--only", "bf16-storage", "--keep-all", "--config-out", config});
    const Json j = json_of(short_run("optimize", switch_model(), switch_data(), arguments));
    QVERIFY2(j["verified"]["passed"] == true, j["verified"].dump().c_str());
    const Json& pass = j["passes"][0];
    if (!pass["applied"].get<bool>()) {
      QVERIFY2(pass["reason"] == "products of this device read activations in f32", pass.dump().c_str());
      QSKIP("this processor's products do not round their input");
    }
    QVERIFY2(pass["reason"].get<std::string>().find(" values that only products in bf16 read lie in bf16: ") != std::string::npos,
             pass.dump().c_str());
    QVERIFY(j["optimized"]["peak_activation_bytes"].get<int64_t>() <= j["baseline"]["peak_activation_bytes"].get<int64_t>());
    Arguments replay = as_bf16;
    replay.insert(replay.end(), {"--config", config});
    const Json replayed = json_of(short_run("run", switch_model(), switch_data(), replay));
    QVERIFY2(pass["reason"].get<std::string>().starts_with(replayed["passes"][0]["reason"].get<std::string>()) &&
                 replayed["verified"]["passed"] == true,
             replayed.dump().c_str());
    // Of weights in f32 it says why not.
    const Json plain = json_of(short_run("optimize", switch_model(), switch_data(), {"--only", "bf16-storage"}));
    QVERIFY2(plain["passes"][0]["applied"] == false &&
                 plain["passes"][0]["reason"] == "no product has weights in bf16 (--dtype bf16 converts them)",
             plain["passes"].dump().c_str());
  }

  void what_no_kernel_supports_is_one_line() {
    const auto refused = [](const std::string& text) { return annotated("run", {text}); };
    VERIFY_REFUSED(refused("no.such.kernel=linear.plain"), "--annotate", "a node \"no.such\": the model has none of this name");
    VERIFY_REFUSED(refused(kWi + ".speed=high"), "--annotate", "\"speed\" is no annotation (kernel, storage or format)");
    VERIFY_REFUSED(refused(kWi), "--annotate", "is not NAME.KEY=WORD");
    VERIFY_REFUSED(refused(kWi + ".kernel=linear.fast"), "--annotate",
                   "linear \"" + kWi + "\": expected kernel linear.panels or linear.plain, got \"linear.fast\"");
    VERIFY_REFUSED(refused(kWi + ".storage=f64"), "--annotate", "expected storage f32 or bf16, got \"f64\"");
    VERIFY_REFUSED(refused(kWi + ".storage=bf16"), "--annotate", "activation \"" + kAct + "\": no kernel reads %" + kWi + " in bf16");
    VERIFY_REFUSED((Arguments{"inspect", switch_model(), "--annotate", "no.such.kernel=linear.plain"}), "--annotate", "none of this name");
  }
};
STORMCELL_TEST(AnnotateTest)

}  // namespace stormcell::testing
#include "annotations_test.moc"
