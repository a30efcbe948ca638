// A trace without the shared experts that its server fused with the routed ones.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/traces/trace.h"

namespace stormcell {

/// Hands on a trace without its shared experts. Servers that fuse them give them the ids behind the routed ones
/// (SGLang's num_fused_shared_experts, vllm-ascend's mix_placement), and every token goes there, so they say nothing of
/// routing. If the trace or the model has none, everything passes unchanged.
class RoutedAlone : public TraceSink {
 public:
  RoutedAlone(const TraceSource& source, TraceSink& sink) : source_(source), sink_(sink) {}

  void begin(const TraceHeader& header) override;
  void server_step(int64_t number) override { sink_.server_step(number); }
  void labels(std::span<const int32_t> classes) override { sink_.labels(classes); }
  void batch(std::span<const TraceCells> cells, std::span<const DecisionRecord> decisions) override;
  void loads(int64_t step, int32_t router, std::span<const int64_t> counts) override;
  void rank(int32_t number) override { sink_.rank(number); }

  /// Counts of the reader without the columns held back.
  TraceCounts routed(TraceCounts counts) const;

 private:
  struct Router {
    std::string name;
    int32_t routed = 0;   ///< experts; those behind are shared
    int32_t fan_out = 0;  ///< choices of a cell as it comes
    bool fused = false;
  };
  /// A decision without the shared experts.
  struct Routed {
    std::vector<int32_t> choice;
    std::vector<float> weight;
    std::vector<uint8_t> residency;
    std::vector<int64_t> bytes_read;
  };
  [[noreturn]] void wrong(const Router& router, const std::string& what) const;
  void strip(const DecisionRecord& decision, const Router& router, Routed& out);

  const TraceSource& source_;
  TraceSink& sink_;
  std::vector<Router> routers_;
  std::vector<Routed> routed_;  // of the batch at hand
  std::vector<DecisionRecord> decisions_;
  int64_t shared_ = 0, masked_ = 0;  // rows held back, and of those that named nothing
};

}  // namespace stormcell
