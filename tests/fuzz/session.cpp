// An input that begins as an SQLite file is one. SQLite itself finds most damage of such bytes; so any other input is a
// list of changes to the rows of a good session, which reach what only the reader can find.
#include <bit>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "core/profile/recorder.h"
#include "core/session/session_reader.h"
#include "core/session/session_writer.h"
#include "core/session/sqlite.h"
#include "tests/core/profile/synthetic.h"
#include "tests/fuzz/fuzz.h"

using namespace stormcell;

namespace {

/// A path for this process alone, in memory where the system has such a folder.
class SessionFile {
 public:
  SessionFile()
      : path_((std::filesystem::exists("/dev/shm") ? "/dev/shm" : std::filesystem::temp_directory_path()).string() +
              "/stormcell-fuzz-" + std::to_string(::getpid()) + ".storm") {}
  ~SessionFile() { remove(); }
  const std::string& path() const { return path_; }
  void remove() const {
    for (const char* suffix : {"", "-wal", "-shm", "-journal"}) {
      std::error_code ignored;
      std::filesystem::remove(path_ + suffix, ignored);
    }
  }
  void write(std::span<const uint8_t> bytes) const {
    remove();
    std::ofstream(path_, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }
  std::vector<uint8_t> read() const {
    std::ifstream stream(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

 private:
  std::string path_;
};

const SessionFile& file() {
  static const SessionFile one;
  return one;
}

std::vector<uint8_t> good_session() {
  file().remove();
  {
    SessionWriter writer(file().path(), {"0123456789abcdef", "made-up", "switch", "{}"});
    // A finished run, and one that ends in the middle: its windows are summed when they are asked for.
    for (const int64_t batches : {21, 6}) {
      RunStart start;
      start.layout = testing::two_stacks(4);
      start.inputs = true;
      auto run = writer.begin_run(start);
      Recorder recorder({run.get()});
      for (int64_t i = 0; i < batches; ++i) {
        BatchRecord& batch = recorder.begin_batch();
        testing::fill(start.layout, i, {2, 3}, batch, i == 0);
        // The second run's batches list their items.
        if (batches < 10) batch.set_items(std::vector<int64_t>{3 * i + 2, 3 * i});
        recorder.submit();
      }
      recorder.finish();
      if (batches > 10) run->finish(RunStatus::finished, "{}");
    }
    writer.close();
  }
  std::vector<uint8_t> bytes = file().read();
  file().remove();
  return bytes;
}

/// For every column of every table the statement that changes it to ?1 in row ?2. Tables of newer schemas come last, so
/// that an older input changes what it did.
std::vector<std::string> changes_of(std::span<const uint8_t> bytes) {
  file().write(bytes);
  std::vector<std::string> changes;
  sqlite::Database db(file().path(), sqlite::OpenMode::create);
  std::vector<std::string> tables;
  sqlite::Statement table(db,
                          "SELECT name FROM sqlite_schema WHERE type = 'table' "
                          "ORDER BY name IN ('run_load', 'run_margin'), name");
  while (table.step()) tables.emplace_back(table.text(0));
  for (const std::string& name : tables) {
    std::string keys;
    sqlite::Statement key(db, "SELECT name FROM pragma_table_info(?) WHERE pk > 0");
    for (key.bind(1, std::string_view(name)); key.step();) keys += (keys.empty() ? "" : ",") + std::string(key.text(0));
    sqlite::Statement column(db, "SELECT name FROM pragma_table_info(?)");
    for (column.bind(1, std::string_view(name)); column.step();)
      changes.push_back("UPDATE OR REPLACE " + name + " SET " + std::string(column.text(0)) + " = ?1 WHERE (" + keys +
                        ") IN (SELECT " + keys + " FROM " + name + " LIMIT 1 OFFSET ?2)");
  }
  return changes;
}

/// Takes values from the input for as long as there are any; then zeros.
class Source {
 public:
  Source(const uint8_t* data, size_t size) : data_(data, size) {}
  bool empty() const { return data_.empty(); }
  std::span<const uint8_t> take(size_t bytes) {
    const auto taken = data_.first(std::min(bytes, data_.size()));
    data_ = data_.subspan(taken.size());
    return taken;
  }
  uint8_t byte() {
    const auto taken = take(1);
    return taken.empty() ? 0 : taken[0];
  }
  int64_t number() {
    int64_t value = 0;
    const auto taken = take(8);
    std::memcpy(&value, taken.data(), taken.size());
    return value;
  }

 private:
  std::span<const uint8_t> data_;
};

void change_rows(const std::vector<std::string>& changes, Source source) {
  constexpr int kMostChanges = 8;
  sqlite::Database db(file().path(), sqlite::OpenMode::create);
  db.text("PRAGMA journal_mode=MEMORY");
  db.text("PRAGMA synchronous=OFF");
  for (int i = 0; i < kMostChanges && !source.empty(); ++i) {
    sqlite::Statement update(db, changes[source.byte() % changes.size()].c_str());
    update.bind(2, int64_t{source.byte()});
    switch (source.byte() % 5) {
      case 0:
        update.bind(1, static_cast<int64_t>(static_cast<int8_t>(source.byte())));
        break;
      case 1:
        update.bind(1, source.number());
        break;
      case 2:
        update.bind(1, std::bit_cast<double>(source.number()));
        break;
      case 3:
        update.bind_null(1);
        break;
      default:
        update.bind(1, source.take(source.byte()));
    }
    try {
      update.run();
    } catch (const Error&) {  // a value that the table itself refuses
    }
  }
}

/// Asks every question once.
void read_all(const std::string& path) {
  constexpr size_t kMostRuns = 4, kMostRouters = 8;
  constexpr int64_t kMostBatches = 4, kMany = 1000;
  const SessionReader reader(path);
  const auto ask = [](auto&& question) { fuzz::refused_or_done(question); };
  ask([&] { reader.check(); });
  std::vector<RunSummary> runs;
  ask([&] { runs = reader.runs(); });
  ask([&] { reader.find_run("first"); });
  for (size_t i = 0; i < std::min(runs.size(), kMostRuns); ++i) {
    const int64_t run = runs[i].id;
    RunLayout layout;
    std::vector<PyramidLevel> levels;
    std::vector<BatchSummary> batches;
    ask([&] { layout = reader.layout(run); });
    ask([&] { levels = reader.levels(run); });
    ask([&] { reader.guards(run); });
    ask([&] { reader.inputs(run, {0, kMany}); });
    ask([&] {
      for (const auto& [item, t] : reader.thumbnails(run, {0, kMany}))
        fuzz::require(static_cast<int64_t>(t.pixels.size()) == t.size.pixels() * t.channels,
                      "a picture has the pixels of its size");
    });
    ask([&] { reader.thumbnail_count(run); });
    ask([&] { batches = reader.batches(run, {0, kMany}); });
    ask([&] { reader.batches_with(run, {0, kMany}, kMany); });
    ask([&] { reader.sequences(run); });
    ask([&] { reader.batches_of_phase(run, Phase::decode, {0, kMany}); });
    for (size_t r = 0; r < std::min(layout.routers.size(), kMostRouters); ++r) {
      const auto router = static_cast<int32_t>(r);
      const auto branches = static_cast<size_t>(layout.routers[r].branches);
      for (const PyramidLevel& level : levels)
        ask([&] {
          for (const RouterLoads& loads : reader.loads(run, router, level.level, {0, kMany}))
            fuzz::require(loads.load.size() == branches && loads.padded.size() == branches,
                          "a window has its router's branches");
        });
      ask([&] {
        fuzz::require(reader.total_loads(run, router).load.size() == branches, "a total has its router's branches");
      });
      for (const LayoutEdge& e : layout.edges)
        if (e.from == router) ask([&] { reader.transitions(run, router, e.to, {0, kMany}); });
      ask([&] { reader.coactivation(run, router, {1, 1 + kMany}); });
      ask([&] { reader.label_loads(run, router); });
      ask([&] { reader.token_loads(run, router, kMany); });
      for (int64_t b = 0; b < std::min(static_cast<int64_t>(batches.size()), kMostBatches); ++b)
        ask([&] {
          if (const auto decision = reader.decision(run, router, b)) {
            fuzz::require(decision->choice.size() == static_cast<size_t>(decision->cells * decision->fan_out),
                          "every cell has its choices");
            fuzz::require(decision->cells_by_branch().size() == static_cast<size_t>(decision->offsets.back()),
                          "kept cells are listed");
          }
        });
    }
    for (int64_t b = 0; b < std::min(static_cast<int64_t>(batches.size()), kMostBatches); ++b) {
      ask([&] { reader.spaces(run, b); });
      ask([&] { reader.events(run, b); });
    }
    for (int32_t space = 0; space < 2; ++space)
      for (int32_t sequence = 0; sequence < 3; ++sequence)
        ask([&] {
          CellId cell;
          cell.sequence = sequence;
          cell.position = 1;
          reader.cell_path(run, space, cell);
        });
  }
}

}  // namespace

STORMCELL_FUZZ_TARGET(session) {
  static const std::vector<uint8_t> good = good_session();
  static const std::vector<std::string> changes = changes_of(good);
  constexpr std::string_view kSqlite = "SQLite";
  if (size >= kSqlite.size() && std::memcmp(data, kSqlite.data(), kSqlite.size()) == 0) {
    file().write({data, size});
  } else {
    file().write(good);
    change_rows(changes, {data, size});
  }
  fuzz::refused_or_done([] { read_all(file().path()); });
  file().remove();
  return 0;
}
