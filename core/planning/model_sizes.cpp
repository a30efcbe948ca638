#include "core/planning/model_sizes.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/base/nearest_words.h"
#include "core/formats/file_text.h"
#include "core/formats/json_fields.h"
#include "core/formats/json_file.h"
#include "core/models/model.h"
#include "core/traces/trace.h"

namespace stormcell {
namespace {

struct WeightFormat {
  std::string_view name;
  int32_t bits;
};
constexpr std::array kFormats = {WeightFormat{"f32", 32}, WeightFormat{"bf16", 16}, WeightFormat{"f16", 16},
                                 WeightFormat{"f8", 8},   WeightFormat{"i8", 8},    WeightFormat{"f4", 4}};
constexpr std::string_view kUsualFormat = "bf16";
constexpr int64_t kMostSize = int64_t{1} << 24;

/// "Qwen3-30B-A3B-Q4_K_M.gguf" -> "qwen330ba3bq4kmgguf"
std::string plain(std::string_view name) {
  std::string out;
  for (const char c : name)
    if (std::isalnum(static_cast<unsigned char>(c)))
      out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

/// The published model whose name begins this one (a file or folder has more in its name), and whose shape it has; the
/// longest name.
const nlohmann::json* find_architecture(const nlohmann::json& all, std::string_view model, const RunLayout& layout) {
  const std::string name = plain(std::filesystem::path(model).filename().string());
  const nlohmann::json* best = nullptr;
  for (const nlohmann::json& a : list_at(all, "models")) {
    const std::string other = plain(text_at(a, "name"));
    if (other.empty() || name.find(other) == std::string::npos) continue;
    if (whole_at(a, "experts") != layout.routers[0].branches ||
        whole_at(a, "expert_layers") != std::ssize(layout.routers))
      continue;
    if (!best || other.size() > plain(text_at(*best, "name")).size()) best = &a;
  }
  return best;
}

std::optional<ModelSizes> published(std::string_view model, const RunLayout& layout) {
  const std::string path = (std::filesystem::path(resources_folder()) / "architectures.json").string();
  std::error_code none;
  if (!std::filesystem::exists(path, none)) return {};
  const nlohmann::json all = read_json_file(path);
  const nlohmann::json* a = find_architecture(all, model, layout);
  if (!a) return {};
  ModelSizes sizes;
  sizes.hidden = whole_at(*a, "hidden"), sizes.ffn = whole_at(*a, "ffn"), sizes.matrices = whole_at(*a, "matrices");
  sizes.dtype = text_at(*a, "dtype");
  sizes.source = "architectures.json: " + text_at(*a, "name") + ", " + text_at(*a, "source");
  return sizes;
}

std::optional<ModelSizes> of_config(const std::string& path, const RunLayout& layout) {
  const TracedModel config = read_traced_model(path);
  if (config.branches != layout.routers[0].branches)
    bad_input(
        "--model-config",
        path + " has " + counted(config.branches, "expert") + ", the run " + std::to_string(layout.routers[0].branches),
        "name the config.json of the model that was traced");
  if (config.hidden == 0 || config.ffn == 0)
    bad_input("--model-config", path + " says no hidden_size or no width of an expert", "--hidden and --ffn do");
  ModelSizes sizes;
  sizes.hidden = config.hidden, sizes.ffn = config.ffn;
  sizes.matrices = config.family == "switch_transformers" ? 2 : 3;
  constexpr double kNumberBytes = 2;
  sizes.kv_bytes = static_cast<double>(config.kv_width) * config.layers * kNumberBytes;
  sizes.source = "--model-config " + path;
  return sizes;
}

std::optional<ModelSizes> widths_of(const SizeOptions& options, const RunSummary& run, const RunLayout& layout,
                                    std::string_view model) {
  if (!options.model_config.empty()) return of_config(options.model_config, layout);
  ModelSizes sizes;
  const nlohmann::json about = json_or_null(run.dataset);
  const auto of_session = [&](const char* key) { return std::clamp<int64_t>(whole_at(about, key), 0, kMostSize); };
  sizes.hidden = options.hidden > 0 ? options.hidden : of_session("hidden");
  sizes.ffn = options.ffn > 0 ? options.ffn : of_session("ffn");
  sizes.source = options.hidden > 0 || options.ffn > 0 ? "--hidden, --ffn" : "the session";
  sizes.matrices_assumed = true;
  const auto told_are = [&](int64_t matrices) { sizes.matrices = matrices, sizes.matrices_assumed = false; };
  if (const std::string family = text_at(about, "family"); family == "switch_transformers") told_are(2);
  if (const int64_t told = whole_at(about, "matrices"); told == 2 || told == 3) told_are(told);
  if (const std::string told = text_at(about, "dtype"); bits_of_weights(told) > 0) sizes.dtype = told;
  if (sizes.hidden > 0 && sizes.ffn > 0) return sizes;
  if (options.hidden > 0 || options.ffn > 0)
    bad_input(options.hidden > 0 ? "--ffn" : "--hidden", "is missing",
              "the width of a token and that of an expert: --hidden N --ffn N");
  return published(model, layout);
}

}  // namespace

int32_t bits_of_weights(std::string_view dtype) {
  for (const WeightFormat& f : kFormats)
    if (f.name == dtype) return f.bits;
  return 0;
}

std::optional<ModelSizes> find_model_sizes(const SizeOptions& options, const RunSummary& run, const RunLayout& layout,
                                           std::string_view model) {
  if (!options.dtype.empty() && bits_of_weights(options.dtype) == 0)
    bad_input("--dtype", in_quotes(options.dtype) + " is not a number format of weights",
              advice_on_word(options.dtype, {"f32", "bf16", "f16", "f8", "i8", "f4"}, ""));
  std::optional<ModelSizes> sizes = widths_of(options, run, layout, model);
  if (!sizes) return {};
  int64_t told = 0;
  for (const RouterInfo& r : layout.routers) told += r.branch_bytes;
  const bool all_told =
      std::all_of(layout.routers.begin(), layout.routers.end(), [](const RouterInfo& r) { return r.branch_bytes > 0; });
  const auto weights = static_cast<double>(sizes->matrices) * sizes->hidden * sizes->ffn;
  sizes->flops_per_row = 2 * weights;
  if (all_told && options.dtype.empty()) {
    sizes->branch_bytes = static_cast<double>(told) / layout.routers.size();
    sizes->dtype.clear();
    return sizes;
  }
  sizes->dtype = !options.dtype.empty() ? options.dtype
                 : sizes->dtype.empty() ? std::string(kUsualFormat)
                                        : sizes->dtype;
  sizes->branch_bytes = weights * bits_of_weights(sizes->dtype) / 8;
  return sizes;
}

}  // namespace stormcell
