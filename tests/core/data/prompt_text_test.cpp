// Prompts, messages of chats and lines of files become what a model reads.
#include "core/data/prompt_text.h"

#include "core/base/error.h"
#include "core/data/dataset.h"
#include "core/formats/file_text.h"
#include "tests/core/formats/scratch.h"
#include "tests/testing/complaint.h"
#include "tests/testing/counts.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

constexpr int32_t kEnd = 421;  // "<|end|>" of the tokenizer
constexpr const char* kTemplate = "{{'<|im_start|>user\n'}}";

std::shared_ptr<const Tokenizer> words_of_qwen() { return Tokenizer::open_at(reference_path("text/qwen3.json"), {}); }

}  // namespace

class PromptTextTest : public QObject {
  Q_OBJECT
  const std::shared_ptr<const Tokenizer> tokenizer_ = words_of_qwen();
  const Scratch scratch_;

  DataOptions options() const {
    DataOptions o;
    o.inputs = {{"input_ids", DType::i32, InputRole::ids, "token", "sequence", 0, {}, 0},
                {"attention_mask", DType::i32, InputRole::mask, "token", "sequence", 0, {}, 0}};
    return o;
  }
  DataOptions chat(const std::string& system = {}) const {
    DataOptions o = options();
    o.chat = ChatOptions{kTemplate, "t.jinja", system, {}};
    return o;
  }

 private slots:
  void a_special_token_that_was_typed_is_text_unless_it_is_asked_for() {
    DataOptions o = options();
    const std::string text = "the cat<|end|>";
    const auto holds_end = [](const Sequence& s) { return std::ranges::find(s.ids, kEnd) != s.ids.end(); };
    QVERIFY(!holds_end(PromptText(*tokenizer_, o).typed(text)));
    QVERIFY(holds_end(PromptText(*tokenizer_, o).of_file(text)));  // a file is as the model reads it
    o.special_tokens = true;
    QVERIFY(holds_end(PromptText(*tokenizer_, o).typed(text)));
    QCOMPARE(PromptText(*tokenizer_, o).typed(text).ids, tokenizer_->encode(text, true));
  }

  void a_message_is_written_in_the_form_of_the_template() {
    const DataOptions o = chat("be brief");
    const Sequence s = PromptText(*tokenizer_, o).typed("hello");
    QCOMPARE(s.text, std::string("<|im_start|>system\nbe brief<|im_end|>\n<|im_start|>user\nhello<|im_end|>\n"
                                 "<|im_start|>assistant\n"));
    QCOMPARE(s.ids, tokenizer_->encode(s.text, false));
    QCOMPARE(PromptText(*tokenizer_, o).of_file("hello").text, s.text);
  }

  void prompts_are_a_source_of_their_own() {
    DataOptions o = options();
    o.prompts = {"the cat", "a wall and it"};
    const auto data = Dataset::open("", tokenizer_, o);
    QCOMPARE(data->items(), int64_t{2});
    QCOMPARE(data->name(), std::string("--prompt"));
    QCOMPARE(data->place(1), std::string("prompt 2"));
    const Batch batch = data->batch(0);
    QCOMPARE(batch.texts, o.prompts);
    QVERIFY(data->warnings().empty());
    QVERIFY(data->has_text());
  }

  void a_prompt_of_special_tokens_alone_is_told() {
    DataOptions o = options();
    o.special_tokens = true;
    o.prompts = {"<|end|><|end|>"};
    const std::vector<std::string> warnings = Dataset::open("", tokenizer_, o)->warnings();
    QCOMPARE(warnings.size(), size_t{1});
    QVERIFY2(warnings[0].find("prompt 1 holds special tokens alone") != std::string::npos, warnings[0].c_str());
  }

  void chats_of_a_file_are_written_whole_and_refused_by_their_line() {
    const auto text_of = [&](const std::string& line) {
      return Dataset::open(scratch_.write("chat.jsonl", line + "\n"), tokenizer_, chat())->batch(0).texts.at(0);
    };
    const std::string whole =
        R"({"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "yes"}, {"role": "user", "content": "go"}]})";
    QCOMPARE(text_of(whole), std::string("<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\nyes<|im_end|>\n"
                                         "<|im_start|>user\ngo<|im_end|>\n<|im_start|>assistant\n"));
    QCOMPARE(text_of(R"({"text": "hi"})"), std::string("<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n"));
    const auto refused = [&](const std::string& line, const char* words) {
      const std::string said = complaint([&] { text_of(line); });
      QVERIFY2(said.find("chat.jsonl: line 1") != std::string::npos && said.find(words) != std::string::npos,
               said.c_str());
    };
    refused(R"({"messages": [{"role": "tool", "content": "x"}]})", "a turn of a tool");
    refused(R"({"tools": [], "messages": []})", "names tools");
    refused(R"({"messages": [{"role": "robot", "content": "x"}]})", "the role \"robot\"");
    refused(R"({"messages": [{"role": "user", "content": 3}]})", "whose content is not a text");
    refused(R"({"messages": [{"role": "assistant", "content": "x"}]})", "expected the user's");
    refused(R"({"messages": []})", "no turns");
  }
};
STORMCELL_TEST(PromptTextTest)

}  // namespace stormcell::testing
#include "prompt_text_test.moc"
