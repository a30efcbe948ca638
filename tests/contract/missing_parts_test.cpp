// Recordings with missing parts: a warning names the missing parts, and the rest is read.
#include <filesystem>
#include <fstream>
#include <functional>
#include <numeric>

#include "tests/contract/imports.h"
#include "tests/contract/server_traces.h"
#include "tests/contract/sglang_dumps.h"
#include "tests/testing/counts.h"
#include "tests/testing/file_bytes.h"
#include "tests/testing/gzip_bytes.h"

namespace stormcell::testing {
namespace {

namespace fs = std::filesystem;
using Loads = std::vector<std::vector<int64_t>>;

/// Counts of layer 3 of a rank in iterations 100 and 101, as in the sums below.
void write_rank(const std::string& folder, int rank, size_t experts = 4) {
  std::vector<int64_t> a = {1 + rank, 2, 3, 4}, b = {0, 10 * rank, 0, 1};
  a.resize(experts, 7), b.resize(experts, 7);
  const std::vector<TensorToWrite> tensors = {{"100_3", DType::i64, {static_cast<int64_t>(experts)}, a.data()},
                                              {"101_3", DType::i64, {static_cast<int64_t>(experts)}, b.data()}};
  write_safetensors(folder + "/rank" + std::to_string(rank) + ".safetensors", tensors);
}
std::vector<int64_t> loads_of_ranks(const std::vector<int>& ranks) {
  std::vector<int64_t> loads(4);
  for (const int rank : ranks) loads[0] += 1 + rank, loads[1] += 2 + 10 * rank, loads[2] += 3, loads[3] += 4 + 1;
  return loads;
}

/// Loads of experts in layers 1 and 2.
Loads loads_of_passes(const std::vector<DumpedPass>& passes) {
  Loads loads(2, std::vector<int64_t>(4));
  for (const DumpedPass& pass : passes)
    for (const auto& token : pass)
      for (size_t l = 0; l < 2; ++l)
        for (const int32_t expert : token[l]) ++loads[l][static_cast<size_t>(expert)];
  return loads;
}
const DumpedPass kThree = {{{{0, 1}, {2, 3}}}, {{{0, 2}, {3, 1}}}, {{{3, 1}, {0, 2}}}};
const DumpedPass kOne = {{{{1, 2}, {3, 0}}}};

}  // namespace

class ContractMissingPartsTest : public QObject, private Imports {
  Q_OBJECT
  int count_ = 0;
  std::string new_folder() {
    const std::string folder = scratch_.path("part" + std::to_string(count_++));
    fs::create_directory(folder);
    return folder;
  }
  std::string new_session() { return scratch_.path("s" + std::to_string(count_++) + ".storm"); }

  /// The sum over all runs.
  void verify_loads(const std::string& session, const Loads& loads) {
    const SessionReader reader(session);
    Loads all(loads.size(), std::vector<int64_t>(loads.empty() ? 0 : loads[0].size()));
    for (const RunSummary& run : reader.runs()) {
      QCOMPARE(reader.layout(run.id).routers.size(), loads.size());
      for (size_t r = 0; r < loads.size(); ++r) {
        const std::vector<int64_t> of_run = reader.total_loads(run.id, static_cast<int32_t>(r)).load;
        QCOMPARE(of_run.size(), all[r].size());
        for (size_t e = 0; e < of_run.size(); ++e) all[r][e] += of_run[e];
      }
    }
    for (size_t r = 0; r < loads.size(); ++r) QCOMPARE(all[r], loads[r]);
  }
  /// Checks the loads, and that the only warning contains each of the words.
  void verify_import(const std::string& trace, const Loads& loads, const std::vector<std::string>& words,
                     const Arguments& more = {}) {
    const std::string session = new_session();
    const Json import = imported(trace, session, more);
    const Json& warnings = import["warnings"];
    QVERIFY2(warnings.size() == words.size(), warnings.dump().c_str());
    for (size_t i = 0; i < words.size(); ++i)
      QVERIFY2(warnings[i].get<std::string>().find(words[i]) != std::string::npos, warnings.dump().c_str());
    verify_loads(session, loads);
  }

 private slots:
  void ranks_of_tensorrt_llm_are_named_data() {
    QTest::addColumn<QList<int>>("there");
    QTest::addColumn<QString>("missing");
    QTest::newRow("all") << QList<int>{0, 1, 2} << "";
    QTest::newRow("a hole") << QList<int>{0, 2} << "rank 1 is missing (rank1.safetensors)";
    QTest::newRow("the first") << QList<int>{1, 2} << "rank 0 is missing (rank0.safetensors)";
    QTest::newRow("one alone") << QList<int>{1} << "rank 0 is missing (rank0.safetensors)";
    QTest::newRow("two of two digits") << QList<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 12}
                                       << "ranks 10 and 11 are missing (rank10.safetensors)";
    QTest::newRow("many") << QList<int>{0, 15} << "ranks 1, 2, 3, 4, 5, 6, 7 and 7 more are missing";
    QTest::newRow("thousands") << QList<int>{0, 1, 4002}
                               << "4,000 ranks from rank 2 on are missing (rank2.safetensors)";
  }
  void ranks_of_tensorrt_llm_are_named() {
    QFETCH(QList<int>, there);
    QFETCH(QString, missing);
    const std::string folder = new_folder();
    const std::vector<int> ranks(there.begin(), there.end());
    for (const int rank : ranks) write_rank(folder, rank);
    const std::string meta = folder + "/meta_info.json";
    std::ofstream(meta) << R"({"num_experts": 4, "num_experts_per_token": 1})";
    const std::vector<std::string> words =
        missing.isEmpty() ? std::vector<std::string>{} : std::vector{missing.toStdString()};
    verify_import(meta, {loads_of_ranks(ranks)}, words);
    verify_import(folder, {loads_of_ranks(ranks)}, words);
  }

  void files_of_ranks_that_cannot_be_read_are_named() {
    const std::string folder = new_folder(), meta = folder + "/meta_info.json", broken = folder + "/rank1.safetensors";
    std::ofstream(meta) << R"({"num_experts": 4, "num_experts_per_token": 1})";
    for (const int rank : {0, 1, 2}) write_rank(folder, rank);
    const std::string whole = Scratch::read(broken);
    const std::vector<std::string> names = {"rank1.safetensors"};
    std::ofstream(broken) << whole.substr(0, whole.size() - 9);  // a copy that broke off
    verify_import(meta, {loads_of_ranks({0, 2})}, names);
    std::ofstream(broken) << "";
    verify_import(meta, {loads_of_ranks({0, 2})}, names);
    fs::remove(broken);
    fs::create_symlink("/nowhere/rank1.safetensors", broken);
    verify_import(meta, {loads_of_ranks({0, 2})}, names);
    verify_import(folder, {loads_of_ranks({0, 2})}, names);
    fs::remove(broken);
    std::ofstream(broken + ".part") << whole;
    verify_import(folder, {loads_of_ranks({0, 2})},
                  {"rank1.safetensors.part: is a download that is not finished", "rank 1 is missing"});
    fs::remove(folder + "/rank0.safetensors"), fs::remove(folder + "/rank2.safetensors");
    VERIFY_REFUSED((Arguments{"import", meta, "-o", new_session()}), meta, "has no rank0.safetensors beside it");
  }

  void files_of_ranks_may_be_packed() {
    const std::string folder = new_folder(), meta = folder + "/meta_info.json", plain = folder + "/rank1.safetensors";
    std::ofstream(meta) << R"({"num_experts": 4, "num_experts_per_token": 1})";
    for (const int rank : {0, 1}) write_rank(folder, rank);
    const std::string packed = gzip_of(Scratch::read(plain));
    std::ofstream(plain + ".gz") << packed;
    // A copy of a file that is there is not read.
    verify_import(folder, {loads_of_ranks({0, 1})},
                  {"1 file that is not a trace is left out: \"rank1.safetensors.gz\""});
    fs::remove(plain);
    verify_import(meta, {loads_of_ranks({0, 1})}, {});
    verify_import(folder, {loads_of_ranks({0, 1})}, {});
    std::ofstream(plain + ".gz") << packed.substr(0, packed.size() / 2);
    verify_import(meta, {loads_of_ranks({0})}, {"rank1.safetensors.gz: is packed with gzip and ends in the middle"});
  }

  void files_in_which_nothing_was_chosen_are_left_out_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<QByteArray>("some");
    QTest::addColumn<QByteArray>("none");
    QTest::addColumn<QString>("words");
    const auto row = [](const char* name, const std::string& some, const std::string& none, const char* words) {
      QTest::newRow(name) << name << QByteArray::fromStdString(some) << QByteArray::fromStdString(none) << words;
    };
    const char* const zeros = "is zero all over: no expert was ever chosen";
    row("counts_rank%1.json", R"({"logical_count": [[4, 3, 2, 1]]})", R"({"logical_count": [[0, 0, 0, 0]]})", zeros);
    const std::string line =
        R"({"record_type":"eplb_load_stats","version":1,"step":5,"num_ranks":2,"num_layers":1,"p2l_map":[[0,1,2,3]],)";
    row("eplb_rank%1.jsonl", line + R"("expert_load":[[4,3,2,1]]})", line + R"("expert_load":[[0,0,0,0]]})", zeros);
    // Expert 0 is chosen 4 times, expert 1 3 times, expert 2 twice, expert 3 once.
    row("ids_rank%1.npy", npy_of("(5, 1, 2)", "<i4", std::vector<int32_t>{0, 1, 0, 1, 0, 1, 0, 2, 2, 3}),
        npy_of("(2, 1, 2)", "<i4", std::vector<int32_t>{0, 0, 0, 0}), zeros);
    row("masked_rank%1.npy", npy_of("(5, 1, 2)", "<i4", std::vector<int32_t>{0, 1, 0, 1, 0, 1, 0, 2, 2, 3}),
        npy_of("(2, 1, 2)", "<i4", std::vector<int32_t>{-1, -1, -1, -1}), "names no branch: every element is -1");
  }
  void files_in_which_nothing_was_chosen_are_left_out() {
    QFETCH(QString, name);
    QFETCH(QByteArray, some);
    QFETCH(QByteArray, none);
    QFETCH(QString, words);
    const std::string folder = new_folder(), empty = folder + "/" + name.arg(0).toStdString();
    std::ofstream(empty) << none.toStdString();
    std::ofstream(folder + "/" + name.arg(1).toStdString()) << some.toStdString();
    verify_import(folder, {{4, 3, 2, 1}}, {empty + ": " + words.toStdString() + "; left out"});
    const std::string session = new_session();
    VERIFY_REFUSED((Arguments{"import", empty, "-o", session}), empty, words.toStdString());
    QVERIFY(!fs::exists(session));
  }

  // A token chooses k different experts, so the largest count is at most the k-th part of all.
  void counts_of_more_choices_than_tokens_are_named_data() {
    QTest::addColumn<QList<int>>("counts");
    QTest::addColumn<int>("k");
    QTest::addColumn<bool>("doubted");
    QTest::newRow("one expert of each token") << QList<int>{9, 0, 0, 0} << 1 << false;
    QTest::newRow("half of the choices") << QList<int>{4, 2, 1, 1} << 2 << false;
    QTest::newRow("one more than half") << QList<int>{5, 2, 1, 1} << 2 << true;
    QTest::newRow("a third") << QList<int>{3, 3, 2, 1} << 3 << false;
    QTest::newRow("more than a third") << QList<int>{4, 4, 2, 1} << 3 << true;
  }
  void counts_of_more_choices_than_tokens_are_named() {
    QFETCH(QList<int>, counts);
    QFETCH(int, k);
    QFETCH(bool, doubted);
    const std::string folder = new_folder(), meta = folder + "/meta_info.json";
    std::ofstream(meta) << R"({"num_experts": 4, "num_experts_per_token": )" + std::to_string(k) + "}";
    const std::vector<int64_t> first(counts.begin(), counts.end()), even = {6, 6, 6, 6};
    write_safetensors(folder + "/rank0.safetensors", std::vector<TensorToWrite>{{"5_0", DType::i64, {4}, first.data()},
                                                                                {"6_0", DType::i64, {4}, even.data()}});
    std::vector<int64_t> both = even;
    for (size_t e = 0; e < both.size(); ++e) both[e] += first[e];
    verify_import(meta, {both},
                  doubted ? std::vector<std::string>{"1 tensor counts more choices of an expert than tokens, the first "
                                                     "one \"5_0\": num_experts_per_token is " +
                                                     std::to_string(k)}
                          : std::vector<std::string>{});
  }

  void counts_of_another_number_of_experts_name_the_tensor() {
    const std::string folder = new_folder(), meta = folder + "/meta_info.json";
    std::ofstream(meta) << R"({"num_experts": 4, "num_experts_per_token": 1})";
    write_rank(folder, 0, 5);
    VERIFY_REFUSED(
        (Arguments{"import", meta, "-o", new_session()}), meta,
        "rank0.safetensors: \"100_3\" is i64 [5], expected i64 [4]: the last one may count tokens without an expert");
  }

  void files_of_ranks_without_meta_info_are_told_of_it() {
    const std::string folder = new_folder(), one = folder + "/rank0.safetensors";
    for (const int rank : {0, 1}) write_rank(folder, rank);
    VERIFY_REFUSED(
        (Arguments{"import", folder, "-o", new_session()}), folder,
        "(import its folder: meta_info.json, which says num_experts and num_experts_per_token, must be beside");
    VERIFY_REFUSED(
        (Arguments{"import", one, "-o", new_session()}), one,
        "is the counts of one rank of TensorRT-LLM's expert statistics, not a routing trace (import its folder");
  }

  // A stage of a pipeline has its own layers; they must be there in each iteration.
  void iterations_that_a_rank_lacks_are_named() {
    const std::string folder = new_folder(), meta = folder + "/meta_info.json";
    std::ofstream(meta) << R"({"num_experts": 2, "num_experts_per_token": 1})";
    const std::vector<int64_t> a = {1, 2}, b = {3, 4};
    write_safetensors(folder + "/rank0.safetensors", std::vector<TensorToWrite>{{"5_0", DType::i64, {2}, a.data()},
                                                                                {"6_0", DType::i64, {2}, b.data()}});
    write_safetensors(folder + "/rank1.safetensors", std::vector<TensorToWrite>{{"5_1", DType::i64, {2}, a.data()},
                                                                                {"6_1", DType::i64, {2}, a.data()}});
    verify_import(meta, {{4, 6}, {2, 4}}, {});
    write_safetensors(folder + "/rank1.safetensors", std::vector<TensorToWrite>{{"5_1", DType::i64, {2}, a.data()}});
    verify_import(meta, {{4, 6}, {1, 2}}, {"rank1.safetensors lacks 1 tensor of counts, the first one \"6_1\""});
  }

  // Every second iteration may be recorded; then none is missing.
  void iterations_that_no_rank_has_are_named() {
    const std::string folder = new_folder(), meta = folder + "/meta_info.json";
    std::ofstream(meta) << R"({"num_experts": 2, "num_experts_per_token": 1})";
    const std::vector<int64_t> a = {1, 2};
    const auto write = [&](const std::vector<std::string>& names) {
      std::vector<TensorToWrite> tensors;
      for (const std::string& name : names) tensors.push_back({name, DType::i64, {2}, a.data()});
      write_safetensors(folder + "/rank0.safetensors", tensors);
    };
    write({"4_0", "6_0", "8_0"});
    verify_import(meta, {{3, 6}}, {});
    write({"4_0", "5_0", "9_0", "10_0"});
    verify_import(meta, {{4, 8}}, {"meta_info.json: has no iteration between 5 and 9: tensors are missing"});
  }

  void passes_without_tokens_count_nothing_data() {
    QTest::addColumn<int>("shape");
    QTest::newRow("between") << 0;
    QTest::newRow("first") << 1;
    QTest::newRow("last, several") << 2;
  }
  void passes_without_tokens_count_nothing() {
    QFETCH(int, shape);
    const DumpedPass idle;
    const std::vector<std::vector<DumpedPass>> shapes = {
        {kThree, idle, kOne}, {idle, kThree, kOne}, {kThree, kOne, idle, idle, idle}};
    const std::vector<DumpedPass>& passes = shapes[static_cast<size_t>(shape)];
    const std::string trace = scratch_.write("idle.pt", per_token_dump(0, passes)), session = new_session();
    const Json import = imported(trace, session);
    const Loads loads = loads_of_passes({kThree, kOne});
    verify_loads(session, loads);
    QCOMPARE(SessionReader(session).run(1).batches, int64_t{2});
    QCOMPARE(import["rows_read"].get<int64_t>(), int64_t{4 * 2 * 2});
    const char* words = passes.size() == 3 ? "1 of 3 passes has no token, and counts nothing: rank 0 was idle"
                                           : "3 of 5 passes have no token, and count nothing: rank 0 was idle";
    QVERIFY2(import["warnings"].dump().find(words) != std::string::npos, import.dump().c_str());
    // The phase of an idle pass is not known; the other passes keep theirs.
    QVERIFY(std::find(import["lacks"].begin(), import["lacks"].end(), Json("phases")) == import["lacks"].end());
  }

  void an_idle_pass_of_the_server_itself_counts_nothing() {
    const std::string session = new_session();
    imported(reference_path("sglang/idle-pass.pt"), session);
    verify_loads(session, {{2, 2, 1, 1}, {1, 1, 2, 2}});
    VERIFY_DONE(run_program({"inspect", session, "--check"}), Arguments{"inspect"});
    QCOMPARE(SessionReader(session).run(1).batches, int64_t{2});
  }

  void counts_of_an_idle_pass_are_no_step() {
    const std::vector<int32_t> some = {0, 0, 0, 0, 1, 2, 3, 4, 4, 3, 2, 1}, none(12);
    const std::string trace = scratch_.write("counts.pt", per_pass_dump(2, {some, none, some})),
                      session = new_session();
    const Json import = imported(trace, session);
    QCOMPARE(SessionReader(session).run(1).batches, int64_t{2});
    verify_loads(session, {{2, 4, 6, 8}, {8, 6, 4, 2}});
    QVERIFY2(import["warnings"].dump().find("1 of 3 passes has no token, and counts nothing") != std::string::npos,
             import.dump().c_str());
  }

  void a_rank_that_was_always_idle_is_named_and_left_out() {
    const std::string folder = new_folder();
    std::ofstream(folder + "/a_0.pt") << per_token_dump(0, {kThree, kOne});
    std::ofstream(folder + "/b_1.pt") << per_token_dump(1, {{}, {}});
    std::ofstream(folder + "/c_2.pt") << per_token_dump(2, {kOne});
    verify_import(folder, loads_of_passes({kThree, kOne, kOne}),
                  {"b_1.pt: rank 1 was idle: none of its 2 passes has a token; left out"});
    VERIFY_REFUSED((Arguments{"import", folder + "/b_1.pt", "-o", new_session()}), folder + "/b_1.pt",
                   "holds nothing: no token was recorded");
    // The dumps state their ranks; their names also differ by a time.
    fs::remove(folder + "/b_1.pt");
    verify_import(folder, loads_of_passes({kThree, kOne, kOne}),
                  {": rank 1 is missing, by the largest rank that is there, 2"});
    const std::string session = new_session();
    imported(folder, session);
    const Json merged = json_of({"merge", session, "-o", new_session(), "--json", "-"});
    QVERIFY2(merged["warnings"].dump().find(session + ": rank 1 is missing") != std::string::npos,
             merged.dump().c_str());
  }

  void steps_without_load_count_nothing() {
    const std::string line = R"({"record_type":"eplb_load_stats","version":1,"step":)",
                      map = R"(,"num_ranks":2,"num_layers":1,"p2l_map":[[0,1,2,3]],"expert_load":[[)";
    const std::string some = "4,3,2,1]]}\n", none = "0,0,0,0]]}\n";
    const std::string trace =
        scratch_.write("eplb.jsonl", line + "5" + map + some + line + "6" + map + none + line + "7" + map + some);
    verify_import(trace, {{8, 6, 4, 2}}, {"eplb.jsonl: 1 of 3 steps has no load, and counts nothing"});
    const std::string twice = scratch_.write("twice.jsonl", line + "5" + map + some + line + "5" + map + some);
    verify_import(twice, {{8, 6, 4, 2}}, {"1 line has the step of the line before, the first one step 5"});
    const std::string zero = scratch_.write("zero.jsonl", line + "5" + map + none);
    VERIFY_REFUSED((Arguments{"import", zero, "-o", new_session()}), zero,
                   "is zero all over: no expert was ever chosen");
  }

  void a_rank_of_megatron_without_tokens_is_left_out() {
    const std::string folder = new_folder();
    std::ofstream(folder + "/router_trace_rank1.jsonl") << megatron_trace();
    std::ofstream(folder + "/router_trace_rank0.jsonl")
        << R"({"step":0,"block":"decoder","layer":1,"rank":0,"num_tokens":0,"topk":2,"top_indices":[]})"
        << "\n";
    verify_import(folder, {{3, 3, 3, 3}, {4, 3, 2, 3}}, {"rank 0 was idle: none of its passes has a token; left out"});
    fs::remove(folder + "/router_trace_rank0.jsonl");
    const std::string text = QString::fromStdString(megatron_trace()).replace("\"rank\":1", "\"rank\":3").toStdString();
    std::ofstream(folder + "/router_trace_rank3.jsonl") << text;
    const Json import = imported(folder, new_session());
    QVERIFY2(import["warnings"].dump().find("router_trace_rank0.jsonl, ") != std::string::npos,
             import["warnings"].dump().c_str());
  }

  // Ranks of one model may differ in the largest id and, as stages of a pipeline, in layers.
  void ranks_of_one_model_share_a_session_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<QByteArray>("first");
    QTest::addColumn<QByteArray>("second");
    QTest::addColumn<bool>("configured");
    QTest::addColumn<bool>("warned");
    const auto row = [](const char* title, const char* name, const std::string& first, const std::string& second,
                        bool configured, bool warned) {
      QTest::newRow(title) << name << QByteArray::fromStdString(first) << QByteArray::fromStdString(second)
                           << configured << warned;
    };
    const auto rank = [](int number, int layer, const char* ids) {
      return R"({"step":0,"block":"decoder","layer":)" + std::to_string(layer) + R"(,"rank":)" +
             std::to_string(number) + R"(,"num_tokens":2,"topk":2,"top_indices":)" + ids + "}\n";
    };
    const char *const all = "[[0,1],[2,3]]", *const few = "[[0,1],[2,0]]";
    row("largest ids of Megatron-LM", "router_trace_rank%1.jsonl", rank(0, 0, all), rank(1, 0, few), false, true);
    row("stages of Megatron-LM", "router_trace_rank%1.jsonl", rank(0, 0, all), rank(1, 1, all), false, false);
    row("stages and largest ids", "router_trace_rank%1.jsonl", rank(0, 0, all), rank(1, 1, few), false, true);
    row("stages with a configuration", "router_trace_rank%1.jsonl", rank(0, 0, all), rank(1, 1, few), true, false);
    row("largest ids of arrays", "ids_rank%1.npy", npy_of("(2, 1, 2)", "<i4", std::vector<int32_t>{0, 1, 2, 3}),
        npy_of("(2, 1, 2)", "<i4", std::vector<int32_t>{0, 1, 2, 0}), false, true);
  }
  void ranks_of_one_model_share_a_session() {
    QFETCH(QString, name);
    QFETCH(QByteArray, first);
    QFETCH(QByteArray, second);
    QFETCH(bool, configured);
    QFETCH(bool, warned);
    const std::string folder = new_folder(), a = folder + "/" + name.arg(0).toStdString(),
                      b = folder + "/" + name.arg(1).toStdString();
    std::ofstream(a) << first.toStdString();
    std::ofstream(b) << second.toStdString();
    Arguments more;
    if (configured)
      more = {"--model-config",
              scratch_.write(
                  "stages/config.json",
                  R"({"model_type":"mixtral","num_hidden_layers":2,"num_local_experts":4,"num_experts_per_tok":2})")};
    const auto verify_shared = [&](const std::string& session) {
      const SessionReader reader(session);
      QCOMPARE(reader.runs().size(), size_t{2});
      for (const int64_t run : {1, 2}) QCOMPARE(reader.layout(run).routers[0].branches, 4);
    };
    const auto is_warned = [](const Json& import) {
      return import["warnings"].dump().find("other traces of its model 4, which are taken") != std::string::npos;
    };
    // The order of the ranks does not matter, nor does it if a later call adds the second one.
    for (const std::vector<std::string>& files : {std::vector{a, b}, std::vector{b, a}}) {
      const std::string session = new_session();
      Arguments arguments = {"import", files[0], files[1], "-o", session, "--json", "-"};
      arguments.insert(arguments.end(), more.begin(), more.end());
      const Json import = json_of(arguments);
      QCOMPARE(import["sessions"].size(), size_t{1});
      QCOMPARE(is_warned(import), warned);
      verify_shared(session);
    }
    const std::string session = new_session();
    imported(a, session, more);
    const Json later = imported(b, session, more);
    QCOMPARE(later["sessions"].size(), size_t{1});
    QCOMPARE(is_warned(later), warned);
    verify_shared(session);
  }

  void numbered_files_of_a_folder_are_named_data() {
    QTest::addColumn<QStringList>("names");
    QTest::addColumn<QString>("missing");
    QTest::newRow("ranks") << QStringList{"router_rank0.npy", "router_rank1.npy"} << "";
    QTest::newRow("a rank") << QStringList{"router_rank0.npy", "router_rank2.npy"}
                            << "router_rank1.npy is missing beside";
    QTest::newRow("rank 0") << QStringList{"rank1.npy", "rank2.npy"} << "rank0.npy is missing beside";
    QTest::newRow("zeros before") << QStringList{"part-00001.npy", "part-00002.npy", "part-00004.npy"}
                                  << "part-00003.npy is missing beside";
    QTest::newRow("of so many") << QStringList{"x-00001-of-00004.npy", "x-00003-of-00004.npy"}
                                << "x-00002-of-00004.npy, ";
    QTest::newRow("the last of so many") << QStringList{"x-00001-of-00003.npy", "x-00002-of-00003.npy"}
                                         << "x-00003-of-00003.npy is missing";
    QTest::newRow("of so many from zero")
        << QStringList{"x-0-of-3.npy", "x-1-of-3.npy"} << "x-2-of-3.npy is missing beside";
    QTest::newRow("one of so many") << QStringList{"x-00002-of-00002.npy"} << "x-00002-of-00002.npy\"]";
    QTest::newRow("days") << QStringList{"day5.npy", "day6.npy"} << "";
    QTest::newRow("far apart") << QStringList{"step100.npy", "step200.npy"} << "";
    QTest::newRow("a word alike") << QStringList{"frank1.npy", "frank2.npy"} << "";
    QTest::newRow("two numbers") << QStringList{"tp0_dp0.npy", "tp0_dp2.npy", "tp0_dp3.npy"}
                                 << "tp0_dp1.npy is missing beside";
  }
  void numbered_files_of_a_folder_are_named() {
    QFETCH(QStringList, names);
    QFETCH(QString, missing);
    const std::string folder = new_folder();
    int32_t own = 0;  // files with the same content are one trace
    for (const QString& name : names)
      std::ofstream(folder + "/" + name.toStdString())
          << npy_of("(3, 1, 2)", "<i4", std::vector<int32_t>{0, 1, 2, 3, own++, 7});
    const Json import = imported(folder, new_session());
    QCOMPARE(import["runs"].size(), static_cast<size_t>(names.size()));
    const std::string warnings = import["warnings"].dump();
    QVERIFY2(missing.isEmpty() ? import["warnings"].empty() : warnings.find(missing.toStdString()) != std::string::npos,
             warnings.c_str());
  }

  void files_of_a_folder_are_read_again_with_other_options() {
    const std::string folder = new_folder(), session = new_session();
    std::ofstream(folder + "/ids.npy") << npy_of("(2, 1, 2)", "<i4", std::vector<int32_t>{0, 1, 2, 3});
    QCOMPARE(imported(folder, session)["runs"].size(), size_t{1});
    QCOMPARE(imported(folder, session)["runs"].size(), size_t{0});
    for (const size_t runs : {size_t{1}, size_t{0}})
      QCOMPARE(imported(folder, session, {"--hidden", "64", "--ffn", "32"})["runs"].size(), runs);
    QCOMPARE(imported(folder, session)["runs"].size(), size_t{0});
  }

  void files_of_a_folder_that_hold_nothing_yet_are_named() {
    const std::string folder = new_folder();
    std::ofstream(folder + "/whole.npy") << npy_of("(2, 1, 2)", "<i4", std::vector<int32_t>{0, 1, 2, 3});
    std::ofstream(folder + "/empty.npy") << "";
    std::ofstream(folder + "/more.npy.incomplete") << npy_of("(2, 1, 2)", "<i4", std::vector<int32_t>{0, 1, 2, 3});
    fs::create_symlink(folder + "/gone.npy", folder + "/linked.npy");
    verify_import(folder, {{1, 1, 1, 1}},
                  {"empty.npy: is empty; left out", "linked.npy: is a link that leads nowhere, to ",
                   "more.npy.incomplete: is a download that is not finished"});
    // A folder of which no file can be unpacked says why.
    const std::string cut = new_folder();
    std::ofstream(cut + "/cut.json.gz") << gzip_of(R"({"logical_count": [[1, 2]]})").substr(0, 20);
    VERIFY_REFUSED((Arguments{"import", cut, "-o", new_session()}), cut, "is a folder without a routing trace: ");
    std::filesystem::remove(folder + "/whole.npy");
    VERIFY_REFUSED((Arguments{"import", folder, "-o", new_session()}), folder,
                   "is a folder without a routing trace: empty.npy is empty");
    VERIFY_REFUSED((Arguments{"import", folder + "/linked.npy", "-o", new_session()}), folder + "/linked.npy",
                   "is a link that leads nowhere, to ");
  }
};

STORMCELL_TEST(ContractMissingPartsTest)

}  // namespace stormcell::testing

#include "missing_parts_test.moc"
