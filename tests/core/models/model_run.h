// Running a model through the oracle on the inputs of a fixture, or of a test.
#pragma once
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/formats/safetensors.h"
#include "core/models/model.h"
#include "core/oracle/oracle.h"
#include "tests/testing/oracle_replay.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {

/// Token ids and masks [sequences, length], or the pixels of so many pictures, by the inputs' names.
struct ModelInputs {
  std::map<std::string, std::vector<int32_t>, std::less<>> values;
  std::map<std::string, std::vector<float>, std::less<>> reals;
  PictureSize picture;
  int64_t sequences = 0, length = 0, decoder_length = 0;
};

inline std::vector<int32_t> integers_of(const StoredTensor& t) {
  std::vector<int32_t> list(static_cast<size_t>(t.elements()));
  for (size_t i = 0; i < list.size(); ++i) {
    if (t.dtype == DType::i64) {
      int64_t wide = 0;
      std::memcpy(&wide, t.bytes.data() + 8 * i, 8);
      list[i] = static_cast<int32_t>(wide);
    } else {
      std::memcpy(&list[i], t.bytes.data() + 4 * i, 4);
    }
  }
  return list;
}
inline std::vector<float> reals_of(const StoredTensor& t) {
  std::vector<float> list(static_cast<size_t>(t.elements()));
  if (!list.empty()) std::memcpy(list.data(), t.bytes.data(), list.size() * 4);
  return list;
}

/// FAMILY/CASE of every case in tests/reference: what a script there made, with a reference's answers. `with`: only
/// those whose answers have this tensor; empty: all.
inline std::set<std::string> reference_cases(const std::string& with = {}) {
  namespace fs = std::filesystem;
  const fs::path root = source_folder() + "/tests/reference";
  std::set<std::string> cases;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root)) {
    if (entry.path().filename() != "expected.safetensors" || !fs::exists(entry.path().parent_path() / "config.json"))
      continue;
    if (with.empty() || SafetensorsFile::open(entry.path().string())->find(with))
      cases.insert(entry.path().parent_path().lexically_relative(root).generic_string());
  }
  return cases;
}

/// The inputs of a fixture; masks that it lacks are ones.
inline ModelInputs read_inputs(const std::string& path) {
  const auto file = SafetensorsFile::open(path);
  ModelInputs in;
  if (const StoredTensor* pixels = file->find("pixels")) {
    in.reals["pixels"] = reals_of(*pixels);
    in.sequences = pixels->shape[0];
    in.picture = {pixels->shape[1], pixels->shape[2]};
    return in;
  }
  for (const StoredTensor& t : file->tensors()) in.values[t.name] = integers_of(t);
  const StoredTensor& ids = *file->find("input_ids");
  in.sequences = ids.shape[0];
  in.length = ids.shape[1];
  if (const StoredTensor* decoder = file->find("decoder_input_ids")) in.decoder_length = decoder->shape[1];
  for (const auto& [ids_name, mask] :
       {std::pair{"input_ids", "attention_mask"}, {"decoder_input_ids", "decoder_attention_mask"}})
    if (in.values.contains(ids_name) && !in.values.contains(mask))
      in.values[mask].assign(in.values[ids_name].size(), 1);
  return in;
}

inline Bindings bindings_for(const Graph& graph, const ModelInputs& in, int64_t new_tokens = 0) {
  Bindings b(graph.symbols.size(), 0);
  const auto bind = [&](std::string_view name, int64_t value) {
    if (const SymbolId id = graph.find_symbol(name); id != kNone) b[static_cast<size_t>(id)] = value;
  };
  bind(kSequences, in.sequences);
  bind(kLength, in.length);
  bind(kDecoderLength, new_tokens > 0 ? new_tokens : in.decoder_length);
  return b;
}

template <class Scalar>
OracleResult<Scalar> run_oracle(const Model& model, const Graph& graph, const ModelInputs& in, int64_t new_tokens = 0,
                                OracleOptions options = {}) {
  OracleInputs<Scalar> inputs;
  for (const Value& v : graph.values)
    if (v.kind == ValueKind::input && v.type.dtype == DType::f32) {
      inputs[v.name].reals.assign(in.reals.at(v.name).begin(), in.reals.at(v.name).end());
    } else if (v.kind == ValueKind::input) {
      inputs[v.name].integers = in.values.at(v.name);
    }
  return Oracle<Scalar>(graph, *model.weights).run(inputs, bindings_for(graph, in, new_tokens), options);
}

}  // namespace stormcell::testing
