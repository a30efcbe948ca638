#include "core/imports/import_targets.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/formats/sha256.h"
#include "core/imports/trace_files.h"
#include "core/imports/traced_shape.h"
#include "core/session/session_reader.h"

namespace stormcell {
namespace {

namespace fs = std::filesystem;

bool lacks_branches(const TraceHeader& header) {
  return std::find(header.lacks.begin(), header.lacks.end(), "branches") != header.lacks.end();
}

/// A trace that has no fingerprint of the weights is identified by names and shape. A new session gets the first
/// fingerprint; the others are known again. Names and numbers of all routers are exact. Ranks may differ in the largest
/// id and, as stages of a pipeline, in layers: what differs between them is left out of a fingerprint that comes before
/// the exact one.
std::vector<std::string> fingerprints_of(const TraceHeader& header, const TracedModel& model) {
  if (!header.fingerprint.empty()) return {header.fingerprint};
  const std::string name = "trace\n" + header.model + "\n";
  std::string exact = name, names = name + "numbers of branches are not stated\n";
  int32_t choices = 0;
  for (const TraceRouter& r : header.routers) {
    exact += r.name + " " + std::to_string(r.branches) + "\n";
    names += r.name + "\n";
    choices = std::max(choices, r.fan_out);
  }
  const bool is_rank = header.rank >= 0, is_counted = !lacks_branches(header);
  std::vector<std::string> texts;
  if (model.branches > 0 && model.layers > 0) {
    const std::string stated =
        name + "configuration " + std::to_string(model.branches) + " " + std::to_string(model.layers) + "\n";
    texts = is_rank ? std::vector{stated, exact} : std::vector{exact, stated};
  } else {
    if (is_rank && header.model_layers == 0) {
      std::string rank = name + "layers of a rank, choices " + std::to_string(choices) + "\n";
      if (is_counted) rank += "branches " + std::to_string(shape_of(header).branches) + "\n";
      texts.push_back(std::move(rank));
    }
    if (!is_counted) texts.push_back(names);
    texts.push_back(exact);
  }
  std::vector<std::string> all;
  for (const std::string& text : texts) all.push_back(sha256_hex(text));
  return all;
}

bool has_any_of(const std::vector<std::string>& known, const std::vector<std::string>& asked) {
  return std::any_of(asked.begin(), asked.end(),
                     [&](const std::string& one) { return std::find(known.begin(), known.end(), one) != known.end(); });
}

void add_new(const std::vector<std::string>& more, std::vector<std::string>& all) {
  for (const std::string& one : more)
    if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(one);
}

bool is_free(const std::string& path) {
  std::error_code none;
  return !fs::exists(path, none) || (fs::is_regular_file(path, none) && fs::file_size(path, none) == 0);
}

}  // namespace

std::string session_of_model(const std::string& session, size_t number) {
  if (number <= 1) return session;
  const fs::path path(session);
  return (path.parent_path() / (path.stem().string() + "-" + std::to_string(number) + path.extension().string()))
      .string();
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

void ImportTargets::Branches::add(const std::string& router, int32_t branches) {
  int32_t& of = of_router[router];
  of = std::max(of, branches);
  most = std::max(most, branches);
}

ImportTargets::Branches& ImportTargets::branches_of(const std::vector<std::string>& fingerprints) {
  auto at = std::find_if(expected_.begin(), expected_.end(),
                         [&](const Branches& b) { return has_any_of(b.fingerprints, fingerprints); });
  if (at == expected_.end()) at = expected_.insert(expected_.end(), Branches{});
  add_new(fingerprints, at->fingerprints);
  return *at;
}

void ImportTargets::expect(const TraceHeader& header) {
  if (!lacks_branches(header)) return;
  Branches& known = branches_of(fingerprints_of(header, model_));
  for (const TraceRouter& r : header.routers) known.add(r.name, r.branches);
}

/// Routers that have one number of branches keep one number, also if the other traces have other layers.
void ImportTargets::complete(TraceHeader& header, const std::vector<std::string>& fingerprints) const {
  if (!lacks_branches(header) || header.counts || header.routers.empty()) return;
  Branches known;
  for (const Branches& b : expected_) {
    if (!has_any_of(b.fingerprints, fingerprints)) continue;
    for (const auto& [router, branches] : b.of_router) known.add(router, branches);
  }
  const int32_t first = header.routers[0].branches;
  const bool alike = std::all_of(header.routers.begin(), header.routers.end(),
                                 [&](const TraceRouter& r) { return r.branches == first; });
  for (TraceRouter& r : header.routers) {
    const auto of = known.of_router.find(r.name);
    r.branches = std::max(r.branches, alike ? known.most : of != known.of_router.end() ? of->second : 0);
  }
}

std::string ImportTargets::place_of(const std::vector<std::string>& fingerprints) const {
  for (size_t number = 1;; ++number) {
    std::string path = session_of_model(options_.session, number);
    const bool is_taken =
        std::any_of(targets_.begin(), targets_.end(), [&](const Target& t) { return t.session->path() == path; });
    if (is_taken) continue;
    if (is_free(path)) return path;
    const std::string there = fingerprint_in(path);
    // A file that is not a session is refused if the user named it. If this program made the name, it tries the next
    // one.
    if (has_any_of(fingerprints, {there}) || (number == 1 && there.empty())) return path;
  }
}

SessionWriter& ImportTargets::open(TraceHeader& header, const std::string& trace) {
  const std::vector<std::string> fingerprints = fingerprints_of(header, model_);
  for (Target& t : targets_) {
    if (!has_any_of(t.fingerprints, fingerprints)) continue;
    add_new(fingerprints, t.fingerprints);
    complete(header, fingerprints);
    return *t.session;
  }
  const std::string path = place_of(fingerprints);
  if (lacks_branches(header) && has_any_of(fingerprints, {fingerprint_in(path)})) {
    const SessionReader reader(path);
    Branches& known = branches_of(fingerprints);
    for (const RunSummary& run : reader.runs())
      for (const RouterInfo& router : reader.layout(run.id).routers) known.add(router.name, router.branches);
  }
  complete(header, fingerprints);
  const TracedShape shape = shape_of(header);
  ModelSummary model{fingerprints[0], header.model.empty() ? name_of_trace(trace) : header.model, header.family, {}};
  model.json =
      nlohmann::json{{"layers", shape.layers}, {"branches", shape.branches}, {"k", shape.k}, {"traced", true}}.dump(
          -1, ' ', false, nlohmann::json::error_handler_t::replace);
  model.form = header.fingerprint.empty() ? kTraceForm : "";
  model.is_older_fingerprint = [fingerprints](std::string_view there) {
    return std::find(fingerprints.begin(), fingerprints.end(), there) != fingerprints.end();
  };
  if (targets_.empty()) first_ = model;
  targets_.push_back({fingerprints, std::make_unique<SessionWriter>(path, model)});
  targets_.back().session->hold();
  return *targets_.back().session;
}

void ImportTargets::check(bool is_known) const {
  const bool is_used = std::any_of(targets_.begin(), targets_.end(),
                                   [&](const Target& t) { return t.session->path() == options_.session; });
  // Opens the file to see its content.
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
