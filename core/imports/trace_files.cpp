#include "core/imports/trace_files.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/base/listed_words.h"
#include "core/formats/json_fields.h"
#include "core/formats/json_file.h"
#include "core/formats/sha256.h"
#include "core/formats/trace/trace.h"
#include "core/session/session_reader.h"

namespace stormcell {
namespace {

namespace fs = std::filesystem;

struct KnownTrace {
  int64_t run = 0;
  std::string format, told;
};
/// By their content.
using KnownTraces = std::multimap<std::string, KnownTrace>;

KnownTraces known_traces(const std::string& session) {
  KnownTraces known;
  std::error_code none;
  if (!fs::exists(session, none) || fs::file_size(session, none) == 0) return known;
  try {
    for (const RunSummary& run : SessionReader(session).runs()) {
      if (run.status != RunStatus::finished) continue;  // what was interrupted is read again, whole
      const nlohmann::json about = json_or_null(run.dataset);
      const std::string content = text_at(about, "content");
      if (!content.empty()) known.emplace(content, KnownTrace{run.id, text_at(about, "format"), text_at(about, "told")});
    }
  } catch (const Error& e) {  // who writes into it says what is wrong
    if (e.kind() != ErrorKind::bad_input) throw;
  }
  return known;
}

/// Null: of none.
const TraceFormat* format_of(const MappedFile& file) {
  const std::string_view content(reinterpret_cast<const char*>(file.bytes().data()), file.size());
  for (const TraceFormat& f : trace_formats())
    if (!content.empty() && f.recognize(content)) return &f;
  return nullptr;
}

void add_content(const MappedFile& file, Sha256& hash) {
  constexpr size_t kPieces = 256, kPiece = 4096;
  const std::span<const std::byte> bytes = file.bytes();
  if (bytes.size() <= kPieces * kPiece) {
    hash.update(bytes);
  } else {
    for (size_t i = 0; i < kPieces; ++i) hash.update(bytes.subspan((bytes.size() - kPiece) / (kPieces - 1) * i, kPiece));
    hash.update(bytes.last(kPiece));
  }
}

std::vector<std::string> files_of(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error))
    if (entry.is_regular_file(error) && !entry.path().filename().string().starts_with(".")) files.push_back(entry.path().string());
  if (error) bad_input(folder, "cannot be read: " + error.message(), "check its permissions");
  std::sort(files.begin(), files.end());
  return files;
}

void add_folder(const std::string& folder, const KnownTraces& known, const Progress& progress, TraceFiles& out) {
  int64_t others = 0, traces = 0, looked_at = 0, beside = 0;
  const std::vector<std::string> files = files_of(folder);
  for (const std::string& path : files) {
    progress.report("looking at files", looked_at++, static_cast<int64_t>(files.size()));
    const auto file = MappedFile::open(path);
    const TraceFormat* format = format_of(*file);
    if (!format) {
      ++others;
      continue;
    }
    if (format->companions) beside += static_cast<int64_t>(format->companions(path).size());
    ++traces;
    if (const auto at = known.find(content_of(*file)); at != known.end())
      out.known.push_back(at->second.run);
    else
      out.traces.push_back(path);
  }
  if (traces == 0) bad_input(folder, "is a folder without a routing trace of a known format", "name the files, with --format");
  others -= std::min(others, beside);  // they are no traces by themselves
  if (others > 0) out.warnings.push_back(folder + ": " + counted(others, "file") + " of no known format left out");
}

/// Read as the user now says: by the same word on it, and in the format that is named, if any.
void add_file(const std::string& path, const ImportOptions& options, const KnownTraces& known, TraceFiles& out) {
  if (!known.empty()) {
    const std::string told = told_of(options);
    const auto [begin, end] = known.equal_range(content_of(*MappedFile::open(path)));
    for (auto at = begin; at != end; ++at) {
      const KnownTrace& one = at->second;
      if (one.told == told && (options.format.empty() || options.format == one.format)) return out.known.push_back(one.run);
    }
  }
  out.traces.push_back(path);
}

}  // namespace

std::string told_of(const ImportOptions& options) {
  std::vector<std::string> told;
  if (!options.model_config.empty()) {
    Sha256 hash;
    hash.update(MappedFile::open(options.model_config)->bytes());
    told.push_back("config.json " + hash.hex());
  }
  if (options.hidden > 0) told.push_back("hidden " + std::to_string(options.hidden));
  if (options.ffn > 0) told.push_back("ffn " + std::to_string(options.ffn));
  if (options.shared_experts >= 0) told.push_back("shared experts " + std::to_string(options.shared_experts));
  return joined(told);
}

std::string content_of(const MappedFile& file) {
  Sha256 hash;
  add_content(file, hash);
  size_t size = file.size();
  const TraceFormat* format = format_of(file);
  if (format && format->companions)
    for (const std::string& path : format->companions(file.path())) {
      const auto beside = MappedFile::open(path);
      add_content(*beside, hash);
      size += beside->size();
    }
  return std::to_string(size) + "-" + hash.hex();
}

TraceFiles find_trace_files(const ImportOptions& options, const Progress& progress) {
  TraceFiles out;
  std::error_code none;
  const KnownTraces known = known_traces(options.session);
  for (const std::string& path : options.traces) {
    if (path == "-") bad_input("-", "a trace is not read from standard input", "name a file");
    if (fs::is_directory(path, none))
      add_folder(path, known, progress, out);
    else
      add_file(path, options, known, out);
  }
  return out;
}

}  // namespace stormcell
