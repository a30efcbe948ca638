#include "core/imports/trace_files.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/formats/json_fields.h"
#include "core/formats/json_file.h"
#include "core/formats/sha256.h"
#include "core/formats/trace/trace.h"
#include "core/session/session_reader.h"

namespace stormcell {
namespace {

namespace fs = std::filesystem;

/// By their content, the runs that hold them.
using KnownTraces = std::map<std::string, int64_t>;

KnownTraces known_traces(const std::string& session) {
  KnownTraces known;
  std::error_code none;
  if (!fs::exists(session, none) || fs::file_size(session, none) == 0) return known;
  for (const RunSummary& run : SessionReader(session).runs()) {
    if (run.status != RunStatus::finished) continue;  // what was interrupted is read again, whole
    const std::string content = text_at(json_or_null(run.dataset), "content");
    if (!content.empty()) known.emplace(content, run.id);
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
    (known.contains(content_of(*file)) ? out.known : out.traces).push_back(path);
  }
  if (traces == 0) bad_input(folder, "is a folder without a routing trace of a known format", "name the files, with --format");
  others -= std::min(others, beside);  // they are no traces by themselves
  if (others > 0) out.warnings.push_back(folder + ": " + counted(others, "file") + " of no known format left out");
}

}  // namespace

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

TraceFiles find_trace_files(const std::vector<std::string>& named, const std::string& session, const Progress& progress) {
  TraceFiles out;
  std::error_code none;
  const bool folders = std::any_of(named.begin(), named.end(), [&](const std::string& path) { return fs::is_directory(path, none); });
  const KnownTraces known = folders ? known_traces(session) : KnownTraces{};
  for (const std::string& path : named) {
    if (path == "-") bad_input("-", "a trace is not read from standard input", "name a file");
    if (fs::is_directory(path, none))
      add_folder(path, known, progress, out);
    else
      out.traces.push_back(path);
  }
  return out;
}

}  // namespace stormcell
