#include "gpu/device/weight_loader.h"

#include <algorithm>
#include <cstring>

#include "core/base/error.h"
#include "gpu/plan/weight_layouts.h"

namespace stormcell::card {
namespace {

constexpr int64_t kPiece = int64_t{4} << 20;  // large enough that a copy's own cost does not count

}  // namespace

struct WeightLoader::Lane {
  Lane(Device& device, StreamParts& parts)
      : piece{device.allocate_pinned(kPiece, "staging of weights"),
              device.allocate_pinned(kPiece, "staging of weights")},
        event{CudaEvent(parts.card), CudaEvent(parts.card)},
        stream(parts) {}
  std::array<std::unique_ptr<PinnedBuffer>, 2> piece;
  std::array<CudaEvent, 2> event;  // the piece was copied
  CudaStream stream;               // the last member: it waits for its copies before the pieces go
};

WeightLoader::WeightLoader(Device& device, StreamParts& parts) : device_(device), parts_(parts) {}
WeightLoader::~WeightLoader() = default;

std::unique_ptr<WeightLoader::Lane> WeightLoader::take_lane() {
  {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      std::unique_ptr<Lane> lane = std::move(free_.back());
      free_.pop_back();
      return lane;
    }
  }
  return std::make_unique<Lane>(device_, parts_);
}

void WeightLoader::load(const WeightKey& key, const WeightSource& source, DeviceAddress to) {
  const WeightInfo* info = source.find(key.tensor);
  if (!info) failed("weights", "no tensor " + key.tensor);
  const int64_t bytes = gpu::planned_weight_bytes(key, *info);
  std::unique_ptr<Lane> lane = take_lane();
  if (key.dtype == info->dtype) {
    const std::shared_ptr<const std::byte> stored = source.bytes(key.tensor);
    copy(*lane, to, stored.get(), bytes);
  } else {
    std::vector<std::byte> converted(static_cast<size_t>(bytes));
    gpu::write_planned_weight(key, source, converted.data());
    copy(*lane, to, converted.data(), bytes);
  }
  // A lane whose copies failed is not used again.
  const std::lock_guard lock(mutex_);
  free_.push_back(std::move(lane));
}

void WeightLoader::copy(Lane& lane, DeviceAddress to, const std::byte* from, int64_t bytes) {
  const Card& card = parts_.card;
  int turn = 0;
  for (int64_t at = 0; at < bytes; at += kPiece, turn ^= 1) {
    const auto which = static_cast<size_t>(turn);
    const int64_t count = std::min(kPiece, bytes - at);
    if (lane.event[which].is_recorded)
      card.must(card.calls().synchronize_event(card.index(), lane.event[which].handle()), "cudaEventSynchronize",
                "before a piece of a weight");
    std::memcpy(lane.piece[which]->data(), from + at, static_cast<size_t>(count));
    lane.stream.copy_pinned_to_device(to + at, lane.piece[which]->data(), count);
    lane.stream.record(lane.event[which]);
  }
  // Not counted: it belongs to no execution.
  card.must(card.calls().synchronize(card.index(), lane.stream.handle()), "cudaStreamSynchronize",
            "after the copy of a weight of " + std::to_string(bytes) + " bytes");
}

}  // namespace stormcell::card
