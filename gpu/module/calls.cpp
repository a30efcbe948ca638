// The table of calls by CUDA's runtime, which is linked statically and loads the driver itself: the module depends on no
// library of NVIDIA's, and opens on a machine without a GPU.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <vector>

#include "gpu/device/card_calls.h"
#include "gpu/device/card_kernels.h"
#include "gpu/module/kernel_launch.h"

#ifndef STORMCELL_CUDA_ARCHITECTURES
#define STORMCELL_CUDA_ARCHITECTURES "unknown"
#endif

namespace stormcell::card {
namespace {

static_assert(kOutOfMemory == cudaErrorMemoryAllocation && kOldDriver == cudaErrorInsufficientDriver &&
              kNoCard == cudaErrorNoDevice && kNoImage == cudaErrorNoKernelImageForDevice);

constexpr int kSharedByDefault = 48 << 10;

/// Makes the card the calling thread's. An error of an earlier call is taken back, so that it is not reported again.
template <class Call>
int on(int card, const Call& call) {
  cudaError_t error = cudaSetDevice(card);
  if (error == cudaSuccess) error = call();
  if (error != cudaSuccess) (void)cudaGetLastError();
  return static_cast<int>(error);
}
cudaStream_t of(CardStream stream) { return reinterpret_cast<cudaStream_t>(stream); }
cudaEvent_t of(CardEvent event) { return reinterpret_cast<cudaEvent_t>(event); }
cudaGraph_t of(CardGraph graph) { return reinterpret_cast<cudaGraph_t>(graph); }
cudaGraphExec_t of(CardProgram program) { return reinterpret_cast<cudaGraphExec_t>(program); }
void* pointer(uint64_t address) { return reinterpret_cast<void*>(address); }

std::vector<cudaGraphNode_t> nodes_of(const CardNode* nodes, int64_t count) {
  std::vector<cudaGraphNode_t> of(static_cast<size_t>(count));
  std::transform(nodes, nodes + count, of.begin(),
                 [](CardNode node) { return reinterpret_cast<cudaGraphNode_t>(node); });
  return of;
}

/// Launches in the order of the list of kernels.
const std::array<KernelLaunch, kCardKernels>& launches() {
  static const std::array<KernelLaunch, kCardKernels> all = [] {
    std::array<KernelLaunch, kCardKernels> list;
    for (int32_t place = 0; place < kCardKernels; ++place) list[place] = launch_of(place);
    return list;
  }();
  return all;
}
const KernelLaunch* find_kernel(int32_t kernel) {
  return kernel >= 0 && kernel < kCardKernels ? &launches()[kernel] : nullptr;
}

const char* error_name(int error) { return cudaGetErrorName(static_cast<cudaError_t>(error)); }
const char* error_text(int error) { return cudaGetErrorString(static_cast<cudaError_t>(error)); }

int driver_version(int32_t* version, int32_t* needed) {
  int driver = 0, runtime = 0;
  cudaError_t error = cudaDriverGetVersion(&driver);
  if (error == cudaSuccess) error = cudaRuntimeGetVersion(&runtime);
  // Drivers of one major version run all of its runtimes.
  *version = driver, *needed = runtime / 1000 * 1000;
  return static_cast<int>(error);
}
int count_cards(int32_t* count) {
  int cards = 0;
  const cudaError_t error = cudaGetDeviceCount(&cards);
  if (error != cudaSuccess) (void)cudaGetLastError();
  *count = cards;
  return static_cast<int>(error);
}
int describe(int card, CardFacts* facts) {
  cudaDeviceProp properties{};
  const cudaError_t error = cudaGetDeviceProperties(&properties, card);
  if (error != cudaSuccess) return static_cast<int>(error);
  std::snprintf(facts->name, sizeof facts->name, "%.*s", static_cast<int>(sizeof facts->name) - 1, properties.name);
  facts->major = properties.major, facts->minor = properties.minor;
  facts->multiprocessors = properties.multiProcessorCount;
  return 0;
}
int prepare(int card) {
  return on(card, [] {
    for (const KernelLaunch& kernel : launches()) {
      // Loads the kernel too, so that no launch does.
      cudaFuncAttributes attributes{};
      if (const cudaError_t error = cudaFuncGetAttributes(&attributes, kernel.function)) return error;
      if (kernel.shared_bytes <= kSharedByDefault) continue;
      if (const cudaError_t error =
              cudaFuncSetAttribute(kernel.function, cudaFuncAttributeMaxDynamicSharedMemorySize, kernel.shared_bytes))
        return error;
    }
    return cudaSuccess;
  });
}
int count_memory(int card, int64_t* free, int64_t* all) {
  return on(card, [&] {
    size_t left = 0, total = 0;
    const cudaError_t error = cudaMemGetInfo(&left, &total);
    *free = static_cast<int64_t>(left), *all = static_cast<int64_t>(total);
    return error;
  });
}

int allocate(int card, uint64_t* address, int64_t bytes) {
  return on(card, [&] {
    void* memory = nullptr;
    const cudaError_t error = cudaMalloc(&memory, static_cast<size_t>(bytes));
    *address = reinterpret_cast<uint64_t>(memory);
    return error;
  });
}
int release(int card, uint64_t address) {
  return on(card, [&] { return cudaFree(pointer(address)); });
}
int allocate_pinned(int card, void** memory, int64_t bytes) {
  return on(card, [&] { return cudaHostAlloc(memory, static_cast<size_t>(bytes), cudaHostAllocPortable); });
}
int release_pinned(int card, void* memory) {
  return on(card, [&] { return cudaFreeHost(memory); });
}

int create_stream(int card, CardStream* stream) {
  return on(card, [&] {
    cudaStream_t made = nullptr;
    const cudaError_t error = cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking);
    *stream = reinterpret_cast<CardStream>(made);
    return error;
  });
}
int destroy_stream(int card, CardStream stream) {
  return on(card, [&] { return cudaStreamDestroy(of(stream)); });
}
int synchronize(int card, CardStream stream) {
  return on(card, [&] { return cudaStreamSynchronize(of(stream)); });
}
int copy_to_card(int card, uint64_t to, const void* from, int64_t bytes, CardStream stream) {
  return on(card, [&] {
    return cudaMemcpyAsync(pointer(to), from, static_cast<size_t>(bytes), cudaMemcpyHostToDevice, of(stream));
  });
}
int copy_to_host(int card, void* to, uint64_t from, int64_t bytes, CardStream stream) {
  return on(card, [&] {
    return cudaMemcpyAsync(to, pointer(from), static_cast<size_t>(bytes), cudaMemcpyDeviceToHost, of(stream));
  });
}

int create_event(int card, CardEvent* event) {
  return on(card, [&] {
    cudaEvent_t made = nullptr;
    const cudaError_t error = cudaEventCreateWithFlags(&made, cudaEventDisableTiming);
    *event = reinterpret_cast<CardEvent>(made);
    return error;
  });
}
int destroy_event(int card, CardEvent event) {
  return on(card, [&] { return cudaEventDestroy(of(event)); });
}
int record(int card, CardEvent event, CardStream stream) {
  return on(card, [&] { return cudaEventRecord(of(event), of(stream)); });
}
int wait(int card, CardEvent event, CardStream stream) {
  return on(card, [&] { return cudaStreamWaitEvent(of(stream), of(event), 0); });
}
int synchronize_event(int card, CardEvent event) {
  return on(card, [&] { return cudaEventSynchronize(of(event)); });
}

int launch(int card, int32_t kernel, int64_t blocks, const void* args, CardStream stream) {
  const KernelLaunch* of_kernel = find_kernel(kernel);
  if (!of_kernel) return cudaErrorInvalidValue;
  return on(card, [&] {
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(static_cast<unsigned>(blocks));
    config.blockDim = dim3(static_cast<unsigned>(of_kernel->threads));
    config.dynamicSmemBytes = static_cast<size_t>(of_kernel->shared_bytes);
    config.stream = of(stream);
    void* parameters[] = {const_cast<void*>(args)};
    return cudaLaunchKernelExC(&config, of_kernel->function, parameters);
  });
}
int create_graph(int card, CardGraph* graph) {
  return on(card, [&] {
    cudaGraph_t made = nullptr;
    const cudaError_t error = cudaGraphCreate(&made, 0);
    *graph = reinterpret_cast<CardGraph>(made);
    return error;
  });
}
int destroy_graph(int card, CardGraph graph) {
  return on(card, [&] { return cudaGraphDestroy(of(graph)); });
}
int add_node(int card, CardGraph graph, int32_t kernel, int64_t blocks, const void* args, const CardNode* after,
             int64_t count, CardNode* node) {
  const KernelLaunch* of_kernel = find_kernel(kernel);
  if (!of_kernel) return cudaErrorInvalidValue;
  return on(card, [&] {
    cudaKernelNodeParams parameters{};
    void* pointers[] = {const_cast<void*>(args)};
    parameters.func = const_cast<void*>(of_kernel->function);
    parameters.gridDim = dim3(static_cast<unsigned>(blocks));
    parameters.blockDim = dim3(static_cast<unsigned>(of_kernel->threads));
    parameters.sharedMemBytes = static_cast<unsigned>(of_kernel->shared_bytes);
    parameters.kernelParams = pointers;
    const std::vector<cudaGraphNode_t> before = nodes_of(after, count);
    cudaGraphNode_t made = nullptr;
    const cudaError_t error = cudaGraphAddKernelNode(&made, of(graph), before.data(), before.size(), &parameters);
    *node = reinterpret_cast<CardNode>(made);
    return error;
  });
}
int create_condition(int card, CardGraph graph, uint64_t* condition) {
  return on(card, [&] {
    cudaGraphConditionalHandle made = 0;
    // Each launch begins with a loop that has no turn.
    const cudaError_t error = cudaGraphConditionalHandleCreate(&made, of(graph), 0, cudaGraphCondAssignDefault);
    *condition = made;
    return error;
  });
}
int add_loop(int card, CardGraph graph, uint64_t condition, const CardNode* after, int64_t count, CardNode* node,
             CardGraph* body) {
  return on(card, [&] {
    cudaGraphNodeParams parameters{};
    parameters.type = cudaGraphNodeTypeConditional;
    parameters.conditional.handle = condition;
    parameters.conditional.type = cudaGraphCondTypeWhile;
    parameters.conditional.size = 1;
    const std::vector<cudaGraphNode_t> before = nodes_of(after, count);
    cudaGraphNode_t made = nullptr;
    const cudaError_t error = cudaGraphAddNode(&made, of(graph), before.data(), nullptr, before.size(), &parameters);
    *node = reinterpret_cast<CardNode>(made);
    if (error == cudaSuccess) *body = reinterpret_cast<CardGraph>(parameters.conditional.phGraph_out[0]);
    return error;
  });
}
int instantiate(int card, CardGraph graph, CardProgram* program) {
  return on(card, [&] {
    cudaGraphExec_t made = nullptr;
    const cudaError_t error = cudaGraphInstantiate(&made, of(graph), 0);
    *program = reinterpret_cast<CardProgram>(made);
    return error;
  });
}
int destroy_program(int card, CardProgram program) {
  return on(card, [&] { return cudaGraphExecDestroy(of(program)); });
}
int launch_program(int card, CardProgram program, CardStream stream) {
  return on(card, [&] { return cudaGraphLaunch(of(program), of(stream)); });
}

constexpr CardCalls kCalls = {.architectures = STORMCELL_CUDA_ARCHITECTURES,
                              .error_name = error_name,
                              .error_text = error_text,
                              .driver_version = driver_version,
                              .count_cards = count_cards,
                              .describe = describe,
                              .prepare = prepare,
                              .count_memory = count_memory,
                              .allocate = allocate,
                              .release = release,
                              .allocate_pinned = allocate_pinned,
                              .release_pinned = release_pinned,
                              .create_stream = create_stream,
                              .destroy_stream = destroy_stream,
                              .synchronize = synchronize,
                              .copy_to_card = copy_to_card,
                              .copy_to_host = copy_to_host,
                              .create_event = create_event,
                              .destroy_event = destroy_event,
                              .record = record,
                              .wait = wait,
                              .synchronize_event = synchronize_event,
                              .launch = launch,
                              .create_graph = create_graph,
                              .destroy_graph = destroy_graph,
                              .add_node = add_node,
                              .create_condition = create_condition,
                              .add_loop = add_loop,
                              .instantiate = instantiate,
                              .destroy_program = destroy_program,
                              .launch_program = launch_program};

}  // namespace
}  // namespace stormcell::card

extern "C" __attribute__((visibility("default"))) const stormcell::card::ModuleFacts* stormcell_cuda_module() {
  using namespace stormcell::card;
  static const ModuleFacts facts = {kCardInterface, STORMCELL_VERSION, build_id(), &kCalls};
  return &facts;
}
