// The tokenizer and the chat template of a model in words, from the beginnings of their files.
#pragma once
#include <string>
#include <string_view>

namespace stormcell {

struct TextParts {
  std::string tokenizer;      ///< "BPE (tokenizer.json)"; empty: there is none
  std::string chat_template;  ///< "ChatML"; empty: there is none
};
/// From the files of a folder in the Hugging Face layout. A file that cannot be read is passed over.
TextParts text_parts_of(const std::string& folder);

/// The name of the form that a template writes, by the tokens it uses; "of a form that is not known".
std::string chat_form(std::string_view chat_template);

}  // namespace stormcell
