#include "core/sheet/text_parts.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "core/base/error.h"
#include "core/formats/chat_form.h"
#include "core/formats/chat_template.h"
#include "core/formats/header_bytes.h"
#include "core/formats/json_walk.h"
#include "core/formats/open_file.h"

namespace stormcell {
namespace {
namespace fs = std::filesystem;

constexpr uint64_t kMostTokenizerHead = uint64_t{64} << 20;

/// Stops where the vocabulary begins: it is nearly all of the file.
class TokenizerVisitor : public JsonVisitor {
 public:
  void text(const JsonPath& path, const std::string& value) override {
    if (path.size() == 2 && path.key(0) == "model" && path.key(1) == "type") type = value.substr(0, 64);
  }
  void open(const JsonPath& path, bool) override { done_ |= path.size() == 2 && path.key(0) == "model"; }
  bool done() const override { return done_; }

  std::string type;

 private:
  bool done_ = false;
};

std::string kind_of_tokenizer_json(const std::string& path) {
  const OpenFile file = OpenFile::open_regular(path);
  HeaderBytes bytes(file);
  TokenizerVisitor visitor;
  walk_json(bytes, std::min<uint64_t>(bytes.size(), kMostTokenizerHead), visitor, path);
  return visitor.type.empty() ? "of a kind that is not known" : visitor.type;
}

/// Runs an action that reads one file of many; one that is bad input says nothing.
void passing_over(const auto& action) {
  try {
    action();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::bad_input) throw;
  }
}

}  // namespace

std::string chat_form(std::string_view chat_template) {
  if (chat_template.empty()) return {};
  const std::string_view name = chat_form_name(chat_template);
  return name.empty() ? "of a form that is not known" : std::string(name);
}

TextParts text_parts_of(const std::string& folder) {
  TextParts parts;
  const fs::path place(folder);
  if (has_entry((place / "tokenizer.json").string()))
    passing_over(
        [&] { parts.tokenizer = kind_of_tokenizer_json((place / "tokenizer.json").string()) + " (tokenizer.json)"; });
  struct Other {
    const char *file, *kind;
  };
  constexpr std::array kOthers = {Other{"spiece.model", "SentencePiece"},
                                  Other{"tokenizer.model", "SentencePiece"},
                                  Other{"tekken.json", "tekken"},
                                  Other{"tiktoken.model", "tiktoken"},
                                  Other{"vocab.json", "BPE"},
                                  Other{"vocab.txt", "WordPiece"}};
  for (const Other& other : kOthers)
    if (parts.tokenizer.empty() && has_entry((place / other.file).string()))
      parts.tokenizer = std::string(other.kind) + " (" + other.file + ")";
  passing_over([&] { parts.chat_template = chat_form(chat_template_of(folder).text); });
  return parts;
}

}  // namespace stormcell
