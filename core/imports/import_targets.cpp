#include "core/imports/import_targets.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/formats/sha256.h"
#include "core/imports/trace_files.h"
#include "core/session/session_reader.h"

namespace stormcell {
namespace {

namespace fs = std::filesystem;

/// If a trace has no fingerprint of the weights, its name and shape identify the model.
std::string fingerprint_of(const TraceHeader& header) {
  if (!header.fingerprint.empty()) return header.fingerprint;
  std::string text = "trace\n" + header.model + "\n";
  for (const TraceRouter& r : header.routers) text += r.name + " " + std::to_string(r.branches) + "\n";
  return sha256_hex(text);
}

bool is_free(const std::string& path) {
  std::error_code none;
  return !fs::exists(path, none) || (fs::is_regular_file(path, none) && fs::file_size(path, none) == 0);
}

}  // namespace

TracedShape shape_of(const TraceHeader& header) {
  TracedShape shape{header.model, static_cast<int64_t>(header.routers.size()), 0, 0};
  for (const TraceRouter& r : header.routers) {
    shape.branches = std::max<int64_t>(shape.branches, r.branches);
    shape.k = std::max<int64_t>(shape.k, r.fan_out);
  }
  return shape;
}

std::string session_of_model(const std::string& session, size_t number) {
  if (number <= 1) return session;
  const fs::path path(session);
  return (path.parent_path() / (path.stem().string() + "-" + std::to_string(number) + path.extension().string())).string();
}

std::string fingerprint_in(const std::string& session) {
  if (is_free(session)) return {};
  try {
    return SessionReader(session).summary().model.fingerprint;
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::bad_input) throw;
    return {};
  }
}

std::string ImportTargets::place_of(const std::string& fingerprint) const {
  for (size_t number = 1;; ++number) {
    std::string path = session_of_model(options_.session, number);
    const bool is_taken = std::any_of(targets_.begin(), targets_.end(), [&](const Target& t) { return t.session->path() == path; });
    if (is_taken) continue;
    if (is_free(path)) return path;
    const std::string there = fingerprint_in(path);
    // A file that is not a session is refused if the user named it. If this program made the name, it tries the next one.
    if (there == fingerprint || (number == 1 && there.empty())) return path;
  }
}

SessionWriter& ImportTargets::open(const TraceHeader& header, const std::string& trace) {
  const std::string fingerprint = fingerprint_of(header);
  for (const Target& t : targets_)
    if (t.fingerprint == fingerprint) return *t.session;
  const TracedShape shape = shape_of(header);
  ModelSummary model{fingerprint, header.model.empty() ? name_of_trace(trace) : header.model, header.family, {}};
  model.json = nlohmann::json{{"layers", shape.layers}, {"branches", shape.branches}, {"k", shape.k}, {"traced", true}}.dump(
      -1, ' ', false, nlohmann::json::error_handler_t::replace);
  model.form = header.fingerprint.empty() ? "trace" : "";
  if (targets_.empty()) first_ = model;
  targets_.push_back({fingerprint, std::make_unique<SessionWriter>(place_of(fingerprint), model)});
  targets_.back().session->hold();
  return *targets_.back().session;
}

void ImportTargets::check(bool is_known) const {
  const bool is_used =
      std::any_of(targets_.begin(), targets_.end(), [&](const Target& t) { return t.session->path() == options_.session; });
  // The file is opened to see what it holds.
  if (!targets_.empty() && !is_used && !is_known && !is_free(options_.session)) SessionWriter(options_.session, first_);
}

void ImportTargets::keep() {
  for (const Target& t : targets_) {
    t.session->keep();
    t.session->close();
  }
}

void ImportTargets::take_back() {
  for (const Target& t : targets_) {
    t.session->take_back();
    t.session->close();
  }
}

}  // namespace stormcell
