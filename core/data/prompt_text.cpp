#include "core/data/prompt_text.h"

#include <array>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/formats/file_text.h"
#include "core/formats/json_fields.h"

namespace stormcell {
namespace {

constexpr const char* kMessagesAdvice = "give a list of {\"role\": \"user\", \"content\": \"...\"}";

ChatTurn turn_of(const nlohmann::json& message, const std::string& place) {
  const std::string role = text_at(message, "role");
  if (role == "tool" || role == "function" || !value_at(message, "tool_calls").is_null())
    bad_input(place, "has a turn of a tool, and tools are not in this version", "leave such turns out");
  ChatTurn turn;
  if (role == "system" || role == "developer")
    turn.role = ChatRole::system;
  else if (role == "assistant")
    turn.role = ChatRole::assistant;
  else if (role != "user")
    bad_input(place, role.empty() ? "has a turn without a role" : "has a turn of the role " + in_quotes(role),
              "the roles are system, user and assistant");
  const nlohmann::json& content = value_at(message, "content");
  if (!content.is_string()) bad_input(place, "has a turn whose content is not a text", kMessagesAdvice);
  turn.text = content.get<std::string>();
  return turn;
}

}  // namespace

Sequence PromptText::of_file(std::string_view text) const {
  if (is_chat()) return typed(text);
  Sequence sequence;
  sequence.ids = tokenizer_.encode(text, true);
  sequence.text = text;
  return sequence;
}

Sequence PromptText::typed(std::string_view text) const {
  if (is_chat()) {
    std::vector<ChatTurn> turns;
    if (!options_.chat->system.empty()) turns.push_back({ChatRole::system, options_.chat->system});
    turns.push_back({ChatRole::user, std::string(text)});
    return of_turns(turns, options_.chat->where);  // one message is right for every template: a fault is the template's
  }
  Sequence sequence;
  sequence.text = text;
  const std::array whole = {TextRange{0, text.size()}};
  // A SentencePiece model alone finds no special tokens in a text.
  sequence.ids = options_.special_tokens || tokenizer_.added_tokens().empty()
                     ? tokenizer_.encode(text, true)
                     : tokenizer_.frame().around(tokenizer_.encode_typed(text, whole));
  return sequence;
}

Sequence PromptText::of_messages(const nlohmann::json& messages, const std::string& place) const {
  if (!messages.is_array()) bad_input(place, "its messages are not a list", kMessagesAdvice);
  std::vector<ChatTurn> turns;
  for (const nlohmann::json& message : messages) turns.push_back(turn_of(message, place));
  if (const std::string& system = options_.chat->system;
      !system.empty() && (turns.empty() || turns.front().role != ChatRole::system))
    turns.insert(turns.begin(), {ChatRole::system, system});
  return of_turns(turns, place);
}

Sequence PromptText::of_turns(std::span<const ChatTurn> turns, const std::string& where) const {
  RenderedChat rendered = render_chat(options_.chat->chat_template, turns, options_.chat->date, where);
  Sequence sequence;
  sequence.ids = options_.special_tokens ? tokenizer_.encode(rendered.text, false) : encode_chat(tokenizer_, rendered);
  sequence.text = std::move(rendered.text);
  return sequence;
}

SequenceSource::Contents PromptText::contents() const {
  SequenceSource::Contents contents{.text = true};
  if (!is_chat()) contents.behind = tokenizer_.frame().behind;
  return contents;
}

}  // namespace stormcell
