#include "tests/gpu/device_check/card.h"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace stormcell::device_check {
namespace {

class Event {
 public:
  Event() { must(cudaEventCreate(&event_), "cudaEventCreate"); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  void record(cudaStream_t stream) const { must(cudaEventRecord(event_, stream), "cudaEventRecord"); }
  cudaEvent_t get() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

double median_seconds(const Queue& queue, double seconds, const std::function<void()>& once) {
  const Event begin, end;
  for (int warm = 0; warm < 2; ++warm) once();
  queue.wait();
  std::vector<double> times;
  const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (times.size() < 5 || (std::chrono::steady_clock::now() < until && times.size() < 2000)) {
    begin.record(queue.stream());
    once();
    end.record(queue.stream());
    must(cudaEventSynchronize(end.get()), "cudaEventSynchronize");
    float milliseconds = 0;
    must(cudaEventElapsedTime(&milliseconds, begin.get(), end.get()), "cudaEventElapsedTime");
    times.push_back(static_cast<double>(milliseconds) / 1e3);
  }
  std::nth_element(times.begin(), times.begin() + static_cast<ptrdiff_t>(times.size() / 2), times.end());
  return times[times.size() / 2];
}

/// CUDA's attributes, as it numbers them; 0: not there.
struct Versions {
  int driver = 0, runtime = 0;
  Versions() {
    cudaDriverGetVersion(&driver);
    cudaRuntimeGetVersion(&runtime);
  }
};
std::string to_text(int version) { return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10); }

}  // namespace

void must(cudaError_t error, const char* what) {
  if (error != cudaSuccess)
    throw Failure(std::string(what) + ": " + cudaGetErrorString(error) + " (" + cudaGetErrorName(error) + ")");
}
void must(const gpu::Status& status) {
  if (!status.ok()) throw Failure(status.text());
}
void copy(void* to, const void* from, size_t bytes) {
  must(cudaMemcpy(to, from, bytes, cudaMemcpyDefault), "cudaMemcpy");
  must(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}
void poison(void* to, size_t bytes) {
  must(cudaMemset(to, 0xff, bytes), "cudaMemset");
  must(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}
bool has_card(std::string& why) {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  const Versions versions;
  if (versions.driver == 0)
    why = "there is no NVIDIA driver (libcuda.so.1)";
  else if (error == cudaErrorInsufficientDriver)
    why = "the driver is for CUDA " + to_text(versions.driver) + ", needed is one for " + to_text(versions.runtime) +
          " or later";
  else if (error != cudaSuccess)
    why = std::string(cudaGetErrorString(error)) + " (" + cudaGetErrorName(error) + ")";
  else if (count == 0)
    why = "the driver sees no device";
  return why.empty();
}
std::string card_text() {
  cudaDeviceProp card{};
  must(cudaGetDeviceProperties(&card, 0), "cudaGetDeviceProperties");
  const Versions versions;
  return std::string(card.name) + ", " + std::to_string(card.major) + "." + std::to_string(card.minor) + ", " +
         std::to_string(card.multiProcessorCount) + " multiprocessors, driver for CUDA " + to_text(versions.driver) +
         ", built with " + to_text(versions.runtime);
}

Memory::Memory(int64_t bytes) {
  must(cudaMalloc(&pointer_, static_cast<size_t>(std::max<int64_t>(bytes, 256))),
       ("cudaMalloc of " + std::to_string(bytes) + " bytes").c_str());
  poison(pointer_, static_cast<size_t>(bytes));
}
Memory::~Memory() { cudaFree(pointer_); }

int64_t written_bytes(const void* from, int64_t bytes) {
  const auto values = from_card(static_cast<const unsigned char*>(from), bytes);
  return std::count_if(values.begin(), values.end(), [](unsigned char value) { return value != 0xff; });
}

Graph::Graph(const Queue& queue, const std::function<void()>& work) : queue_(&queue) {
  must(cudaStreamBeginCapture(queue.stream(), cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
  cudaGraph_t graph = nullptr;
  try {
    work();
  } catch (...) {
    cudaStreamEndCapture(queue.stream(), &graph);
    if (graph) cudaGraphDestroy(graph);
    cudaGetLastError();  // a capture that failed is over: what comes next must not find its error
    throw;
  }
  const cudaError_t ended = cudaStreamEndCapture(queue.stream(), &graph);
  if (ended != cudaSuccess) cudaGetLastError();
  must(ended, "cudaStreamEndCapture");
  const cudaError_t error = cudaGraphInstantiate(&executable_, graph, 0);
  cudaGraphDestroy(graph);
  must(error, "cudaGraphInstantiate");
}
Graph::~Graph() { cudaGraphExecDestroy(executable_); }

double time_calls(const Queue& queue, int calls, const std::function<void(int)>& call, double seconds) {
  // Once before: what is loaded or allocated at a first call must not be while a stream is captured.
  const auto all = [&] {
    for (int i = 0; i < calls; ++i) call(i);
  };
  all();
  queue.wait();
  constexpr double kReplay = 1e-3;
  constexpr int kMostRounds = 64;
  for (int rounds = 1;;) {
    const Graph graph(queue, [&] {
      for (int r = 0; r < rounds; ++r) all();
    });
    const double once = median_seconds(queue, 0, [&] { graph.replay(); });
    if (once >= kReplay || rounds == kMostRounds)
      return median_seconds(queue, seconds, [&] { graph.replay(); }) / calls / rounds;
    rounds = static_cast<int>(std::min<double>(kMostRounds, rounds * std::ceil(kReplay / once) + 1));
  }
}
double time_calls_plainly(const Queue& queue, int calls, const std::function<void(int)>& call, double seconds) {
  return median_seconds(queue, seconds,
                        [&] {
                          for (int i = 0; i < calls; ++i) call(i);
                        }) /
         calls;
}

}  // namespace stormcell::device_check
