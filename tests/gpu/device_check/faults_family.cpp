// Bad input and faults: a status with one line, and the process lives on where the driver allows.
#include <algorithm>
#include <cstring>

#include "gpu/launch/device.h"
#include "tests/gpu/device_check/families.h"
#include "tests/gpu/device_check/layer_case.h"

namespace stormcell::device_check {
namespace {
void expect(Report& report, const std::string& name, const gpu::Status& status, gpu::StatusCode code) {
  const bool one_line = std::strchr(status.text(), '\n') == nullptr && status.text()[0] != '\0';
  report.check(status.code() == code && one_line, name, status.text());
}
}  // namespace

void check_faults(const Task& task, Report& report) {
  const Queue queue;
  LayerShape shape = switch_shape();
  shape.width = 64, shape.hidden = 128;
  const Weights weights(shape, 8);
  LayerCalls calls(shape, weights, 16, 8, Load::uniform, 1);
  const gpu::LayerCall& good = calls.call(0);
  const size_t bytes = gpu::layer_workspace(good);
  using gpu::StatusCode;
  const auto refuses = [&](const char* name, auto change, size_t has, StatusCode code) {
    report.begins(name);
    gpu::LayerCall call = good;
    change(call);
    expect(report, name, gpu::layer(call, calls.limits(), calls.workspace(0), has, queue.stream()), code);
  };
  refuses(
      "workspace too small", [](auto&) {}, bytes - 1, StatusCode::bad_input);
  refuses(
      "null weights", [](auto& c) { c.w1 = nullptr; }, bytes, StatusCode::bad_input);
  refuses(
      "misaligned x", [](auto& c) { c.x = static_cast<const char*>(c.x) + 2; }, bytes, StatusCode::bad_input);
  refuses(
      "too many experts", [](auto& c) { c.experts = c.rule.k = 2000; }, bytes, StatusCode::bad_input);
  refuses(
      "more cells than the workspace holds", [](auto& c) { c.cells = int64_t{1} << 40; }, bytes, StatusCode::bad_input);
  refuses(
      "a rule of the host", [](auto& c) { c.rule.choose = gpu::DeviceChoice::none; }, bytes, StatusCode::unsupported);
  report.begins("out of memory");
  void* huge = nullptr;
  expect(report, "out of memory", gpu::check_cuda(cudaMalloc(&huge, size_t{1} << 50), "cudaMalloc", "(2^50 bytes)"),
         StatusCode::out_of_memory);
  // An error that another call leaves behind is not the next launch's.
  report.check(cudaMalloc(&huge, size_t{1} << 50) == cudaErrorMemoryAllocation, "an error left behind", "");
  report.begins("a layer after all of them");
  calls.run(0, queue);
  queue.wait();
  report.passed("a layer after all of them");
  report.begins("more rows than were told of");
  expect(report, "more rows than were told of", gpu::check_most_rows(calls.map(0), 0, queue.stream()),
         StatusCode::bad_input);
  if (task.small) return;  // compute-sanitizer would count what follows
  // A pointer of nobody's: the kernel faults, the next call says so, and the process ends clean.
  report.begins("a kernel fault");
  gpu::RouteCall bad = gpu::layer_parts(good, calls.workspace(0)).route;
  bad.scores = reinterpret_cast<const float*>(uintptr_t{1} << 44);
  const gpu::LayerParts parts = gpu::layer_parts(good, calls.workspace(0));
  gpu::Status status = gpu::route(bad, parts.route_workspace, parts.route_workspace_bytes, queue.stream());
  if (status.ok()) status = gpu::check_cuda(cudaStreamSynchronize(queue.stream()), "route", "(16 cells, 8 branches)");
  expect(report, "a kernel fault", status, StatusCode::device_fault);
}

}  // namespace stormcell::device_check
