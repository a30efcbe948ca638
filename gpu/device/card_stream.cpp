#include "gpu/device/card_stream.h"

#include "core/base/error.h"

namespace stormcell::card {
namespace {

std::string of_bytes(int64_t bytes) { return "of " + std::to_string(bytes) + " bytes"; }

}  // namespace

CudaEvent::CudaEvent(const Card& card) : card_(card) {
  card_.must(card_.calls().create_event(card_.index(), &handle_), "cudaEventCreate");
}

CudaEvent::~CudaEvent() { (void)card_.calls().destroy_event(card_.index(), handle_); }

CudaStream::CudaStream(StreamParts& parts) : parts_(parts) {
  parts_.card.must(parts_.card.calls().create_stream(parts_.card.index(), &handle_), "cudaStreamCreate");
}

CudaStream::~CudaStream() {
  const Card& card = parts_.card;
  // Work that was put here may use memory that its owner frees next.
  (void)card.calls().synchronize(card.index(), handle_);
  (void)card.calls().destroy_stream(card.index(), handle_);
}

void CudaStream::copy_to_device(DeviceAddress to, const void* from, int64_t bytes) {
  if (bytes == 0) return;
  const Card& card = parts_.card;
  card.must(card.calls().copy_to_card(card.index(), to.value, from, bytes, handle_), "cudaMemcpyAsync to the device",
            of_bytes(bytes));
}

void CudaStream::copy_to_host(void* to, DeviceAddress from, int64_t bytes) {
  if (bytes == 0) return;
  const Card& card = parts_.card;
  card.must(card.calls().copy_to_host(card.index(), to, from.value, bytes, handle_), "cudaMemcpyAsync to the host",
            of_bytes(bytes));
}

void CudaStream::copy_pinned_to_device(DeviceAddress to, const void* from, int64_t bytes) {
  parts_.pinned.check(from, bytes, "copy to the device");
  copy_to_device(to, from, bytes);
}

void CudaStream::copy_to_pinned(void* to, DeviceAddress from, int64_t bytes) {
  parts_.pinned.check(to, bytes, "copy to the host");
  copy_to_host(to, from, bytes);
}

void CudaStream::record(Event& event) {
  const Card& card = parts_.card;
  auto& of_card = static_cast<CudaEvent&>(event);
  card.must(card.calls().record(card.index(), of_card.handle(), handle_), "cudaEventRecord");
  of_card.is_recorded = true;
}

void CudaStream::wait(const Event& event) {
  const Card& card = parts_.card;
  const auto& of_card = static_cast<const CudaEvent&>(event);
  if (!of_card.is_recorded) failed(card.name(), "a stream waits for an event that was never recorded");
  card.must(card.calls().wait(card.index(), of_card.handle(), handle_), "cudaStreamWaitEvent");
}

void CudaStream::synchronize() {
  ++parts_.synchronizations;
  const Card& card = parts_.card;
  card.must(card.calls().synchronize(card.index(), handle_), "cudaStreamSynchronize",
            launched_.empty() ? "" : "after " + launched_);
}

}  // namespace stormcell::card
