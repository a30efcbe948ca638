// Finds the template of a model's chats. The form that it writes is known by chat_form.h.
#pragma once
#include <string>

namespace stormcell {

struct ChatTemplate {
  std::string text;   ///< empty: there is none
  std::string where;  ///< the file that has it
};

/// The template of a model folder (chat_template.jinja, else chat_template.json, else tokenizer_config.json), or of a
/// GGUF file. Of any other file: that of its folder. Error(bad_input) if a file that should have it cannot be read.
ChatTemplate chat_template_of(const std::string& path);

}  // namespace stormcell
