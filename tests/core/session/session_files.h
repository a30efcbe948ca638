// Sessions as files: how calls end, what lies beside them, whether a run is whole.
#pragma once
#include <sqlite3.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "core/base/error.h"
#include "tests/core/session/session_fixture.h"
#include "tests/testing/complaint.h"

namespace stormcell::testing {

/// How a call ended.
struct Outcome {
  ErrorKind kind = ErrorKind::interrupted;
  std::string message = "no error";
};
inline Outcome outcome(const std::function<void()>& f) {
  Outcome ended;
  if (const std::string said = complaint(f, &ended.kind); !said.empty()) ended.message = said;
  return ended;
}
inline void write_text(const std::string& path, const std::string& text) { std::ofstream(path) << text; }
inline std::string read_all(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}
inline void execute(const std::string& path, const char* sql) {
  sqlite3* db = nullptr;
  sqlite3_open(path.c_str(), &db);
  sqlite3_exec(db, sql, nullptr, nullptr, nullptr);
  sqlite3_close(db);
}
/// Beside the session there is still what SQLite needs to recover it.
inline bool has_wal(const std::string& path) {
  return std::filesystem::exists(path + "-wal") || std::filesystem::exists(path + "-shm");
}

/// Every batch up to the last is there, with its decisions; empty, or what is wrong.
inline std::string hole_in(const SessionReader& reader, int64_t run) {
  const RunLayout layout = two_stacks();
  const int64_t batches = reader.run(run).batches;
  for (int64_t i = 0; i < batches; ++i) {
    BatchRecord batch;
    fill(layout, i, {}, batch);
    for (size_t r = 0; r < layout.routers.size(); ++r) {
      const auto stored = reader.decision(run, static_cast<int32_t>(r), i);
      if (!stored) return "no decision of router " + std::to_string(r) + " in batch " + std::to_string(i);
      const std::string what = difference(*stored, batch.decision(r));
      if (!what.empty()) return what + " of batch " + std::to_string(i);
    }
    if (reader.events(run, i).size() != 3) return "events of batch " + std::to_string(i);
  }
  int64_t counted = 0;
  for (const RouterLoads& w : reader.loads(run, 0, reader.levels(run).back().level, {0, 1000})) counted += w.batches;
  return counted == batches
             ? ""
             : "the windows count " + std::to_string(counted) + " of " + std::to_string(batches) + " batches";
}

}  // namespace stormcell::testing
