// Opens the model that a user names.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string_view>

#include "core/base/checkout.h"
#include "core/base/enum_words.h"
#include "core/base/error.h"
#include "core/base/nearest_words.h"
#include "core/formats/file_kind.h"
#include "core/formats/file_text.h"
#include "core/formats/json_file.h"
#include "core/formats/open_file.h"
#include "core/formats/tokenizer.h"
#include "core/formats/weight_files.h"
#include "core/graph/input_specs.h"
#include "core/models/contradictions.h"
#include "core/models/demo_names.h"
#include "core/models/family.h"
#include "core/models/fingerprint.h"
#include "core/models/gguf_model.h"
#include "core/models/presets.h"
#include "core/models/unread_tensors.h"

namespace stormcell {
namespace {
namespace fs = std::filesystem;
using Json = nlohmann::json;

bool present(const fs::path& path) { return has_entry(path.string()); }

// Parameters, bytes and format of the weights that the graph uses.
void count_weights(Model& model) {
  std::map<DType, int64_t> bytes_of;
  for (const Value& v : model.forward->values) {
    if (v.kind != ValueKind::weight) continue;
    const WeightInfo* info = model.weights->find(weight_text(v));
    model.parameters += info->elements();
    model.weight_bytes += info->bytes();
    bytes_of[info->dtype] += info->bytes();
  }
  int64_t most = 0;
  for (const auto& [dtype, bytes] : bytes_of)
    if (bytes > most) most = bytes, model.dtype = dtype;
}

void add_graphs(Model& model, std::shared_ptr<const Architecture> architecture,
                std::shared_ptr<WeightCatalog> catalog) {
  architecture->describe(model);
  model.forward = std::make_shared<const Graph>(architecture->forward(*catalog, model.picture));
  model.inputs = input_specs(*model.forward);
  for (InputSpec& input : model.inputs)
    if (input.role == InputRole::pixels) input.sizes = model.sizes;
  model.weights = catalog->source();
  if (model.sizes)
    model.build_forward = [architecture, catalog](PictureSize size) {
      return std::make_shared<const Graph>(architecture->forward(*catalog, size));
    };
  if (model.generates)
    model.build_generate = [architecture, catalog](const DecodingForm& form) {
      return std::make_shared<const Graph>(architecture->generate(*catalog, form));
    };
  count_weights(model);
}

Json read_object(const std::string& path) {
  Json object = read_json_file(path, {size_t{16} << 20, 64});
  if (!object.is_object()) bad_input(path, "expected a JSON object", "config.json of a Hugging Face model is one");
  return object;
}

/// A text that is computed when it is asked for first.
struct Once {
  std::once_flag flag;
  std::string text;
};

WeightOrigin origin_of(const Config& config, std::string_view otherwise) {
  const std::string origin = config.word("stormcell_weights", otherwise, {"trained", "calibrated", "seeded"});
  return origin == "trained"  ? WeightOrigin::trained
         : origin == "seeded" ? WeightOrigin::seeded
                              : WeightOrigin::calibrated;
}

/// Token ids need no tokenizer, so one that cannot be used does not stop such a run.
void open_tokenizer(Model& model, const std::string& folder, FrameRule rule) {
  model.text_place = folder;
  try {
    model.tokenizer = Tokenizer::open_if_present(folder, rule);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::bad_input) throw;
    model.tokenizer_fault = error;
    model.warnings.push_back(std::string(error.what()) + "; token ids need no tokenizer");
  }
}

/// The same of a GGUF file that has a vocabulary.
void open_gguf_tokenizer(Model& model, const GgufEntries& keys, const std::string& path, FrameRule rule) {
  if (keys.text("tokenizer.ggml.model").empty()) return;
  model.text_place = path;
  try {
    model.tokenizer = Tokenizer::open_at(path, rule);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::bad_input) throw;
    model.tokenizer_fault = error;
    model.warnings.push_back(std::string(error.what()) + "; token ids need no tokenizer");
  }
}

/// A tokenizer that was asked for has to be usable.
void open_given_tokenizer(Model& model, const std::string& path, FrameRule rule) {
  model.tokenizer = Tokenizer::open_at(path, rule);
  model.text_place = path;
}

/// What a session and `inspect` know a model in files by.
void identify(Model& model, const std::shared_ptr<const WeightFiles>& files) {
  model.fingerprint = fingerprint_of(model.config, *files);
  model.changed_files = [files] { return files->changes(); };
  if (files->tensors().size() > kSampledTensors)
    model.older_fingerprint = [config = model.config, files, once = std::make_shared<Once>()] {
      std::call_once(once->flag, [&] { once->text = fingerprint_of_all(config, *files); });
      return once->text;
    };
}

/// A GGUF file of an architecture that a family reads.
std::shared_ptr<Model> open_gguf(const std::string& path, const ModelOptions& options) {
  const std::shared_ptr<const WeightFiles> files = WeightFiles::open(path);
  const GgufEntries& keys = *files->gguf_keys();
  const auto catalog = std::make_shared<GgufCatalog>(files);
  const TensorPlace* embedding = files->find("token_embd.weight");
  const int64_t vocabulary = embedding && !embedding->shape.empty() ? embedding->shape.front() : 1;
  const Json config_json = config_of_gguf(keys, vocabulary, !catalog->has("lm_head.weight"), path),
             none = Json::object();
  const Family& family = family_of({config_json, path});
  const Config config(config_json, path, family.keys()), generation(none, path);
  auto model = std::make_shared<Model>();
  model->family = family.name;
  model->path = path;
  model->config = canonical_json(config_json);
  model->warnings = check_keys(family, config);
  const std::shared_ptr<const Architecture> architecture = family.configure(config, generation, catalog.get());
  add_graphs(*model, architecture, catalog);
  warn_of_unread(*model, *architecture, *files, path);
  model->origin_stated = false;
  identify(*model, files);
  if (options.tokenizer.empty())
    open_gguf_tokenizer(*model, keys, path, architecture->frame_rule());
  else
    open_given_tokenizer(*model, options.tokenizer, architecture->frame_rule());
  return model;
}

std::shared_ptr<Model> open_files(const std::string& path, const ModelOptions& options) {
  const bool folder = fs::is_directory(path);
  if (!folder && !family_of_gguf(architecture_of_gguf(path)).empty()) return open_gguf(path, options);
  if (!folder) refuse_other_kind(path, FileUse::model);
  const fs::path place = folder ? fs::path(path) : fs::path(path).parent_path();
  const std::string config_path = (place / "config.json").string(),
                    generation_path = (place / "generation_config.json").string();
  if (!present(config_path)) {
    // If the folder also has no usable weights, that is the greater lack: WeightFiles reports it.
    WeightFiles::open(path);
    bad_input(config_path, "does not exist", "a model is config.json and its *.safetensors in one folder");
  }
  const Json config_json = read_object(config_path),
             generation_json = present(generation_path) ? read_object(generation_path) : Json::object();
  if (!config_json.contains("model_type")) refuse_other_kind(config_path, FileUse::model_config);
  const Family& family = family_of({config_json, config_path});
  const Config config(config_json, config_path, family.keys()), generation(generation_json, generation_path);
  const std::shared_ptr<const WeightFiles> files = WeightFiles::open(path);
  const auto catalog = std::make_shared<StoredCatalog>(files);

  auto model = std::make_shared<Model>();
  model->family = family.name;
  model->path = path;
  model->config = canonical_json(config_json);
  model->warnings = check_keys(family, config);
  const std::shared_ptr<const Architecture> architecture = family.configure(config, generation, catalog.get());
  add_graphs(*model, architecture, catalog);
  model->warnings.insert(model->warnings.end(), files->warnings().begin(), files->warnings().end());
  warn_of_unread(*model, *architecture, *files, config_path);
  warn_of_end_tokens(config, generation, *model);
  if (model->generates)
    for (std::string& warning : check_generation_keys(generation_json, generation_path))
      model->warnings.push_back(std::move(warning));
  if (options.check_weights) warn_of_unlike_copies(*model, *architecture, *files, options.progress);
  model->origin = origin_of(config, "trained");
  model->origin_stated = config.has("stormcell_weights");
  identify(*model, files);
  if (options.tokenizer.empty())
    open_tokenizer(*model, place.empty() ? "." : place.string(), architecture->frame_rule());
  else
    open_given_tokenizer(*model, options.tokenizer, architecture->frame_rule());
  return model;
}

/// The distribution of a preset's weights: the fitted one, else the family's.
std::function<Initialisation(std::string_view)> drawing_of(std::shared_ptr<const Architecture> architecture,
                                                           const Json& config) {
  std::map<std::string, Initialisation, std::less<>> fitted;
  if (const auto at = config.find(kCalibrationKey); at != config.end())
    for (const auto& [weight, drawn] : at->items())
      if (drawn.is_array()) fitted[weight] = {drawn.at(0).get<double>(), drawn.at(1).get<double>()};
  return [architecture = std::move(architecture), fitted = std::move(fitted)](std::string_view weight) {
    const auto at = fitted.find(weight);
    return at == fitted.end() ? architecture->initialisation(weight) : at->second;
  };
}

/// Weights of a preset that were fitted element by element.
StatedWeights stated_by(const Json& config) {
  StatedWeights stated;
  if (const auto at = config.find(kCalibrationKey); at != config.end())
    for (const auto& [weight, fitted] : at->items())
      if (fitted.is_object()) stated[weight] = fitted.at("elements").get<std::vector<float>>();
  return stated;
}

std::shared_ptr<Model> open_preset(const std::string& name, const ModelOptions& options) {
  const Json config_json = preset_config(name), none = Json::object();
  const Family& family = family_of({config_json, "preset:" + name});
  const Config config(config_json, "preset:" + name, family.keys()), generation(none, "preset:" + name);
  const std::shared_ptr<const Architecture> architecture = family.configure(config, generation, nullptr);
  auto model = std::make_shared<Model>();
  model->family = family.name;
  model->config = canonical_json(config_json);
  model->warnings = check_keys(family, config);
  // The fitted values belong to the weights of seed 0 as drawn, in f32.
  const bool fits = options.seed == 0 && options.preset_dtype == DType::f32;
  model->origin = fits ? origin_of(config, "seeded") : WeightOrigin::seeded;
  add_graphs(*model, architecture,
             std::make_shared<SeededCatalog>(options.seed, options.preset_dtype, drawing_of(architecture, config_json),
                                             stated_by(config_json)));
  model->fingerprint = fingerprint_of(
      model->config, "seeded " + std::to_string(options.seed) + " " + std::string(to_text(options.preset_dtype)));
  if (!options.tokenizer.empty()) open_given_tokenizer(*model, options.tokenizer, architecture->frame_rule());
  return model;
}

std::string demo_folder(const std::string& name, const std::string& resources) {
  const fs::path demos = fs::path(resources) / "demos";
  const auto find = [&](const std::string& demo) -> std::string {
    if (!demo.empty() && demo.find('/') == std::string::npos && demo[0] != '.')
      for (const fs::path& place : {demos / demo, demos / demo / "model"})
        if (present(place / "config.json")) return place.string();
    return {};
  };
  if (std::string folder = find(name); !folder.empty()) return folder;
  constexpr std::string_view kSample = "-sample";
  if (name.ends_with(kSample))
    if (const std::string demo = name.substr(0, name.size() - kSample.size()); !find(demo).empty())
      bad_input("demo:" + name, "is data, no model", "optimize demo:" + demo + " --data demo:" + name);
  const std::vector<std::string> known = demo_model_names(resources);
  bad_input("demo:" + name, "no demo model of this name in " + demos.string(),
            known.empty() ? "there is none" : advice_on_word(name, known, "known demos: "));
}

[[noreturn]] void refuse_absent(const std::string& spec, const std::string& resources) {
  std::vector<std::string> known, bare;
  for (const std::string_view name : preset_names())
    known.push_back("preset:" + std::string(name)), bare.emplace_back(name);
  for (const std::string& name : demo_model_names(resources)) known.push_back("demo:" + name), bare.push_back(name);
  // A plain name may mean one with a prefix; a path may not.
  std::vector<std::string> near;
  if (spec.find('/') == std::string::npos && !spec.ends_with(".safetensors")) {
    near = nearest_words(spec, known);
    for (const std::string& name : near.empty() ? nearest_words(spec, bare) : std::vector<std::string>())
      near.push_back(known[std::find(bare.begin(), bare.end(), name) - bare.begin()]);
  }
  bad_input(spec.empty() ? "MODEL" : spec, "no such model",
            near.empty() ? "name a folder with config.json, a .safetensors file, preset:NAME or demo:NAME"
                         : did_you_mean(near));
}

}  // namespace

std::string_view to_text(WeightOrigin origin) {
  static constexpr std::array<std::string_view, 3> kNames = {"trained", "calibrated", "seeded"};
  return row_of(kNames, origin);
}

std::shared_ptr<const Graph> Model::forward_for(PictureSize size) const {
  if (size == PictureSize() || size == picture) return forward;
  if (picture == PictureSize())
    bad_input(name, "takes no pictures, so none of " + to_text(size), "name data that the model takes");
  if (!sizes || !sizes->take(size))
    bad_input(name, "takes no pictures of " + to_text(size),
              sizes ? "it takes " + to_text(*sizes) : "it takes " + to_text(picture));
  return build_forward(size);
}

std::string resources_folder() {
  if (const char* given = std::getenv("STORMCELL_RESOURCES"); given && *given) return given;
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  const fs::path installed = program.parent_path().parent_path() / "share" / "stormcell";
  const std::string source = checkout_source_folder();
  // A program of a package knows no source tree: what it lacks is named where it should be.
  if (!error && (source.empty() || present(installed))) return installed.string();
  return source + "/resources";
}

std::shared_ptr<const Model> open_model(const std::string& spec, const ModelOptions& options) {
  options.progress.report("opening the model", 0, 0);
  std::shared_ptr<Model> model;
  if (spec.starts_with("preset:")) {
    model = open_preset(spec.substr(7), options);
  } else if (spec.starts_with("demo:")) {
    model = open_files(demo_folder(spec.substr(5), options.resources.empty() ? resources_folder() : options.resources),
                       options);
    model->origin_stated = true;  // ours, and trained: see the demo's README
  } else {
    if (spec.empty() || !present(spec))
      refuse_absent(spec, options.resources.empty() ? resources_folder() : options.resources);
    model = open_files(spec, options);
  }
  model->name = spec;
  // Seeded weights are always finite.
  if (options.check_weights && !model->path.empty()) {
    std::vector<std::string> warnings =
        check_finite(*model->forward, *model->weights, options.allow_nonfinite, options.progress, spec);
    model->warnings.insert(model->warnings.end(), warnings.begin(), warnings.end());
  }
  return model;
}

}  // namespace stormcell
