// Opens the tokenizer of a model folder, and warns if another one in the folder contradicts it.
#include "core/formats/tokenizer.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/formats/file_kind.h"
#include "core/formats/file_text.h"
#include "core/formats/gguf_header.h"
#include "core/formats/header_bytes.h"
#include "core/formats/open_file.h"
#include "core/formats/sentencepiece_model.h"
#include "core/formats/tokenizer_config.h"

namespace stormcell {
namespace {
namespace fs = std::filesystem;
constexpr size_t kMaxTokenizerFile = size_t{256} << 20;

/// Later kinds of Mistral, tiktoken, and vocabularies whose rules are in a program.
constexpr std::array<const char*, 8> kOtherKinds = {"tekken.json",        "tokenizer.model.v1", "tokenizer.model.v2",
                                                    "tokenizer.model.v3", "tokenizer.model.v7", "tiktoken.model",
                                                    "vocab.json",         "vocab.txt"};

/// A vocabulary of tiktoken, which Llama 3 has under this name: each line is a piece in base64 and its rank, as "IQ==
/// 0".
bool is_tiktoken(std::string_view content) {
  const std::string_view line = content.substr(0, std::min<size_t>(content.find('\n'), 256));
  const size_t space = line.find(' ');
  if (space == 0 || space == std::string_view::npos) return false;
  const auto is_base64 = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '/' ||
           c == '=';
  };
  const std::string_view rank = line.substr(space + 1);
  return std::all_of(line.begin(), line.begin() + space, is_base64) && !rank.empty() &&
         std::all_of(rank.begin(), rank.end(), [](char c) { return (c >= '0' && c <= '9') || c == '\r'; });
}

/// Nothing if the folder has no such file. A link whose target is missing counts as a file, so that opening it fails.
std::optional<std::string> content_of(const std::string& path) {
  if (!has_entry(path)) return {};
  std::string content = read_file_text(path, kMaxTokenizerFile);
  refuse_other_kind(path, content, FileUse::tokenizer);
  if (path.ends_with(".model") && is_tiktoken(content))
    bad_input(path, "is a vocabulary of tiktoken, which is not in this version",
              "give token ids as .npy or .safetensors instead of text");
  return content;
}

/// The difference of two vocabularies in words; empty: there is none. Pieces of `used` beyond the end of the other one
/// are added tokens.
std::string difference(const Tokenizer& used, const std::vector<Piece>& other) {
  int64_t unlike = 0;
  std::string first;
  for (size_t id = 0; id < other.size(); ++id) {
    const std::string piece = used.piece(static_cast<int32_t>(id));
    if (piece == other[id].text) continue;
    if (unlike++ == 0)
      first = "id " + std::to_string(id) + " is " + in_quotes(piece) + " and " + in_quotes(other[id].text);
  }
  return unlike == 0 ? first
                     : counted(unlike, "id") + " of " + with_commas(std::ssize(other)) + ", the first: " + first;
}

/// Warns if a folder with both kinds of tokenizer has two vocabularies instead of one in two files.
void compare_with_model(Tokenizer& used, const std::string& path) {
  const std::string chosen = used.path() + " is used, as transformers, vLLM and SGLang do";
  try {
    const std::optional<std::string> content = content_of(path);
    if (!content) return;
    if (const std::string unlike = difference(used, sentencepiece_pieces(*content, path)); !unlike.empty())
      used.warn(used.path() + " and " + path + " differ in " + unlike + "; " + chosen);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::bad_input) throw;
    used.warn(std::string(error.what()) + "; " + chosen);
  }
}

}  // namespace

std::shared_ptr<const Tokenizer> Tokenizer::open_if_present(const std::string& folder, FrameRule rule) {
  const auto in_folder = [&](const char* name) { return (fs::path(folder) / name).string(); };
  const std::string json = in_folder("tokenizer.json"),
                    models[] = {in_folder("spiece.model"), in_folder("tokenizer.model")};
  if (const std::optional<std::string> content = content_of(json)) {
    const std::shared_ptr<Tokenizer> tokenizer = from_json(*content, json, rule, read_tokenizer_config(folder));
    for (const std::string& model : models) compare_with_model(*tokenizer, model);
    return tokenizer;
  }
  for (const std::string& model : models)
    if (const std::optional<std::string> content = content_of(model))
      return from_sentencepiece(*content, model, rule, read_tokenizer_config(folder));
  for (const char* name : kOtherKinds)
    if (const std::string other = in_folder(name); has_entry(other))
      bad_input(other, "is a tokenizer of a kind that is not in this version",
                "put tokenizer.json or tokenizer.model beside it, or give token ids as .npy or .safetensors");
  return nullptr;
}

std::shared_ptr<const Tokenizer> Tokenizer::open_at(const std::string& path, FrameRule rule) {
  std::error_code error;
  if (fs::is_directory(path, error)) return open(path, rule);
  if (!has_entry(path)) bad_input(path, "no such file", "name a tokenizer.json, tokenizer.model, GGUF file or folder");
  if (has_gguf_mark(path)) {
    const OpenFile file = OpenFile::open_regular(path);
    HeaderBytes header(file);
    return from_gguf(header);
  }
  const std::string content = content_of(path).value_or(std::string());
  const fs::path parent = fs::path(path).parent_path();
  const TokenizerConfig config = read_tokenizer_config(parent.empty() ? "." : parent.string());
  const size_t begin = content.find_first_not_of(" \t\r\n");
  if (begin != std::string::npos && content[begin] == '{') return from_json(content, path, rule, config);
  return from_sentencepiece(content, path, rule, config);
}

std::vector<int32_t> Tokenizer::encode_typed(std::string_view, std::span<const TextRange>) const {
  bad_input(path(), "is a SentencePiece model, with which this version does not encode the text of a chat",
            "put tokenizer.json beside it, or give the text without a chat form");
}

std::shared_ptr<const Tokenizer> Tokenizer::open(const std::string& folder, FrameRule rule) {
  if (auto tokenizer = open_if_present(folder, rule)) return tokenizer;
  bad_input(folder, "has no tokenizer",
            "put spiece.model, tokenizer.json or tokenizer.model there, or give token ids as .npy or .safetensors");
}

}  // namespace stormcell
