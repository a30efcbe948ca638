// Recordings of servers and trainers: SGLang's answers, vLLM's and TensorRT-LLM's counts, Megatron-LM's passes,
// llama.cpp's matrix.
#include "tests/contract/imports.h"
#include "tests/contract/server_traces.h"

namespace stormcell::testing {

class ContractImportServersTest : public QObject, private Imports {
  Q_OBJECT
  std::string session_of(const char* name) const { return scratch_.path(std::string(name) + ".storm"); }
  Json imported_as(const char* format, const std::string& trace, const Arguments& more = {}) {
    const Json import = imported(trace, session_of(format), more);
    if (import["format"] != format) QTest::qFail(import.dump().c_str(), __FILE__, __LINE__);
    const Ended checked = run_program({"inspect", session_of(format), "--check"});
    if (checked.exit != 0) QTest::qFail(checked.err.c_str(), __FILE__, __LINE__);
    return import;
  }
  void verify_loads(const char* format, const std::vector<std::vector<int64_t>>& loads) {
    const Json analysis = analyzed(session_of(format));
    QCOMPARE(analysis["routers"].size(), loads.size());
    for (size_t r = 0; r < loads.size(); ++r)
      QVERIFY2(loads_of(analysis, r) == loads[r], analysis["routers"][r].dump().c_str());
  }

 private slots:
  void answers_with_routed_experts_are_requests() {
    const std::string trace = scratch_.write("answers.jsonl", routed_experts()),
                      config = scratch_.write("three/config.json", kThreeLayers);
    const Json import = imported_as("routed-experts", trace, {"--model-config", config});
    QCOMPARE(import["model"]["layers"].get<int>(), 2);
    QCOMPARE(import["rows_skipped"].get<int64_t>(), int64_t{5 * 2});
    verify_loads("routed-experts", {{2, 2, 3, 3}, {3, 3, 0, 4}});
    const SessionReader reader(session_of("routed-experts"));
    QCOMPARE(reader.sequences(1), int64_t{2});
    QVERIFY((reader.phases(1) == std::vector<Phase>{Phase::prefill, Phase::decode}));
    QCOMPARE(reader.spaces(1, 1)[0].cells.step, 3);  // the first decoded token follows the prompt
    const std::string none = scratch_.path("none.storm");
    VERIFY_REFUSED((Arguments{"import", trace, "-o", none}), trace, "does not say how many layers");
    const auto refused = [&](const std::string& content, const std::string& words) {
      const std::string wrong = scratch_.write("wrong.jsonl", content);
      VERIFY_REFUSED((Arguments{"import", wrong, "-o", none, "--model-config", config}), wrong, words);
    };
    refused(R"({"meta_info": {"routed_experts": "AAAA"}})", "is not base64 of int32");
    refused(answer({1, 2, 3}), "no whole number of tokens");
    refused(answer({0, 0, 0, 0, 4, 1}), "names expert 4");
    QVERIFY(!std::filesystem::exists(none));
  }

  void columns_and_slots_of_fused_shared_experts_are_left_out() {
    const auto loads_in = [&](const std::string& session) {
      std::vector<std::vector<int64_t>> loads;
      const Json analysis = analyzed(session);
      for (size_t r = 0; r < analysis["routers"].size(); ++r) loads.push_back(loads_of(analysis, r));
      return loads;
    };
    using Loads = std::vector<std::vector<int64_t>>;
    std::string three = kThreeLayers;
    three.insert(three.rfind('}'), R"(, "n_shared_experts": 1)");
    const std::string shared = scratch_.write("shared/config.json", three);
    // Early servers kept a third column, with any id in it.
    const std::string answers =
        scratch_.write("fused.jsonl", answer({0, 0, 3, 0, 1, 3, 3, 0, 3, 0, 0, 3, 2, 3, 3, 1, 2, 3}, 1, 1) +
                                          answer({0, 0, 3, 3, 2, 3, 1, 0, 3}, 1, 1));
    const std::string columns = scratch_.path("columns.storm"), in_slots = scratch_.path("slots.storm");
    const Json import = imported(answers, columns, {"--model-config", shared});
    QVERIFY(import["model"]["k"] == 2 && import["rows_read"] == 12 && import["rows_shared"] == 6 &&
            import["rows_skipped"] == 6);
    QVERIFY(loads_in(columns) == (Loads{{1, 1, 2, 2}, {2, 2, 1, 1}}));
    // Three experts and a shared one in four slots: each token of a step goes there.
    const std::string line =
        R"({"record_type":"eplb_load_stats","version":1,"step":7,"num_ranks":2,"num_layers":1,"tokens":[[3,2]],"expert_load":[[2,5,1,2]],"p2l_map":[[0,3,2,1]]})";
    const Json loads = imported(scratch_.write("fused-eplb.jsonl", line + "\n"), in_slots, {"--shared-experts", "1"});
    QVERIFY(loads["model"]["branches"] == 3 && loads["rows_read"] == 3 && loads["rows_shared"] == 1);
    QVERIFY(loads_in(in_slots) == (Loads{{2, 2, 1}}));
    const Json held = Json::parse(SessionReader(in_slots).run(1).dataset)["slots"][0];
    QVERIFY(held["experts"] == Json::parse("[0,-1,2,1]") && held["loads"] == Json::parse("[2,0,1,2]"));
    const Json counts = imported(scratch_.write("fused.json", R"({"logical_count": [[3, 1, 2, 6]]})"),
                                 scratch_.path("counts.storm"), {"--shared-experts", "1"});
    QCOMPARE(counts["model"]["branches"].get<int>(), 3);
    verify_refused(scratch_.write("uneven.json", R"({"logical_count": [[3, 1, 2, 1]]})"),
                   "layer.0 chose a routed expert more often than the shared ones after them",
                   {"--shared-experts", "1"}, scratch_.write("even.json", R"({"logical_count": [[3, 1, 2]]})"));
  }

  void steps_of_vllm_follow_their_own_map() {
    const std::string text = vllm_loads();
    imported_as("vllm-eplb", scratch_.write("eplb.jsonl", text));
    verify_loads("vllm-eplb", {{5 + 7, 2 + 2, 3 + 1}, {0 + 1, 10 + 0, 0 + 9}});
    const SessionReader reader(session_of("vllm-eplb"));
    QCOMPARE(reader.batches(1)[1].server_step, int64_t{8});
    const Ended told = run_program({"import", scratch_.path("eplb.jsonl"), "-o", scratch_.path("told-vllm.storm")});
    QVERIFY2(told.out.find("40 choices in ") != std::string::npos, told.out.c_str());
    std::string holed = text;
    holed.replace(holed.find("\"step\":8"), 8, "\"step\":12");
    const Json hole = imported(scratch_.write("holed.jsonl", holed), scratch_.path("holed.storm"));
    QVERIFY2(hole["warnings"].dump().find("holed.jsonl: has no step between 7 and 12") != std::string::npos,
             hole["warnings"].dump().c_str());
    std::string reals = text;
    reals.replace(reals.find("[0,5,0,5]"), 9, "[0,5.0,0,0.5e1]");
    imported(scratch_.write("reals.jsonl", reals), scratch_.path("reals.storm"));
    const Json same = analyzed(scratch_.path("reals.storm"));
    QVERIFY(loads_of(same, 0) == (std::vector<int64_t>{5 + 7, 2 + 2, 3 + 1}) &&
            loads_of(same, 1) == (std::vector<int64_t>{0 + 1, 10 + 0, 0 + 9}));
    const auto changed = [&](const std::string& from, const std::string& to) {
      std::string other = text;
      return scratch_.write("changed.jsonl", other.replace(other.find(from), from.size(), to));
    };
    const Json unlike =
        imported(changed("\"step\":8,\"num_ranks\":2,\"num_layers\":2", "\"step\":8,\"num_ranks\":2,\"num_layers\":3"),
                 scratch_.path("unlike.storm"));
    QVERIFY2(
        unlike["warnings"].dump().find("line 3: num_layers is 3, but expert_load has 2 layers") != std::string::npos,
        unlike["warnings"].dump().c_str());
    verify_refused(changed("\"step\":8", "\"step\":3"), "line 3: step 3 after step 7");
    verify_refused(changed("[0,5,0,5]", "[0,5,0]"), "line 2: expert_load has rows of different lengths");
    verify_refused(changed("[2,1,0,1]", "[2,1,0,70000]"), "line 2: p2l_map is 70000");
    verify_refused(changed("[0,5,0,5]", "[0,-5,0,5]"), "line 2: expert_load is -5");
    verify_refused(changed("[0,5,0,5]", "[0,5.5,0,5]"),
                   "line 2: expert_load holds something that is not a whole number: 5.5 (correct line 2, or ");
    verify_refused(changed("\"version\":1,\"step\":7", "\"version\":2,\"step\":7"), "version 2 is not known");
  }

  void ranks_of_tensorrt_llm_are_added_up() {
    const std::string folder = scratch_.path("statistics");
    std::filesystem::create_directory(folder);
    scratch_.write("statistics/meta_info.json", trtllm_statistics(folder));
    const Json import = imported_as("trtllm", folder);
    QCOMPARE(import["model"]["k"].get<int>(), 2);
    // The number that analyze adds up to, not that of the tables' cells.
    QVERIFY2(import["choices"] == 11 + 8 + 10 + 7 + 9 + 15, import.dump().c_str());
    const Ended told = run_program({"import", folder, "-o", scratch_.path("told-trtllm.storm")});
    QVERIFY2(told.out.find("60 choices in ") != std::string::npos, told.out.c_str());
    verify_loads("trtllm", {{3 + 8, 4 + 4, 6 + 4}, {6 + 1, 7 + 2, 12 + 3}});
    QCOMPARE(analyzed(session_of("trtllm"))["routers"][0]["layer"].get<int>(), 3);
    QCOMPARE(SessionReader(session_of("trtllm")).batches(1)[1].server_step, int64_t{101});
    // A folder that has not changed adds nothing; one whose rank has, does.
    QCOMPARE(imported(folder, session_of("trtllm"))["runs"].size(), size_t{0});
    std::filesystem::remove(folder + "/rank1.safetensors");
    QCOMPARE(imported(folder, session_of("trtllm"))["runs"].size(), size_t{1});
    std::filesystem::remove(folder + "/rank0.safetensors");
    verify_refused(folder + "/meta_info.json", "has no rank0.safetensors beside it");
  }

  void micro_batches_of_megatron_are_batches_of_a_step() {
    const std::string text = megatron_trace();
    const Json import = imported_as("megatron", scratch_.write("router_trace_rank1.jsonl", text));
    QCOMPARE(import["rows_read"].get<int64_t>(), int64_t{24});
    verify_loads("megatron", {{3, 3, 3, 3}, {4, 3, 2, 3}});
    const auto batches = SessionReader(session_of("megatron")).batches(1);
    QCOMPARE(batches.size(), size_t{3});
    QVERIFY(batches[1].server_step == 0 && batches[2].server_step == 1 && batches[2].rank == 1);
    // Its sequences are no requests, nor are they when they come back from a native trace.
    const std::string native = scratch_.path("megatron.safetensors");
    VERIFY_DONE(run_program({"export", session_of("megatron"), "--format", "native", "-o", native}),
                Arguments{"export"});
    const std::string lacks = imported(native, session_of("native"))["lacks"].dump();
    for (const char* fact : {"requests", "positions", "phases"}) QVERIFY(lacks.find(fact) != std::string::npos);
    const auto changed = [&](const std::string& from, const std::string& to) {
      std::string other = text;
      return scratch_.write("changed.jsonl", other.replace(other.find(from), from.size(), to));
    };
    verify_refused(changed("[[0,1],[2,3]]", "[[0,1],[2]]"), "line 1: top_indices has rows of different lengths");
    verify_refused(changed("[[0,1],[2,3]]", "[[0,1],[3,3]]"), "line 1: token 1 names expert 3 twice");
    // Several choices that are all zero are none.
    const Json padded = imported(changed("[[0,1],[2,3]]", "[[0,1],[0,0]]"), session_of("padded"));
    QCOMPARE(padded["rows_read"].get<int64_t>(), int64_t{22});
    QCOMPARE(padded["rows_masked"].get<int64_t>(), int64_t{2});
    verify_loads("padded", {{3, 3, 2, 2}, {4, 3, 2, 3}});
    verify_refused(changed("\"rank\":1", "\"rank\":2"), "line 2: is of rank 1, the first line of rank 2");
    verify_refused(changed("\"num_tokens\":2", "\"num_tokens\":3"), "line 1: top_indices is not a list of 3 lists");
  }

  void an_importance_matrix_is_one_step() {
    const std::string file = imatrix();
    const Json import = imported_as("imatrix", scratch_.write("imatrix.gguf", file));
    QCOMPARE(import["model"]["k"].get<int>(), 2);
    QVERIFY(std::find(import["lacks"].begin(), import["lacks"].end(), Json("steps")) != import["lacks"].end());
    verify_loads("imatrix", {{8, 5, 3}, {2, 6, 8}});
    std::string other = file;
    const float negative = -1;
    std::memcpy(other.data() + other.size() - 32, &negative, sizeof negative);
    verify_refused(scratch_.write("negative.gguf", other), "is out of range");
    other = file;
    const float more = 4;
    std::memcpy(other.data() + other.size() - 32, &more, sizeof more);
    verify_refused(scratch_.write("unlike.gguf", other), "its stacks of weights counted different numbers of tokens");
    verify_refused(scratch_.write("cut.gguf", file.substr(0, file.size() - 40)), "is beyond the end of the file");
  }
};

STORMCELL_TEST(ContractImportServersTest)

}  // namespace stormcell::testing

#include "import_servers_test.moc"
