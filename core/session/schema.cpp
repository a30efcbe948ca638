#include "core/session/schema.h"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>
#include <optional>
#include <random>
#include <sstream>
#include <string_view>

#include "core/base/error.h"
#include "core/base/system_error.h"
#include "core/formats/file_kind.h"
#include "core/session/advice.h"

namespace stormcell {
namespace {

// One entry a version; entry i brings version i to i + 1. Released entries are never changed.
constexpr std::array kMigrations = {
    R"sql(
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE model(id INTEGER PRIMARY KEY, fingerprint TEXT NOT NULL, name TEXT NOT NULL, family TEXT NOT NULL, json TEXT NOT NULL);
CREATE TABLE run(id INTEGER PRIMARY KEY, model INTEGER NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL, status TEXT NOT NULL,
  started TEXT NOT NULL, finished TEXT, decisions INTEGER NOT NULL, inputs INTEGER NOT NULL, counted_through INTEGER NOT NULL DEFAULT -1,
  writer TEXT NOT NULL, config TEXT NOT NULL, machine TEXT NOT NULL, dataset TEXT NOT NULL, summary TEXT NOT NULL DEFAULT '');
CREATE TABLE space(run INTEGER, ordinal INTEGER, name TEXT NOT NULL, PRIMARY KEY(run, ordinal)) WITHOUT ROWID;
CREATE TABLE router(id INTEGER PRIMARY KEY, run INTEGER NOT NULL, ordinal INTEGER NOT NULL, name TEXT NOT NULL, branches INTEGER NOT NULL,
  fan_out INTEGER NOT NULL, protocol TEXT NOT NULL, space INTEGER NOT NULL, stack TEXT NOT NULL, parent INTEGER, parent_branch INTEGER,
  batches INTEGER, cells INTEGER, total BLOB);
CREATE TABLE step(run INTEGER, ordinal INTEGER, name TEXT NOT NULL, op TEXT NOT NULL, router INTEGER, branch INTEGER, flops REAL, bytes REAL,
  PRIMARY KEY(run, ordinal)) WITHOUT ROWID;
CREATE TABLE batch(id INTEGER PRIMARY KEY, run INTEGER NOT NULL, number INTEGER NOT NULL, latency_ms REAL NOT NULL, first_sequence INTEGER NOT NULL,
  sequences INTEGER NOT NULL, guard_hits INTEGER NOT NULL, guard_misses INTEGER NOT NULL);
CREATE INDEX batch_by_sequence ON batch(run, first_sequence);
CREATE TABLE batch_space(id INTEGER PRIMARY KEY, batch INTEGER NOT NULL, space INTEGER NOT NULL, first_sequence INTEGER NOT NULL,
  sequences INTEGER NOT NULL, per_sequence INTEGER NOT NULL, step INTEGER NOT NULL, phase INTEGER NOT NULL, real_cells INTEGER NOT NULL,
  mask BLOB, tokens BLOB);
CREATE TABLE decision(id INTEGER PRIMARY KEY, data BLOB NOT NULL);
CREATE TABLE event(batch INTEGER PRIMARY KEY, data BLOB NOT NULL);
CREATE TABLE sequence(run INTEGER, number INTEGER, label TEXT, text TEXT, PRIMARY KEY(run, number)) WITHOUT ROWID;
CREATE TABLE guard(run INTEGER, step INTEGER, hits INTEGER NOT NULL, misses INTEGER NOT NULL, PRIMARY KEY(run, step)) WITHOUT ROWID;
CREATE TABLE guard_miss(batch INTEGER, step INTEGER, misses INTEGER NOT NULL, PRIMARY KEY(batch, step)) WITHOUT ROWID;
CREATE TABLE load_window(router INTEGER, level INTEGER, number INTEGER, batches INTEGER NOT NULL, cells INTEGER NOT NULL, data BLOB NOT NULL,
  PRIMARY KEY(router, level, number)) WITHOUT ROWID;
CREATE TABLE pair_window(id INTEGER PRIMARY KEY, kind INTEGER NOT NULL, router INTEGER NOT NULL, level INTEGER NOT NULL, number INTEGER NOT NULL,
  next INTEGER NOT NULL, batches INTEGER NOT NULL, data BLOB NOT NULL);
CREATE UNIQUE INDEX pair_window_place ON pair_window(router, kind, level, number);
CREATE TABLE label_load(router INTEGER, label TEXT, cells INTEGER NOT NULL, load BLOB NOT NULL, PRIMARY KEY(router, label)) WITHOUT ROWID;
CREATE TABLE token_load(router INTEGER, token INTEGER, cells INTEGER NOT NULL, load BLOB NOT NULL, PRIMARY KEY(router, token)) WITHOUT ROWID;
CREATE VIEW decisions AS SELECT id >> 44 AS run, (id >> 12) & 4294967295 AS batch, id & 4095 AS router, data FROM decision;
CREATE VIEW loads AS SELECT router >> 12 AS run, router & 4095 AS router, level, number, batches, cells, data FROM load_window;
)sql",
    // A layer's facts in imported traces; residency and bytes read, in decisions. The text of recorded tokens.
    R"sql(
ALTER TABLE router ADD COLUMN layer INTEGER;
ALTER TABLE router ADD COLUMN branch_bytes INTEGER;
ALTER TABLE router ADD COLUMN dense_bytes INTEGER;
CREATE TABLE piece(token INTEGER PRIMARY KEY, text TEXT NOT NULL);
)sql",
    // Routers form a graph: edges, and pairs by edge. Batches of any items, their part of an optimisation, grids,
    // batches by phase, how the fingerprint is made, notes on the steps of a plan. Earlier runs knew chains only.
    R"sql(
CREATE TABLE edge(run INTEGER, router INTEGER, next INTEGER, branches BLOB, PRIMARY KEY(run, router, next)) WITHOUT ROWID;
INSERT INTO edge(run, router, next)
  SELECT run, (SELECT max(a.id & 4095) FROM router a WHERE a.id < b.id AND a.id >= b.run << 12 AND a.stack = b.stack AND a.space = b.space) AS previous,
    id & 4095 FROM router b WHERE previous IS NOT NULL;
DROP INDEX pair_window_place;
CREATE UNIQUE INDEX pair_window_place ON pair_window(router, kind, next, level, number);
ALTER TABLE batch ADD COLUMN part INTEGER NOT NULL DEFAULT 0;
ALTER TABLE batch ADD COLUMN items BLOB;
CREATE TABLE batch_item(run INTEGER, item INTEGER, batch INTEGER, PRIMARY KEY(run, item, batch)) WITHOUT ROWID;
ALTER TABLE batch_space ADD COLUMN columns INTEGER NOT NULL DEFAULT 0;
CREATE INDEX batch_space_by_phase ON batch_space(phase, id);
ALTER TABLE model ADD COLUMN form TEXT NOT NULL DEFAULT '';
CREATE TABLE annotation(run INTEGER, step INTEGER, key TEXT, value TEXT NOT NULL, PRIMARY KEY(run, step, key)) WITHOUT ROWID;
)sql",
    // Start position of each sequence: decoding continues prompts of different lengths.
    R"sql(
ALTER TABLE batch_space ADD COLUMN starts BLOB;
)sql",
    // Placements, which share the numbers of runs. Runs whose batches have loads and neither cells nor decisions:
    // imported counts.
    R"sql(
CREATE TABLE placement(id INTEGER PRIMARY KEY, run INTEGER NOT NULL, name TEXT NOT NULL, solver TEXT NOT NULL, created TEXT NOT NULL,
  layout TEXT NOT NULL, summary TEXT NOT NULL);
)sql",
    // Step and rank of the server that a batch belongs to; traces of several ranks are joined by them.
    R"sql(
ALTER TABLE batch ADD COLUMN server_step INTEGER;
ALTER TABLE batch ADD COLUMN rank INTEGER;
)sql",
    // Thumbnails of pictures.
    R"sql(
CREATE TABLE picture(id INTEGER PRIMARY KEY, run INTEGER NOT NULL, item INTEGER NOT NULL, height INTEGER NOT NULL, width INTEGER NOT NULL,
  channels INTEGER NOT NULL, pixels BLOB NOT NULL);
CREATE UNIQUE INDEX picture_of_item ON picture(run, item);
)sql",
    // The branch by which cells leave a router or only pass it.
    R"sql(
ALTER TABLE router ADD COLUMN residual INTEGER;
)sql",
    // Loads and margins of whole runs as rows of numbers, which a query needs no program to read.
    R"sql(
CREATE TABLE run_load(router INTEGER, branch INTEGER, cells INTEGER NOT NULL, PRIMARY KEY(router, branch)) WITHOUT ROWID;
CREATE TABLE run_margin(router INTEGER, bin INTEGER, cells INTEGER NOT NULL, PRIMARY KEY(router, bin)) WITHOUT ROWID;
CREATE VIEW run_loads AS SELECT router >> 12 AS run, router & 4095 AS router, branch, cells FROM run_load;
CREATE VIEW run_margins AS SELECT router >> 12 AS run, router & 4095 AS router, bin, cells FROM run_margin;
)sql"};
static_assert(kMigrations.size() == kSchemaVersion);

// Entry i stands in for migration i by views of the connection, which hide the file's tables of the same name. Columns
// are named, so that a session can still be read while another program migrates it.
constexpr std::array kAdapters = {"",
                                  R"sql(
CREATE TEMP VIEW router AS SELECT id, run, ordinal, name, branches, fan_out, protocol, space, stack, parent, parent_branch, batches, cells,
  total, NULL AS layer, NULL AS branch_bytes, NULL AS dense_bytes, NULL AS residual FROM main.router;
CREATE TEMP VIEW piece AS SELECT 0 AS token, '' AS text WHERE 0;
)sql",
                                  R"sql(
CREATE TEMP VIEW edge AS SELECT run, (SELECT max(a.id & 4095) FROM main.router a WHERE a.id < b.id AND a.id >= b.run << 12 AND
  a.stack = b.stack AND a.space = b.space) AS router, id & 4095 AS next, NULL AS branches FROM main.router b;
CREATE TEMP VIEW batch AS SELECT id, run, number, latency_ms, first_sequence, sequences, guard_hits, guard_misses, 0 AS part, NULL AS items,
  NULL AS server_step, NULL AS rank FROM main.batch;
CREATE TEMP VIEW batch_item AS SELECT 0 AS run, 0 AS item, 0 AS batch WHERE 0;
CREATE TEMP VIEW batch_space AS SELECT id, batch, space, first_sequence, sequences, per_sequence, step, phase, real_cells, mask, tokens,
  0 AS columns, NULL AS starts FROM main.batch_space;
CREATE TEMP VIEW model AS SELECT id, fingerprint, name, family, json, '' AS form FROM main.model;
CREATE TEMP VIEW annotation AS SELECT 0 AS run, 0 AS step, '' AS key, '' AS value WHERE 0;
)sql",
                                  // The adapter of an older version has made this view already.
                                  R"sql(
CREATE TEMP VIEW IF NOT EXISTS batch_space AS SELECT id, batch, space, first_sequence, sequences, per_sequence, step, phase, real_cells, mask,
  tokens, columns, NULL AS starts FROM main.batch_space;
)sql",
                                  R"sql(
CREATE TEMP VIEW placement AS SELECT 0 AS id, 0 AS run, '' AS name, '' AS solver, '' AS created, '' AS layout, '' AS summary WHERE 0;
)sql",
                                  R"sql(
CREATE TEMP VIEW IF NOT EXISTS batch AS SELECT id, run, number, latency_ms, first_sequence, sequences, guard_hits, guard_misses, part, items,
  NULL AS server_step, NULL AS rank FROM main.batch;
)sql",
                                  R"sql(
CREATE TEMP VIEW picture AS SELECT 0 AS id, 0 AS run, 0 AS item, 0 AS height, 0 AS width, 0 AS channels, x'' AS pixels WHERE 0;
)sql",
                                  R"sql(
CREATE TEMP VIEW IF NOT EXISTS router AS SELECT id, run, ordinal, name, branches, fan_out, protocol, space, stack, parent, parent_branch,
  batches, cells, total, layer, branch_bytes, dense_bytes, NULL AS residual FROM main.router;
)sql",
                                  R"sql(
CREATE TEMP VIEW run_load AS SELECT 0 AS router, 0 AS branch, 0 AS cells WHERE 0;
CREATE TEMP VIEW run_margin AS SELECT 0 AS router, 0 AS bin, 0 AS cells WHERE 0;
)sql"};
static_assert(kAdapters.size() == kSchemaVersion);

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// Field 22 of /proc/PID/stat; the name in field 2 may hold spaces and brackets, so count from the last bracket.
std::string start_time(long pid) {
  const std::string stat = first_line("/proc/" + std::to_string(pid) + "/stat");
  const size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos) return {};
  std::istringstream rest(stat.substr(name_end + 1));
  std::string field;
  rest >> field;  // field 3, the state
  if (field == "Z" || field == "X") return {};
  for (int i = 4; i <= 22; ++i) rest >> field;
  return field;
}

std::string boot_id() { return first_line("/proc/sys/kernel/random/boot_id"); }

std::string random_id() {
  std::random_device device;
  std::string id;
  for (int i = 0; i < 4; ++i) {
    char part[9];
    std::snprintf(part, sizeof part, "%08x", static_cast<unsigned>(device()));
    id += part;
  }
  return id;
}

[[noreturn]] void refuse_other_database(const std::string& path, std::string_view advice) {
  const std::optional<KnownFile> known = known_file(path);
  if (advice.empty()) advice = known && !known->remedy.empty() ? std::string_view(known->remedy) : kNameSession;
  bad_input(path, "is " + (known ? known->name : "an SQLite file") + ", not a session", advice);
}

}  // namespace

FileState look_at(const std::string& path, std::string_view advice) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    if (errno == ENOENT) return FileState::missing;
    bad_input(path, std::strerror(errno), advice_on_errno(errno));
  }
  if (S_ISDIR(status.st_mode)) bad_input(path, "is a folder, not a session", advice);
  if (!S_ISREG(status.st_mode)) bad_input(path, "is not a regular file, so it cannot be a session", advice);
  if (::access(path.c_str(), R_OK) != 0) bad_input(path, std::strerror(errno), advice_on_errno(errno));
  return status.st_size == 0 ? FileState::empty : FileState::something;
}

void check_session(sqlite::Database& db, std::string_view advice) {
  const int64_t version = db.number("PRAGMA user_version");
  if (db.number("PRAGMA application_id") != kApplicationId || version < 1) refuse_other_database(db.path(), advice);
  if (version > kSchemaVersion)
    bad_input(db.path(),
              "a session of schema " + std::to_string(version) + ", this program knows schemas up to " +
                  std::to_string(kSchemaVersion),
              "use a newer Stormcell");
}

void adapt_to_read(sqlite::Database& db) {
  const int64_t version = db.number("PRAGMA user_version");
  if (version >= kSchemaVersion) return;
  db.execute("PRAGMA temp_store=MEMORY; PRAGMA query_only=0");
  for (int64_t v = version; v < kSchemaVersion; ++v) db.execute(kAdapters[v]);
  db.execute("PRAGMA query_only=1");
}

void migrate(sqlite::Database& db) {
  db.execute("BEGIN IMMEDIATE");
  try {
    const int64_t version = db.number("PRAGMA user_version");
    if (version > 0 || db.number("SELECT count(*) FROM sqlite_schema") > 0) check_session(db, kChooseAnother);
    for (int64_t v = version; v < kSchemaVersion; ++v) db.execute(kMigrations[v]);
    if (version == 0) {
      db.execute(("PRAGMA application_id=" + std::to_string(kApplicationId)).c_str());
      sqlite::Statement meta(db, "INSERT INTO meta(key, value) VALUES(?, ?)");
      const std::string id = random_id(), created = now_utc();
      meta.bind(1, std::string_view("id")).bind(2, std::string_view(id)).run();
      meta.bind(1, std::string_view("created")).bind(2, std::string_view(created)).run();
      meta.bind(1, std::string_view("program")).bind(2, std::string_view(STORMCELL_VERSION)).run();
    }
    if (version < kSchemaVersion) db.execute(("PRAGMA user_version=" + std::to_string(kSchemaVersion)).c_str());
    db.execute("COMMIT");
  } catch (...) {
    if (db.in_transaction()) {
      try {
        db.execute("ROLLBACK");
      } catch (const Error&) {
      }
    }
    throw;
  }
}

std::string this_writer() { return boot_id() + " " + std::to_string(::getpid()) + " " + start_time(::getpid()); }

bool is_alive(const std::string& writer) {
  std::istringstream in(writer);
  std::string boot, start;
  long pid = 0;
  in >> boot >> pid >> start;
  return pid > 0 && !boot.empty() && boot == boot_id() && start == start_time(pid);
}

std::string now_utc() {
  const auto now = std::chrono::system_clock::now();
  const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count() % 1000;
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  char text[40];
  const size_t n = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &utc);
  std::snprintf(text + n, sizeof text - n, ".%03dZ", static_cast<int>(ms));
  return text;
}

}  // namespace stormcell
