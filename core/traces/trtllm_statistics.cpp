// TensorRT-LLM's expert statistics: a folder with meta_info.json {num_experts, num_experts_per_token} and, of each
// rank, rank{R}.safetensors with tensors "{iteration}_{layer}" i64 [experts]. The trace is meta_info.json; ranks' files
// are found beside it and added up. Each rank writes on its own node, so a folder that was gathered by hand may lack
// some. A warning names missing ranks below the largest one. The number of ranks is not recorded, so missing last ranks
// cannot be found.
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
#include "core/base/missing_numbers.h"
#include "core/formats/file_text.h"
#include "core/formats/gzip_file.h"
#include "core/formats/json_file.h"
#include "core/formats/safetensors.h"
#include "core/traces/json_values.h"
#include "core/traces/trace.h"

namespace stormcell {
namespace {

constexpr int64_t kMostTokensCounted = int64_t{1} << 40;
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
  if (second != std::errc() || last != end || place.iteration < 0 || place.layer < 0 ||
      place.layer >= kMostTracedLayers)
    return {};
  return place;
}

/// The files by rank, including links whose target is missing.
std::map<int64_t, std::string> rank_files(const std::string& meta_info) {
  constexpr std::string_view kBegin = "rank", kPlain = ".safetensors", kPacked = ".safetensors.gz";
  const std::filesystem::path folder = std::filesystem::path(meta_info).parent_path();
  std::map<int64_t, std::string> files;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(folder.empty() ? "." : folder, none)) {
    const std::string name = entry.path().filename().string();
    const std::string_view ending = name.ends_with(kPacked) ? kPacked : kPlain;
    if (!name.starts_with(kBegin) || !name.ends_with(ending) || name.size() <= kBegin.size() + ending.size()) continue;
    const char* const end = name.data() + name.size() - ending.size();
    int32_t rank = -1;
    const auto [after, error] = std::from_chars(name.data() + kBegin.size(), end, rank);
    // "rank01" is not accepted: it would be the same rank again.
    if (error != std::errc() || after != end || rank < 0 || name != "rank" + std::to_string(rank) + std::string(ending))
      continue;
    std::string& file = files[rank];
    if (file.empty() || ending == kPlain)
      file = (folder / name).string();  // a packed copy beside the plain file is the same
  }
  return files;
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
    doubt_parts();
    doubt_counts();
    return counts_;
  }

 private:
  [[noreturn]] void wrong(const std::string& file, const std::string& what) const {
    bad_input(source_.path(), file + ": " + what, kCollect);
  }

  void open_ranks() {
    for (const auto& [rank, path] : rank_files(source_.path())) {
      const std::string name = std::filesystem::path(path).filename().string();
      const auto file = open_rank(path);
      if (!file) {
        damaged_.insert(rank);
        continue;
      }
      for (const StoredTensor& t : file->tensors()) {
        const auto place = parse_place(t.name);
        if (!place) wrong(name, in_quotes(t.name) + " is not an iteration_layer");
        if (t.dtype != DType::i64 || t.shape != std::vector<int64_t>{branches_})
          wrong(name, in_quotes(t.name) + " is " + std::string(to_text(t.dtype)) + " " + shape_text(t.shape) +
                          ", expected i64 [" + std::to_string(branches_) + "]" +
                          (t.shape == std::vector<int64_t>{branches_ + 1}
                               ? ": the last one may count tokens without an expert"
                               : ""));
        counts_of_[*place].push_back(&t);
        layers_.insert(place->layer);
      }
      ranks_.emplace(rank, file);
    }
    if (ranks_.empty()) bad_input(source_.path(), "has no rank0.safetensors beside it" + joined_damages(), kCollect);
    if (counts_of_.empty()) wrong("rank" + std::to_string(ranks_.begin()->first) + ".safetensors", "holds no counts");
  }

  /// Null if it is not a complete safetensors file: a copy that broke off, or a link whose target is missing.
  std::shared_ptr<const SafetensorsFile> open_rank(const std::string& path) {
    try {
      return SafetensorsFile::in(MappedFile::map(open_unpacked(path, progress_)));
    } catch (const Error& e) {
      if (e.kind() != ErrorKind::bad_input) throw;
      damages_.emplace_back(e.what());
      return nullptr;
    }
  }
  std::string joined_damages() const { return damages_.empty() ? "" : " that can be read: " + damages_.front(); }

  /// Names missing ranks, damaged files, counts that one rank lacks and the others have, and gaps between iterations.
  void doubt_parts() {
    const std::string alone = "the loads are those of " + counted(std::ssize(ranks_), "rank") + " alone";
    for (const std::string& damage : damages_) counts_.warnings.push_back(damage + "; left out: " + alone);
    std::set<int64_t> there = damaged_;  // named already
    for (const auto& [rank, file] : ranks_) there.insert(rank);
    if (const std::string missing = missing_text("rank", there, 0); !missing.empty())
      counts_.warnings.push_back(source_.path() + ": " + missing + " (rank" +
                                 std::to_string(missing_numbers(there, 0)[0]) + ".safetensors): " + alone);
    for (const auto& [rank, file] : ranks_) doubt_rank(rank, *file);
    std::set<int64_t> iterations;
    for (const auto& [place, tensors] : counts_of_) iterations.insert(place.iteration);
    if (const std::string gaps = gaps_text("iteration", iterations); !gaps.empty())
      counts_.warnings.push_back(source_.path() + ": has " + gaps +
                                 ": tensors are missing, or these iterations were not recorded");
  }
  /// A rank may have only some layers, as in a pipeline, but it must have them in every iteration that any rank has.
  void doubt_rank(int64_t rank, const SafetensorsFile& file) {
    std::set<int64_t> iterations;
    std::set<int32_t> layers;
    std::set<Place> places;
    for (const auto& [place, tensors] : counts_of_) iterations.insert(place.iteration);
    for (const StoredTensor& t : file.tensors()) {
      const Place place = *parse_place(t.name);
      places.insert(place), layers.insert(place.layer);
    }
    std::string first;
    int64_t lacks = 0;
    for (const int64_t iteration : iterations)
      for (const int32_t layer : layers)
        if (!places.contains({iteration, layer}) && lacks++ == 0)
          first = std::to_string(iteration) + "_" + std::to_string(layer);
    if (lacks > 0)
      counts_.warnings.push_back(source_.path() + ": rank" + std::to_string(rank) + ".safetensors lacks " +
                                 counted(lacks, "tensor") + " of counts, the first one " + in_quotes(first));
  }

  void begin() {
    const TracedModel& model = source_.model;
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
    std::vector<int64_t> loads(branches_);
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

  void add(const std::pair<const Place, std::vector<const StoredTensor*>>& counts, std::vector<int64_t>& loads) {
    for (const StoredTensor* t : counts.second) {
      int64_t choices = 0, largest = 0;
      for (size_t e = 0; e < loads.size(); ++e) {
        int64_t count;
        std::memcpy(&count, t->bytes.data() + e * sizeof count, sizeof count);
        if (count < 0 || count >= kMostTokensCounted)
          wrong(t->name, "the count of expert " + std::to_string(e) + " is " + std::to_string(count));
        loads[e] += count;
        choices += count, largest = std::max(largest, count);
      }
      if (largest * k_ > choices && beyond_tokens_++ == 0) first_beyond_ = t->name;
    }
  }

  /// A token chooses k experts, each of them once, so no expert has more choices than there are tokens.
  void doubt_counts() {
    if (beyond_tokens_ == 0) return;
    counts_.warnings.push_back(source_.path() + ": " + counted(beyond_tokens_, "tensor counts", "tensors count") +
                               " more choices of an expert than tokens, the first one " + in_quotes(first_beyond_) +
                               ": num_experts_per_token is " + std::to_string(k_) + ", is it of this model?");
  }

  const TraceSource& source_;
  TraceSink& sink_;
  const Progress& progress_;
  int64_t branches_ = 1, k_ = 1;
  std::map<int64_t, std::shared_ptr<const SafetensorsFile>> ranks_;
  std::vector<std::string> damages_;                             // number of files of ranks
  std::set<int64_t> damaged_;                                    // their ranks
  std::map<Place, std::vector<const StoredTensor*>> counts_of_;  // of all ranks
  std::set<int32_t> layers_;
  int64_t beyond_tokens_ = 0;  // tensors that contradict num_experts_per_token
  std::string first_beyond_;
  TraceCounts counts_;
};

}  // namespace

std::vector<std::string> trtllm_rank_files(const std::string& meta_info) {
  std::vector<std::string> files;
  for (const auto& [rank, path] : rank_files(meta_info)) files.push_back(path);
  return files;
}

TraceCounts read_trtllm_statistics(const TraceSource& source, TraceSink& sink, const Progress& progress) {
  return TrtllmStatistics(source, sink, progress).read();
}

}  // namespace stormcell
