#include <algorithm>
#include <chrono>
#include <map>
#include <numeric>

#include "core/cell/margins.h"
#include "core/session/kept_pictures.h"
#include "core/session/session_writer_state.h"

namespace stormcell {
namespace {

using sqlite::Statement;
using Clock = std::chrono::steady_clock;

constexpr size_t kMostTokenRows = 4096;  // stored for each router: those with the most cells
// Loads by label and token are rewritten whole; at most 1 % of the time goes into it.
constexpr auto kFlushEvery = std::chrono::seconds(5);
constexpr int kFlushShare = 100;

}  // namespace

struct RunWriter::State : WindowSink {
  State(std::shared_ptr<SessionWriterState> session_, const RunStart& start)
      : session(std::move(session_)),
        decisions(start.decisions),
        inputs(start.inputs),
        piece(start.piece),
        accumulator(start.layout, this),
        pictures(kMostThumbnails, std::min(start.picture_bytes, kMostThumbnailBytes)) {}

  void loads(const WindowKey& key, const RouterLoads& loads) override {
    blob::put_loads(loads, buffer);
    session->insert_window.bind(1, router_key(id, key.router)).bind(2, int64_t{key.level}).bind(3, key.window);
    session->insert_window.bind(4, loads.batches).bind(5, loads.cells).bind(6, std::span<const uint8_t>(buffer)).run();
  }
  void pairs(PairKind kind, const WindowKey& key, int32_t to, int64_t batches, const PairTable& table) override {
    blob::put_pairs(table, buffer);
    session->insert_pairs.bind(1, static_cast<int64_t>(kind))
        .bind(2, router_key(id, key.router))
        .bind(3, int64_t{key.level})
        .bind(4, key.window);
    session->insert_pairs.bind(5, router_key(id, to)).bind(6, batches).bind(7, std::span<const uint8_t>(buffer)).run();
  }

  void insert_run(const RunStart& start);
  void write_batch(const BatchRecord& batch);
  static int64_t first_item(const BatchRecord& batch);
  GuardTotal write_guards(const BatchRecord& batch, int64_t key);
  void write_space(const SpaceRecord& space, int64_t batch);
  void write_sequences(const BatchRecord& batch, int64_t first, int64_t sequences);
  void write_thumbnails(const BatchRecord& batch, int64_t first);
  void write_pieces(std::span<const int32_t> tokens_of_batch);
  void write_keyed_loads();
  void count_margins_of(const BatchRecord& batch);
  void write_totals();
  void write_rows_of_totals();

  std::shared_ptr<SessionWriterState> session;
  int64_t id = 0;
  bool decisions, inputs;
  std::function<std::string(int32_t)> piece;
  std::vector<bool> pieces_written;  // by token
  ProfileAccumulator accumulator;
  std::map<int32_t, MarginBins> margins;  // by router; those that have any
  std::vector<GuardTotal> guards;
  blob::Bytes buffer, tokens;
  KeptPictures pictures;
  int64_t last_batch = -1;
  int64_t batches = 0;
  bool keyed_loads_pending = false, finished = false;
  Clock::time_point next_flush = Clock::now() + kFlushEvery;
};

RunWriter::RunWriter(std::shared_ptr<SessionWriterState> session, const RunStart& start) {
  if (std::ssize(start.layout.routers) > kMostRouters || std::ssize(start.layout.spaces) > kMostSpaces)
    bad_input(
        session->path, "a session holds at most 4096 routers and 64 cell spaces for each run",
        std::to_string(start.layout.routers.size()) + " and " + std::to_string(start.layout.spaces.size()) + " came");
  state_ = std::make_unique<State>(session, start);
  session->attempt([&] {
    session->begin();
    state_->insert_run(start);
    session->commit();
  });
}

RunWriter::~RunWriter() {
  if (state_->finished) return;
  try {
    finish(RunStatus::interrupted);
  } catch (const std::exception&) {
  }
}

int64_t RunWriter::id() const { return state_->id; }
const ProfileAccumulator& RunWriter::profile() const { return state_->accumulator; }

void RunWriter::batch(const BatchRecord& batch) {
  state_->session->attempt([&] {
    state_->session->begin();
    state_->write_batch(batch);
  });
}

void RunWriter::commit() {
  state_->session->attempt([&] {
    if (state_->keyed_loads_pending && Clock::now() >= state_->next_flush) {
      const auto begin = Clock::now();
      state_->session->begin();
      state_->write_keyed_loads();
      state_->next_flush = Clock::now() + std::max<Clock::duration>(kFlushEvery, (Clock::now() - begin) * kFlushShare);
    }
    state_->session->commit();
  });
}

void RunWriter::finish(RunStatus status, const std::string& summary) {
  State& s = *state_;
  if (s.finished) return;
  s.finished = true;
  s.session->attempt([&] {
    s.session->begin();
    s.accumulator.finish();
    s.write_keyed_loads();
    s.write_totals();
    s.write_rows_of_totals();
    Statement update(s.session->db, "UPDATE run SET status = ?, summary = ?, finished = ? WHERE id = ?");
    const std::string now = now_utc();
    update.bind(1, to_text(status))
        .bind(2, std::string_view(summary))
        .bind(3, std::string_view(now))
        .bind(4, s.id)
        .run();
    s.session->commit();
  });
}

void RunWriter::State::insert_run(const RunStart& start) {
  SessionWriterState& s = *session;
  id = s.next_number();
  Statement insert(
      s.db,
      "INSERT INTO run(id, model, kind, name, status, started, decisions, inputs, writer, config, machine, dataset) "
      "VALUES(?, ?, ?, ?, 'running', ?, ?, ?, ?, ?, ?, ?)");
  const std::string now = now_utc(), writer = this_writer();
  insert.bind(1, id).bind(2, s.model).bind(3, std::string_view(start.kind)).bind(4, std::string_view(start.name));
  insert.bind(5, std::string_view(now))
      .bind(6, int64_t{start.decisions})
      .bind(7, int64_t{start.inputs})
      .bind(8, std::string_view(writer));
  insert.bind(9, std::string_view(start.config))
      .bind(10, std::string_view(start.machine))
      .bind(11, std::string_view(start.dataset))
      .run();
  Statement space(s.db, "INSERT INTO space(run, ordinal, name) VALUES(?, ?, ?)");
  for (size_t i = 0; i < start.layout.spaces.size(); ++i)
    space.bind(1, id).bind(2, static_cast<int64_t>(i)).bind(3, std::string_view(start.layout.spaces[i])).run();
  Statement router(
      s.db,
      "INSERT INTO router(id, run, ordinal, name, branches, fan_out, protocol, space, stack, parent, parent_branch, "
      "layer, branch_bytes, dense_bytes, residual) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
  const auto known = [&](int at, int64_t value, bool is_known) {
    is_known ? router.bind(at, value) : router.bind_null(at);
  };
  for (size_t i = 0; i < start.layout.routers.size(); ++i) {
    const RouterInfo& r = start.layout.routers[i];
    router.bind(1, router_key(id, static_cast<int64_t>(i)))
        .bind(2, id)
        .bind(3, static_cast<int64_t>(i))
        .bind(4, std::string_view(r.name));
    router.bind(5, int64_t{r.branches})
        .bind(6, int64_t{r.fan_out})
        .bind(7, std::string_view(r.protocol))
        .bind(8, int64_t{r.space});
    router.bind(9, std::string_view(r.stack)).bind(10, int64_t{r.parent}).bind(11, int64_t{r.parent_branch});
    known(12, r.layer, r.layer >= 0);
    known(13, r.branch_bytes, r.branch_bytes > 0);
    known(14, r.dense_bytes, r.dense_bytes > 0);
    known(15, r.residual, r.residual != kResidualUnknown);
    router.run();
  }
  Statement edge(s.db, "INSERT INTO edge(run, router, next, branches) VALUES(?,?,?,?)");
  for (const LayoutEdge& e : start.layout.edges) {
    edge.bind(1, id).bind(2, int64_t{e.from}).bind(3, int64_t{e.to});
    blob::put_numbers(std::span(e.branches), buffer);
    e.branches.empty() ? edge.bind_null(4) : edge.bind(4, std::span<const uint8_t>(buffer));
    edge.run();
  }
  Statement step(s.db,
                 "INSERT INTO step(run, ordinal, name, op, router, branch, flops, bytes) VALUES(?,?,?,?,?,?,?,?)");
  for (size_t i = 0; i < start.layout.steps.size(); ++i) {
    const StepInfo& t = start.layout.steps[i];
    step.bind(1, id).bind(2, static_cast<int64_t>(i)).bind(3, std::string_view(t.name)).bind(4, std::string_view(t.op));
    step.bind(5, int64_t{t.router}).bind(6, int64_t{t.branch}).bind(7, t.flops).bind(8, t.bytes).run();
  }
}

void RunWriter::State::write_batch(const BatchRecord& batch) {
  SessionWriterState& s = *session;
  if (batch.number < 0 || batch.number >= kMostBatches)
    failed(s.path, "batch " + std::to_string(batch.number) + " cannot be numbered");
  accumulator.batch(batch);  // refuses what does not fit the layout before anything is written
  count_margins_of(batch);
  last_batch = batch.number;
  const int64_t key = batch_key(id, batch.number), first = first_item(batch);
  const GuardTotal guarded = write_guards(batch, key);
  int64_t sequences = 0;
  for (size_t i = 0; i < batch.spaces(); ++i) sequences = std::max<int64_t>(sequences, batch.space(i).cells.sequences);
  s.insert_batch.bind(1, key).bind(2, id).bind(3, batch.number).bind(4, batch.latency_ms);
  s.insert_batch.bind(5, first)
      .bind(6, sequences)
      .bind(7, guarded.hits)
      .bind(8, guarded.misses)
      .bind(9, int64_t{batch.part});
  if (batch.items().empty()) {
    s.insert_batch.bind_null(10);
  } else {
    blob::put_numbers(batch.items(), buffer);
    s.insert_batch.bind(10, std::span<const uint8_t>(buffer));
  }
  batch.server_step < 0 ? s.insert_batch.bind_null(11) : s.insert_batch.bind(11, batch.server_step);
  batch.rank < 0 ? s.insert_batch.bind_null(12) : s.insert_batch.bind(12, int64_t{batch.rank});
  s.insert_batch.run();
  for (const int64_t item : batch.items()) s.insert_item.bind(1, id).bind(2, item).bind(3, batch.number).run();

  for (size_t i = 0; i < batch.spaces(); ++i) write_space(batch.space(i), key);
  write_sequences(batch, first, sequences);
  if (inputs) write_thumbnails(batch, first);
  for (size_t i = 0; decisions && i < batch.decisions(); ++i) {
    const DecisionRecord d = batch.decision(i);
    const RouterInfo& info = accumulator.layout().routers[d.router];
    blob::put_decision(d, info.branches, info.fan_out, buffer);
    s.insert_decision.bind(1, decision_key(key, d.router)).bind(2, std::span<const uint8_t>(buffer)).run();
  }
  if (!batch.events.empty()) {
    blob::put_events(batch.events, buffer);
    s.insert_event.bind(1, key).bind(2, std::span<const uint8_t>(buffer)).run();
  }
}

// -1: they are listed.
int64_t RunWriter::State::first_item(const BatchRecord& batch) {
  if (!batch.items().empty()) return -1;
  int64_t first = batch.spaces() > 0 ? batch.space(0).cells.first_sequence : 0;
  for (size_t i = 1; i < batch.spaces(); ++i) first = std::min(first, batch.space(i).cells.first_sequence);
  return first;
}

// Returns the outcomes of all guards.
GuardTotal RunWriter::State::write_guards(const BatchRecord& batch, int64_t key) {
  GuardTotal sum{-1, 0, 0};
  for (const GuardCount& g : batch.guards) {
    sum.hits += g.hits, sum.misses += g.misses;
    auto total = std::find_if(guards.begin(), guards.end(), [&](const GuardTotal& t) { return t.step == g.step; });
    if (total == guards.end()) total = guards.insert(guards.end(), {g.step, 0, 0});
    total->hits += g.hits;
    total->misses += g.misses;
    if (g.misses) session->insert_miss.bind(1, key).bind(2, int64_t{g.step}).bind(3, int64_t{g.misses}).run();
  }
  return sum;
}

void RunWriter::State::write_space(const SpaceRecord& space, int64_t batch) {
  Statement& insert = session->insert_space;
  const CellTable& cells = space.cells;
  const int64_t real =
      space.mask.empty() ? cells.cells() : std::accumulate(space.mask.begin(), space.mask.end(), int64_t{0});
  insert.bind(1, space_key(batch, space.space)).bind(2, batch).bind(3, int64_t{space.space});
  insert.bind(4, cells.items.empty() ? cells.first_sequence : int64_t{-1}).bind(5, int64_t{cells.sequences});
  insert.bind(6, int64_t{cells.per_sequence})
      .bind(7, int64_t{cells.step})
      .bind(8, static_cast<int64_t>(cells.phase))
      .bind(9, real);
  insert.bind(12, int64_t{cells.columns});
  blob::put_numbers(cells.starts, buffer);
  cells.starts.empty() ? insert.bind_null(13) : insert.bind(13, std::span<const uint8_t>(buffer));
  blob::put_mask(space.mask, cells.per_sequence, buffer);
  buffer.empty() ? insert.bind_null(10) : insert.bind(10, std::span<const uint8_t>(buffer));
  if (inputs && !space.tokens.empty()) {
    blob::put_numbers(space.tokens, tokens);
    insert.bind(11, std::span<const uint8_t>(tokens));
    write_pieces(space.tokens);
  } else {
    insert.bind_null(11);
  }
  insert.run();
  keyed_loads_pending |= !space.tokens.empty();
}

// `first`: see first_item(). Labels beyond the batch's `sequences` belong to none of them: under the next numbers they
// would name another batch's.
void RunWriter::State::write_sequences(const BatchRecord& batch, int64_t first, int64_t sequences) {
  const std::span<const int64_t> items = batch.items();
  for (size_t i = 0; i < batch.sequences(); ++i) {
    const std::string_view label = batch.label(i), text = inputs ? batch.text(i) : std::string_view();
    keyed_loads_pending |= !label.empty();
    if (label.empty() && text.empty()) continue;
    if (items.empty() ? batch.spaces() > 0 && static_cast<int64_t>(i) >= sequences : i >= items.size()) break;
    const int64_t item = items.empty() ? first + static_cast<int64_t>(i) : items[i];
    session->insert_sequence.bind(1, id).bind(2, item).bind(3, label).bind(4, text).run();
  }
}

// These bounds always hold: readers rely on them.
void RunWriter::State::write_thumbnails(const BatchRecord& batch, int64_t first) {
  if (batch.thumbnails().empty()) return;
  const std::span<const int64_t> items = batch.items();
  const std::vector<uint64_t> groups = picture_groups(batch, accumulator.layout());
  for (const auto& [sequence, small] : batch.thumbnails()) {
    const int64_t item = items.empty() ? first + static_cast<int64_t>(sequence) : items[sequence];
    if (small.empty() || pictures.has(item)) continue;
    const uint64_t group = sequence < groups.size() ? groups[sequence] : 0;
    for (const int64_t gone : pictures.add(item, group, std::ssize(small.pixels)))
      if (gone != item) session->delete_picture.bind(1, id).bind(2, gone).run();
    if (!pictures.has(item)) continue;
    Statement& insert = session->insert_picture;
    insert.bind(1, id).bind(2, item).bind(3, small.size.height).bind(4, small.size.width).bind(5, small.channels);
    insert.bind(6, std::span<const uint8_t>(small.pixels)).run();
  }
}

// Pieces are written with the batch in which a token first appears, so that tokens of a killed run can be read too.
void RunWriter::State::write_pieces(std::span<const int32_t> tokens_of_batch) {
  constexpr int32_t kMostTokens = 1 << 24;
  if (!piece) return;
  for (const int32_t token : tokens_of_batch) {
    if (token < 0 || token >= kMostTokens) continue;
    const size_t at = token;
    if (at >= pieces_written.size()) pieces_written.resize(at + 1);
    if (pieces_written[at]) continue;
    pieces_written[at] = true;
    const std::string text = piece(token);
    if (!text.empty()) session->insert_piece.bind(1, int64_t{token}).bind(2, std::string_view(text)).run();
  }
}

void RunWriter::State::count_margins_of(const BatchRecord& batch) {
  for (size_t i = 0; i < batch.decisions(); ++i) {
    const DecisionRecord d = batch.decision(i);
    if (d.margin.empty() && d.scores.empty()) continue;
    const RouterInfo& info = accumulator.layout().routers[d.router];
    std::span<const uint8_t> mask;
    for (size_t s = 0; s < batch.spaces(); ++s)
      if (batch.space(s).space == info.space) mask = batch.space(s).mask;
    count_margins(d, info.branches, info.fan_out, mask, margins[d.router]);
  }
}

// Writes all loads by label and by token; they replace those of an earlier flush.
void RunWriter::State::write_keyed_loads() {
  if (!keyed_loads_pending) return;
  keyed_loads_pending = false;
  SessionWriterState& s = *session;
  Statement clear(s.db, "DELETE FROM token_load WHERE router = ?");
  Statement label(s.db, "INSERT OR REPLACE INTO label_load(router, label, cells, load) VALUES(?,?,?,?)");
  Statement token(s.db, "INSERT INTO token_load(router, token, cells, load) VALUES(?,?,?,?)");
  const auto& routers = accumulator.layout().routers;
  for (size_t r = 0; r < routers.size(); ++r) {
    const int32_t router = r;
    const size_t branches = routers[r].branches;
    const int64_t key = router_key(id, router);
    const KeyedLoads& labels = accumulator.label_loads(router);
    for (size_t i = 0; i < labels.cells.size(); ++i) {
      blob::put_numbers(std::span(labels.load).subspan(i * branches, branches), buffer);
      label.bind(1, key)
          .bind(2, std::string_view(accumulator.labels()[i]))
          .bind(3, labels.cells[i])
          .bind(4, std::span<const uint8_t>(buffer))
          .run();
    }
    const KeyedLoads& loads = accumulator.token_loads(router);
    std::vector<size_t> order(loads.cells.size());
    std::iota(order.begin(), order.end(), size_t{0});
    const size_t most = std::min(order.size(), kMostTokenRows);
    std::partial_sort(order.begin(), order.begin() + static_cast<int64_t>(most), order.end(), [&](size_t a, size_t b) {
      return loads.cells[a] != loads.cells[b] ? loads.cells[a] > loads.cells[b] : a < b;
    });
    order.resize(most);
    const auto& ids = accumulator.tokens(routers[r].space);
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return ids[a] < ids[b]; });
    clear.bind(1, key).run();
    for (const size_t i : order) {
      if (loads.cells[i] == 0) continue;
      blob::put_numbers(std::span(loads.load).subspan(i * branches, branches), buffer);
      token.bind(1, key)
          .bind(2, int64_t{ids[i]})
          .bind(3, loads.cells[i])
          .bind(4, std::span<const uint8_t>(buffer))
          .run();
    }
  }
  Statement update(s.db, "UPDATE run SET counted_through = ? WHERE id = ?");
  update.bind(1, last_batch).bind(2, id).run();
}

void RunWriter::State::write_totals() {
  Statement update(session->db, "UPDATE router SET batches = ?, cells = ?, total = ? WHERE id = ?");
  for (size_t r = 0; r < accumulator.layout().routers.size(); ++r) {
    const RouterLoads& total = accumulator.loads(static_cast<int32_t>(r));
    blob::put_loads(total, buffer);
    update.bind(1, total.batches)
        .bind(2, total.cells)
        .bind(3, std::span<const uint8_t>(buffer))
        .bind(4, router_key(id, static_cast<int64_t>(r)))
        .run();
  }
  Statement guard(session->db, "INSERT OR REPLACE INTO guard(run, step, hits, misses) VALUES(?,?,?,?)");
  for (const GuardTotal& g : guards) guard.bind(1, id).bind(2, int64_t{g.step}).bind(3, g.hits).bind(4, g.misses).run();
}

// Branches without cells have rows too: a query for them finds them. A hostile trace may name millions of branches.
void RunWriter::State::write_rows_of_totals() {
  Statement load(session->db, "INSERT INTO run_load(router, branch, cells) VALUES(?,?,?)");
  for (size_t r = 0; r < accumulator.layout().routers.size(); ++r) {
    const std::vector<int64_t> real = accumulator.loads(static_cast<int32_t>(r)).real();
    for (size_t b = 0; b < real.size(); ++b)
      if (real[b] != 0 || real.size() <= kMostWithEmptyRows)
        load.bind(1, router_key(id, static_cast<int64_t>(r))).bind(2, static_cast<int64_t>(b)).bind(3, real[b]).run();
  }
  Statement margin(session->db, "INSERT INTO run_margin(router, bin, cells) VALUES(?,?,?)");
  for (const auto& [router, bins] : margins)
    for (int32_t i = 0; i < MarginBins::kBins; ++i)
      if (bins.count[i] > 0)
        margin.bind(1, router_key(id, router)).bind(2, int64_t{MarginBins::number_of(i)}).bind(3, bins.count[i]).run();
}

}  // namespace stormcell
