// Chooses the sessions that an import writes: one for each model.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "core/formats/trace/trace.h"
#include "core/imports/import.h"
#include "core/session/session_writer.h"

namespace stormcell {

/// The number of routers, and the largest numbers of branches and choices of one router.
TracedShape shape_of(const TraceHeader& header);

/// The first model goes to `session`, the second to "S-2.storm" beside "S.storm", and so on.
std::string session_of_model(const std::string& session, size_t number);
/// The fingerprint of the model in an existing session; empty: there is no session that can be read.
std::string fingerprint_in(const std::string& session);

/// A session is opened when the header of the first trace of its model has been read, so a trace that cannot be read changes nothing.
class ImportTargets {
 public:
  explicit ImportTargets(const ImportOptions& options) : options_(options) {}

  /// The session for the trace's model: the one that this import has opened, else the first name that is free or holds the model.
  SessionWriter& open(const TraceHeader& header, const std::string& trace);
  /// Throws Error(bad_input) if the session that -o names exists and has none of the models. `is_known`: it holds one of the traces.
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
  ModelSummary first_;  ///< of the first trace, for the message of check()
};

}  // namespace stormcell
