// The verification of the program's own results: right ones pass in every format, and the cost of a format is a figure
// with a limit.
#include <cmath>
#include <cstdint>

#include "tests/contract/models.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {
using Json = nlohmann::json;

Arguments converted(const std::string& model, const std::string& dtype, const Arguments& more = {}) {
  Arguments all = {"--dtype", dtype, "--json", "-"};
  all.insert(all.end(), more.begin(), more.end());
  return short_run("run", model, "random:6x9", all);
}

}  // namespace

class VerificationTest : public QObject {
  Q_OBJECT

 private slots:
  void small_random_models_are_verified_in_bf16_data() {
    QTest::addColumn<QString>("model");
    for (const char* name : {"top-2-of-4-left-padding", "top-2-of-8-grouped-heads", "top-3-of-8-sliding-window"})
      QTest::newRow(name) << QString::fromStdString(mixtral_model(name));
    for (const char* name : {"64-experts-capacity-2", "capacity-drops-tokens"})
      QTest::newRow(name) << QString::fromStdString(switch_model(name));
  }
  void small_random_models_are_verified_in_bf16() {
    QFETCH(QString, model);
    for (const char* seed : {"0", "3"}) {
      const Arguments arguments =
          converted(model.toStdString(), "bf16", {"--seed", seed, "--tolerance", "1", "--batch", "3"});
      const Ended ended = run_program(arguments);
      QVERIFY2(ended.exit == 0, told(arguments, ended).c_str());
      const Json v = ended.json()["verified"];
      QVERIFY2(v["passed"].get<bool>() && v["reasons"].empty() && v["flips"] == v["explained_flips"],
               v.dump(1).c_str());
      const Json& format = v["format"];
      QVERIFY2(format["dtype"] == "bf16" && format["passed"].get<bool>() && format["tolerance"] == 1,
               v.dump(1).c_str());
      // Two figures: rounding the weights changes the outputs, executing them rightly does not.
      QVERIFY2(format["max_rel_diff"].get<double>() > 1e-4 && format["max_rel_diff"].get<double>() < 0.1,
               v.dump(1).c_str());
      QVERIFY2(v["max_rel_diff"].get<double>() < format["max_rel_diff"].get<double>(), v.dump(1).c_str());
    }
  }

  void models_stored_in_bf16_are_verified_and_f32_holds_all_of_them() {
    for (const std::string& model : {mixtral_model("stored-bf16"), switch_model("stored-bf16")}) {
      const Arguments stored = short_run("run", model, "random:6x9", {"--json", "-"});
      const Ended ended = run_program(stored);
      QVERIFY2(ended.exit == 0, told(stored, ended).c_str());
      QVERIFY(ended.json()["verified"]["format"].is_null());
      const Arguments widened = converted(model, "f32");
      const Ended wide = run_program(widened);
      QVERIFY2(wide.exit == 0, told(widened, wide).c_str());
      const Json format = wide.json()["verified"]["format"];
      QVERIFY2(format["dtype"] == "f32" && format["max_rel_diff"].get<double>() < 1e-4, format.dump().c_str());
    }
  }

  void what_a_format_costs_is_said_with_replayed_choices_and_running_freely() {
    const Arguments arguments = converted(mixtral_model(), "bf16");
    const Ended ended = run_program(arguments);
    QVERIFY2(ended.exit == 0, told(arguments, ended).c_str());
    const Json j = ended.json(), format = j["verified"]["format"];
    int64_t choices = 0;
    for (const Json& router : j["routing"])
      choices += router["cells"].get<int64_t>() * router["fan_out"].get<int64_t>();
    QVERIFY2(format["choices"] == choices, format.dump().c_str());
    const auto share = format["differing_choices"].get<double>() / static_cast<double>(choices);
    QVERIFY2(std::fabs(format["differing_share"].get<double>() - share) < 1e-12, format.dump().c_str());
    QVERIFY2(format["free_max_rel_diff"].get<double>() > 0 && format["outputs"][0]["free_max_rel_diff"].is_number(),
             format.dump().c_str());
  }

  void what_a_format_costs_is_measured_where_tokens_are_decoded_data() {
    QTest::addColumn<QString>("model");
    QTest::addColumn<QString>("stored");
    QTest::newRow("decoder-only") << QString::fromStdString(mixtral_model())
                                  << QString::fromStdString(mixtral_model("stored-bf16"));
    QTest::newRow("encoder-decoder") << QString::fromStdString(switch_model())
                                     << QString::fromStdString(switch_model("stored-bf16"));
  }
  void what_a_format_costs_is_measured_where_tokens_are_decoded() {
    QFETCH(const QString, model);
    QFETCH(const QString, stored);
    const Arguments decoding = {"--phase", "decode", "--max-new-tokens", "6"};
    const auto with = [&](Arguments more) {
      more.insert(more.end(), decoding.begin(), decoding.end());
      return more;
    };
    const Arguments arguments = converted(model.toStdString(), "bf16", with({"--tolerance", "1"}));
    const Ended ended = run_program(arguments);
    QVERIFY2(ended.exit == 0, told(arguments, ended).c_str());
    const Json v = ended.json()["verified"], format = v["format"];
    QVERIFY2(format["dtype"] == "bf16" && format["passed"] == true && format["tolerance"] == 1, v.dump(1).c_str());
    QVERIFY2(format["outputs"].size() == 1 && format["outputs"][0]["name"] == "logits", format.dump(1).c_str());
    // Rounding the weights changes the logits, executing them rightly does not.
    QVERIFY2(format["max_rel_diff"].get<double>() > 1e-4 &&
                 v["max_rel_diff"].get<double>() < format["max_rel_diff"].get<double>(),
             v.dump(1).c_str());
    QVERIFY2(format["free_max_rel_diff"].get<double>() > 0 && format["choices"].get<int64_t>() > 0,
             format.dump(1).c_str());
    QCOMPARE(format["sequences"].dump(), v["tokens"]["sequences"].dump());
    QVERIFY2(ended.json()["warnings"].dump().find("--dtype costs") == std::string::npos,
             ended.json()["warnings"].dump().c_str());
    // More than is allowed fails the run; f32 holds what was stored in bf16.
    const Arguments strict = converted(model.toStdString(), "bf16", with({"--tolerance", "0.0001"}));
    const Ended failed = run_program(strict);
    QVERIFY2(failed.exit == 1 && failed.err.find("bf16 changes the outputs by") != std::string::npos,
             told(strict, failed).c_str());
    const Arguments widened = converted(stored.toStdString(), "f32", with({}));
    const Ended wide = run_program(widened);
    QVERIFY2(wide.exit == 0, told(widened, wide).c_str());
    const Json nothing = wide.json()["verified"]["format"];
    QVERIFY2(nothing["dtype"] == "f32" && nothing["max_rel_diff"].get<double>() < 1e-4, nothing.dump(1).c_str());
    QVERIFY2(nothing["sequences"] > 0 && nothing["equal_sequences"] == nothing["sequences"], nothing.dump(1).c_str());
  }

  void more_than_the_tolerance_fails_and_states_no_speed_up() {
    Arguments arguments = converted(mixtral_model(), "bf16", {"--tolerance", "0.0001"});
    arguments[0] = "optimize";
    const Ended ended = run_program(arguments);
    QVERIFY2(ended.exit == 1, told(arguments, ended).c_str());
    const std::string defect = defect_of_error_line(ended.err.substr(ended.err.find("stormcell: ")), mixtral_model());
    QVERIFY2(defect.empty(), (defect + told(arguments, ended)).c_str());
    QVERIFY2(ended.err.find("bf16 changes the outputs by") != std::string::npos &&
                 ended.err.find("--tolerance") != std::string::npos,
             ended.err.c_str());
    const Json j = ended.json();
    QVERIFY(!j["verified"]["passed"].get<bool>() && !j["verified"]["format"]["passed"].get<bool>());
    QVERIFY(j["speedup"].is_null() && j["verified"]["reasons"].size() == 1);
  }

  void a_tolerance_without_another_format_has_no_effect_and_says_so() {
    const Arguments arguments = short_run("run", switch_model(), switch_data(), {"--tolerance", "0"});
    const Ended ended = run_program(arguments);
    QVERIFY2(ended.exit == 0, told(arguments, ended).c_str());
    QVERIFY2(ended.err.find("warning: --tolerance has no effect") != std::string::npos, ended.err.c_str());
  }

  void a_tolerance_that_is_none_is_refused() {
    for (const char* wrong : {"-0.1", "nan", "inf", "5%", ""})
      VERIFY_REFUSED(converted(switch_model(), "bf16", {"--tolerance", wrong}), "--tolerance", "a number from 0 on");
  }

  void the_text_says_what_was_compared_in_plain_lines() {
    const Arguments arguments =
        short_run("run", switch_model(), "random:24x9", {"--batch", "3", "--verify-seconds", "0", "--dtype", "bf16"});
    const Ended ended = run_program(arguments);
    QVERIFY2(ended.exit == 0, told(arguments, ended).c_str());
    for (const char* words :
         {"1 of 8 batches against the oracle", "routing choice", "bf16 costs",
          "of the largest value with the routing choices of the stored weights", "running freely, where "})
      QVERIFY2(ended.out.find(words) != std::string::npos, (std::string(words) + told(arguments, ended)).c_str());
  }
};

STORMCELL_TEST(VerificationTest)

}  // namespace stormcell::testing

#include "verification_test.moc"
