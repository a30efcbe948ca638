// Reads and checks the BPE model of a tokenizer.json: its pieces by id, and its merges.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "core/formats/byte_pairs.h"
#include "core/formats/taken_vocabulary.h"
#include "core/formats/tokenizer_parts.h"

namespace stormcell {

struct BytePairModel {
  std::vector<Piece> pieces;  ///< by id; the text is empty if no piece has the id
  BytePairRules rules;
};

/// `model` is the file's without vocabulary and merges, which were taken.
BytePairModel parse_byte_pairs(const nlohmann::json& model, const TakenVocabulary& taken, const TokenizerParts& parts);

}  // namespace stormcell
