// A model: its architecture as a graph, its weights, its tokenizer. Immutable once opened, shared as shared_ptr<const
// Model>.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/dtype.h"
#include "core/base/error.h"
#include "core/base/progress.h"
#include "core/cell/picture_size.h"
#include "core/cell/sampling.h"
#include "core/graph/graph.h"
#include "core/weights/weight_source.h"

namespace stormcell {

class Tokenizer;

enum class WeightOrigin : uint8_t { trained, calibrated, seeded };
std::string_view to_text(WeightOrigin origin);

/// Token ids that a decoder-only or encoder-decoder model needs to write text.
struct TokenIds {
  int32_t pad = 0, end = 1, decoder_start = 0;
  std::vector<int32_t> ends{1};  ///< each of them ends a sequence; `end` is the first
};

/// Names of the inputs of language models in files and graphs; code that fills inputs asks for their roles instead
/// (InputSpec).
inline constexpr std::string_view kInputIds = "input_ids", kAttentionMask = "attention_mask",
                                  kDecoderInputIds = "decoder_input_ids",
                                  kDecoderAttentionMask = "decoder_attention_mask";
/// Names of their outputs.
inline constexpr std::string_view kEncoderHidden = "encoder_hidden", kDecoderHidden = "decoder_hidden",
                                  kLogits = "logits", kGenerated = "generated";
/// Symbols of the extents: sequences of a batch, their length, the length of the decoder's input or the most new
/// tokens, and the most cells that one of them has already.
inline constexpr std::string_view kSequences = "N", kLength = "T", kDecoderLength = "U", kPastLength = "P";

/// How a model decodes.
struct DecodingForm {
  bool with_logits = false;              ///< the logits of every token are an output, too
  std::optional<SamplingRule> sampling;  ///< nothing: greedily, the token of the largest logit
};

/// The task of a model's answers, if the data's labels can judge them. Each task has a row in core/quality/tasks.cpp.
enum class Task : uint8_t {
  none,              ///< no data can judge the answers
  classification,    ///< one class of each item
  super_resolution,  ///< an enlarged picture of each
  segmentation,      ///< one class of each pixel
  language,          ///< the next token of a text, at each of its places
};
/// The output of the forward graph that answers.
struct TaskAnswer {
  Task task = Task::none;
  std::string output;  ///< [items, classes]: the largest number is the answer; [items, height, width, classes]: of each
      ///< pixel; [tokens, vocabulary]: of each place; or pictures [items, height, width, channels], 0 to 1
  int64_t classes = 0;  ///< of a classification, of a segmentation
};

struct Model {
  std::string name;         ///< as the user named it: a folder, a file, preset:NAME, demo:NAME
  std::string family;       ///< the `model_type` of its configuration, a row of families.cpp
  std::string path;         ///< of the folder or file; empty for presets
  std::string config;       ///< canonical JSON text: keys sorted, no white space
  std::string fingerprint;  ///< SHA-256: canonical config, headers of the weight files, first and last 4 KiB of 256
                            ///< sampled tensors
  /// The fingerprint as earlier versions computed it, from all tensors; takes seconds where there are many, once. Empty
  /// where it is the same.
  std::function<std::string()> older_fingerprint;
  /// True if `known`, from a session or a configuration, is this model's fingerprint, new or old.
  bool is_known_as(std::string_view known) const {
    return known == fingerprint ||
           (older_fingerprint && known.size() == fingerprint.size() && known == older_fingerprint());
  }
  WeightOrigin origin = WeightOrigin::trained;
  bool origin_stated = true;  ///< false: a folder that does not say it (config.json: stormcell_weights)

  int64_t parameters = 0;
  int64_t weight_bytes = 0;  ///< as stored
  DType dtype = DType::f32;  ///< of most of the stored bytes
  int64_t vocabulary = 0;
  int64_t max_length = 0;  ///< longest sequence it takes; 0: unlimited
  TokenIds tokens;
  bool has_encoder = false;  ///< reads its input with an encoder; else input_ids are the decoder's
  bool has_decoder = false;  ///< with has_encoder: needs decoder inputs
  bool generates = false;    ///< has a head and a decoder

  std::shared_ptr<const Tokenizer> tokenizer;  ///< null if the folder has none, or one that cannot be used
  /// why it cannot be used: thrown if text is needed; token ids need no tokenizer
  std::optional<Error> tokenizer_fault;
  std::string text_place;  ///< the file or folder that has the tokenizer and the template of chats; empty: none
  std::shared_ptr<const WeightSource> weights;
  std::vector<std::string> classes;  ///< names of the labels that data may give, by their numbers; empty: it knows none
  std::vector<InputSpec> inputs;     ///< inputs of the forward graph that the data must have
  PictureSize picture;               ///< size that `forward` is built for, by config.json; 0x0: it takes no pictures
  std::optional<PictureSizes> sizes;  ///< other sizes that it takes; none: no others
  std::shared_ptr<const Graph> forward;
  /// Builds the forward graph for another of `sizes`, over the same weights. Ask forward_for().
  std::function<std::shared_ptr<const Graph>(PictureSize)> build_forward;
  /// The forward graph for pictures of a size; 0x0, and `picture`: `forward`. Error(bad_input) that names the model if
  /// it takes none of that size.
  std::shared_ptr<const Graph> forward_for(PictureSize size) const;
  /// Builds the graph that decodes, over the same weights. Empty if the model cannot generate. Ask generate().
  std::function<std::shared_ptr<const Graph>(const DecodingForm&)> build_generate;
  /// The graph that decodes; the symbol U is the most new tokens.
  std::shared_ptr<const Graph> generate(const DecodingForm& form = {}) const { return build_generate(form); }
  /// The same with one output more, the logits that each token was chosen by: what verification looks at.
  std::shared_ptr<const Graph> generate_with_logits(const std::optional<SamplingRule>& sampling = {}) const {
    return build_generate({.with_logits = true, .sampling = sampling});
  }

  /// Names the weight files that were written to since they were opened, a sentence each. Empty: it has no files.
  std::function<std::vector<std::string>()> changed_files;

  int64_t unread_tensors = 0;  ///< tensors of its files; a warning counts them
  /// requests of the files that this version ignores, stated where they do not matter
  std::vector<std::string> unsupported;
  std::vector<std::string> warnings;  ///< tensors in the files that the family does not know, and the like

  TaskAnswer answer;  ///< output that the data's labels are compared with
};

struct ModelOptions {
  bool check_weights = true;     ///< read every weight once and refuse NaN and infinity; inspecting does not
  bool allow_nonfinite = false;  ///< NaN and infinite weights become a warning
  uint64_t seed = 0;             ///< of seeded weights
  DType preset_dtype = DType::f32;
  std::string tokenizer;  ///< a file or folder in the place of the model's own (Tokenizer::open_at); empty: the model's
  std::string resources;  ///< folder with demos/; empty: resources_folder()
  Progress progress;
};

/// Opens FOLDER, FILE.safetensors, preset:NAME or demo:NAME. Reads headers, configuration and tokenizer; weights only
/// to check them, and presets generate none. Every fault is an Error(bad_input) that names the file, what was expected
/// and what came.
std::shared_ptr<const Model> open_model(const std::string& spec, const ModelOptions& options = {});

/// $STORMCELL_RESOURCES, else ../share/stormcell beside the program, else the source tree of the build.
std::string resources_folder();

/// Reads every weight once, giving each back at once, and names the first that holds NaN or infinity: refused unless
/// allowed, then returned as a warning; `where` begins the message. Empty when all are finite. Takes about as long as
/// reading the weights from disk.
std::vector<std::string> check_finite(const Graph& graph, const WeightSource& weights, bool allow,
                                      const Progress& progress, std::string_view where = "weights");

}  // namespace stormcell
