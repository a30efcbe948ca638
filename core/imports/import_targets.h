// The sessions that an import writes: one for each model.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "core/formats/trace/trace.h"
#include "core/imports/import.h"
#include "core/session/session_writer.h"

namespace stormcell {

/// How many routers there are, and the most branches and choices of one of them.
TracedShape shape_of(const TraceHeader& header);

/// The session of the first model is `session`, that of the second "S-2.storm" beside "S.storm", and so on.
std::string session_of_model(const std::string& session, size_t number);
/// The fingerprint of the model in an existing session; empty: there is no session that can be read.
std::string fingerprint_in(const std::string& session);

/// Each session is opened by the first trace of its model that has a header: what cannot be read changes nothing.
class ImportTargets {
 public:
  explicit ImportTargets(const ImportOptions& options) : options_(options) {}

  /// The session for the trace's model: the one that this import opened, else the first of the names that is free or holds the model.
  SessionWriter& open(const TraceHeader& header, const std::string& trace);
  /// Throws Error(bad_input) where the session that -o names is there and of none of the models. `is_known`: it holds one of the traces.
  void check(bool is_known) const;
  void keep();
  void take_back();

 private:
  struct Target {
    std::string fingerprint;
    std::unique_ptr<SessionWriter> session;
  };
  std::string place_of(const std::string& fingerprint) const;

  const ImportOptions& options_;
  std::vector<Target> targets_;
  ModelSummary first_;  ///< of the first trace, for the complaint of check()
};

}  // namespace stormcell
