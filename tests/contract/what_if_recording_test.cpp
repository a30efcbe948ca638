// what-if of recordings: changed choices as a file that another program replays. The files are read here by a reader of
// their own, and the array by import.
#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <set>

#include "tests/contract/imports.h"
#include "tests/testing/scored_trace.h"

namespace stormcell::testing {
namespace {
using Json = nlohmann::json;

constexpr int kLayers = ScoredTrace::kLayers, kBranches = ScoredTrace::kBranches, kCells = ScoredTrace::kCells;

/// Whole numbers of a tensor in a safetensors file: eight bytes of length, a header in JSON, the data.
struct Tensors {
  std::string bytes;
  Json header;
  size_t begin = 0;
  explicit Tensors(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(in), {});
    uint64_t length = 0;
    std::memcpy(&length, bytes.data(), sizeof length);
    begin = sizeof length + length;
    header = Json::parse(bytes.substr(sizeof length, length));
  }
  std::vector<int64_t> numbers(const std::string& name) const {
    const Json& tensor = header.at(name);
    const size_t from = begin + tensor["data_offsets"][0].get<size_t>(),
                 to = begin + tensor["data_offsets"][1].get<size_t>();
    std::vector<int64_t> values;
    if (tensor["dtype"] == "I64") {
      values.resize((to - from) / sizeof(int64_t));
      std::memcpy(values.data(), bytes.data() + from, to - from);
    } else {
      std::vector<int32_t> narrow((to - from) / sizeof(int32_t));
      std::memcpy(narrow.data(), bytes.data() + from, to - from);
      values.assign(narrow.begin(), narrow.end());
    }
    return values;
  }
};

/// Rows of the trace by request and position.
constexpr const int* kOrder = ScoredTrace::kOrder;

}  // namespace

class ContractWhatIfRecordingTest : public QObject, private Imports {
  Q_OBJECT
  const ScoredTrace trace_{};
  std::string scored_, plain_;  ///< sessions, with and without scores

  Arguments replay(const std::string& session, const std::string& format, const std::string& file,
                   const Arguments& more) const {
    Arguments all = {"what-if", session, "--format", format, "-o", file};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  Json replayed(const std::string& session, const std::string& format, const std::string& file, Arguments more) {
    more.insert(more.end(), {"--json", "-"});
    return json_of(replay(session, format, file, more));
  }

 private slots:
  void initTestCase() {
    scored_ = scratch_.path("scored.storm"), plain_ = scratch_.path("plain.storm");
    imported(trace_.write(scratch_.path("scored.safetensors"), true), scored_);
    imported(trace_.write(scratch_.path("plain.safetensors"), false), plain_);
  }

  void the_next_best_branch_takes_the_place_of_one_that_is_off() {
    for (const std::string format : {"megatron", "transformers"}) {
      const std::string file = scratch_.path(format + ".safetensors");
      const Json j = replayed(scored_, format, file, {"--off", "first/1", "--off", "first/2"});
      QVERIFY2(j["schema"] == "stormcell.replay/1" && j["tokens"] == kCells && j["requests"] == 2, j.dump(1).c_str());
      const Tensors written(file);
      QCOMPARE(written.numbers("request"), (std::vector<int64_t>{0, 0, 0, 1, 1, 1}));
      QCOMPARE(written.numbers("position"), (std::vector<int64_t>{0, 1, 2, 0, 1, 2}));
      QVERIFY2(written.header["layer.0"]["shape"] == Json({kCells, 2}) && written.header["layer.0"]["dtype"] == "I64",
               written.header.dump(1).c_str());
      QCOMPARE(written.header["__metadata__"]["layer.1"].get<std::string>(), std::string("second"));
      QCOMPARE(written.header["__metadata__"]["for"].get<std::string>(), format);
      const std::vector<int64_t> first = written.numbers("layer.0"), second = written.numbers("layer.1");
      int64_t changed = 0, changed_tokens = 0;
      for (size_t i = 0; i < kCells; ++i) {
        const std::vector<int32_t> before = trace_.best(0, kOrder[i], 2), now = trace_.best(0, kOrder[i], 2, {1, 2}),
                                   same = trace_.best(1, kOrder[i], 2);
        const std::set<int64_t> expected(now.begin(), now.end());
        QCOMPARE((std::set<int64_t>{first[2 * i], first[2 * i + 1]}), expected);
        QCOMPARE(second[2 * i], int64_t{same[0]});
        QCOMPARE(second[2 * i + 1], int64_t{same[1]});
        const auto gone = std::count_if(before.begin(), before.end(), [](int32_t b) { return b == 1 || b == 2; });
        changed += gone, changed_tokens += gone > 0;
      }
      QVERIFY2(j["routers"][0]["changed"] == changed && j["routers"][0]["of"] == 2 * kCells, j.dump(1).c_str());
      QVERIFY2(j["routers"][1]["changed"] == 0 && j["changed_tokens"] == changed_tokens, j.dump(1).c_str());
      QVERIFY2(j["routers"][0]["load_before"] == Json(trace_.loads(0, 2)) &&
                   j["routers"][0]["load_after"] == Json(trace_.loads(0, 2, {1, 2})) &&
                   j["routers"][1]["load_after"] == j["routers"][1]["load_before"],
               j.dump(1).c_str());
    }
  }

  void another_k_takes_the_best_of_the_choices_or_more_of_the_scores() {
    const std::string file = scratch_.path("k.safetensors");
    for (const int k : {1, 3}) {
      replayed(scored_, "megatron", file, {"--k", std::to_string(k)});
      const Tensors written(file);
      for (int l = 0; l < kLayers; ++l) {
        const std::vector<int64_t> choices = written.numbers("layer." + std::to_string(l));
        QCOMPARE(std::ssize(choices), std::ptrdiff_t{kCells} * k);
        for (size_t i = 0; i < kCells; ++i) {
          const std::vector<int32_t> expected = trace_.best(l, kOrder[i], static_cast<size_t>(k));
          for (size_t c = 0; c < static_cast<size_t>(k); ++c)
            QCOMPARE(choices[i * static_cast<size_t>(k) + c], int64_t{expected[c]});
        }
      }
    }
    // Weights tell the best of the choices, and nothing beyond them.
    replayed(plain_, "megatron", file, {"--k", "1"});
    QCOMPARE(Tensors(file).numbers("layer.0")[0], int64_t{trace_.best(0, kOrder[0], 1)[0]});
    VERIFY_REFUSED(replay(plain_, "megatron", file, {"--k", "3"}), plain_ + "#1", "has no scores of router first");
  }

  void an_array_is_read_back_by_import() {
    const std::string file = scratch_.path("choices.npy"), back = scratch_.path("back.storm");
    replayed(scored_, "npy", file, {"--off", "second/3"});
    imported(file, back);
    const Json analysis = analyzed(back);
    for (int l = 0; l < kLayers; ++l) {
      const std::vector<int64_t> loads = trace_.loads(l, 2, l == 1 ? std::set<int32_t>{3} : std::set<int32_t>{});
      std::vector<int64_t> read = loads_of(analysis, static_cast<size_t>(l));
      read.resize(kBranches, 0);  // an array does not say how many branches there are
      QCOMPARE(read, loads);
    }
  }

  void choices_of_a_file_are_taken_where_it_has_some() {
    const std::string model = switch_model("encoder-only-16-experts-gelu"), session = scratch_.path("forced.storm"),
                      outputs = scratch_.path("outputs.safetensors"), file = scratch_.path("forced-out.safetensors");
    json_of(short_run("profile", model, "random:3x6", {"-o", session, "--json", "-"}));
    json_of(short_run("run", model, "random:3x6", {"--outputs", outputs, "--json", "-"}));
    const Json same = replayed(session, "megatron", file, {"--force", outputs});
    QVERIFY2(same["changed_tokens"] == 0 && same["tokens"] == 18, same.dump(1).c_str());
    const std::vector<int64_t> recorded = Tensors(file).numbers("layer.0");
    // All but the last token go to expert 2, which needs no score.
    std::vector<int32_t> choices(18, 2);
    choices.back() = -2;
    const std::string router = analyzed(session)["routers"][0]["router"], forced = scratch_.path("by-hand.safetensors");
    const TensorToWrite tensor{"b0." + router + ".branch", DType::i32, {18, 1}, choices.data()};
    write_safetensors(forced, {&tensor, 1});
    replayed(session, "megatron", file, {"--force", forced});
    std::vector<int64_t> expected(18, 2);
    expected.back() = recorded.back();
    QCOMPARE(Tensors(file).numbers("layer.0"), expected);
    choices[0] = 16;
    write_safetensors(forced, {&tensor, 1});
    VERIFY_REFUSED(replay(session, "megatron", file, {"--force", forced}), forced, "below 16");
    VERIFY_REFUSED(replay(session, "megatron", file, {"--force", model + "/model.safetensors"}),
                   model + "/model.safetensors", "run --outputs");
  }

  void what_a_replay_cannot_be_told_is_refused() {
    const std::string file = scratch_.path("none.safetensors");
    const auto refused = [&](const std::string& session, const std::string& format, const Arguments& more,
                             const std::string& where, const char* words) {
      QCOMPARE(defect_of_refusal(replay(session, format, file, more), where, words), std::string());
      QVERIFY(!std::filesystem::exists(file));
    };
    refused(scored_, "vllm", {"--off", "first/1"}, "--format", "documents no way");
    refused(scored_, "mega", {"--off", "first/1"}, "--format", "megatron");
    refused(scored_, "megatron", {}, "what-if", "--off");
    refused(scored_, "megatron", {"--off", "third/1"}, "--off", "no router");
    refused(scored_, "megatron", {"--off", "first/4"}, "--off", "no branch 4");
    refused(scored_, "megatron", {"--k", "5"}, "--k", "4 branches");
    refused(scored_, "megatron", {"--off", "first/0", "--off", "first/1", "--off", "first/2"}, "--off",
            "keeps 1 branch");
    refused(scored_, "megatron", {"--capacity", "1"}, "--capacity", "no word");
    refused(scored_, "megatron", {"--off", "first/1", "--data", "random:1x4"}, "--data", "its own data");
    refused(scored_, "megatron", {"--off", "first/1", "--batches", "1"}, "--batches", "not run");
    refused(plain_, "megatron", {"--off", "first/0"}, plain_ + "#1", "--record-scores");
    VERIFY_REFUSED((Arguments{"what-if", scored_, "--off", "first/1", "--format", "npy"}), "-o", "is missing");
    VERIFY_REFUSED((Arguments{"what-if", scored_, "--off", "first/1", "-o", file}), "--format", "is missing");
    VERIFY_REFUSED((Arguments{"what-if", switch_model(), "--k", "2"}), "--data", "is missing");
    VERIFY_REFUSED(short_run("what-if", switch_model(), switch_data(), {"--k", "2", "--format", "npy"}), "--format",
                   "recordings");
  }

  void scores_of_our_own_recordings_serve_as_well() {
    const std::string model = switch_model("encoder-only-16-experts-gelu"), session = scratch_.path("own.storm"),
                      file = scratch_.path("own.safetensors");
    json_of(short_run("profile", model, "random:3x6", {"--record-scores", "-o", session, "--json", "-"}));
    const Json before = analyzed(session);
    const std::vector<int64_t> loads = loads_of(before, 0);
    const auto busiest = std::max_element(loads.begin(), loads.end()) - loads.begin();
    const std::string router = before["routers"][0]["router"];
    const Json j = replayed(session, "megatron", file, {"--off", router + "/" + std::to_string(busiest)});
    const std::vector<int64_t> choices = Tensors(file).numbers("layer.0");
    QCOMPARE(std::ssize(choices), std::ptrdiff_t{18});
    QVERIFY(std::find(choices.begin(), choices.end(), busiest) == choices.end());
    QVERIFY2(j["routers"][0]["changed"] == loads[static_cast<size_t>(busiest)], j.dump(1).c_str());
    // The model itself, with the same branch off, chooses the same at its first layer: nothing before it differs.
    const Json run = json_of(
        short_run("what-if", model, "random:3x6", {"--off", router + "/" + std::to_string(busiest), "--json", "-"}));
    std::vector<int64_t> counted(16, 0);
    for (const int64_t b : choices) ++counted[static_cast<size_t>(b)];
    QVERIFY2(run["routers"][0]["load_after"] == Json(counted), run.dump(1).c_str());
  }

  void the_page_says_who_is_given_the_file_and_how() {
    const std::string file = scratch_.path("page.safetensors");
    const Arguments arguments = replay(scored_, "megatron", file, {"--off", "first/1"});
    const Ended ended = run_program(arguments);
    VERIFY_DONE(ended, arguments);
    for (const char* words :
         {"first/1 is off", "Megatron Core 0.15", "set_replay_data", "Nothing was computed", "second", "largest load"})
      QVERIFY2(ended.out.find(words) != std::string::npos, (std::string(words) + "\n" + ended.out).c_str());
  }
};

STORMCELL_TEST(ContractWhatIfRecordingTest)

}  // namespace stormcell::testing

#include "what_if_recording_test.moc"
