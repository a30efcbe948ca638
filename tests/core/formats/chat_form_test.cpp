// The texts of chats in eight forms, written out by hand from the published templates.
#include "core/formats/chat_form.h"

#include <algorithm>

#include "core/formats/file_text.h"
#include "tests/core/formats/scratch.h"
#include "tests/testing/counts.h"
#include "tests/testing/testing.h"

using namespace stormcell;
using namespace stormcell::testing;

namespace {
const std::vector<ChatTurn> kQuestion = {{ChatRole::user, "Hi"}};
const std::vector<ChatTurn> kConversation = {
    {ChatRole::system, "Be brief."}, {ChatRole::user, "Hi"}, {ChatRole::assistant, "Hello."}, {ChatRole::user, "Why?"}};

std::string rendered(const std::string& chat_template, const std::vector<ChatTurn>& turns) {
  return render_chat(chat_template, turns, "2025-08-05", "chat_template.jinja").text;
}
}  // namespace

class ChatFormTest : public QObject {
  Q_OBJECT

 private slots:
  void a_chat_is_written_in_the_form_of_its_template_data() {
    QTest::addColumn<QByteArray>("chat_template");
    QTest::addColumn<QByteArray>("name");
    QTest::addColumn<QByteArray>("question");
    QTest::addColumn<QByteArray>("conversation");
    const auto row = [](const char* title, const char* chat_template, const char* name, const char* question,
                        const char* conversation) {
      QTest::newRow(title) << QByteArray(chat_template) << QByteArray(name) << QByteArray(question)
                           << QByteArray(conversation);
    };
    row("ChatML", "{{ '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}", "ChatML",
        "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n",
        "<|im_start|>system\nBe "
        "brief.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\nHello.<|im_end|>"
        "\n<|im_start|>user\nWhy?<|im_end|>\n<|im_start|>assistant\n");
    row("ChatML with a system text",
        "{{ '<|im_start|>system\\n' + x }}{{ '<|im_start|>system\\nYou are a helpful assistant.<|im_end|>\\n' }}",
        "ChatML",
        "<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n"
        "<|im_start|>assistant\n",
        "<|im_start|>system\nBe "
        "brief.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\nHello.<|im_end|>"
        "\n<|im_start|>user\nWhy?<|im_end|>\n<|im_start|>assistant\n");
    row("Phi 4", "{{ '<|im_start|>user<|im_sep|>' }}", "ChatML",
        "<|im_start|>user<|im_sep|>Hi<|im_end|><|im_start|>assistant<|im_sep|>",
        "<|im_start|>system<|im_sep|>Be brief.<|im_end|><|im_start|>user<|im_sep|>Hi<|im_end|><|im_start|>assistant"
        "<|im_sep|>Hello.<|im_end|><|im_start|>user<|im_sep|>Why?<|im_end|><|im_start|>assistant<|im_sep|>");
    row("Llama 3", "'<|start_header_id|>'", "Llama 3",
        "<|begin_of_text|><|start_header_id|>user<|end_header_id|>\n\nHi<|eot_id|><|start_header_id|>assistant"
        "<|end_header_id|>\n\n",
        "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\nBe brief.<|eot_id|><|start_header_id|>user"
        "<|end_header_id|>\n\nHi<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\nHello.<|eot_id|>"
        "<|start_header_id|>user<|end_header_id|>\n\nWhy?<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n");
    row("Gemma", "'<start_of_turn>'", "Gemma", "<bos><start_of_turn>user\nHi<end_of_turn>\n<start_of_turn>model\n",
        "<bos><start_of_turn>user\nBe brief.\n\nHi<end_of_turn>\n<start_of_turn>model\nHello.<end_of_turn>\n"
        "<start_of_turn>user\nWhy?<end_of_turn>\n<start_of_turn>model\n");
    const std::string system =
        "<|start|>system<|message|>You are ChatGPT, a large language model trained by OpenAI.\nKnowledge cutoff: "
        "2024-06\nCurrent date: 2025-08-05\n\nReasoning: medium\n\n# Valid channels: analysis, commentary, final. "
        "Channel must be included for every message.<|end|>";
    row("Harmony", "'<|channel|>'", "Harmony", (system + "<|start|>user<|message|>Hi<|end|><|start|>assistant").c_str(),
        (system + "<|start|>developer<|message|># Instructions\n\nBe brief.\n\n<|end|><|start|>user<|message|>Hi<|end|>"
                  "<|start|>assistant<|channel|>final<|message|>Hello.<|end|><|start|>user<|message|>Why?<|end|>"
                  "<|start|>assistant")
            .c_str());
    row("DeepSeek", "'<｜User｜>'", "DeepSeek", "<｜begin▁of▁sentence｜><｜User｜>Hi<｜Assistant｜>",
        "<｜begin▁of▁sentence｜>Be "
        "brief.<｜User｜>Hi<｜Assistant｜>Hello.<｜end▁of▁sentence｜><｜User｜>Why?<｜Assistant｜>");
    row("DeepSeek that thinks", "'<｜User｜>' '<｜Assistant｜><think>\\n'", "DeepSeek",
        "<｜begin▁of▁sentence｜><｜User｜>Hi<｜Assistant｜><think>\n",
        "<｜begin▁of▁sentence｜>Be "
        "brief.<｜User｜>Hi<｜Assistant｜>Hello.<｜end▁of▁sentence｜><｜User｜>Why?<｜Assistant｜>"
        "<think>\n");
    row("Mistral", "'[SYSTEM_PROMPT]' '[INST]'", "Mistral", "<s>[INST]Hi[/INST]",
        "<s>[SYSTEM_PROMPT]Be brief.[/SYSTEM_PROMPT][INST]Hi[/INST]Hello.</s>[INST]Why?[/INST]");
    row("GLM", "[gMASK]<sop>", "GLM", "[gMASK]<sop><|user|>\nHi<|assistant|>",
        "[gMASK]<sop><|system|>\nBe brief.<|user|>\nHi<|assistant|>\nHello.<|user|>\nWhy?<|assistant|>");
    row("GLM that thinks", "[gMASK]<sop> '<think></think>'", "GLM", "[gMASK]<sop><|user|>\nHi<|assistant|>",
        "[gMASK]<sop><|system|>\nBe "
        "brief.<|user|>\nHi<|assistant|>\n<think></think>\nHello.<|user|>\nWhy?<|assistant|>");
    row("Phi", "'<|user|>'", "Phi", "<|user|>\nHi<|end|>\n<|assistant|>\n",
        "<|system|>\nBe brief.<|end|>\n<|user|>\nHi<|end|>\n<|assistant|>\nHello.<|end|>\n<|user|>\nWhy?<|end|>\n"
        "<|assistant|>\n");
  }
  void a_chat_is_written_in_the_form_of_its_template() {
    QFETCH(const QByteArray, chat_template);
    QFETCH(const QByteArray, name);
    QFETCH(const QByteArray, question);
    QFETCH(const QByteArray, conversation);
    const std::string text = chat_template.toStdString();
    QCOMPARE(std::string(chat_form_name(text)), name.toStdString());
    QCOMPARE(rendered(text, kQuestion), question.toStdString());
    QCOMPARE(rendered(text, kConversation), conversation.toStdString());
    const RenderedChat chat = render_chat(text, kConversation, "2025-08-05", "t");
    QCOMPARE(chat.typed.size(), kConversation.size());
    for (size_t i = 0; i < chat.typed.size(); ++i)
      QCOMPARE(chat.text.substr(chat.typed[i].begin, chat.typed[i].end - chat.typed[i].begin), kConversation[i].text);
  }

  void special_tokens_in_a_typed_text_are_text() {
    const std::string path = reference_path("text/qwen3.json");
    const auto tokenizer = Tokenizer::from_json(read_file_text(path, size_t{1} << 24), path, {.end = false});
    const RenderedChat chat{"<|begin|>a<|end|>b<|end|>", {{9, 18}}};  // "a<|end|>b" was typed
    const std::vector<int32_t> ids = encode_chat(*tokenizer, chat);
    const int32_t end = tokenizer->encode("<|end|>", false).front();
    QCOMPARE(std::count(ids.begin(), ids.end(), end), std::ptrdiff_t{1});
    QCOMPARE(ids.back(), end);
  }

  void what_is_not_written_is_refused_by_name() {
    VERIFY_BAD_INPUT(rendered("{{ messages }}", kQuestion), "chat_template.jinja", "a form that is not known");
    VERIFY_BAD_INPUT(rendered("<|header_start|>", kQuestion), "chat_template.jinja", "Llama 4");
    VERIFY_BAD_INPUT(rendered("<|start_header_id|> Cutting Knowledge Date", kQuestion), "chat_template.jinja",
                     "Llama 3.1");
    VERIFY_BAD_INPUT(rendered("[INST]", kQuestion), "chat_template.jinja", "before version 7");
    VERIFY_BAD_INPUT(rendered("<｜User｜> thinking", kQuestion), "chat_template.jinja", "DeepSeek 3.1");
    VERIFY_BAD_INPUT(render_chat("<|channel|>", kQuestion, "", "t"), "t", "the date");
    VERIFY_BAD_INPUT(rendered("<|user|>", {}), "chat_template.jinja", "no turns");
    VERIFY_BAD_INPUT(rendered("<|user|>", {{ChatRole::assistant, "a"}}), "chat_template.jinja", "expected the user's");
    VERIFY_BAD_INPUT(rendered("<|user|>", {{ChatRole::user, "a"}, {ChatRole::assistant, "b"}}), "chat_template.jinja",
                     "does not end with");
    VERIFY_BAD_INPUT(rendered("<|user|>", {{ChatRole::user, "\xFF"}}), "chat_template.jinja", "not valid UTF-8");
  }
};

STORMCELL_TEST(ChatFormTest)
#include "chat_form_test.moc"
