// Which tokenizer a model folder has, and the one from a SentencePiece model.
#include "core/formats/tokenizer.h"

#include <sentencepiece_processor.h>

#include <algorithm>
#include <filesystem>

#include "core/base/error.h"
#include "core/formats/added_tokens.h"
#include "core/formats/file_text.h"
#include "core/formats/sentencepiece_library.h"
#include "core/formats/sentencepiece_model.h"
#include "core/formats/tokenizer_config.h"

namespace stormcell {
namespace {
constexpr size_t kMaxTokenizerFile = size_t{256} << 20;

class SentencePieceTokenizer : public Tokenizer {
 public:
  SentencePieceTokenizer(std::string_view model, const std::string& where, std::vector<AddedToken> added)
      : where_(where), library_(load_sentencepiece(checked_sentencepiece_model(model, where), where)), added_(std::move(added)) {
    end_id_ = library_->eos_id();
    if (end_id_ < 0) bad_input(where, "has no end token </s>", "a T5-like model needs one");
    pad_id_ = std::max(library_->pad_id(), 0);
    vocabulary_size_ = library_->GetPieceSize();
    for (const AddedToken& token : added_.tokens()) vocabulary_size_ = std::max(vocabulary_size_, token.id + 1);
  }

  std::vector<int32_t> encode(std::string_view utf8, bool add_end) const override {
    check_text(utf8, where_);
    std::vector<int32_t> ids;
    added_.split(utf8, [&](std::string_view text, const AddedToken* token) {
      if (token) {
        ids.push_back(token->id);
        return;
      }
      std::vector<int> encoded;
      if (!library_->Encode(text, &encoded).ok())
        bad_input(where_, "cannot encode " + in_quotes(text), "check that the tokenizer is the model's");
      ids.insert(ids.end(), encoded.begin(), encoded.end());
    });
    if (add_end) ids.push_back(end_id_);
    return ids;
  }

  std::string decode(std::span<const int32_t> ids) const override {
    std::vector<int> known;
    for (const int32_t id : ids)
      if (id >= 0 && id < library_->GetPieceSize() && !library_->IsControl(id)) known.push_back(id);
    std::string text;
    if (!library_->Decode(known, &text).ok()) failed(where_, "cannot decode token ids", "check that the tokenizer is the model's");
    return text;
  }

  std::string piece(int32_t id) const override {
    if (id >= 0 && id < library_->GetPieceSize()) return library_->IdToPiece(id);
    const AddedToken* token = added_.find(id);
    return token ? token->content : std::string();
  }
  int32_t pad_id() const override { return pad_id_; }
  int32_t end_id() const override { return end_id_; }
  int32_t vocabulary_size() const override { return vocabulary_size_; }
  const std::string& path() const override { return where_; }

 private:
  std::string where_;
  std::shared_ptr<const sentencepiece::SentencePieceProcessor> library_;
  AddedTokens added_;
  int32_t end_id_ = 1, pad_id_ = 0, vocabulary_size_ = 0;
};

std::string in_folder(const std::string& folder, const char* name) { return (std::filesystem::path(folder) / name).string(); }
}  // namespace

std::shared_ptr<const Tokenizer> Tokenizer::from_sentencepiece(std::string_view model, const std::string& where) {
  return std::make_shared<SentencePieceTokenizer>(model, where, std::vector<AddedToken>{});
}

std::shared_ptr<const Tokenizer> Tokenizer::open_if_present(const std::string& folder) {
  std::error_code error;
  for (const char* name : {"spiece.model", "tokenizer.json", "tokenizer.model"}) {
    const std::string path = in_folder(folder, name);
    if (!std::filesystem::exists(path, error)) continue;
    const std::string content = read_file_text(path, kMaxTokenizerFile);
    if (content.empty()) bad_input(path, "is empty", "get the file again");
    if (path.ends_with(".json")) return from_json(content, path);
    return std::make_shared<SentencePieceTokenizer>(content, path, read_added_tokens(in_folder(folder, "tokenizer_config.json")));
  }
  return nullptr;
}

std::shared_ptr<const Tokenizer> Tokenizer::open(const std::string& folder) {
  if (auto tokenizer = open_if_present(folder)) return tokenizer;
  bad_input(folder, "has no tokenizer",
            "put spiece.model, tokenizer.json or tokenizer.model there, or give token ids as .npy or .safetensors");
}

}  // namespace stormcell
