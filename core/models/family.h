// A family of models: from config.json to graphs. One family a file, one row in families.cpp.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/formats/token_frame.h"
#include "core/graph/graph.h"
#include "core/models/config.h"
#include "core/models/model.h"
#include "core/models/seeded_weights.h"
#include "core/models/weight_catalog.h"

namespace stormcell {

/// One configured model of a family.
class Architecture {
 public:
  virtual ~Architecture() = default;
  /// Fills the facts of the configuration: vocabulary, lengths, token ids, sizes of pictures, parts of the model.
  virtual void describe(Model& model) const = 0;
  /// `picture`: the size that the graph is built for, one of those that describe() states; families without pictures
  /// pass over it.
  virtual Graph forward(WeightCatalog& weights, PictureSize picture) const = 0;
  /// Decodes; called only where describe() says that the model generates.
  virtual Graph generate(WeightCatalog& weights, const DecodingForm& form) const;
  /// The distribution of a seeded weight: as in the reference, except where a comment says so.
  virtual Initialisation initialisation(std::string_view weight) const = 0;
  /// The tokens before and after a text if the tokenizer's files do not mention them.
  virtual FrameRule frame_rule() const { return {}; }
  /// Groups of tensors that the configuration ties into one. The graph reads one of a group; files may hold the others
  /// too.
  virtual std::vector<std::vector<std::string>> tied() const { return {}; }
};

struct Family {
  std::string_view name;  ///< "model_type" of config.json
  std::unique_ptr<const Architecture> (*configure)(const Config& config, const Config& generation,
                                                   const WeightCatalog* stored);
  std::span<const ConfigKey> (*keys)();  ///< its rows for keys of config.json; keys of keys_of_all() need no row
  bool is_text = false;                  ///< the rows of keys_of_text() apply, too
};

/// All families, in the order of families.cpp.
std::span<const Family> families();
/// The family that the configuration names; the error lists those that there are.
const Family& family_of(const Config& config);

/// Returns one warning with the keys that the family does not read. Error(bad_input) for a key that changes the result.
std::vector<std::string> check_keys(const Family& family, const Config& config);
/// "image_size", one side or [height, width].
PictureSize read_picture(const Config& config, int64_t least_side, PictureSize otherwise);
/// The largest side of a picture in any family, in pixels.
inline constexpr int64_t kMostSide = 8192;

/// The token ids that end decoding: those of generation_config.json, then further ones of config.json, as vLLM and
/// SGLang do.
std::vector<int32_t> end_ids(const Config& config, const Config& generation, int32_t otherwise, int64_t vocabulary);
/// The id of another token: from generation_config.json if it has one, else from config.json.
int32_t token_id(const Config& config, const Config& generation, std::string_view key, int32_t otherwise,
                 int64_t vocabulary);
/// An activation of transformers by the name that our operators give it.
std::string activation_word(const Config& config, std::string_view key, std::string_view otherwise);

}  // namespace stormcell
