// SGLang's recorder: what torch.save() wrote in each of its modes, ranks merged; and what is refused, with nothing of
// it run.
#include <numeric>

#include "tests/contract/imports.h"
#include "tests/testing/counts.h"

namespace stormcell::testing {
namespace {

std::string fixture(const std::string& name) { return reference_path("sglang/" + name); }

}  // namespace

class ContractImportSglangTest : public QObject, private Imports {
  Q_OBJECT
  const Json expected_ = Json::parse(Scratch::read(fixture("expected.json")));

  void verify_loads(const std::string& session, const Json& totals) {
    const Json analysis = analyzed(session);
    QCOMPARE(analysis["routers"].size(), size_t{3});
    for (size_t r = 0; r < 3; ++r) {
      QCOMPARE(analysis["routers"][r]["layer"].get<int>(), static_cast<int>(r) + 1);  // layer 0 is dense
      QVERIFY2((loads_of(analysis, r) == totals[r].get<std::vector<int64_t>>()), analysis["routers"][r].dump().c_str());
    }
    VERIFY_DONE(run_program({"inspect", session, "--check"}), Arguments{"inspect"});
  }
  static bool lacks(const Json& json, const char* fact) {
    return std::find(json["lacks"].begin(), json["lacks"].end(), Json(fact)) != json["lacks"].end();
  }

 private slots:
  void counts_of_a_ring_buffer_are_read() {
    const std::string session = scratch_.path("stat.storm");
    const Json import = imported(fixture("stat.pt"), session);
    QCOMPARE(import["format"].get<std::string>(), std::string("sglang"));
    QCOMPARE(import["rows_masked"].get<int64_t>(), int64_t{2 * 4 * 6});
    QVERIFY(!lacks(import, "order") && lacks(import, "decisions"));
    verify_loads(session, expected_["stat"]);
    QCOMPARE(SessionReader(session).run(1).batches, int64_t{3});
    // A full ring may have begun again anywhere.
    const std::string full = scratch_.path("full.storm");
    const Json ring = imported(fixture("stat-full-ring.pt"), full);
    QVERIFY(lacks(ring, "order"));
    QVERIFY(ring["lacks_how"]["order"].get<std::string>().find("--expert-distribution-recorder-buffer-size -1") !=
            std::string::npos);
    verify_loads(full, expected_["stat"]);
  }

  void passes_of_two_ranks_are_merged_step_by_step() {
    const std::string session = scratch_.path("passes.storm"), merged = scratch_.path("passes-merged.storm");
    imported(fixture("per_pass_0.pt"), session);
    imported(fixture("per_pass_1.pt"), session);
    const Json j = json_of({"merge", session, "-o", merged, "--json", "-"});
    QCOMPARE(j["by"].get<std::string>(), std::string("ranks"));
    QCOMPARE(j["steps"].get<int64_t>(), int64_t{4});
    QCOMPARE(j["batches"].get<int64_t>(), int64_t{4});
    verify_loads(merged, expected_["totals"]);
    const SessionReader reader(merged);
    // Both ranks' counts of slots, 6 experts in 8.
    const Json slots_of = Json::parse(reader.run(1).dataset)["slots"];
    QCOMPARE(slots_of.size(), size_t{3});
    for (size_t l = 0; l < 3; ++l) {
      std::vector<int64_t> sum(6);
      for (size_t s = 0; s < 8; ++s)
        sum[slots_of[l]["experts"][s].get<size_t>()] += slots_of[l]["loads"][s].get<int64_t>();
      QVERIFY(sum == expected_["totals"][l].get<std::vector<int64_t>>());
    }
    // Pass 7 ran on one rank alone: 2 tokens of k = 2.
    const std::vector<int64_t> load = reader.loads(1, 0, 0, {2, 3})[0].load;
    QCOMPARE(std::accumulate(load.begin(), load.end(), int64_t{0}), int64_t{4});
  }

  void tokens_keep_their_rank_position_and_phase() {
    const std::string session = scratch_.path("tokens.storm"), merged = scratch_.path("tokens-merged.storm");
    const Json import = imported(fixture("per_token_0.pt"), session);
    QCOMPARE(import["model"]["k"].get<int>(), 2);
    QVERIFY(!lacks(import, "decisions") && !lacks(import, "phases") && !lacks(import, "positions") &&
            lacks(import, "requests"));
    imported(fixture("per_token_1.pt"), session);
    const SessionReader parts(session);
    QVERIFY((parts.phases(1) == std::vector<Phase>{Phase::prefill, Phase::decode}));
    QCOMPARE(parts.spaces(1, 1)[0].cells.start(1), 70006);
    const Json j = json_of({"merge", session, "-o", merged, "--json", "-"});
    QCOMPARE(j["steps"].get<int64_t>(), int64_t{4});
    QCOMPARE(j["batches"].get<int64_t>(), int64_t{7});
    verify_loads(merged, expected_["totals"]);
    const SessionReader reader(merged);
    const std::vector<BatchSummary> batches = reader.batches(1);
    for (size_t b = 0; b < batches.size(); ++b) {
      const int64_t step = std::vector<int64_t>{0, 0, 1, 1, 2, 3, 3}[b];
      QCOMPARE(batches[b].server_step, step);
      QCOMPARE(batches[b].rank, b == 4 ? 0 : static_cast<int32_t>(b > 4 ? b - 5 : b) % 2);
      // The choices, slots told as experts: those of router 0 come first for each token.
      const Json& chosen = expected_["chosen"][std::to_string(batches[b].rank) + "." + std::to_string(5 + step)];
      const auto decision = reader.decision(1, 0, batches[b].number);
      for (size_t t = 0; t < static_cast<size_t>(decision->cells); ++t)
        for (size_t k = 0; k < 2; ++k) QCOMPARE(decision->choice[t * 2 + k], chosen[t][k].get<int32_t>());
    }
    // The native trace keeps steps and ranks.
    const std::string native = scratch_.path("tokens.safetensors"), again = scratch_.path("tokens-again.storm");
    const Arguments out = {"export", merged, "--format", "native", "-o", native};
    VERIFY_DONE(run_program(out), out);
    imported(native, again);
    const std::vector<BatchSummary> back = SessionReader(again).batches(1);
    QCOMPARE(back.size(), batches.size());
    for (size_t b = 0; b < batches.size(); ++b) {
      QCOMPARE(back[b].server_step, batches[b].server_step);
      QCOMPARE(back[b].rank, batches[b].rank);
    }
  }

  void a_model_s_configuration_says_which_layers_are_dense() {
    const auto config = [&](const std::string& dense) {
      return scratch_.write("four/config.json",
                            R"({"model_type": "deepseek_v3", "num_hidden_layers": 4, "n_routed_experts": 6,
 "num_experts_per_tok": 2, "first_k_dense_replace": )" +
                                dense + "}");
    };
    const Json import = imported(fixture("stat.pt"), scratch_.path("masked.storm"), {"--model-config", config("1")});
    QCOMPARE(import["model"]["layers"].get<int>(), 3);
    QCOMPARE(import["model"]["k"].get<int>(), 2);
    const std::string none = scratch_.path("none-of-two.storm");
    VERIFY_REFUSED((Arguments{"import", fixture("stat.pt"), "-o", none, "--model-config", config("2")}),
                   fixture("stat.pt"), "counts experts in layer 1, which has none by ");
  }

  // num_fused_shared_experts: the recorder keeps its id, one behind the slots, beside those of the routed experts.
  void tokens_of_a_fused_shared_expert_have_their_routed_choices() {
    std::string dump = Scratch::read(fixture("per_token_0.pt"));
    // Each token and layer with experts has two ids and six of -1 (dense layers have eight): the third one becomes
    // slot 8.
    const auto filled = [&](size_t at) {
      return at + 4 <= dump.size() && dump.compare(at, 4, "\xff\xff\xff\xff") == 0;
    };
    int64_t changed = 0;
    for (size_t at = 8; at + 24 <= dump.size(); at += 4) {
      size_t run = 0;
      while (filled(at + 4 * run)) ++run;
      if (run == 6 && !filled(at - 4)) dump.replace(at, 4, std::string("\x08\0\0\0", 4)), ++changed;
      at += 4 * run;
    }
    QCOMPARE(changed, int64_t{3 * (5 + 3 * 2)});
    const std::string fused = scratch_.write("fused.pt", dump), session = scratch_.path("fused-tokens.storm");
    const auto config = [&](const char* shared) {
      return scratch_.write(
          "eight/config.json",
          std::string(R"({"model_type": "deepseek_v3", "num_hidden_layers": 4, "n_routed_experts": 8,)") +
              R"( "first_k_dense_replace": 1, "num_experts_per_tok": 2)" + shared + "}");
    };
    const std::string none = scratch_.path("none.storm");
    VERIFY_REFUSED((Arguments{"import", fused, "-o", none, "--model-config", config("")}), fused,
                   "went to slot 8, the map has 8 (--shared-experts N where the server fused them");
    const Json import = imported(fused, session, {"--model-config", config(R"(, "n_shared_experts": 1)")});
    QVERIFY(import["model"]["k"] == 2 && import["model"]["branches"] == 8 &&
            import["rows_shared"].get<int64_t>() == changed);
    const std::string plain = scratch_.path("plain-tokens.storm");
    imported(fixture("per_token_0.pt"), plain, {"--model-config", config("")});
    const Json with = analyzed(session), without = analyzed(plain);
    for (size_t r = 0; r < 3; ++r) QVERIFY(loads_of(with, r) == loads_of(without, r));
    VERIFY_DONE(run_program({"inspect", session, "--check"}), Arguments{"inspect"});
  }

  void what_was_re_balanced_while_it_was_recorded_is_refused() {
    // Found while it is read, behind the question whether a session is of its model.
    const std::string session = scratch_.path("moved.storm");
    VERIFY_REFUSED((Arguments{"import", fixture("re-balanced.pt"), "-o", session}), fixture("re-balanced.pt"),
                   "twice, so experts were moved while it was recorded");
    QVERIFY(!std::filesystem::exists(session));
  }

  void nothing_of_a_pickle_is_run() {
    verify_refused(fixture("runs-code.pt"), "it names \"io.open\", and nothing of that is run");
  }

  void damaged_archives_are_refused_in_one_line() {
    const std::string good = Scratch::read(fixture("stat.pt"));
    verify_refused(scratch_.write("cut.pt", good.substr(0, good.size() / 2)), "its directory is missing");
    std::string packed = good;
    for (size_t at = packed.find("PK\x01\x02"); at != std::string::npos; at = packed.find("PK\x01\x02", at + 4))
      packed[at + 10] = 8;
    verify_refused(scratch_.write("packed.pt", packed), "is compressed, torch.save() stores");
    std::string longer = good;
    longer[longer.find("PK\x01\x02") + 24 + 3] = 0x7f, longer[longer.find("PK\x01\x02") + 20 + 3] = 0x7f;
    verify_refused(scratch_.write("longer.pt", longer), "is longer than the file");
  }
};

STORMCELL_TEST(ContractImportSglangTest)

}  // namespace stormcell::testing

#include "import_sglang_test.moc"
