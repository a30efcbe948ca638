#include "core/runtime/weight_store.h"

#include <chrono>

#include "core/base/error.h"

namespace stormcell {

WeightStore::WeightStore(Device& device, std::shared_ptr<const WeightSource> source) : device_(device), source_(std::move(source)) {}

int32_t WeightStore::request(const WeightKey& key) {
  if (const auto at = index_.find(key); at != index_.end()) return at->second;
  const WeightInfo* info = source_->find(key.tensor);
  if (!info) failed("weights", "no tensor " + key.tensor);
  Entry entry;
  entry.key = key;
  entry.bytes = device_.weight_bytes(key, *info);
  entries_.push_back(std::move(entry));
  const auto handle = static_cast<int32_t>(entries_.size()) - 1;
  index_.emplace(key, handle);
  return handle;
}

void WeightStore::load(int32_t handle) {
  Entry& entry = entries_[static_cast<size_t>(handle)];
  if (entry.buffer) return;
  const auto begin = std::chrono::steady_clock::now();
  entry.buffer = device_.load_weight(entry.key, *source_);
  entry.address = entry.buffer->address();
  entry.bytes = entry.buffer->bytes();
  load_seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void WeightStore::load(const std::vector<int32_t>& handles, const Progress& progress) {
  int64_t done = 0;
  for (const int32_t handle : handles) {
    progress.report("loading weights", done++, static_cast<int64_t>(handles.size()));
    load(handle);
  }
}

void WeightStore::evict(int32_t handle) {
  Entry& entry = entries_[static_cast<size_t>(handle)];
  if (!entry.buffer) return;
  entry.buffer.reset();
  entry.address = {};
}

}  // namespace stormcell
