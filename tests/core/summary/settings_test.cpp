// Every option of an experiment comes back from JSON, and stands on the command line that repeats it.
#include "core/summary/settings.h"

#include <limits>
#include <set>

#include "core/base/error.h"
#include "core/base/listed_words.h"
#include "core/base/number_format.h"
#include "core/graph/annotation_rules.h"
#include "tests/testing/complaint.h"
#include "tests/testing/testing.h"

using namespace stormcell;

namespace {

/// How many fields there are that are settings. A field more does not compile here: give it a row in kSettings, then a
/// name here. How long the machine is probed follows from --measure-seconds.
size_t field_count() {
  const ExperimentOptions o;
  const auto& [model, data, batch, batches, length, bucket_by_length, truncate, allow_nonfinite, field, target_field,
               label_field, seed, threads, device, dtype, verify_seconds, probe_seconds, weight_budget, tolerance,
               record_inputs, record_scores, phase, most_new_tokens, temperature, top_p, top_k, stop, prompts, chat,
               system, date, special_tokens, tokenizer, profile_split, annotations, keep_all, dense, target_quality,
               target_latency] = o;
  const auto count = [](const auto&... fields) { return sizeof...(fields); };
  return count(model, data, batch, batches, length, bucket_by_length, truncate, allow_nonfinite, field, target_field,
               label_field, seed, threads, device, dtype, verify_seconds, weight_budget, tolerance, record_inputs,
               record_scores, phase, most_new_tokens, temperature, top_p, top_k, stop, prompts, chat, system, date,
               special_tokens, tokenizer, profile_split, annotations, keep_all, dense, target_quality, target_latency);
}

/// All fields other than their defaults.
ExperimentOptions all_changed() {
  ExperimentOptions o;
  int n = 3;
  for (const Setting& s : kSettings)
    std::visit(
        [&](auto field) {
          using T = std::decay_t<decltype(o.*field)>;
          if constexpr (std::is_same_v<T, std::string>)
            o.*field = "it's \"" + std::string(s.key) + "\"";
          else if constexpr (std::is_same_v<T, bool>)
            o.*field = !(o.*field);
          else if constexpr (std::is_same_v<T, std::vector<std::string>>)
            o.*field = {"it's \"" + std::string(s.key) + "\""};
          else if constexpr (std::is_same_v<T, double> || std::is_same_v<T, std::optional<double>>)
            o.*field = 0.1 + n++;
          else
            o.*field = static_cast<T>(1000 + n++);
        },
        s.field);
  o.seed = (uint64_t{1} << 63) + 1;
  return o;
}

}  // namespace

class SettingsTest : public QObject {
  Q_OBJECT
 private slots:
  void every_field_has_its_own_row() {
    QCOMPARE(kSettings.size(), field_count());
    std::set<std::string_view> keys, options;
    for (const Setting& s : kSettings) keys.insert(s.key), options.insert(s.option);
    QCOMPARE(keys.size(), kSettings.size());
    QCOMPARE(options.size(), kSettings.size());
    // No two rows are of one field: changed one by one, each alone comes back.
    std::set<std::string> texts;
    for (const Setting& s : kSettings) {
      ExperimentOptions one;
      const ExperimentOptions all = all_changed();
      std::visit([&](auto field) { one.*field = all.*field; }, s.field);
      QVERIFY(texts.insert(settings_json(one)).second);
    }
  }
  void json_brings_every_field_back() {
    QCOMPARE(parse_settings(settings_json(all_changed())), std::optional(all_changed()));
    ExperimentOptions plain;
    plain.model = "demo:x";
    QCOMPARE(parse_settings(settings_json(plain)), std::optional(plain));
  }
  void the_command_line_names_every_field_that_was_changed() {
    for (const Setting& s : kSettings) {
      ExperimentOptions one;
      one.model = "m";
      const ExperimentOptions all = all_changed();
      std::visit([&](auto field) { one.*field = all.*field; }, s.field);
      const std::vector<std::string> words =
          command_words(one, s.is_of("optimize") ? "optimize" : s.verbs.substr(0, s.verbs.find(' ')));
      const bool flag = std::holds_alternative<bool ExperimentOptions::*>(s.field);
      QCOMPARE(words.size(), s.option.empty() ? size_t{1} : flag ? size_t{2} : size_t{3});
      if (!s.option.empty()) QCOMPARE(words[1], std::string(s.option));
    }
    ExperimentOptions o;
    o.model = "m", o.dtype = "bf16", o.threads = 3, o.verify_seconds = 0.1, o.allow_nonfinite = true,
    o.most_new_tokens = 7;
    QCOMPARE(command_words(o, "optimize"),
             (std::vector<std::string>{"m", "--threads", "3", "--dtype", "bf16", "--verify-seconds", "0.1",
                                       "--allow-nonfinite", "--max-new-tokens", "7"}));
    o.phase = "both", o.profile_split = "first";
    QCOMPARE(command_words(o, "run").back(), std::string("7"));
    QCOMPARE(command_words(o, "run")[9], std::string("both"));
    QCOMPARE(command_words(o, "generate").back(), std::string("7"));
    o = {};
    o.model = "m", o.annotations = {"a.kernel=k", "b.storage=bf16"};
    QCOMPARE(command_words(o, "run"),
             (std::vector<std::string>{"m", "--annotate", "a.kernel=k", "--annotate", "b.storage=bf16"}));
    QCOMPARE(command_words(o, "generate"), std::vector<std::string>{"m"});
  }
  void words_are_read_into_their_fields_or_refused_by_name() {
    ExperimentOptions o;
    const auto read = [&](std::string_view key, const std::string& word) {
      for (const Setting& s : kSettings)
        if (s.key == key) read_word(s, word, o);
    };
    read("model", "m"), read("batch", "3"), read("tolerance", "0.25"), read("weight_budget", "4KiB"),
        read("phase", "both");
    read("annotations", "a.kernel=k"), read("annotations", "b.kernel=k"), read("keep_all", "");
    QVERIFY(o.model == "m" && o.batch == 3 && o.tolerance == 0.25 && o.weight_budget == 4096 && o.phase == "both" &&
            o.keep_all);
    QCOMPARE(o.annotations.size(), size_t{2});
    const auto complaint = [&](std::string_view key, const std::string& word) {
      try {
        read(key, word);
      } catch (const Error& e) {
        return std::string(e.what());
      }
      return std::string();
    };
    const std::string advice =
        " (give a number above 0, of bytes or with B, kB, MB, GB, TB, KiB, MiB, GiB or TiB: 4GiB)";
    QCOMPARE(complaint("model", ""), std::string("MODEL: is empty"));
    QCOMPARE(complaint("batch", "0"), std::string("--batch: \"0\" does not fit (give a whole number from 1 on)"));
    QCOMPARE(complaint("threads", "1025"),
             std::string("--threads: \"1025\" does not fit (give a whole number from 1 to 1024)"));
    QCOMPARE(complaint("weight_budget", "many"), "--weight-budget: \"many\" is not a number of bytes" + advice);
    QCOMPARE(complaint("weight_budget", "2mb"), "--weight-budget: \"2mb\" is not a number of bytes" + advice);
    QCOMPARE(complaint("weight_budget", "0"), "--weight-budget: \"0\" is too little" + advice);
    QCOMPARE(complaint("phase", "prefill"),
             std::string("--phase: \"prefill\" is not a phase (forward, decode or both)"));
    for (const char* word : {"60%", "2.5", "2.5ms", "1e3"}) QCOMPARE(complaint("target_latency", word), std::string());
    for (const char* word : {"0", "-1", "101%", "0%", "2.5s", "fast"})
      QVERIFY2(complaint("target_latency", word).starts_with("--target-latency: "), word);
    QCOMPARE(
        complaint("target_quality", "150%"),
        std::string("--target-quality: \"150%\" does not fit (give a share from 0 to 1, or up to 100 %: 0.98 or 98%)"));
    QCOMPARE(complaint("target_latency", "150%"),
             std::string("--target-latency: \"150%\" does not fit (give milliseconds above 0, or a share above 0 and "
                         "up to 100 %: 0.8 or 60%)"));
    for (const char* word : {"0.98", "98%", "1", "0"}) QCOMPARE(complaint("target_quality", word), std::string());
    for (const char* word : {"98", "-0.1", "101%", "good"})
      QVERIFY2(complaint("target_quality", word).starts_with("--target-quality: "), word);
    QCOMPARE(complaint("profile_split", "random"),
             std::string("--profile-split: \"random\" is not a way to split (strided or first)"));
  }
  void a_default_fits_and_what_a_program_sets_is_checked_as_words_are() {
    ExperimentOptions o;
    o.model = "m", o.data = "d";
    check(o);
    o.threads = 1024, o.batch = 2, o.dtype = "bf16", o.tolerance = 0.0;
    check(o);
    const auto refused = [&](auto field, auto value) {
      ExperimentOptions wrong = o;
      wrong.*field = value;
      QVERIFY_THROWS_EXCEPTION(Error, check(wrong));
    };
    refused(&ExperimentOptions::threads, -1);
    refused(&ExperimentOptions::threads, 1025);
    refused(&ExperimentOptions::batch, int64_t{-1});
    refused(&ExperimentOptions::verify_seconds, -1.0);
    refused(&ExperimentOptions::tolerance, std::numeric_limits<double>::quiet_NaN());
    refused(&ExperimentOptions::phase, "prefill");
    refused(&ExperimentOptions::dtype, "int8");
  }
  void a_format_that_is_not_offered_cannot_be_asked_for() {
    for (const NumberFormat& format : number_formats()) {
      const std::string said = testing::bad_input_complaint([&] { check_dtype(format.name); });
      const std::string expected =
          "--dtype: \"" + std::string(format.name) + "\" is not a number format to compute in (";
      QVERIFY2(format.offered ? said.empty() : said.starts_with(expected), said.c_str());
      for (const std::string_view key : {kStorage, kFormat}) {
        const std::string problem =
            annotation_problem(key, format.name, key == kStorage ? Annotated::value : Annotated::weight);
        QCOMPARE(problem.empty(), format.offered);
      }
    }
    QCOMPARE(testing::bad_input_complaint([] { check_dtype("q8_0"); }),
             std::string("--dtype: \"q8_0\" is not a number format to compute in (f32 or bf16)"));
    // Help and messages name what is offered, and nothing else.
    for (const Setting& s : kSettings) {
      QVERIFY2(s.help.find("q8_0") == std::string_view::npos && s.value.find("q8_0") == std::string_view::npos,
               s.key.data());
      if (s.option == "--dtype")
        QVERIFY(s.help.find(" " + joined(offered_formats(), " or ") + " ") != std::string_view::npos);
    }
  }
  void what_is_missing_or_does_not_fit_has_its_default() {
    const auto o = parse_settings(R"({"model":"m","batch":"many","threads":1e30,"seed":-1,"length":16,"unknown":[]})");
    QVERIFY(o.has_value());
    ExperimentOptions expected;
    expected.model = "m", expected.length = 16;
    QCOMPARE(*o, expected);
    for (const char* text : {"", "{}", "[]", "null", "{\"model\":7}", "{\"data\":\"d\"}", "{"})
      QVERIFY(!parse_settings(text));
  }
};
STORMCELL_TEST(SettingsTest)
#include "settings_test.moc"
