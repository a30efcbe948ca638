#include "core/formats/chat_form.h"

#include <algorithm>
#include <array>

#include "core/base/error.h"
#include "core/formats/file_text.h"
#include "core/formats/unicode.h"

namespace stormcell {
namespace {
/// Puts a chat together: marks of the form, and typed texts.
class ChatWriter {
 public:
  ChatWriter& mark(std::string_view text) {
    chat_.text += text;
    return *this;
  }
  ChatWriter& typed(std::string_view text) {
    if (text.empty()) return *this;
    chat_.typed.push_back({chat_.text.size(), chat_.text.size() + text.size()});
    chat_.text += text;
    return *this;
  }
  /// Without white space at both ends.
  ChatWriter& trimmed(std::string_view text) { return typed(trim_left(trim_right(text))); }
  RenderedChat take() { return std::move(chat_); }

 private:
  RenderedChat chat_;
};

struct ChatRequest {
  std::string_view chat_template;
  std::span<const ChatTurn> turns;
  std::string_view date;
  const std::string& where;

  bool has(std::string_view mark) const { return chat_template.find(mark) != std::string_view::npos; }
  bool begins_with_system() const { return !turns.empty() && turns.front().role == ChatRole::system; }
  /// The turns behind the system's.
  std::span<const ChatTurn> others() const { return turns.subspan(begins_with_system() ? 1 : 0); }
  [[noreturn]] void refuse(const std::string& form) const {
    bad_input(where, "its chat template writes " + form + ", which is not in this version",
              "give the text as the model is to read it, without a chat form");
  }
};

std::string_view role_name(ChatRole role) {
  return role == ChatRole::system ? "system" : role == ChatRole::user ? "user" : "assistant";
}

/// The text that a template writes between two marks when no system turn is given; empty: it writes none. A quote or
/// brace between them shows that the text is a variable.
std::string_view default_text(std::string_view chat_template, std::string_view before, std::string_view behind) {
  for (size_t at = chat_template.find(before); at != std::string_view::npos; at = chat_template.find(before, at + 1)) {
    std::string_view text = chat_template.substr(at + before.size());
    if (text.starts_with("\\n"))
      text.remove_prefix(2);
    else if (text.starts_with('\n'))
      text.remove_prefix(1);
    text = text.substr(0, text.find(behind));
    if (!text.empty() && text.find_first_of("'\"{}\\+") == std::string_view::npos) return text;
  }
  return {};
}

RenderedChat write_chatml(const ChatRequest& request) {
  ChatWriter chat;
  const bool is_phi4 = request.has("<|im_sep|>");
  const std::string_view behind_role = is_phi4 ? "<|im_sep|>" : "\n", behind_text = is_phi4 ? "" : "\n";
  if (const std::string_view text = default_text(request.chat_template, "<|im_start|>system", "<|im_end|>");
      !request.begins_with_system() && !is_phi4 && !text.empty())
    chat.mark("<|im_start|>system\n").mark(text).mark("<|im_end|>\n");
  for (const ChatTurn& turn : request.turns)
    chat.mark("<|im_start|>")
        .mark(role_name(turn.role))
        .mark(behind_role)
        .typed(turn.text)
        .mark("<|im_end|>")
        .mark(behind_text);
  return chat.mark("<|im_start|>assistant").mark(behind_role).take();
}

RenderedChat write_llama3(const ChatRequest& request) {
  if (request.has("Cutting Knowledge Date")) request.refuse("the form of Llama 3.1, which states dates");
  ChatWriter chat;
  chat.mark("<|begin_of_text|>");
  for (const ChatTurn& turn : request.turns)
    chat.mark("<|start_header_id|>")
        .mark(role_name(turn.role))
        .mark("<|end_header_id|>\n\n")
        .trimmed(turn.text)
        .mark("<|eot_id|>");
  return chat.mark("<|start_header_id|>assistant<|end_header_id|>\n\n").take();
}

RenderedChat write_gemma(const ChatRequest& request) {
  ChatWriter chat;
  chat.mark("<bos>");
  bool first = true;
  for (const ChatTurn& turn : request.others()) {
    chat.mark("<start_of_turn>").mark(turn.role == ChatRole::user ? "user" : "model").mark("\n");
    if (first && request.begins_with_system()) chat.typed(request.turns.front().text).mark("\n\n");
    chat.trimmed(turn.text).mark("<end_of_turn>\n");
    first = false;
  }
  return chat.mark("<start_of_turn>model\n").take();
}

RenderedChat write_harmony(const ChatRequest& request) {
  if (request.date.empty())
    bad_input(request.where, "its chat template states the date, and none is given",
              "give a date as 2025-08-05: --date");
  ChatWriter chat;
  chat.mark("<|start|>system<|message|>You are ChatGPT, a large language model trained by OpenAI.\n")
      .mark("Knowledge cutoff: 2024-06\nCurrent date: ")
      .mark(request.date)
      .mark(
          "\n\nReasoning: medium\n\n# Valid channels: analysis, commentary, final. Channel must be included for every ")
      .mark("message.<|end|>");
  if (request.begins_with_system())
    chat.mark("<|start|>developer<|message|># Instructions\n\n").typed(request.turns.front().text).mark("\n\n<|end|>");
  for (const ChatTurn& turn : request.others())
    chat.mark("<|start|>")
        .mark(turn.role == ChatRole::user ? "user" : "assistant<|channel|>final")
        .mark("<|message|>")
        .typed(turn.text)
        .mark("<|end|>");
  return chat.mark("<|start|>assistant").take();
}

RenderedChat write_deepseek(const ChatRequest& request) {
  if (request.has("thinking")) request.refuse("the form of DeepSeek 3.1, which can think or not");
  ChatWriter chat;
  chat.mark("<\uFF5Cbegin\u2581of\u2581sentence\uFF5C>");
  if (request.begins_with_system()) chat.typed(request.turns.front().text);
  for (const ChatTurn& turn : request.others())
    if (turn.role == ChatRole::user)
      chat.mark("<\uFF5CUser\uFF5C>").typed(turn.text);
    else
      chat.mark("<\uFF5CAssistant\uFF5C>").typed(turn.text).mark("<\uFF5Cend\u2581of\u2581sentence\uFF5C>");
  chat.mark("<\uFF5CAssistant\uFF5C>");
  if (request.has("<\uFF5CAssistant\uFF5C><think>")) chat.mark("<think>\n");
  return chat.take();
}

RenderedChat write_mistral(const ChatRequest& request) {
  if (!request.has("[SYSTEM_PROMPT]")) request.refuse("a form of Mistral before version 7");
  ChatWriter chat;
  chat.mark("<s>");
  if (request.begins_with_system())
    chat.mark("[SYSTEM_PROMPT]").typed(request.turns.front().text).mark("[/SYSTEM_PROMPT]");
  else if (request.has("default_system_message"))
    request.refuse("a system text of its own, which is a variable, and no system text is given");
  for (const ChatTurn& turn : request.others())
    if (turn.role == ChatRole::user)
      chat.mark("[INST]").typed(turn.text).mark("[/INST]");
    else
      chat.typed(turn.text).mark("</s>");
  return chat.take();
}

RenderedChat write_glm(const ChatRequest& request) {
  ChatWriter chat;
  chat.mark("[gMASK]<sop>");
  const bool thinks = request.has("<think></think>");
  for (const ChatTurn& turn : request.turns) {
    chat.mark("<|").mark(role_name(turn.role)).mark("|>\n");
    if (turn.role == ChatRole::assistant && thinks) chat.mark("<think></think>\n");
    chat.typed(turn.text);
  }
  return chat.mark("<|assistant|>").take();
}

RenderedChat write_phi(const ChatRequest& request) {
  ChatWriter chat;
  for (const ChatTurn& turn : request.turns)
    chat.mark("<|").mark(role_name(turn.role)).mark("|>\n").typed(turn.text).mark("<|end|>\n");
  return chat.mark("<|assistant|>\n").take();
}

struct ChatFormRow {
  std::string_view mark, name;
  RenderedChat (*write)(const ChatRequest&);  // null: the form is known by name alone
};
// The first mark that occurs decides: Llama 4's and Harmony's forms share tokens with others.
constexpr std::array kChatFormRows = {
    ChatFormRow{"<|header_start|>", "Llama 4", nullptr},
    ChatFormRow{"<|start_header_id|>", "Llama 3", write_llama3},
    ChatFormRow{"<|channel|>", "Harmony", write_harmony},
    ChatFormRow{"<start_of_turn>", "Gemma", write_gemma},
    ChatFormRow{"<|turn>", "Gemma 4", nullptr},
    ChatFormRow{"<|im_start|>", "ChatML", write_chatml},
    ChatFormRow{"<\uFF5CUser\uFF5C>", "DeepSeek", write_deepseek},
    ChatFormRow{"[INST]", "Mistral", write_mistral},
    ChatFormRow{"[gMASK]", "GLM", write_glm},
    ChatFormRow{"<|start_of_role|>", "Granite", nullptr},
    ChatFormRow{"<|user|>", "Phi", write_phi},
};

const ChatFormRow* chat_form_row(std::string_view chat_template) {
  const auto row = std::find_if(kChatFormRows.begin(), kChatFormRows.end(), [&](const ChatFormRow& r) {
    return chat_template.find(r.mark) != std::string_view::npos;
  });
  return row == kChatFormRows.end() ? nullptr : &*row;
}

/// A system turn may only come first, user and assistant take turns, and the user's is the last.
void check_turns(std::span<const ChatTurn> turns, const std::string& where) {
  const char* remedy = "give at most one system text, then texts of user and assistant in turns, the user's last";
  if (turns.empty()) bad_input(where, "the chat has no turns", remedy);
  ChatRole expected = ChatRole::user;
  for (const ChatTurn& turn : turns) {
    if (&turn == turns.data() && turn.role == ChatRole::system) continue;
    if (turn.role != expected)
      bad_input(where,
                "a turn of the chat is the " + std::string(role_name(turn.role)) + "'s, expected the " +
                    std::string(role_name(expected)) + "'s",
                remedy);
    expected = expected == ChatRole::user ? ChatRole::assistant : ChatRole::user;
  }
  if (turns.back().role != ChatRole::user) bad_input(where, "the chat does not end with a text of the user", remedy);
}
}  // namespace

std::string_view chat_form_name(std::string_view chat_template) {
  const ChatFormRow* row = chat_form_row(chat_template);
  return row ? row->name : std::string_view();
}

void check_chat_form(std::string_view chat_template, const std::string& where) {
  const ChatRequest request{chat_template, {}, {}, where};
  const ChatFormRow* row = chat_form_row(chat_template);
  if (!row) request.refuse("a form that is not known");
  if (!row->write) request.refuse("the form of " + std::string(row->name));
}

RenderedChat render_chat(std::string_view chat_template, std::span<const ChatTurn> turns, std::string_view date,
                         const std::string& where) {
  check_turns(turns, where);
  check_chat_form(chat_template, where);
  const ChatRequest request{chat_template, turns, date, where};
  for (const ChatTurn& turn : turns)
    if (find_invalid_utf8(turn.text) != std::string_view::npos)
      bad_input(where, "a text of the chat is not valid UTF-8", "convert it, for example with iconv -t UTF-8");
  return chat_form_row(chat_template)->write(request);
}

std::vector<int32_t> encode_chat(const Tokenizer& tokenizer, const RenderedChat& chat) {
  return tokenizer.encode_typed(chat.text, chat.typed);
}

}  // namespace stormcell
