#include "core/imports/trace_files.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/base/listed_words.h"
#include "core/formats/file_kind.h"
#include "core/formats/file_text.h"
#include "core/formats/gzip_file.h"
#include "core/formats/json_fields.h"
#include "core/formats/json_file.h"
#include "core/formats/sha256.h"
#include "core/imports/import_targets.h"
#include "core/imports/missing_parts.h"
#include "core/session/session_reader.h"
#include "core/traces/trace.h"

namespace stormcell {
namespace {

namespace fs = std::filesystem;

constexpr size_t kPieces = 256, kPiece = 4096;  // of a file that its content is known by
constexpr size_t kMostKept = size_t{4} << 30;   // most bytes that are kept unpacked until they are read

struct KnownTrace {
  int64_t run = 0;      ///< 0: the trace is read in this call
  std::string session;  ///< of a run
  std::string path;     ///< then
  std::string format;   ///< of a run
  std::string told;
  int64_t modified = 0;
};
/// Known traces, by their content.
using KnownTraces = std::multimap<std::string, KnownTrace>;

std::string sizes_told(int64_t hidden, int64_t ffn) {
  std::vector<std::string> told;
  if (hidden > 0) told.push_back("hidden " + std::to_string(hidden));
  if (ffn > 0) told.push_back("ffn " + std::to_string(ffn));
  return joined(told);
}

KnownTrace known_trace(const std::string& session, int64_t run, const nlohmann::json& about) {
  KnownTrace trace;
  trace.session = session, trace.run = run, trace.format = text_at(about, "format"),
  trace.told = text_at(about, "told");
  trace.modified = whole_at(about, "modified");
  // Earlier versions stored only the sizes, not the options that the user gave for a trace.
  if (trace.told.empty()) trace.told = sizes_told(whole_at(about, "hidden"), whole_at(about, "ffn"));
  return trace;
}

void add_known_traces(const std::string& session, KnownTraces& known) {
  try {
    for (const RunSummary& run : SessionReader(session).runs()) {
      if (run.status != RunStatus::finished) continue;  // what was interrupted is read again, whole
      const nlohmann::json about = json_or_null(run.dataset);
      const std::string content = text_at(about, "content");
      if (!content.empty()) known.emplace(content, known_trace(session, run.id, about));
    }
  } catch (const Error& e) {  // who writes into it says what is wrong
    if (e.kind() != ErrorKind::bad_input) throw;
  }
}

/// Looks at the session, and at those that an earlier import made beside it for other models.
KnownTraces known_traces(const std::string& session) {
  KnownTraces known;
  std::set<std::string> models;
  for (size_t number = 1;; ++number) {
    const std::string path = session_of_model(session, number), model = fingerprint_in(path);
    if (model.empty()) return known;
    // A further session of the same model belongs to another import.
    if (models.insert(model).second) add_known_traces(path, known);
  }
}

void add_content(const MappedFile& file, Sha256& hash) {
  const std::span<const std::byte> bytes = file.bytes();
  if (bytes.size() <= kPieces * kPiece) {
    hash.update(bytes);
  } else {
    for (size_t i = 0; i < kPieces; ++i)
      hash.update(bytes.subspan((bytes.size() - kPiece) / (kPieces - 1) * i, kPiece));
    hash.update(bytes.last(kPiece));
  }
}

/// Links whose target is missing are included, so that a warning names them.
std::vector<std::string> files_of(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error, none;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const bool file = entry.is_regular_file(none) || (entry.is_symlink(none) && !entry.exists(none));
    if (file && !entry.path().filename().string().starts_with(".")) files.push_back(entry.path().string());
  }
  if (error) bad_input(folder, "cannot be read: " + error.message(), "check its permissions");
  std::sort(files.begin(), files.end());
  return files;
}

/// Adds a file to be read, unless this call already reads the same one.
void add_new(const std::string& path, const std::shared_ptr<const MappedFile>& file, const std::string& content,
             const std::string& told, KnownTraces& known, TraceFiles& out) {
  KnownTrace trace;
  trace.path = path, trace.told = told;
  known.emplace(content, trace);
  size_t kept = 0;
  for (const TraceFile& before : out.traces) kept += before.unpacked ? before.unpacked->size() : 0;
  const bool keep = is_gzip(OpenFile::open_regular(path)) && kept + file->size() <= kMostKept;
  out.traces.push_back({path, keep ? file : nullptr});
}
void add_known(const std::string& path, const KnownTrace& known, TraceFiles& out) {
  if (known.run > 0)
    out.known.push_back({known.session, known.run});
  else
    out.warnings.push_back(path + ": is the same trace as " + known.path + ", which is read once");
}

/// Names the kinds of the first files: "a.html is an HTML page, b.bin, and 3 more".
std::string kinds_text(const std::vector<std::string>& files) {
  constexpr size_t kMostNamed = 3;
  std::string list;
  for (const std::string& path : files) {
    if (&path - files.data() == kMostNamed)
      return list + ", and " + std::to_string(files.size() - kMostNamed) + " more";
    const std::optional<KnownFile> known = known_file(path);
    add_to_list(list, in_quotes(fs::path(path).filename().string()) + (known ? " is " + known->name : ""));
  }
  return list;
}

/// The advice to a folder of files that are no traces: that of their kind, if they are all of one.
std::string advice_on(const std::vector<std::string>& files) {
  std::optional<KnownFile> first;
  for (const std::string& path : files) {
    std::optional<KnownFile> known = known_file(path);
    if (!known || (first && first->kind != known->kind)) {
      first.reset();
      break;
    }
    if (!first) first = std::move(known);
  }
  return first && !first->remedy.empty() ? first->remedy
                                         : "name the traces, with --format where their content does not say it";
}

/// Returns null, with a warning, if a packed file is cut or damaged: the other files are still read.
std::shared_ptr<const MappedFile> open_beside_others(const std::string& path, const Progress& progress,
                                                     TraceFiles& out) {
  try {
    return open_trace(path, progress);
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::bad_input || !is_gzip(OpenFile::open_regular(path))) throw;
    out.warnings.push_back(std::string(e.what()) + "; left out");
    return nullptr;
  }
}

/// A trace of a folder counts as known if it was read with the same options, or if there are no options now.
const KnownTrace* known_in_folder(const KnownTraces& known, const std::string& content, const std::string& told) {
  const auto [begin, end] = known.equal_range(content);
  const auto at = std::find_if(begin, end, [&](const auto& one) { return told.empty() || one.second.told == told; });
  return at == end ? nullptr : &at->second;
}

void add_folder(const std::string& folder, const std::string& told, const Progress& progress, KnownTraces& known,
                std::vector<std::string>& all, TraceFiles& out) {
  int64_t traces = 0, looked_at = 0;
  std::string unfinished;  // the first file that holds nothing yet
  std::vector<std::string> others, beside, empty;
  const std::vector<std::string> files = files_of(folder);
  for (const std::string& path : files) {
    progress.report("looking at files", looked_at++, std::ssize(files));
    if (const std::string why = why_unfinished(path); !why.empty()) {
      empty.push_back(path);
      if (unfinished.empty()) unfinished = fs::path(path).filename().string() + " " + why;
      continue;
    }
    const auto file = open_beside_others(path, progress, out);
    if (!file) {
      if (unfinished.empty()) unfinished = out.warnings.back();
      continue;
    }
    const TraceFormat* format = find_trace_format(*file);
    if (!format) {
      others.push_back(path);
      continue;
    }
    if (format->companions)
      for (const std::string& companion : format->companions(path)) beside.push_back(companion);
    ++traces;
    all.push_back(path);
    const std::string content = content_of(*file);
    if (const KnownTrace* const before = known_in_folder(known, content, told))
      add_known(path, *before, out);
    else
      add_new(path, file, content, told, known, out);
  }
  if (traces == 0 && others.empty() && !unfinished.empty())
    bad_input(folder, "is a folder without a routing trace: " + unfinished, "get its files again");
  if (traces == 0)
    bad_input(
        folder,
        others.empty() ? "is a folder without files" : "is a folder without a routing trace: " + kinds_text(others),
        advice_on(others));
  // These files are not traces on their own.
  const auto is_beside = [&](const std::string& path) {
    return std::find(beside.begin(), beside.end(), path) != beside.end();
  };
  std::erase_if(others, is_beside);
  // The reader of the trace names empty files of its own.
  std::erase_if(empty, is_beside);
  for (const std::string& path : empty) out.warnings.push_back(path + ": " + why_unfinished(path) + "; left out");
  if (!others.empty())
    out.warnings.push_back(folder + ": " +
                           counted(std::ssize(others), "file that is not a trace is", "files that are not traces are") +
                           " left out: " + kinds_text(others));
}

/// A file counts as known only if it was read with the same options, and in the format that --format names, if any. A
/// large file, which is hashed only in parts, must also have the same time of writing.
void add_file(const std::string& path, const ImportOptions& options, const std::string& told, const Progress& progress,
              KnownTraces& known, TraceFiles& out) {
  const auto file = open_trace(path, progress);
  const std::string content = content_of(*file);
  const auto [begin, end] = known.equal_range(content);
  for (auto at = begin; at != end; ++at) {
    const KnownTrace& one = at->second;
    const bool here = one.run == 0, whole = file->size() <= kPieces * kPiece;
    if (one.told != told || (!here && !options.format.empty() && options.format != one.format)) continue;
    if (whole || (here ? modified_of(one.path) : one.modified) == modified_of(path)) return add_known(path, one, out);
  }
  add_new(path, file, content, told, known, out);
}

}  // namespace

std::shared_ptr<const MappedFile> open_trace(const std::string& path, const Progress& progress) {
  return MappedFile::map(open_unpacked(path, progress));
}

std::string name_of_trace(const std::string& path) {
  const fs::path plain = path.ends_with(".gz") ? fs::path(path).stem() : fs::path(path);
  return plain.stem().string();
}

std::string told_of(const ImportOptions& options) {
  std::vector<std::string> told;
  if (!options.model_config.empty()) {
    Sha256 hash;
    hash.update(MappedFile::open(options.model_config)->bytes());
    told.push_back("config.json " + hash.hex());
  }
  if (const std::string sizes = sizes_told(options.hidden, options.ffn); !sizes.empty()) told.push_back(sizes);
  if (options.shared_experts >= 0) told.push_back("shared experts " + std::to_string(options.shared_experts));
  return joined(told);
}

int64_t modified_of(const std::string& path) {
  std::error_code none;
  const fs::file_time_type time = fs::last_write_time(path, none);
  return none ? 0 : std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

std::string content_of(const MappedFile& file) {
  Sha256 hash;
  add_content(file, hash);
  size_t size = file.size();
  const TraceFormat* format = find_trace_format(file);
  if (format && format->companions)
    for (const std::string& path : format->companions(file.path())) {
      if (is_dead_link(path)) continue;
      const auto beside = MappedFile::open(path);
      add_content(*beside, hash);
      size += beside->size();
    }
  return std::to_string(size) + "-" + hash.hex();
}

TraceFiles find_trace_files(const ImportOptions& options, const Progress& progress) {
  TraceFiles out;
  std::error_code none;
  KnownTraces known = known_traces(options.session);
  const std::string told = told_of(options);
  std::vector<std::string> all;  // counts both traces that are read and traces that are known
  for (const std::string& path : options.traces) {
    if (is_dead_link(path)) bad_input(path, why_unfinished(path), "fetch the file it links to");
    if (path == "-") bad_input("-", "a trace is not read from standard input", "name a file");
    if (fs::is_directory(path, none))
      add_folder(path, told, progress, known, all, out);
    else
      add_file(path, options, told, progress, known, out), all.push_back(path);
  }
  for (const std::string& missing : missing_files(all)) out.warnings.push_back(missing), out.part_missing = true;
  return out;
}

}  // namespace stormcell
