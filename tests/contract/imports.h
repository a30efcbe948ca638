// Helpers for tests of imports: they import a trace and return its figures, or check that a refusal changes nothing.
#pragma once
#include <string>
#include <vector>

#include "core/formats/safetensors_writer.h"
#include "core/session/session_reader.h"
#include "tests/contract/models.h"
#include "tests/contract/traces.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {

/// A native trace without what is optional: `cells` cells of one request, one layer of 4 branches, k = 1.
struct SmallTrace {
  std::vector<int32_t> indices = {0, 1, 2, 3, 0}, request = {0, 0, 0, 0, 0}, position = {0, 1, 2, 3, 4},
                       phase = {0, 0, 0, 1, 1};
  std::vector<float> weights = {.5f, .5f, .5f, .5f, .5f};
  SafetensorsMetadata about = {{"model", "small"}, {"layers", "1"}, {"branches", "4"}, {"k", "1"}};
  std::string write(const std::string& path) const {
    const auto n = static_cast<int64_t>(request.size());
    const std::vector<TensorToWrite> tensors = {{"layer.0.indices", DType::i32, {n, 1}, indices.data()},
                                                {"layer.0.weights", DType::f32, {n, 1}, weights.data()},
                                                {"cell.request", DType::i32, {n}, request.data()},
                                                {"cell.position", DType::i32, {n}, position.data()},
                                                {"cell.phase", DType::i32, {n}, phase.data()}};
    write_safetensors(path, tensors, about);
    return path;
  }
};

inline std::vector<int64_t> loads_of(const nlohmann::json& analysis, size_t router) {
  return analysis["routers"][router]["load"].get<std::vector<int64_t>>();
}

class Imports {
 protected:
  using Json = nlohmann::json;
  Scratch scratch_;

  Json json_of(const Arguments& arguments) {
    const Ended ended = run_program(arguments);
    if (ended.exit != 0) QTest::qFail(told(arguments, ended).c_str(), __FILE__, __LINE__);
    return ended.json();
  }
  Json imported(const std::string& trace, const std::string& session, const Arguments& more = {}) {
    Arguments arguments = {"import", trace, "-o", session, "--json", "-"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return json_of(arguments);
  }
  /// A cluster that has enough room for the small sessions.
  std::string four_gpus() {
    return scratch_.write("four.json", R"({"schema": "stormcell.cluster/1", "nodes": 1, "gpus_per_node": 4,
 "gpu": {"name": "H100 SXM5 80GB", "memory_bytes": 8e10, "memory_bytes_per_s": 3e12, "flops_per_s": 9e14}, "fabric": {"bytes_per_s": 4e11}})");
  }
  Json analyzed(const std::string& session) { return json_of({"analyze", session, "--json", "-"}); }

  /// Refused, and neither a session that is there nor one that is not is touched by it. The one that is there was made
  /// of `good`, a trace of the same model.
  void verify_refused(const std::string& trace, const std::string& words, const Arguments& more = {},
                      std::string good = {}) {
    if (good.empty()) good = scratch_.write("good.csv", route_trace());
    const std::string none = scratch_.path("none.storm"), there = good + ".storm";
    if (!std::filesystem::exists(there)) imported(good, there);
    const auto runs_of = [&] { return SessionReader(there).runs().size(); };
    const size_t runs = runs_of();
    for (const std::string& session : {none, there}) {
      Arguments arguments = {"import", trace, "-o", session};
      arguments.insert(arguments.end(), more.begin(), more.end());
      VERIFY_REFUSED(arguments, trace, words);
    }
    QVERIFY(!std::filesystem::exists(none));
    QVERIFY(!std::filesystem::exists(there + "-wal") && !std::filesystem::exists(none + "-wal"));
    QCOMPARE(runs_of(), runs);
  }
};

}  // namespace stormcell::testing
