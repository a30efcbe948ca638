// State that a session's writer shares with the writers of its runs.
#pragma once
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/session/blob.h"
#include "core/session/schema.h"
#include "core/session/session_writer.h"
#include "core/session/sqlite.h"

namespace stormcell {

struct SessionWriterState {
  std::mutex mutex;
  sqlite::Database db;
  std::string path;
  int64_t model = 0;
  // why nothing can be written any more, as a text that needs no allocation; empty: writing works
  std::string_view broken;
  bool held = false;                  // nothing is committed
  bool made = false, remove = false;  // the file is ours; it goes when it is closed
  bool taken_back = false;
  std::string header;        // the header before the file was opened; empty: opening it changed more
  int64_t data_version = 0;  // then
  sqlite::Statement insert_batch, insert_item, insert_space, insert_decision, insert_event, insert_window, insert_pairs,
      insert_sequence, insert_miss, insert_piece, insert_picture, delete_picture;

  void open(const ModelSummary& summary);
  bool find_model(const ModelSummary& summary);
  void prepare();
  /// The number for the next run or placement.
  int64_t next_number();
  void begin() {
    if (!broken.empty()) failed(path, broken);
    if (!db.handle()) failed(path, "the session was closed");
    if (!db.in_transaction()) db.execute("BEGIN IMMEDIATE");
  }
  void commit() {
    if (!held && db.handle() && db.in_transaction()) db.execute("COMMIT");
  }
  void rollback() {
    try {
      if (db.handle() && db.in_transaction()) db.execute("ROLLBACK");
    } catch (const Error&) {
    }
  }
  // Runs `write` as a part of the open transaction. When it fails, all that was not committed is lost for every run, so
  // no run goes on.
  template <class F>
  void attempt(F&& write) {
    const std::lock_guard lock(mutex);
    try {
      write();
    } catch (const std::exception& e) {
      if (broken.empty()) broken = "recording stopped after an earlier error";
      rollback();
      throw;
    }
  }
};

}  // namespace stormcell
