// The forms in which language models expect a chat. A form is known by the marks of a template; templates are not
// executed.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/formats/tokenizer.h"

namespace stormcell {

enum class ChatRole { system, user, assistant };

struct ChatTurn {
  ChatRole role = ChatRole::user;
  std::string text;
};

/// The whole text that the model reads, with its special tokens. `typed`: the texts of the turns in it.
struct RenderedChat {
  std::string text;
  std::vector<TextRange> typed;
};

/// The name of the form that a template writes: "ChatML"; empty if it is not known.
std::string_view chat_form_name(std::string_view chat_template);

/// Error(bad_input) that begins with `where`: the form is not known, or not written by this version.
void check_chat_form(std::string_view chat_template, const std::string& where);

/// Writes the turns in the form of the template, up to where the answer begins. `date` is for the forms that state it,
/// as "2025-08-05". Error(bad_input) that begins with `where`: the form is not known or not written by this version, or
/// it has no place for such turns.
RenderedChat render_chat(std::string_view chat_template, std::span<const ChatTurn> turns, std::string_view date,
                         const std::string& where);

/// The ids of a rendered chat: special tokens count in what the form writes, and are text in what was typed.
std::vector<int32_t> encode_chat(const Tokenizer& tokenizer, const RenderedChat& chat);

}  // namespace stormcell
