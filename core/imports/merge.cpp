#include "core/imports/merge.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>

#include "core/base/counted.h"
#include "core/base/enum_words.h"
#include "core/base/error.h"
#include "core/base/listed_words.h"
#include "core/base/nearest_words.h"
#include "core/base/run_kind.h"
#include "core/formats/json_fields.h"
#include "core/formats/json_file.h"
#include "core/imports/missing_parts.h"
#include "core/profile/recorder.h"
#include "core/session/session_reader.h"
#include "core/session/session_writer.h"
#include "core/summary/summary_json.h"
#include "core/traces/slot_loads.h"

namespace stormcell {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

struct Part {
  std::shared_ptr<const SessionReader> reader;
  RunSummary run;
  RunLayout layout;
  std::vector<BatchSummary> batches;
  nlohmann::json about;  // the run's dataset
  MergedPart told;
  bool decisions = false;
  std::string where() const { return told.session + "#" + std::to_string(told.run); }
};

/// One batch of the merged run: counts of several parts are added up, single choices come from one.
struct MergedBatch {
  struct Source {
    size_t part;
    int64_t batch;
  };
  std::vector<Source> sources;
  int64_t step = -1;
  int32_t rank = -1;
};

bool is_merged(const nlohmann::json& about) { return value_at(about, "parts").is_array(); }

Part open_part(const std::shared_ptr<const SessionReader>& reader, const RunSummary& run) {
  Part part{reader,
            run,
            reader->layout(run.id),
            reader->batches(run.id),
            json_or_null(run.dataset),
            {},
            reader->has_decisions(run.id)};
  part.told = {reader->path(), run.name, run.id, -1, std::ssize(part.batches), 0, 0};
  if (run_kind(run.kind) != RunKind::import)
    bad_input(part.where(), "was recorded here: only imported traces are merged", "name imported runs: S.storm#3");
  if (part.batches.empty()) bad_input(part.where(), "holds no batch", "leave it out");
  part.told.rank = part.batches[0].rank;
  for (const BatchSummary& b : part.batches)
    if (b.rank != part.told.rank) part.told.rank = -1;
  if (part.decisions) part.told.requests = reader->sequences(run.id);
  return part;
}

std::vector<Part> open_parts(const MergeOptions& options) {
  std::vector<Part> parts;
  for (const std::string& named : options.parts) {
    const SessionPath path = parse_session_path(named);
    const auto reader = std::make_shared<const SessionReader>(path.file);
    if (!path.run.empty()) {
      parts.push_back(open_part(reader, reader->find_run(path.run)));
      continue;
    }
    const size_t before = parts.size();
    for (const RunSummary& run : reader->runs())
      if (run_kind(run.kind) == RunKind::import && run.status == RunStatus::finished &&
          !is_merged(json_or_null(run.dataset)))
        parts.push_back(open_part(reader, run));
    if (parts.size() == before) bad_input(path.file, "holds no imported trace", "import the parts, then merge them");
  }
  if (parts.size() < 2)
    bad_input(options.parts[0], "is only one part", "name another session, or import more of the trace into this one");
  std::set<std::pair<std::string, int64_t>> seen;
  for (const Part& p : parts)
    if (!seen.insert({std::filesystem::weakly_canonical(p.told.session).string(), p.told.run}).second)
      bad_input(p.where(), "is named twice", "each part counts once");
  return parts;
}

/// All parts are of one model and of one kind.
void check_parts(const std::vector<Part>& parts) {
  const Part& first = parts[0];
  for (const Part& p : parts) {
    if (p.reader->summary().model.fingerprint != first.reader->summary().model.fingerprint ||
        p.layout.routers != first.layout.routers)
      bad_input(p.where(), "is of another model than " + first.where() + ", or has other layers",
                "merge parts of one trace");
    if (p.layout.spaces != first.layout.spaces)
      bad_input(p.where(), "has other cells than " + first.where(), "merge parts of one trace");
    if (p.decisions != first.decisions)
      bad_input(p.where(),
                std::string("has ") + (p.decisions ? "single choices" : "counts") + ", " + first.where() + " has " +
                    (first.decisions ? "single choices" : "counts"),
                "record both in one way");
  }
}

/// [parts] By ranks: which of its rank's parts it is; by days: its place.
std::vector<size_t> days_of(const std::vector<Part>& parts, bool by_ranks) {
  std::vector<size_t> day;
  std::map<int32_t, size_t> of_rank;
  for (size_t i = 0; i < parts.size(); ++i) day.push_back(by_ranks ? of_rank[parts[i].told.rank]++ : i);
  if (by_ranks)
    for (const auto& [rank, count] : of_rank)
      if (count != of_rank.begin()->second)
        bad_input("--by",
                  "rank " + std::to_string(rank) + " has " + counted(static_cast<int64_t>(count), "part") + ", rank " +
                      std::to_string(of_rank.begin()->first) + " has " + std::to_string(of_rank.begin()->second),
                  "name all parts of each rank");
  return day;
}

/// Ranks that ended a recording with other experts in their slots were re-balanced while they recorded.
void check_maps(const std::vector<Part>& parts, const std::vector<size_t>& day) {
  constexpr const char* kMap = "physical_to_logical_map";
  const auto map_of = [](const Part& p) { return text_at(value_at(p.about, "origin"), kMap); };
  std::map<size_t, const Part*> first;
  for (size_t i = 0; i < parts.size(); ++i) {
    const auto [of_day, is_first] = first.emplace(day[i], &parts[i]);
    if (!is_first && map_of(*of_day->second) != map_of(parts[i]))
      bad_input(
          parts[i].where(),
          "has other experts in its slots than " + of_day->second->where() + ": they were moved while it was recorded",
          "record between two re-balances");
  }
}

bool by_ranks_of(const MergeOptions& options, const std::vector<Part>& parts) {
  std::set<int32_t> ranks;
  for (const Part& p : parts) ranks.insert(p.told.rank);
  const bool all_known = !ranks.contains(-1);
  const std::optional<MergeBy> by = value_of_word<MergeBy>(kMergeBy, options.by);
  if (by == MergeBy::ranks && !all_known)
    for (const Part& p : parts)
      if (p.told.rank < 0)
        bad_input(p.where(), "does not say of which rank it is", "--by days puts one after the other");
  return by ? by == MergeBy::ranks : all_known && ranks.size() > 1;
}

/// Batches in order: by day, then by step, then by rank.
std::vector<MergedBatch> batches_of(const std::vector<Part>& parts, bool by_ranks) {
  const std::vector<size_t> day = days_of(parts, by_ranks);
  if (by_ranks) check_maps(parts, day);
  const size_t days = *std::max_element(day.begin(), day.end()) + 1;
  const bool counts = !parts[0].decisions;
  std::vector<MergedBatch> out;
  int64_t first_step = 0;
  for (size_t d = 0; d < days; ++d) {
    const size_t begin = out.size();
    for (size_t p = 0; p < parts.size(); ++p) {
      if (day[p] != d) continue;
      const bool numbered = std::all_of(parts[p].batches.begin(), parts[p].batches.end(),
                                        [](const BatchSummary& b) { return b.server_step >= 0; });
      for (const BatchSummary& b : parts[p].batches)
        out.push_back({{{p, b.number}}, numbered ? b.server_step : by_ranks ? b.number : -1, b.rank});
    }
    const auto of_day = out.begin() + begin;
    if (by_ranks)
      std::stable_sort(of_day, out.end(), [](const MergedBatch& a, const MergedBatch& b) { return a.step < b.step; });
    // Each day's numbers continue those of the day before.
    int64_t least = INT64_MAX, most = -1;
    for (auto b = of_day; b != out.end(); ++b)
      if (b->step >= 0) least = std::min(least, b->step), most = std::max(most, b->step);
    for (auto b = of_day; b != out.end(); ++b)
      if (b->step >= 0) b->step += first_step - least;
    if (most >= 0) first_step += most - least + 1;
  }
  if (!counts || !by_ranks) return out;
  std::vector<MergedBatch> steps;
  for (MergedBatch& b : out) {
    b.rank = -1;
    if (!steps.empty() && steps.back().step == b.step)
      steps.back().sources.insert(steps.back().sources.end(), b.sources.begin(), b.sources.end());
    else
      steps.push_back(std::move(b));
  }
  return steps;
}

std::vector<std::string> lacks_of(const std::vector<Part>& parts, bool by_ranks) {
  std::vector<std::string> lacks;
  for (const Part& p : parts)
    for (const nlohmann::json& fact : list_at(p.about, "lacks")) {
      if (!fact.is_string() || (by_ranks && parts[0].decisions && fact == "homes")) continue;
      if (std::find(lacks.begin(), lacks.end(), fact.get<std::string>()) == lacks.end())
        lacks.push_back(fact.get<std::string>());
    }
  return lacks;
}

/// Texts of tokens, found by the thread that reads parts and asked for by the one that writes.
class MergedPieces {
 public:
  /// Takes the texts of these tokens from a part; those of an earlier part stay.
  void find(const SessionReader& reader, std::span<const int32_t> tokens) {
    std::vector<int32_t> unknown;
    {
      const std::lock_guard lock(mutex_);
      for (const int32_t token : tokens)
        if (token >= 0 && texts_.try_emplace(token).second) unknown.push_back(token);
    }
    if (unknown.empty()) return;
    std::map<int32_t, std::string> found = reader.pieces(unknown);
    const std::lock_guard lock(mutex_);
    for (auto& [token, text] : found) texts_[token] = std::move(text);
    // Another part may have the texts of the others.
    for (const int32_t token : unknown)
      if (!found.contains(token)) texts_.erase(token);
  }
  std::string text(int32_t token) const {
    const std::lock_guard lock(mutex_);
    const auto found = texts_.find(token);
    return found == texts_.end() ? std::string() : found->second;
  }

 private:
  mutable std::mutex mutex_;
  std::map<int32_t, std::string> texts_;
};

/// Writes batches of the parts as those of one run.
class MergedRun {
 public:
  MergedRun(const std::vector<Part>& parts, RunWriter& run, MergedPieces& pieces)
      : parts_(parts), pieces_(pieces), recorder_({&run}) {}

  void add(const MergedBatch& merged) {
    BatchRecord& record = recorder_.begin_batch();
    record.number = number_++;
    record.server_step = merged.step;
    record.rank = merged.rank;
    if (parts_[0].decisions)
      copy_choices(merged.sources[0], record);
    else
      add_up(merged, record);
    recorder_.submit();
  }
  void finish() { recorder_.finish(); }

 private:
  void copy_choices(const MergedBatch::Source& source, BatchRecord& record) {
    const Part& part = parts_[source.part];
    const std::vector<BatchSpace> spaces = part.reader->spaces(part.run.id, source.batch);
    for (const BatchSpace& s : spaces) {
      CellTable cells = s.cells;
      cells.first_sequence += part.told.first_request;
      if (s.items && record.items().empty()) {
        std::vector<int64_t> items = *s.items;
        for (int64_t& item : items) item += part.told.first_request;
        record.set_items(items);
      }
      const std::vector<int32_t> mask(s.mask.begin(), s.mask.end());
      pieces_.find(*part.reader, s.tokens);
      record.add_space(s.space, cells, mask, s.tokens);
    }
    if (!spaces.empty()) copy_inputs(part, spaces.front().cells, record);
    for (size_t r = 0; r < part.layout.routers.size(); ++r)
      if (const auto decision = part.reader->decision(part.run.id, static_cast<int32_t>(r), source.batch))
        record.add_decision(decision->record(static_cast<int32_t>(r)));
  }

  /// Labels and texts of a batch's sequences, if the part has any.
  static void copy_inputs(const Part& part, const CellTable& cells, BatchRecord& record) {
    int64_t first = INT64_MAX, end = 0;
    for (int64_t i = 0; i < cells.sequences; ++i)
      first = std::min(first, cells.sequence(i)), end = std::max(end, cells.sequence(i) + 1);
    std::map<int64_t, SequenceInput> found;
    for (SequenceInput& input : part.reader->inputs(part.run.id, {first, end}))
      found.emplace(input.sequence, std::move(input));
    if (found.empty()) return;
    for (int64_t i = 0; i < cells.sequences; ++i) {
      const SequenceInput& input = found[cells.sequence(i)];
      record.add_sequence(input.label, input.text);
    }
  }

  void add_up(const MergedBatch& merged, BatchRecord& record) {
    for (size_t r = 0; r < parts_[0].layout.routers.size(); ++r) {
      RouterLoads sum(parts_[0].layout.routers[r].branches);
      for (const MergedBatch::Source& s : merged.sources) {
        const Part& part = parts_[s.part];
        for (const RouterLoads& loads :
             part.reader->loads(part.run.id, static_cast<int32_t>(r), 0, {s.batch, s.batch + 1}))
          sum.add(loads);
      }
      record.add_loads({static_cast<int32_t>(r), sum.load});
    }
  }

  const std::vector<Part>& parts_;
  MergedPieces& pieces_;
  Recorder recorder_;
  int64_t number_ = 0;
};

Json json_of(const MergedPart& p) {
  return {{"session", p.session},  {"run", p.run},
          {"name", p.name},        {"rank", p.rank >= 0 ? Json(p.rank) : Json()},
          {"batches", p.batches},  {"first_request", p.first_request},
          {"requests", p.requests}};
}

/// Joins the gaps of the parts that recorders state; a recording is complete only if all parts are.
void join_cuts(const std::vector<Part>& parts, nlohmann::json& about) {
  std::vector<std::string> cuts;
  bool stated = true;
  for (const Part& p : parts) {
    const nlohmann::json& origin = value_at(p.about, "origin");
    stated = stated && !text_at(origin, "recorder").empty();
    if (const std::string cut = text_at(origin, "cut");
        !cut.empty() && std::find(cuts.begin(), cuts.end(), cut) == cuts.end())
      cuts.push_back(cut);
  }
  if (!about["origin"].is_object()) return;
  about["origin"]["cut"] = joined(cuts, "; ");
  if (!stated) about["origin"].erase("recorder"), about["origin"].erase("cut");
}

RunStart start_of(const MergeOptions& options, const std::vector<Part>& parts, const MergeFigures& figures,
                  const MergedPieces& pieces) {
  RunStart start;
  start.kind = to_text(RunKind::import);
  start.name = options.name.empty() ? "merged" : options.name;
  start.decisions = start.inputs = figures.decisions;
  start.piece = [&pieces](int32_t token) { return pieces.text(token); };
  start.layout = parts[0].layout;
  // sizes and origin of the first
  nlohmann::json about = parts[0].about.is_object() ? parts[0].about : nlohmann::json::object();
  for (const char* key : {"content", "modified", "told", "rank", "slots", "slot_ranks"}) about.erase(key);
  RecordedSlots slots = slots_at(parts[0].about);
  for (size_t p = 1; p < parts.size(); ++p) slots = sum_of(slots, slots_at(parts[p].about));
  if (const nlohmann::json kept = json_of(slots); !kept.is_null()) about.update(kept);
  join_cuts(parts, about);
  about["name"] = "merge";
  about["lacks"] = figures.lacks;
  about["parts"] = nlohmann::json::array();
  for (const Part& p : parts) about["parts"].push_back(nlohmann::json(json_of(p.told)));
  start.dataset = about.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return start;
}

void check_options(const MergeOptions& options) {
  if (options.parts.empty()) bad_input("SESSION", "is missing", "name sessions whose runs are parts of one trace");
  if (options.session.empty()) bad_input("-o", "is missing", "-o S.storm");
  if (!options.by.empty() && !value_of_word<MergeBy>(kMergeBy, options.by))
    bad_input("--by", "is neither ranks nor days",
              advice_on_word(options.by, {std::begin(kMergeBy), std::end(kMergeBy)}, ""));
}

void write(const MergeOptions& options, std::vector<Part> parts, const std::vector<MergedBatch>& batches,
           MergeFigures& figures, const Progress& progress) {
  SessionWriter session(options.session, parts[0].reader->summary().model);
  session.hold();
  try {
    MergedPieces pieces;
    const auto run = session.begin_run(start_of(options, parts, figures, pieces));
    MergedRun merged(parts, *run, pieces);
    for (size_t b = 0; b < batches.size(); ++b) {
      progress.report("merging batches", static_cast<int64_t>(b), std::ssize(batches));
      merged.add(batches[b]);
    }
    merged.finish();
    figures.run = run->id();
    run->finish(RunStatus::finished, to_json(figures));
  } catch (...) {
    session.take_back();
    throw;
  }
  session.keep();
  parts.clear();  // readers of the same file would keep it from becoming one plain file
  session.close();
}

}  // namespace

MergeFigures merge_runs(const MergeOptions& options, const Progress& progress) {
  const Clock::time_point begin = Clock::now();
  check_options(options);
  std::vector<Part> parts = open_parts(options);
  check_parts(parts);
  const bool by_ranks = by_ranks_of(options, parts);
  MergeFigures figures;
  figures.session = options.session, figures.model = parts[0].reader->summary().model.name;
  figures.by = by_ranks ? MergeBy::ranks : MergeBy::days;
  figures.decisions = parts[0].decisions;
  figures.lacks = lacks_of(parts, by_ranks);
  int64_t requests = 0;
  for (Part& p : parts) {
    p.told.first_request = requests;
    requests += p.told.requests;
    figures.parts.push_back(p.told);
  }
  const std::vector<MergedBatch> batches = batches_of(parts, by_ranks);
  figures.batches = std::ssize(batches);
  for (size_t b = 0; b < batches.size(); ++b)
    figures.steps += b == 0 || batches[b].step < 0 || batches[b].step != batches[b - 1].step;
  if (by_ranks && std::any_of(parts.begin(), parts.end(), [](const Part& p) { return p.batches[0].server_step < 0; }))
    figures.warnings.push_back(options.parts[0] +
                               ": the parts have no numbers of steps: those of the ranks are joined in their order");
  if (by_ranks) {
    std::set<int64_t> ranks;
    for (const Part& p : parts) ranks.insert(p.told.rank);
    if (const std::string missing = missing_ranks(ranks); !missing.empty())
      figures.warnings.push_back(options.parts[0] + ": " + missing);
  }
  figures.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  write(options, std::move(parts), batches, figures, progress);
  figures.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  return figures;
}

std::string to_json(const MergeFigures& f) {
  Json json = json_of_verb("merge");
  json["session"] = f.session;
  json["run"] = f.run > 0 ? Json(f.run) : Json();
  json["model"] = {{"name", f.model}};
  json["by"] = to_text(f.by);
  json["decisions"] = f.decisions;
  json["batches"] = f.batches;
  json["steps"] = f.steps;
  json["parts"] = Json::array();
  for (const MergedPart& p : f.parts) json["parts"].push_back(json_of(p));
  json["lacks"] = f.lacks;
  json["warnings"] = f.warnings;
  json["seconds"] = f.seconds;
  return json_text(json);
}

}  // namespace stormcell
