// TensorRT-LLM's expert statistics: a folder with meta_info.json {num_experts, num_experts_per_token} and, of each rank,
// rank{R}.safetensors with tensors "{iteration}_{layer}" i64 [experts]. The trace is meta_info.json; ranks' files are found beside it and
// added up.
#include <algorithm>
#include <charconv>
#include <compare>
#include <cstring>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/formats/file_text.h"
#include "core/formats/json_file.h"
#include "core/formats/safetensors.h"
#include "core/formats/trace/json_cursor.h"
#include "core/formats/trace/json_values.h"
#include "core/formats/trace/trace.h"

namespace stormcell {
namespace {

constexpr int64_t kMostTokens = int64_t{1} << 40;
constexpr const char* kCollect = "collect again with EXPERT_STATISTIC_PATH and EXPERT_STATISTIC_ITER_RANGE";

struct Place {
  int64_t iteration = 0;
  int32_t layer = 0;
  auto operator<=>(const Place&) const = default;
};

/// "120_3"
std::optional<Place> parse_place(std::string_view name) {
  Place place;
  const char* end = name.data() + name.size();
  const auto [after, error] = std::from_chars(name.data(), end, place.iteration);
  if (error != std::errc() || after == end || *after != '_') return {};
  const auto [last, second] = std::from_chars(after + 1, end, place.layer);
  if (second != std::errc() || last != end || place.iteration < 0 || place.layer < 0 || place.layer >= kMostTracedLayers) return {};
  return place;
}

class TrtllmStatistics {
 public:
  TrtllmStatistics(const TraceSource& source, TraceSink& sink, const Progress& progress)
      : source_(source), sink_(sink), progress_(progress) {}

  TraceCounts read() {
    const nlohmann::json about = parse_json_text(source_.text(), source_.path());
    const JsonRow row(about, source_.path(), 1);
    branches_ = row.whole("num_experts", 1, kMostTracedBranches);
    k_ = row.whole("num_experts_per_token", 1, std::min(branches_, kMostTracedChoices));
    open_ranks();
    begin();
    hand_on();
    return counts_;
  }

 private:
  [[noreturn]] void wrong(const std::string& file, const std::string& what) const {
    bad_input(source_.path(), file + ": " + what, kCollect);
  }

  void open_ranks() {
    for (const std::string& path : trtllm_rank_files(source_.path())) {
      const std::string name = std::filesystem::path(path).filename().string();
      const auto file = SafetensorsFile::open(path);
      for (const StoredTensor& t : file->tensors()) {
        const auto place = parse_place(t.name);
        if (!place) wrong(name, in_quotes(t.name) + " is no iteration_layer");
        if (t.dtype != DType::i64 || t.shape != std::vector<int64_t>{branches_})
          wrong(name, in_quotes(t.name) + " is " + std::string(to_text(t.dtype)) + " " + shape_text(t.shape) + ", expected i64 [" +
                          std::to_string(branches_) + "]");
        counts_of_[*place].push_back(&t);
        layers_.insert(place->layer);
      }
      ranks_.push_back(file);
    }
    if (ranks_.empty()) bad_input(source_.path(), "has no rank0.safetensors beside it", kCollect);
    if (counts_of_.empty()) wrong("rank0.safetensors", "holds no counts");
  }

  void begin() {
    const TracedModel& model = source_.model;
    check_layers_with_branches(source_, {layers_.begin(), layers_.end()});
    TraceHeader header;
    header.model = model.name, header.family = model.family;
    header.origin["format"] = "TensorRT-LLM expert statistics";
    header.origin["ranks"] = std::to_string(ranks_.size());
    header.counts = true;
    header.model_layers = std::max(model.layers, *layers_.rbegin() + 1);
    for (const int32_t layer : layers_) {
      TraceRouter& router = header.routers.emplace_back();
      router.layer = layer, router.name = "layer." + std::to_string(layer);
      router.branches = static_cast<int32_t>(branches_), router.fan_out = static_cast<int32_t>(k_);
    }
    const bool one_step = counts_of_.begin()->first.iteration == counts_of_.rbegin()->first.iteration;
    header.lacks = lacks_without({{"model", !model.name.empty()}, "branches", "k", {"steps", !one_step}, "order"});
    sink_.begin(header);
  }

  void hand_on() {
    int64_t step = -1, iteration = -1;
    std::vector<int64_t> loads(static_cast<size_t>(branches_));
    for (auto at = counts_of_.begin(); at != counts_of_.end();) {
      if (at->first.iteration != iteration) {
        iteration = at->first.iteration, ++step;
        progress_.report("reading iterations", step, 0);
        sink_.server_step(iteration);
      }
      int32_t router = 0;
      for (const int32_t layer : layers_) {
        std::fill(loads.begin(), loads.end(), 0);
        if (at != counts_of_.end() && at->first == Place{iteration, layer}) add(*at++, loads);
        counts_.rows_read += branches_;
        sink_.loads(step, router++, loads);
      }
    }
  }

  void add(const std::pair<const Place, std::vector<const StoredTensor*>>& counts, std::vector<int64_t>& loads) const {
    for (const StoredTensor* t : counts.second)
      for (size_t e = 0; e < loads.size(); ++e) {
        int64_t count;
        std::memcpy(&count, t->bytes.data() + e * sizeof count, sizeof count);
        if (count < 0 || count >= kMostTokens) wrong(t->name, "the count of expert " + std::to_string(e) + " is " + std::to_string(count));
        loads[e] += count;
      }
  }

  const TraceSource& source_;
  TraceSink& sink_;
  const Progress& progress_;
  int64_t branches_ = 1, k_ = 1;
  std::vector<std::shared_ptr<const SafetensorsFile>> ranks_;
  std::map<Place, std::vector<const StoredTensor*>> counts_of_;  // of all ranks
  std::set<int32_t> layers_;
  TraceCounts counts_;
};

}  // namespace

std::vector<std::string> trtllm_rank_files(const std::string& meta_info) {
  std::vector<std::string> files;
  std::error_code none;
  for (int rank = 0;; ++rank) {
    const auto path = std::filesystem::path(meta_info).parent_path() / ("rank" + std::to_string(rank) + ".safetensors");
    if (!std::filesystem::exists(path, none)) return files;
    files.push_back(path.string());
  }
}

bool is_trtllm_statistics(std::string_view content) {
  constexpr size_t kMostMeta = 65536;  // a few numbers; the config.json of a model says more
  return content.size() <= kMostMeta && is_json_with(content, "{", "\"num_experts_per_token\"") &&
         content.find("\"num_experts\"") != std::string_view::npos && content.find("\"hidden_size\"") == std::string_view::npos;
}

TraceCounts read_trtllm_statistics(const TraceSource& source, TraceSink& sink, const Progress& progress) {
  return TrtllmStatistics(source, sink, progress).read();
}

}  // namespace stormcell
