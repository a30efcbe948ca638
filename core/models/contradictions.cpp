#include "core/models/contradictions.h"

#include <algorithm>
#include <cstring>
#include <unordered_set>

#include "core/base/error.h"
#include "core/base/listed_words.h"
#include "core/formats/file_text.h"
#include "core/formats/safetensors.h"

namespace stormcell {
namespace {

std::string list_of(const std::vector<int32_t>& ids) {
  std::string list;
  for (const int32_t id : ids) add_to_list(list, std::to_string(id));
  return list;
}

bool are_floats(const TensorPlace& tensor) { return is_engine_float(tensor.dtype) || tensor.dtype == DType::f64; }

/// Reads the elements [first, first + n) as f32.
void read_f32(const WeightFiles& files, const TensorPlace& tensor, int64_t first, std::vector<std::byte>& bytes,
              std::vector<float>& to) {
  const int64_t size = element_size(tensor.dtype);
  bytes.resize(to.size() * static_cast<size_t>(size));
  files.read(tensor, first * size, bytes);
  to_f32(bytes.data(), tensor.dtype, to.data(), to.size());
}

/// The difference of two tensors in words; empty: they hold the same values.
std::string difference(const WeightFiles& files, const TensorPlace& a, const TensorPlace& b, const Progress& progress) {
  if (a.shape != b.shape) return "has the shape " + shape_text(b.shape) + " and not " + shape_text(a.shape);
  if (!are_floats(a) || !are_floats(b)) return a.dtype == b.dtype ? "" : "is of another format";
  constexpr int64_t kBlock = int64_t{1} << 18;
  std::vector<float> of_a, of_b;
  std::vector<std::byte> bytes;
  for (int64_t first = 0; first < a.elements(); first += kBlock) {
    progress.cancel.check();
    const size_t n = std::min(kBlock, a.elements() - first);
    of_a.resize(n), of_b.resize(n);
    read_f32(files, a, first, bytes, of_a);
    read_f32(files, b, first, bytes, of_b);
    if (std::memcmp(of_a.data(), of_b.data(), n * sizeof(float)) != 0) return "holds other values";
  }
  return {};
}

}  // namespace

void warn_of_end_tokens(const Config& config, const Config& generation, Model& model) {
  if (!model.generates || !config.has("eos_token_id") || !generation.has("eos_token_id")) return;
  const std::vector<int32_t> asked = generation.ids("eos_token_id", model.vocabulary),
                             of_config = config.ids("eos_token_id", model.vocabulary);
  const auto is_asked = [&](int32_t id) { return std::find(asked.begin(), asked.end(), id) != asked.end(); };
  if (asked.empty() || std::all_of(of_config.begin(), of_config.end(), is_asked)) return;
  model.warnings.push_back(
      generation.where() + ": \"eos_token_id\" is " + list_of(asked) + ", in config.json it is " + list_of(of_config) +
      "; each of them ends a text, as in vLLM and SGLang (transformers takes generation_config.json alone)");
}

void warn_of_unlike_copies(Model& model, const Architecture& architecture, const WeightFiles& files,
                           const Progress& progress) {
  const std::vector<std::string> read = tensors_read(model.forward->values);
  const std::unordered_set<std::string_view> known(read.begin(), read.end());
  for (const std::vector<std::string>& group : architecture.tied()) {
    const auto used =
        std::find_if(group.begin(), group.end(), [&](const std::string& name) { return known.contains(name); });
    const TensorPlace* original = used == group.end() ? nullptr : files.find(*used);
    if (!original) continue;
    for (const std::string& name : group) {
      const TensorPlace* copy = known.contains(name) ? nullptr : files.find(name);
      if (!copy) continue;
      if (const std::string unlike = difference(files, *original, *copy, progress); !unlike.empty())
        model.warnings.push_back(files.listing() + ": " + in_quotes(name) + " " + unlike +
                                 ", and config.json ties it to " + in_quotes(*used) +
                                 ", which is used for both, as vLLM and SGLang do");
    }
  }
}

}  // namespace stormcell
