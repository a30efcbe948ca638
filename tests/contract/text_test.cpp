// Text in, text out: prompts, chats, stop texts, draws, tokenizers of other files, and what is refused of them.
#include <algorithm>
#include <filesystem>

#include "tests/contract/models.h"
#include "tests/testing/counts.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {
using Json = nlohmann::json;

constexpr int64_t kVocabulary = 424;  // of tests/reference/text/qwen3.json, its added tokens among them
constexpr const char* kChatTemplate = "{{'<|im_start|>user\n'}}";

}  // namespace

class ContractTextTest : public QObject {
  Q_OBJECT
  Scratch scratch_;
  std::string model_, bare_;  // with a tokenizer and a chat template; without

  /// generate with these options behind it.
  Json generated(const std::string& model, const Arguments& more) const {
    Arguments arguments = {"generate", model, "--max-new-tokens", "8", "--threads", "2"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return json_of(arguments);
  }
  Arguments prompted(const Arguments& more) const {
    Arguments arguments = {"generate", model_, "--max-new-tokens", "4"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }

  /// The first letter that a text of `prompts` has; which of them.
  static std::pair<size_t, std::string> letter_of(const Json& generated) {
    for (size_t i = 0; i < generated["outputs"].size(); ++i) {
      const std::string text = generated["outputs"][i]["text"];
      const auto at = std::find_if(text.begin(), text.end(), [](char c) { return c >= 'a' && c <= 'z'; });
      if (at != text.end()) return {i, std::string(1, *at)};
    }
    return {0, {}};
  }

 private slots:
  void initTestCase() {
    bare_ = mixtral_with_vocabulary(scratch_, kVocabulary);
    const std::string tokenizer = Scratch::read(reference_path("text/qwen3.json"));
    for (const char* file : {"config.json", "model.safetensors"})
      scratch_.write(std::string("text/") + file, Scratch::read(bare_ + "/" + file));
    scratch_.write("text/tokenizer.json", tokenizer);
    scratch_.write("text/tokenizer_config.json", Json{{"chat_template", kChatTemplate}}.dump());
    scratch_.write("elsewhere/tokenizer.json", tokenizer);
    model_ = scratch_.path("text");
  }

  void prompts_of_unlike_length_are_continued_as_if_alone() {
    const std::string one = "the cat", two = "I'll look down the wall and we'll see 2024";
    const Json both = generated(model_, {"--prompt", one, "--prompt", two}),
               first = generated(model_, {"--prompt", one}), second = generated(model_, {"--prompt", two});
    QCOMPARE(both["outputs"].size(), size_t{2});
    QCOMPARE(both["outputs"][0].dump(), first["outputs"][0].dump());
    QCOMPARE(both["outputs"][1].dump(), second["outputs"][0].dump());
    QCOMPARE(both["prompts"].get<std::vector<std::string>>(), (std::vector<std::string>{one, two}));
    QVERIFY2(both["verified"]["passed"].get<bool>(), both["verified"].dump(1).c_str());
    QVERIFY(both["outputs"][0]["text"].is_string());
    // Every batch has a first token, and seven more turns.
    QCOMPARE(both["first_token_ms"]["runs"].get<int>(), 1);
    QVERIFY(both["token_ms"]["runs"].get<int>() <= 7 && both["token_ms"]["mean"].get<double>() > 0);
    QVERIFY(both["sampling"].is_null());
  }

  void the_page_has_the_prompt_and_the_text_in_front() {
    const Ended ended = run_program(prompted({"--prompt", "the cat"}));
    QVERIFY2(ended.exit == 0, ended.err.c_str());
    QVERIFY2(ended.out.starts_with("Prompt 1:\nthe cat\nText 1:\n"), ended.out.c_str());
    QVERIFY2(ended.out.find("first token") != std::string::npos, ended.out.c_str());
    QCOMPARE(ended.out.find("Text 1:"), ended.out.rfind("Text 1:"));
    QVERIFY(run_program(prompted({"--prompt", "the cat", "--quiet"})).out.empty());
  }

  void draws_repeat_by_their_seed_whatever_the_batch_and_the_oracle_draws_the_same() {
    const std::string data = scratch_.write("draws.txt", "the cat\na wall\nlook down\nit didn't\n");
    const auto drawn = [&](const char* seed, const char* batch, const Arguments& more = {}) {
      Arguments arguments = {"--data", data, "--batch", batch, "--seed", seed, "--temperature", "3"};
      arguments.insert(arguments.end(), more.begin(), more.end());
      return generated(model_, arguments);
    };
    const Json a = drawn("5", "4"), again = drawn("5", "4"), alone = drawn("5", "1"), other = drawn("6", "4");
    QVERIFY2(a["verified"]["passed"].get<bool>() && a["verified"]["compared"].get<int>() > 8, a.dump(1).c_str());
    QCOMPARE(a["outputs"].dump(), again["outputs"].dump());
    QCOMPARE(a["outputs"].dump(), alone["outputs"].dump());
    QVERIFY(a["outputs"] != other["outputs"]);
    QCOMPARE(a["sampling"]["temperature"].get<double>(), 3.0);
    QCOMPARE(a["sampling"]["seed"].get<int>(), 5);
    const Json narrow = drawn("5", "4", {"--top-k", "20", "--top-p", "0.9"});
    QVERIFY2(narrow["verified"]["passed"].get<bool>(), narrow["verified"].dump(1).c_str());
    QVERIFY(narrow["outputs"] != a["outputs"]);
    const Json greedy = generated(model_, {"--data", data, "--batch", "4"}), one = drawn("5", "4", {"--top-k", "1"});
    QCOMPARE(one["outputs"].dump(), greedy["outputs"].dump());
  }

  void draws_of_an_encoder_decoder_are_verified_too() {
    const Json j = json_of({"generate", switch_model(), "--data", "random:4x6", "--max-new-tokens", "6",
                            "--temperature", "1.5", "--top-p", "0.95"});
    QVERIFY2(j["verified"]["passed"].get<bool>(), j["verified"].dump(1).c_str());
  }

  void a_text_ends_before_a_stop_text_and_the_rest_is_verified() {
    const std::vector<std::string> prompts = {"the cat", "a wall and", "look down", "it didn't", "we'll see", "fooBar"};
    Arguments arguments;
    for (const std::string& prompt : prompts) arguments.insert(arguments.end(), {"--prompt", prompt});
    const Json whole = generated(model_, arguments);
    const auto [which, stop] = letter_of(whole);
    QVERIFY(!stop.empty());
    arguments.insert(arguments.end(), {"--stop", stop});
    const Json some = generated(model_, arguments);
    for (const Json& output : some["outputs"])
      QVERIFY2(output["text"].get<std::string>().find(stop) == std::string::npos, output.dump().c_str());
    QVERIFY(some["stopped"]["text"].get<int>() >= 1);
    QVERIFY2(some["verified"]["passed"].get<bool>(), some["verified"].dump(1).c_str());
    // A batch whose texts have all stopped decodes no further.
    const std::string session = scratch_.path("stopped.storm");
    const Json one = generated(model_, {"--prompt", prompts[which], "--stop", stop, "-o", session});
    QCOMPARE(one["stopped"]["text"].get<int>(), 1);
    QCOMPARE(one["outputs"][0].dump(), some["outputs"][which].dump());
    QVERIFY(one["outputs"][0]["ids"].size() <= whole["outputs"][which]["ids"].size());
    QCOMPARE(one["token_ms"].is_null() ? size_t{1} : one["token_ms"]["runs"].get<size_t>() + 1,
             one["outputs"][0]["ids"].size());
    QVERIFY2(one["verified"]["passed"].get<bool>(), one["verified"].dump(1).c_str());
    VERIFY_DONE(run_program({"inspect", session, "--check"}), (Arguments{"inspect"}));
  }

  void a_chat_is_written_by_the_template_and_shown() {
    const std::string rendered =
        "<|im_start|>system\nbe brief<|im_end|>\n<|im_start|>user\nthe cat<|im_end|>\n<|im_start|>assistant\n";
    const Arguments chat = prompted({"--chat", "--system", "be brief", "--prompt", "the cat"});
    const Ended shown = run_program(chat);
    QVERIFY2(shown.out.starts_with("Prompt 1:\n" + rendered), told(chat, shown).c_str());
    const Json j = json_of(chat);
    QCOMPARE(j["chat"].get<std::string>(), std::string("ChatML"));
    QCOMPARE(j["prompts"][0].get<std::string>(), rendered);
    // A run measures the same text.
    const Json run = json_of(short_run("run", model_, scratch_.write("user.txt", "the cat\n"), {"--chat"}));
    QVERIFY(run["dataset"]["cells"].get<int>() > 20);
  }

  void a_session_has_what_was_typed_only_with_its_inputs() {
    const std::string secret = "zebra crossing at noon";
    for (const bool kept : {false, true}) {
      const std::string session = scratch_.path(kept ? "kept.storm" : "hidden.storm");
      for (const char* verb : {"generate", "run"}) {
        Arguments arguments = short_run(verb, model_, "", {"--prompt", secret, "-o", session});
        const auto data = std::find(arguments.begin(), arguments.end(), "--data");
        arguments.erase(data, data + 2);
        if (kept) arguments.emplace_back("--record-inputs");
        VERIFY_DONE(run_program(arguments), arguments);
      }
      QCOMPARE(Scratch::read(session).find(secret) != std::string::npos, kept);
    }
  }

  void a_tokenizer_of_another_place_serves_a_model_without_one() {
    const Json own = generated(model_, {"--prompt", "the cat"});
    for (const std::string& place : {scratch_.path("elsewhere"), scratch_.path("elsewhere/tokenizer.json")})
      QCOMPARE(generated(bare_, {"--prompt", "the cat", "--tokenizer", place})["outputs"].dump(),
               own["outputs"].dump());
    VERIFY_REFUSED((Arguments{"generate", bare_, "--prompt", "the cat"}), "--prompt", "has no tokenizer");
    VERIFY_REFUSED(prompted({"--prompt", "a", "--tokenizer", scratch_.path("none")}), scratch_.path("none"),
                   "no such file");
    VERIFY_REFUSED(prompted({"--prompt", "a", "--tokenizer", bare_}), bare_, "has no tokenizer");
  }

  void perplexity_is_shown_with_its_interval() {
    const std::string data =
        scratch_.write("judged.txt", "the cat sat\na wall and it\nlook down the wall\nwe'll see\n");
    for (const char* verb : {"run", "optimize"}) {
      const Json j = json_of(short_run(verb, model_, data, {"--batch", "2"}));
      const Json& q = j["quality"];
      QCOMPARE(q["measure"].get<std::string>(), std::string("perplexity"));
      const Json& plan = q["baseline"].is_null() ? q["optimized"] : q["baseline"];
      QVERIFY2(plan["value"].get<double>() > 1 && plan["value_ci95"].is_array(), q.dump(1).c_str());
    }
    const Json ids = json_of(short_run("run", model_, "random:4x6"));
    QVERIFY(ids["quality"].is_null());
  }

  void what_leaves_nothing_to_draw_or_contradicts_itself_is_refused() {
    VERIFY_REFUSED(prompted({"--prompt", "a", "--temperature", "0"}), "--temperature", "leaves nothing to draw");
    VERIFY_REFUSED(prompted({"--prompt", "a", "--top-p", "0"}), "--top-p", "leaves no token");
    VERIFY_REFUSED(prompted({"--prompt", "a", "--top-p", "1.5"}), "--top-p", "1.5");
    VERIFY_REFUSED(prompted({"--prompt", "a", "--top-k", "0"}), "--top-k", "0");
    VERIFY_REFUSED(prompted({"--prompt", "a", "--data", "random:2x3"}), "--prompt", "second source");
    VERIFY_REFUSED(prompted({"--prompt", "a", "--system", "x"}), "--system", "belongs to a chat");
    VERIFY_REFUSED(prompted({"--prompt", "a", "--date", "2026-08-05"}), "--date", "belongs to a chat");
    VERIFY_REFUSED(prompted({"--prompt", "a", "--chat", "--date", "today"}), "--date", "no date");
    VERIFY_REFUSED((Arguments{"generate", bare_, "--data", "random:2x3", "--stop", "x"}), "--stop", "has no tokenizer");
    VERIFY_REFUSED((Arguments{"generate", model_}), "--data", "is missing");
  }

  void a_chat_needs_texts() {
    VERIFY_REFUSED((Arguments{"generate", model_, "--data", "random:2x3", "--chat"}), "--chat", "holds no texts");
  }

  void chats_that_this_version_does_not_write_are_refused() {
    const auto with_template = [&](const char* text) {
      scratch_.write("text/chat_template.jinja", text);
      const std::string said = defect_of_refusal(prompted({"--prompt", "a", "--chat"}),
                                                 scratch_.path("text/chat_template.jinja"), "chat template");
      std::filesystem::remove(scratch_.path("text/chat_template.jinja"));
      return said;
    };
    for (const char* text : {"{{ messages }}", "<|header_start|>", "<|start_of_role|>", "<|channel|>"})
      QVERIFY2(with_template(text).empty(), with_template(text).c_str());
    VERIFY_REFUSED((Arguments{"generate", bare_, "--prompt", "a", "--chat", "--tokenizer", scratch_.path("elsewhere")}),
                   "--chat", "has no chat template");
  }

  /// Standard output that gives out in the middle of a token: the batch fails, and the session stays.
  void a_disk_that_fails_while_a_token_is_written_ends_with_one_line() {
    if (!std::filesystem::exists("/dev/full")) QSKIP("there is no /dev/full");
    const std::string session = scratch_.path("full.storm");
    json_of(prompted({"--prompt", "the cat", "-o", session}));
    Surroundings full;
    full.out_file = "/dev/full";
    const Ended ended = run_program(prompted({"--prompt", "the cat", "-o", session}), full);
    QCOMPARE(ended.exit, 1);
    QVERIFY2(ended.err.find("stormcell: standard output: cannot be written") != std::string::npos, ended.err.c_str());
    const Json runs = json_of({"inspect", session})["runs"];
    QVERIFY2(std::any_of(runs.begin(), runs.end(), [](const Json& run) { return run["status"] == "finished"; }),
             runs.dump(1).c_str());
    VERIFY_DONE(run_program({"inspect", session, "--check"}), (Arguments{"inspect"}));
  }
};

STORMCELL_TEST(ContractTextTest)

}  // namespace stormcell::testing

#include "text_test.moc"
