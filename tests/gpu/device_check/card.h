// The card as checks use it: memory, streams, graphs, times. What fails throws Failure, which ends the family.
#pragma once
#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "gpu/base/status.h"

namespace stormcell::device_check {

class Failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

void must(cudaError_t error, const char* what);
void must(const gpu::Status& status);
/// Copies and is done when it returns: queues here do not wait for CUDA's default stream.
void copy(void* to, const void* from, size_t bytes);
/// Fills with 0xff, NaN in every format, so that what a kernel does not write shows; done when it returns.
void poison(void* to, size_t bytes);
/// False, with the reason, where there is no card.
bool has_card(std::string& why);
/// The first card, the driver and the toolkit.
std::string card_text();

/// Memory of the card; new memory is poisoned, so that what a kernel does not write shows.
class Memory {
 public:
  explicit Memory(int64_t bytes);
  ~Memory();
  Memory(Memory&& other) noexcept : pointer_(other.pointer_) { other.pointer_ = nullptr; }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  Memory& operator=(Memory&&) = delete;
  template <class T>
  T* as() const {
    return static_cast<T*>(pointer_);
  }

 private:
  void* pointer_ = nullptr;
};

/// The memory behind a kernel's results, poisoned with them, so that a write past them shows.
inline constexpr int64_t kGuardBytes = int64_t{1} << 20;  // more than a tile
/// How many of `bytes` on the card are no longer as poisoned.
int64_t written_bytes(const void* from, int64_t bytes);

template <class T>
Memory to_card(const std::vector<T>& values) {
  Memory memory(static_cast<int64_t>(values.size() * sizeof(T)));
  if (!values.empty()) copy(memory.as<void>(), values.data(), values.size() * sizeof(T));
  return memory;
}
template <class T>
std::vector<T> from_card(const T* pointer, int64_t n) {
  std::vector<T> values(static_cast<size_t>(n));
  if (n > 0) copy(values.data(), pointer, values.size() * sizeof(T));
  return values;
}

/// The stream of a family.
class Queue {
 public:
  Queue() { must(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate"); }
  ~Queue() { cudaStreamDestroy(stream_); }
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;
  cudaStream_t stream() const { return stream_; }
  void wait() const { must(cudaStreamSynchronize(stream_), "cudaStreamSynchronize"); }

 private:
  cudaStream_t stream_ = nullptr;
};

/// A CUDA graph of what `work` queues.
class Graph {
 public:
  Graph(const Queue& queue, const std::function<void()>& work);
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  void replay() const { must(cudaGraphLaunch(executable_, queue_->stream()), "cudaGraphLaunch"); }

 private:
  const Queue* queue_;
  cudaGraphExec_t executable_ = nullptr;
};

/// Long enough for a card that computes to come down to the clock that it can hold.
inline constexpr double kSustained = 0.3;
/// Seconds of one call: `calls` of them (call(i) queues number i) are captured in a graph, over again until a replay
/// takes a millisecond; it is replayed until `seconds` have passed, and the median of the replays divided by the calls.
double time_calls(const Queue& queue, int calls, const std::function<void(int)>& call, double seconds = 0.04);
/// The same without a graph, for what cannot be captured.
double time_calls_plainly(const Queue& queue, int calls, const std::function<void(int)>& call, double seconds);

/// Fills memory with normal-like bf16 or f32 numbers of deviation `scale`.
void fill_bf16(void* to, int64_t n, float scale, uint32_t seed, cudaStream_t stream);
/// Fills memory with bf16 whole numbers of -3 to 3.
void fill_whole(void* to, int64_t n, uint32_t seed, cudaStream_t stream);
/// Adds to `count` the words of four bytes in which both differ.
void count_different(const void* a, const void* b, int64_t bytes, unsigned long long* count, cudaStream_t stream);
/// Copies memory by a kernel of many loads a thread: what a kernel that only moves rows could reach.
void copy_all(void* to, const void* from, int64_t bytes, int multiprocessors, cudaStream_t stream);
/// Reads memory once; nothing is written but for the unlikely sum.
void read_all(const void* from, int64_t bytes, int multiprocessors, float* sink, cudaStream_t stream);

}  // namespace stormcell::device_check
