// Takes the vocabulary and the merges of a tokenizer.json while it is parsed: as two long texts instead of 10^6 values.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/formats/json_file.h"
#include "core/formats/tokenizer_parts.h"

namespace stormcell {

class TakenVocabulary : public JsonTaker {
 public:
  explicit TakenVocabulary(const TokenizerParts& parts) : parts_(parts) {}

  bool takes(std::string_view outer, std::string_view key, bool is_list) const override;
  void text(int level, std::string_view key, std::string_view value) override;
  void whole(int level, std::string_view key, int64_t value) override;
  void other(int level, std::string_view key) override;
  void open(int level) override;
  void close(int level) override;

  struct TakenPiece {
    std::string_view text;
    int32_t id = 0;
  };
  size_t pieces() const { return ids_.size(); }
  /// In the order of the file.
  TakenPiece piece(size_t index) const { return {pieces_.at(index), ids_[index]}; }

  struct TakenMerge {
    std::string_view left, right;
  };
  size_t merges() const { return merges_.ends.size() / 2; }
  TakenMerge merge(size_t index) const { return {merges_.at(2 * index), merges_.at(2 * index + 1)}; }

 private:
  /// Texts one behind the other.
  struct Texts {
    std::string all;
    std::vector<uint32_t> ends;
    void add(std::string_view text);
    std::string_view at(size_t index) const;
  };
  [[noreturn]] void refuse_merge(std::string_view merge) const;

  const TokenizerParts& parts_;
  Texts pieces_, merges_;
  std::vector<int32_t> ids_;
  mutable bool in_merges_ = false;  // what is being taken, as takes() said last
};

}  // namespace stormcell
