// Texts become what a model reads: as they are, or as messages of a chat in the form of a template.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>

#include "core/data/data_options.h"
#include "core/data/sequence.h"
#include "core/data/sequence_source.h"
#include "core/formats/chat_form.h"
#include "core/formats/tokenizer.h"

namespace stormcell {

class PromptText {
 public:
  /// Both must outlive it.
  PromptText(const Tokenizer& tokenizer, const DataOptions& options) : tokenizer_(tokenizer), options_(options) {}

  /// A line of a file: its special tokens are tokens, unless it is a message of a chat.
  Sequence of_file(std::string_view text) const;
  /// A text that a person typed: special tokens in it are text unless the options say otherwise.
  Sequence typed(std::string_view text) const;
  /// A whole chat: [{"role": "user", "content": "..."}, ...]. `place` names it in errors. Error(bad_input): another form, a role that is none of
  /// system, user and assistant, tools.
  Sequence of_messages(const nlohmann::json& messages, const std::string& place) const;
  bool is_chat() const { return options_.chat.has_value(); }
  /// The contents of a source of such sequences.
  SequenceSource::Contents contents() const;

 private:
  Sequence of_turns(std::span<const ChatTurn> turns, const std::string& where) const;

  const Tokenizer& tokenizer_;
  const DataOptions& options_;
};

}  // namespace stormcell
