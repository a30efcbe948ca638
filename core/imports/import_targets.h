// Chooses the sessions that an import writes: one for each model.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/imports/import_options.h"
#include "core/session/session_writer.h"
#include "core/traces/trace.h"

namespace stormcell {

/// The first model goes to `session`, the second to "S-2.storm" beside "S.storm", and so on.
std::string session_of_model(const std::string& session, size_t number);
/// The fingerprint of the model in an existing session; empty: there is no session that can be read.
std::string fingerprint_in(const std::string& session);

/// A session is opened when the header of the first trace of its model has been read, so a trace that cannot be read
/// changes nothing.
class ImportTargets {
 public:
  ImportTargets(const ImportOptions& options, const TracedModel& model) : options_(options), model_(model) {}

  /// Notes the number of experts of a trace that is read later, and that states it only by the largest id.
  void expect(const TraceHeader& header);
  /// The session for the trace's model: the one that this import has opened, else the first name that is free or holds
  /// the model. A trace that states the number of experts only by its largest id gets the largest number of the traces
  /// of its model.
  SessionWriter& open(TraceHeader& header, const std::string& trace);
  /// Throws Error(bad_input) if the session that -o names exists and has none of the models. `is_known`: it holds one
  /// of the traces.
  void check(bool is_known) const;
  void keep();
  void take_back();

 private:
  struct Target {
    std::vector<std::string> fingerprints;  ///< fingerprints by which a trace is of this model
    std::unique_ptr<SessionWriter> session;
  };
  /// Numbers of branches of one model.
  struct Branches {
    std::vector<std::string> fingerprints;
    std::map<std::string, int32_t> of_router;
    int32_t most = 0;
    void add(const std::string& router, int32_t branches);
  };
  std::string place_of(const std::vector<std::string>& fingerprints) const;
  Branches& branches_of(const std::vector<std::string>& fingerprints);
  void complete(TraceHeader& header, const std::vector<std::string>& fingerprints) const;

  const ImportOptions& options_;
  const TracedModel& model_;
  std::vector<Branches> expected_;
  std::vector<Target> targets_;
  ModelSummary first_;  ///< of the first trace, for the message of check()
};

}  // namespace stormcell
