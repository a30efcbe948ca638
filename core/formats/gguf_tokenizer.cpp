// A tokenizer from the vocabulary of a GGUF file: the same parts as a tokenizer.json has, named by keys. Steps that
// llama.cpp has in its program are rows here.
#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/error.h"
#include "core/formats/file_text.h"
#include "core/formats/gguf_header.h"
#include "core/formats/header_bytes.h"
#include "core/formats/sentencepiece_library.h"
#include "core/formats/tokenizer.h"
#include "core/formats/tokenizer_json.h"

namespace stormcell {
namespace {
constexpr std::string_view kGgufTokens = "tokenizer.ggml.tokens", kGgufScores = "tokenizer.ggml.scores",
                           kGgufTypes = "tokenizer.ggml.token_type", kGgufMerges = "tokenizer.ggml.merges";
constexpr size_t kMostVocabularyBytes = size_t{64} << 20, kMostVocabulary = size_t{1} << 22;

[[noreturn]] void refuse_gguf(const std::string& where, const std::string& what) {
  bad_input(where, what, "get the file again");
}
[[noreturn]] void gguf_unsupported(const std::string& where, const std::string& what) {
  bad_input(where, what + " is not in this version", "give token ids as .npy or .safetensors instead of text");
}

/// Keeps the lists of the vocabulary.
class GgufVocabularyTaker : public GgufListTaker {
 public:
  explicit GgufVocabularyTaker(const std::string& where) : where_(where) {}

  bool takes(std::string_view key) const override {
    return key == kGgufTokens || key == kGgufScores || key == kGgufTypes || key == kGgufMerges;
  }
  void text(std::string_view key, std::string&& element) override {
    bytes_ += element.size();
    if (bytes_ > kMostVocabularyBytes) refuse_gguf(where_, "its vocabulary has more than 64 MiB");
    if (find_invalid_utf8(element) != std::string_view::npos)
      refuse_gguf(where_, "a text of its vocabulary is not valid UTF-8");
    std::vector<std::string>& list = key == kGgufTokens ? tokens : merges;
    if (key != kGgufTokens && key != kGgufMerges) refuse_gguf(where_, in_quotes(key) + " is a list of texts");
    if (list.size() >= kMostVocabulary) refuse_gguf(where_, in_quotes(key) + " is too long");
    list.push_back(std::move(element));
  }
  void number(std::string_view key, double element) override {
    std::vector<float>& list = key == kGgufScores ? scores : types;
    if (key != kGgufScores && key != kGgufTypes) refuse_gguf(where_, in_quotes(key) + " is a list of numbers");
    if (list.size() >= kMostVocabulary) refuse_gguf(where_, in_quotes(key) + " is too long");
    list.push_back(static_cast<float>(element));
  }

  std::vector<std::string> tokens, merges;
  std::vector<float> scores, types;

 private:
  const std::string& where_;
  size_t bytes_ = 0;
};

/// The words of a vocabulary by merges, by its key tokenizer.ggml.pre. Normal forms and whole words are those of the
/// families' tokenizer.json; llama.cpp has no normal forms.
struct GgufWords {
  std::string_view pre;
  std::array<std::string_view, 3> rules;
  bool each_digit = false, composed = false, whole_words = false, begin = false;
};
constexpr std::array kGgufWords = {
    GgufWords{"gpt-2", {"gpt2"}},
    GgufWords{.pre = "olmo", .rules = {"gpt2"}, .composed = true},
    GgufWords{.pre = "llama-bpe", .rules = {"llama3"}, .whole_words = true, .begin = true},
    GgufWords{.pre = "llama3", .rules = {"llama3"}, .whole_words = true, .begin = true},
    GgufWords{.pre = "llama-v3", .rules = {"llama3"}, .whole_words = true, .begin = true},
    GgufWords{.pre = "lfm2", .rules = {"llama3"}, .whole_words = true, .begin = true},
    GgufWords{.pre = "glm4", .rules = {"llama3"}, .whole_words = true},
    GgufWords{.pre = "qwen2", .rules = {"qwen2"}, .composed = true},
    GgufWords{.pre = "deepseek-r1-qwen", .rules = {"qwen2"}, .composed = true},
    GgufWords{.pre = "qwen35", .rules = {"qwen35"}, .composed = true},
    GgufWords{.pre = "gpt-4o", .rules = {"o200k"}, .whole_words = true},
    GgufWords{.pre = "llama4", .rules = {"o200k"}, .whole_words = true},
    GgufWords{.pre = "tekken", .rules = {"tekken"}, .whole_words = true},
    GgufWords{.pre = "deepseek-v3", .rules = {"deepseek3-numbers", "deepseek3-ideographs", "deepseek3"}},
    GgufWords{.pre = "smollm", .rules = {"gpt2"}, .each_digit = true},
    GgufWords{.pre = "starcoder", .rules = {"gpt2"}, .each_digit = true},
    GgufWords{.pre = "refact", .rules = {"gpt2"}, .each_digit = true},
};

class GgufTokenizerReader {
 public:
  explicit GgufTokenizerReader(HeaderBytes& bytes) : where_(bytes.where()), lists_(where_) {
    keys_ = read_gguf_header(
                bytes, [](GgufPlace&&) {}, &lists_)
                .keys;
  }

  TokenizerJson read() {
    const std::string_view model = keys_.text("tokenizer.ggml.model");
    if (model.empty() || lists_.tokens.empty()) bad_input(where_, "has no tokenizer", "give a file with a vocabulary");
    bool begin = true;
    if (model == "llama") {
      add_pieces();
      by_scores();
    } else if (model == "gpt2") {
      add_pieces();
      begin = by_merges();
    } else {
      gguf_unsupported(where_, "a tokenizer of the kind " + in_quotes(model));
    }
    TokenFrame frame;
    if (flag("tokenizer.ggml.add_bos_token", begin)) frame.before.push_back(need_id("tokenizer.ggml.bos_token_id"));
    if (flag("tokenizer.ggml.add_eos_token", false)) frame.behind.push_back(need_id("tokenizer.ggml.eos_token_id"));
    parts_.frame = std::move(frame);
    parts_.pad_id = id("tokenizer.ggml.padding_token_id").value_or(-1);
    return std::move(parts_);
  }

 private:
  bool flag(std::string_view key, bool otherwise) const { return keys_.number(key).value_or(otherwise ? 1 : 0) != 0; }
  std::optional<int32_t> id(std::string_view key) const {
    const std::optional<int64_t> found = keys_.number(key);
    if (!found) return {};
    if (*found < 0 || *found >= std::ssize(parts_.pieces))
      refuse_gguf(where_, in_quotes(key) + " is outside the vocabulary");
    return static_cast<int32_t>(*found);
  }
  int32_t need_id(std::string_view key) const {
    if (const std::optional<int32_t> found = id(key)) return *found;
    bad_input(where_, "its text begins or ends with a token that no key names",
              "get a file with " + in_quotes(key) + ", or give token ids as .npy or .safetensors");
  }

  /// Control tokens are special; tokens of the user are found in a text too.
  void add_pieces() {
    const size_t count = lists_.tokens.size();
    if (!lists_.types.empty() && lists_.types.size() != count)
      refuse_gguf(where_,
                  "has " + std::to_string(lists_.types.size()) + " types for " + std::to_string(count) + " tokens");
    for (size_t i = 0; i < count; ++i) {
      Piece piece{std::move(lists_.tokens[i])};
      if (!lists_.types.empty()) {
        const float type = lists_.types[i];
        if (!(type >= 1 && type <= 6) || type != std::floor(type))
          refuse_gguf(where_, "token " + std::to_string(i) + " is of an unknown type");
        piece.type = static_cast<PieceType>(static_cast<int>(type));
      }
      if (!piece.text.empty() && (piece.type == PieceType::control || piece.type == PieceType::user_defined))
        parts_.added.push_back(
            {.id = static_cast<int32_t>(i), .content = piece.text, .special = piece.type == PieceType::control});
      parts_.pieces.push_back(std::move(piece));
    }
    if (const PieceIndex index(parts_.pieces); !index.twice().empty())
      refuse_gguf(where_, "the token " + in_quotes(index.twice()) + " occurs twice");
  }

  void by_scores() {
    if (lists_.scores.size() != parts_.pieces.size())
      refuse_gguf(where_, "has " + std::to_string(lists_.scores.size()) + " scores for " +
                              std::to_string(parts_.pieces.size()) + " tokens");
    int64_t bytes = 0;
    for (size_t i = 0; i < parts_.pieces.size(); ++i) {
      Piece& piece = parts_.pieces[i];
      piece.score = lists_.scores[i];
      if (!std::isfinite(piece.score)) refuse_gguf(where_, "token " + std::to_string(i) + " has no usable score");
      if (piece.type == PieceType::byte && !is_byte_piece(piece.text))
        refuse_gguf(where_, "the byte token " + in_quotes(piece.text) + " is not of the form <0x00>");
      bytes += piece.type == PieceType::byte;
    }
    if (bytes != 0 && bytes != 256)
      refuse_gguf(where_, "it has " + std::to_string(bytes) + " byte tokens, expected 256 or none");
    const bool blank_first = flag("tokenizer.ggml.add_space_prefix", true);
    if (blank_first) parts_.normalizations.push_back(prepend_normalization(parts_.blank));
    parts_.normalizations.push_back(replace_normalization(" ", parts_.blank));
    parts_.drop_first_space = blank_first;
    // Without a blank that is put first, tokens of the user such as "▁▁" are found among the blanks of the text.
    for (AddedToken& token : parts_.added) token.in_normalized_text = !token.special && !blank_first;
    parts_.byte_fallback = bytes == 256;
    parts_.unknown_id = id("tokenizer.ggml.unknown_token_id");
    parts_.byte_pairs = BytePairRules{
        .by_score = true, .unknown = parts_.unknown_id, .fuse_unknown = true, .byte_fallback = parts_.byte_fallback};
  }

  /// Returns whether a text begins with the begin token if no key says so.
  bool by_merges() {
    const std::string_view pre = keys_.text("tokenizer.ggml.pre");
    const auto words =
        std::find_if(kGgufWords.begin(), kGgufWords.end(), [&](const GgufWords& row) { return row.pre == pre; });
    if (words == kGgufWords.end()) gguf_unsupported(where_, "a tokenizer with the words of " + in_quotes(pre));
    if (words->composed) parts_.normalizations.push_back(canonical_normalization(true));
    std::vector<std::unique_ptr<const PreTokenizer>>& steps = parts_.pre_tokenization.steps;
    if (words->each_digit) steps.push_back(split_digits(true));
    for (const std::string_view rules : words->rules)
      if (!rules.empty()) steps.push_back(split_by_rules(word_rules(rules), MatchBecomes::word));
    steps.push_back(bytes_as_characters());
    parts_.bytes_as_characters = true;
    BytePairRules rules{.whole_words = words->whole_words};
    const PieceIndex index(parts_.pieces);
    for (const std::string& merge : lists_.merges) {
      const size_t space = merge.find(' ');
      if (space == std::string::npos || merge.find(' ', space + 1) != std::string::npos)
        refuse_gguf(where_, "the merge " + in_quotes(merge) + " is not a pair of pieces");
      const std::string_view left = std::string_view(merge).substr(0, space),
                             right = std::string_view(merge).substr(space + 1);
      const std::optional<int32_t> a = index.find(left), b = index.find(right),
                                   joined = index.find(std::string(left).append(right));
      if (!a || !b || !joined)
        refuse_gguf(where_, "the merge " + in_quotes(merge) + " names a piece that the vocabulary does not have");
      rules.merges.push_back({*a, *b, *joined});
    }
    parts_.byte_pairs = std::move(rules);
    return words->begin;
  }

  const std::string where_;
  GgufVocabularyTaker lists_;
  GgufEntries keys_;
  TokenizerJson parts_;
};
}  // namespace

std::shared_ptr<Tokenizer> Tokenizer::from_gguf(HeaderBytes& header) {
  const std::string where = header.where();
  return tokenizer_of(GgufTokenizerReader(header).read(), where, {}, {});
}

}  // namespace stormcell
