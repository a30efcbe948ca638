#include <algorithm>
#include <cmath>

#include "core/profile/statistics.h"
#include "core/session/blob.h"
#include "core/session/check_run.h"
#include "core/session/schema.h"

namespace stormcell {
namespace {

using sqlite::Statement;

// Counts are exact. Masses are stored as f32: sums of rounded ones differ by a few units of the last place each.
bool same_mass(double a, double b, int64_t load) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return true;
  return std::fabs(a - b) <= 1e-5 * std::max(std::fabs(a), std::fabs(b)) + 1e-6 * static_cast<double>(1 + load);
}

bool same(const RouterLoads& a, const RouterLoads& b) {
  if (a.batches != b.batches || a.cells != b.cells || a.load != b.load || a.padding != b.padding ||
      a.dropped != b.dropped || a.padded != b.padded)
    return false;
  for (size_t i = 0; i < a.weight.size(); ++i)
    if (!same_mass(a.weight[i], b.weight[i], a.load[i])) return false;
  return true;
}

std::string window_text(int32_t level, int64_t number) {
  const int64_t size = int64_t{1} << (kWindowBits * level);
  return level == 0
             ? "in batch " + std::to_string(number)
             : "over batches " + std::to_string(number * size) + " to " + std::to_string((number + 1) * size - 1);
}

}  // namespace

const RouterLoads* LoadsCheck::total(int32_t router) const {
  const auto& total = routers_[router].total;
  return total ? &*total : nullptr;
}

std::optional<RouterLoads> LoadsCheck::find(int32_t router, int32_t level, int64_t number) const {
  Statement find(run_.state.db,
                 "SELECT batches, cells, data FROM load_window WHERE router = ? AND level = ? AND number = ?");
  find.bind(1, router_key(run_.summary.id, router)).bind(2, int64_t{level}).bind(3, number);
  if (!find.step()) return {};
  RouterLoads loads = blob::read_loads(find.blob(2), run_.router(router).branches, run_.state.path);
  loads.batches = run_.state.count_of(find, 0);
  loads.cells = run_.state.count_of(find, 1);
  return loads;
}

void LoadsCheck::compare(int32_t router, int32_t level, int64_t number, const RouterLoads& expected) {
  ++routers_[router].windows;
  const std::string& name = run_.router(router).name;
  const std::optional<RouterLoads> stored = find(router, level, number);
  if (!stored) run_.damaged("router " + name + " has no loads " + window_text(level, number));
  if (!same(*stored, expected))
    run_.damaged("the loads of router " + name + " " + window_text(level, number) + " are not those of its " +
                 (run_.decisions ? "decisions" : "batches"));
}

void LoadsCheck::batch(const CheckedBatch& batch, int32_t router, const StoredDecision* decision) {
  RouterLoads loads;
  if (decision) {
    loads = RouterLoads(run_.router(router).branches);
    add_loads(decision->record(router), decision->fan_out, batch.find_space(run_.router(router).space)->mask, loads);
  } else {
    const std::optional<RouterLoads> stored = find(router, 0, batch.number);
    if (!stored) return;
    if (run_.decisions)
      run_.damaged("router " + run_.router(router).name + " has loads and no decision in batch " +
                   std::to_string(batch.number));
    loads = *stored;
  }
  Router& r = routers_[router];
  if (!r.total) r.total.emplace(loads.branches());
  run_.state.add(loads, *r.total);  // looks at every sum, so that those of the windows cannot overflow
  r.pyramid.add(batch.number, loads,
                [&](int32_t level, int64_t window, const RouterLoads& sum) { compare(router, level, window, sum); });
}

void LoadsCheck::finish() {
  Statement count(run_.state.db, "SELECT count(*) FROM load_window WHERE router = ?");
  for (size_t i = 0; i < routers_.size(); ++i) {
    const int32_t router = i;
    Router& r = routers_[i];
    if (run_.has_ended)
      r.pyramid.finish(
          [&](int32_t level, int64_t window, const RouterLoads& sum) { compare(router, level, window, sum); });
    count.bind(1, router_key(run_.summary.id, router));
    if (count.step() && !run_.is_running && count.integer(0) != r.windows)
      run_.damaged("router " + run_.router(router).name + " has loads of batches that do not exist");
    count.reset();
    if (run_.has_ended) check_total(router);
  }
}

void LoadsCheck::check_total(int32_t router) const {
  Statement find(run_.state.db, "SELECT batches, cells, total FROM router WHERE id = ?");
  find.bind(1, router_key(run_.summary.id, router));
  const std::string& name = run_.router(router).name;
  if (!find.step() || find.null(2)) run_.damaged("router " + name + " has no loads of the whole run");
  RouterLoads stored = blob::read_loads(find.blob(2), run_.router(router).branches, run_.state.path);
  stored.batches = run_.state.count_of(find, 0);
  stored.cells = run_.state.count_of(find, 1);
  const RouterLoads* counted = total(router);
  if (!same(stored, counted ? *counted : RouterLoads(stored.branches())))
    run_.damaged("the loads of router " + name + " over the whole run are not those of its " +
                 (run_.decisions ? "decisions" : "batches"));
}

}  // namespace stormcell
