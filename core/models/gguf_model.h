// Models in GGUF files: the family of an architecture, the header's keys as those of config.json, the names of tensors.
#pragma once
#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/models/weight_catalog.h"

namespace stormcell {

struct GgufEntries;

/// The family that reads GGUF files of an architecture of llama.cpp; empty: none does.
std::string_view family_of_gguf(std::string_view architecture);
/// The keys that the family needs and the header lacks: "qwen3moe.embedding_length". Empty for architectures that no
/// family reads.
std::vector<std::string> missing_gguf_keys(const GgufEntries& keys);
/// The architecture of a file; empty: the file is no GGUF, or its header cannot be read.
std::string architecture_of_gguf(const std::string& path);

/// A header's settings under the keys of config.json. `vocabulary`: rows of the embedding; `tied`: the file has no head
/// of its own. Error(bad_input) that names the file: a key is missing, or differs from layer to layer.
nlohmann::json config_of_gguf(const GgufEntries& keys, int64_t vocabulary, bool tied, const std::string& path);

/// The name in GGUF of a tensor that a family asks for: "blk.3.attn_q.weight" of
/// "model.layers.3.self_attn.q_proj.weight". A name without a row stays as it is.
std::string gguf_tensor_name(std::string_view name);

/// The tensors of GGUF files, by the names that families ask for. The results have the names of the file.
class GgufCatalog final : public WeightCatalog {
 public:
  explicit GgufCatalog(std::shared_ptr<const WeightFiles> files) : stored_(std::move(files)) {}
  bool has(std::string_view name) const override { return stored_.has(gguf_tensor_name(name)); }
  bool has_prefix(std::string_view prefix) const override { return stored_.has_prefix(gguf_tensor_name(prefix)); }
  const WeightInfo& need(const std::string& name, const std::vector<int64_t>& shape) override {
    return stored_.need(gguf_tensor_name(name), shape);
  }
  std::shared_ptr<const WeightSource> source() const override { return stored_.source(); }

 private:
  StoredCatalog stored_;
};

}  // namespace stormcell
