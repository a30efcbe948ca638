// Answers with routed experts in every form that servers write. The loads, positions and phases must be those of the
// made-up answers.
#include <algorithm>
#include <filesystem>

#include "tests/contract/routed_answers.h"

namespace stormcell::testing {

class ContractRoutedAnswersTest : public QObject, private RoutedAnswers {
  Q_OBJECT
 private slots:
  // One call imports all of them, each as a run.
  void every_form_has_the_same_loads() {
    std::vector<std::string> names;
    Arguments arguments = {"import"};
    const auto row = [&](const char* name, const std::string& text) {
      arguments.push_back(scratch_.write("form" + std::to_string(names.size()) + ".json", text));
      names.emplace_back(name);
    };
    const auto npy = [](size_t first, size_t end, bool all = false) {
      return npy_base64<int32_t>(kTokens, first, end, all, "<i4");
    };
    row("vLLM 0.21, lists", vllm(lists(kTokens, 0, kPrompt), lists(kTokens, kPrompt, kAll)));
    row("vLLM, .npy apart", vllm(lists(kTokens, 0, kPrompt), npy(kPrompt, kAll)));
    row("vLLM, both .npy", vllm(npy(0, kPrompt), npy(kPrompt, kAll)));
    row("vLLM, all in the choice", vllm("null", npy(0, kAll)));
    row("vLLM, all in the choice, all layers", vllm("null", npy(0, kAll, true)));
    row("vLLM, all in the choice and the prompt again", vllm(npy(0, kPrompt), npy(0, kAll)));
    row("int16", vllm("null", npy_base64<int16_t>(kTokens, 0, kAll, false, "<i2")));
    row("uint8", vllm("null", npy_base64<uint8_t>(kTokens, 0, kAll, true, "|u1")));
    row("uint16", vllm("null", npy_base64<uint16_t>(kTokens, 0, kAll, false, "<u2")));
    row("int64", vllm("null", npy_base64<int64_t>(kTokens, 0, kAll, false, "<i8")));
    // Tokens run fastest: id (t, l, c) of [5, 2, 2] is at t + 5 (l + 2 c).
    std::vector<int32_t> columns(kAll * 4);
    for (size_t t = 0; t < kAll; ++t)
      for (size_t l = 0; l < 2; ++l)
        for (size_t c = 0; c < 2; ++c) columns[t + kAll * (l + 2 * c)] = kTokens[t][l][c];
    row("Fortran order",
        vllm("null", "\"" +
                         base64_of_bytes(npy_bytes("{'descr': '<i4', 'fortran_order': True, 'shape': (5, 2, 2), }",
                                                   {reinterpret_cast<const char*>(columns.data()), 80})) +
                         "\""));
    row("lists of all", vllm("null", lists(kTokens, 0, kAll)));
    row("a list of answers", "[" + vllm("null", npy(0, kAll)) + "]");
    row("counts in floating point",
        vllm(npy(0, kPrompt), npy(0, kAll), R"("usage": {"prompt_tokens": 3.0, "completion_tokens": 3e0})"));
    row("chat",
        R"({"id": "chatcmpl-1", "object": "chat.completion", "prompt_routed_experts": )" + lists(kTokens, 0, kPrompt) +
            R"(, "choices": [{"index": 0, "message": {"role": "assistant", "content": "x"}, "routed_experts": )" +
            npy(kPrompt, kAll) + "}], " + kUsage + "}");
    row("vLLM's LLM class", R"({"request_id": "0", "prompt_token_ids": [1, 2, 3], "prompt_routed_experts": )" +
                                lists(kTokens, 0, kPrompt) +
                                R"(, "outputs": [{"index": 0, "token_ids": [4, 5, 6], "routed_experts": )" +
                                lists(kTokens, kPrompt, kAll) + "}]}");
    row("vLLM's batches",
        R"({"id": "b", "custom_id": "r-1", "response": {"status_code": 200, "request_id": "q", "body": )" +
            vllm("null", npy(0, kAll)) + R"(}, "error": null})");
    row("vLLM's /inference/v1/generate",
        R"({"request_id": "g", "choices": [{"index": 0, "token_ids": [4, 5, 6], "routed_experts": )" + npy(0, kAll) +
            R"(}], "prompt_token_ids": [1, 2, 3]})");
    row("Dynamo, with its shape",
        R"({"id": "d", "choices": [{"index": 0, "message": {}}], "nvext": {"routed_experts": {"data": )" +
            ("\"" + base64_of(numbers(kTokens, 0, kAll, false)) + "\"") +
            R"(, "shape": [5, 2, 2], "dtype": "int32", "start": 0}}, )" + kUsage + "}");
    const std::vector<int32_t> ids = numbers(kTokens, 0, kAll, false);
    const std::vector<uint8_t> bytes(ids.begin(), ids.end());
    row("bytes with their shape",
        vllm("null", R"({"data": ")" + base64_of_bytes({bytes.begin(), bytes.end()}) + R"(", "shape": [5.0, 2, 2]})"));
    row("bytes with a type of PyTorch", vllm("null", R"({"data": ")" + base64_of_bytes({bytes.begin(), bytes.end()}) +
                                                         R"(", "shape": [5, 2, 2], "dtype": "torch.uint8"})"));
    row("base64 in lines", vllm("null", npy(0, kAll).insert(77, "\\r\\n").insert(21, "\\n")));
    row("SGLang", sglang(raw(kTokens, 0, kAll)));
    row("SGLang, layers with experts alone", sglang(raw(kTokens, 0, kAll, false)));
    row("SGLang's OpenAI endpoints",
        R"({"id": "s", "choices": [{"index": 0, "text": "x"}], "sglext": {"routed_experts": )" + raw(kTokens, 0, kAll) +
            "}, " + kUsage + "}");
    row("SGLang's OpenAI endpoints, in the choice",
        R"({"id": "s", "choices": [{"index": 0, "text": "x", "meta_info": {"routed_experts": )" +
            raw(kTokens, 0, kAll) + "}}], " + kUsage + "}");
    row("a padding row at the end",
        vllm(
            "null",
            R"([[[0, 1], [3, 0]], [[1, 2], [3, 1]], [[2, 3], [3, 2]], [[3, 0], [3, 0]], [[2, 0], [1, 3]], [[0, 0], [0, 0]]])"));
    row("rows of -1",
        vllm(
            "null",
            R"([[[0, 1], [3, 0]], [[1, 2], [3, 1]], [[2, 3], [3, 2]], [[3, 0], [3, 0]], [[2, 0], [1, 3]], [[-1, -1], [-1, -1]]])"));
    row("numbers with a point",
        vllm("null",
             R"([[[0.0, 1.0], [3.0, 0]], [[1, 2], [3, 1]], [[2, 3], [3, 2]], [[3, 0], [3, 0]], [[2, 0], [1, 3]]])"));
    row("without counts", R"({"prompt_routed_experts": )" + lists(kTokens, 0, kPrompt) +
                              R"(, "choices": [{"routed_experts": )" + lists(kTokens, kPrompt, kAll) + "}]}");
    const std::string session = new_session();
    arguments.insert(arguments.end(), {"-o", session, "--model-config", config(), "--json", "-"});
    const Json import = json_of(arguments);
    QCOMPARE(import["runs"].size(), names.size());
    const auto forms = static_cast<int64_t>(names.size());
    QCOMPARE(import["rows_read"].get<int64_t>(), forms * 5 * 2 * 2);
    // A warning of each file counts the rows that name no expert. Two forms have one token with such rows.
    QCOMPARE(import["rows_masked"].get<int64_t>(), int64_t{2 * 2 * 2});
    const auto masked = [](const Json& warning) {
      return warning.get<std::string>().ends_with(".json: 4 of 24 rows name no branch");
    };
    QVERIFY2(std::count_if(import["warnings"].begin(), import["warnings"].end(), masked) == 2,
             import["warnings"].dump().c_str());
    const SessionReader reader(session);
    const Loads loads = loads_of_tokens(kTokens, 0, kAll);
    for (size_t i = 0; i < names.size(); ++i) {
      const auto run = static_cast<int64_t>(i) + 1;
      for (int32_t r = 0; r < 2; ++r)
        QVERIFY2(reader.total_loads(run, r).load == loads[static_cast<size_t>(r)], names[i].c_str());
      QVERIFY2(reader.sequences(run) == 1, names[i].c_str());
      QVERIFY2((reader.phases(run) == std::vector<Phase>{Phase::prefill, Phase::decode}), names[i].c_str());
      QVERIFY2(reader.spaces(run, 0)[0].cells.step == 0 && reader.spaces(run, 1)[0].cells.step == int{kPrompt},
               names[i].c_str());
    }
    VERIFY_DONE(run_program({"inspect", session, "--check"}), Arguments{"inspect"});
  }

  void answers_a_line_are_requests_of_their_own() {
    const std::string npy = npy_base64<int32_t>(kTokens, 0, kAll, false, "<i4");
    const std::string text = vllm("null", npy) + "\n" + sglang(raw(kTokens, 0, kAll)) + "\n" +
                             R"({"error": {"message": "too long"}})" + "\n" + vllm("null", "null") + "\n";
    const std::string session = new_session();
    const Loads one = loads_of_tokens(kTokens, 0, kAll);
    const Json import = verify_loads(text, sum(one, one), session, "answers.jsonl");
    QCOMPARE(SessionReader(session).sequences(1), int64_t{2});
    QVERIFY2(
        import["warnings"].dump().find("2 of 4 answers have no routed_experts, and count nothing") != std::string::npos,
        import.dump().c_str());
  }

  // The prompt is computed once, however many choices there are.
  void choices_of_one_answer_share_its_prompt() {
    const Tokens other = {{{{1, 3}, {0, 2}}}, {{{0, 3}, {2, 1}}}};
    const std::string text = R"({"id": "n", "prompt_routed_experts": )" + lists(kTokens, 0, kPrompt) +
                             R"(, "choices": [{"index": 0, "routed_experts": )" + lists(kTokens, kPrompt, kAll) +
                             R"(}, {"index": 1, "routed_experts": )" + lists(other, 0, 2) +
                             R"(}], "usage": {"prompt_tokens": 3, "completion_tokens": 6}})";
    const std::string session = new_session();
    verify_loads(text, sum(loads_of_tokens(kTokens, 0, kAll), loads_of_tokens(other, 0, 2)), session);
    const SessionReader reader(session);
    QCOMPARE(reader.sequences(1), int64_t{2});
    QCOMPARE(reader.spaces(1, 2)[0].cells.step, static_cast<int>(kPrompt));
  }

  void answers_within_a_text_of_a_log_are_read() {
    const Json line = {{"request", {{"prompt", "x"}}}, {"response", vllm("null", lists(kTokens, 0, kAll))}};
    const Json import = verify_loads(line.dump() + "\n", loads_of_tokens(kTokens, 0, kAll), new_session(), "log.jsonl");
    QVERIFY2(import["warnings"].empty(), import["warnings"].dump().c_str());
    const Json twice = {{"response", Json{{"body", vllm("null", lists(kTokens, 0, kAll))}}.dump()}};
    verify_refused_answer(twice.dump(), "is JSON with the keys \"response\", not a routing trace");
  }

  // Each choice answers its own prompt, or all answer one; a count of the whole answer may be that of one prompt, or
  // the sum.
  void choices_of_several_prompts_have_their_own_counts_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<int>("times");  // all rows of kTokens
    QTest::addColumn<QString>("phases");
    const std::string all = lists(kTokens, 0, kAll), prompt = lists(kTokens, 0, kPrompt),
                      rest = lists(kTokens, kPrompt, kAll);
    const auto row = [](const char* name, const std::string& choice, const std::string& usage, int times,
                        const char* phases) {
      const std::string text = R"({"id": "p", "choices": [{"index": 0, )" + choice + R"(}, {"index": 1, )" + choice +
                               "}], \"usage\": {" + usage + "}}";
      QTest::newRow(name) << QByteArray::fromStdString(text) << times << phases;
    };
    const std::string routed = R"("routed_experts": )" + all, ids = R"(, "token_ids": [4, 5, 6])";
    const std::string sums = R"("prompt_tokens": 6, "completion_tokens": 6)",
                      one = R"("prompt_tokens": 3, "completion_tokens": 6)";
    row("two prompts", routed, sums, 2, "forward forward");
    row("two prompts, with the answers' tokens", routed + ids, sums, 2, "forward forward");
    row("two prompts, with their tokens", routed + ids + R"(, "prompt_token_ids": [1, 2, 3])", sums, 2,
        "prefill decode prefill decode");
    row("one prompt", routed + ids, one, 2, "prefill decode prefill decode");
    row("one prompt, without tokens", routed, one, 2, "prefill decode prefill decode");
  }
  void choices_of_several_prompts_have_their_own_counts() {
    QFETCH(QByteArray, text);
    QFETCH(int, times);
    QFETCH(QString, phases);
    const Loads once = loads_of_tokens(kTokens, 0, kAll);
    const std::string session = new_session();
    const Json import = verify_loads(text.toStdString(), times == 2 ? sum(once, once) : once, session);
    QVERIFY2(import["warnings"].empty(), import["warnings"].dump().c_str());
    const SessionReader reader(session);
    QStringList found;
    for (int64_t batch = 0; batch < reader.run(1).batches; ++batch) {
      const Phase phase = reader.spaces(1, batch)[0].cells.phase;
      found << (phase == Phase::prefill ? "prefill" : phase == Phase::decode ? "decode" : "forward");
    }
    QCOMPARE(found.join(' '), phases);
    QCOMPARE(reader.spaces(1, 0)[0].cells.step, 0);
  }

  void prompts_of_several_choices_have_their_own_rows() {
    const Tokens other = {{{{1, 3}, {0, 2}}}, {{{0, 3}, {2, 1}}}};
    const auto choice = [](int index, const std::string& prompt, const std::string& rest) {
      return R"({"index": )" + std::to_string(index) + R"(, "prompt_routed_experts": )" + prompt +
             R"(, "routed_experts": )" + rest + "}";
    };
    const std::string first = lists(kTokens, 0, kPrompt), rest = lists(kTokens, kPrompt, kAll),
                      second = lists(other, 0, 2);
    const auto answer_of = [&](const std::string& prompt) {
      return R"({"id": "p", "choices": [)" + choice(0, first, rest) + ", " + choice(1, prompt, rest) +
             R"(], "usage": {"prompt_tokens": )" + (prompt == first ? "3" : "5") + R"(, "completion_tokens": 6}})";
    };
    const Loads whole = loads_of_tokens(kTokens, 0, kAll), of_rest = loads_of_tokens(kTokens, kPrompt, kAll);
    verify_loads(answer_of(second), sum(whole, sum(loads_of_tokens(other, 0, 2), of_rest)), new_session());
    verify_loads(answer_of(first), sum(whole, of_rest), new_session());
  }

  // LongCat-Flash: ids behind the experts compute nothing.
  void experts_that_compute_nothing_are_no_choice() {
    const std::string config =
        scratch_.write("zero/config.json", R"({"model_type": "deepseek_v3", "num_hidden_layers": 3,
 "n_routed_experts": 4, "zero_expert_num": 2, "first_k_dense_replace": 1, "num_experts_per_tok": 2, "hidden_size": 64,
 "moe_intermediate_size": [null, 32, 32], "head_dim": 0})");
    const std::string text =
        vllm("null", "[[[0, 5], [3, 0]], [[1, 2], [4, 5]], [[2, 3], [3, 2]], [[3, 0], [3, 0]], [[2, 0], [1, 3]]]");
    const Json import = verify_loads(text, {{3, 1, 3, 2}, {2, 1, 1, 4}}, new_session(), "zero.json", config);
    QCOMPARE(import["rows_masked"].get<int64_t>(), int64_t{3});
    const std::string none = scratch_.path("none.storm"),
                      file = scratch_.write("beyond.json",
                                            vllm("null", "[[[0, 6], [3, 0]], [[1, 2], [4, 5]], [[2, 3], [3, 2]]]"));
    VERIFY_REFUSED((Arguments{"import", file, "-o", none, "--model-config", config}), file, "names expert 6");
    const std::string array =
        scratch_.write("zero.npy", npy_of("(2, 2, 2)", "<i4", std::vector<int32_t>{0, 5, 3, 0, 1, 2, 4, 5}));
    const std::string session = new_session();
    imported(array, session, {"--model-config", config});
    QCOMPARE(SessionReader(session).total_loads(1, 0).load, (std::vector<int64_t>{1, 1, 1, 0}));
  }

  void answers_whose_id_came_before_are_named() {
    const std::string all = vllm("null", lists(kTokens, 0, kAll)), other = vllm("null", lists(kTokens, 3, kAll));
    const Loads one = loads_of_tokens(kTokens, 0, kAll), rest = loads_of_tokens(kTokens, 3, kAll);
    const auto verify_warned = [&](const std::string& text, const Loads& loads, const std::string& words) {
      const Json import = verify_loads(text, loads, new_session(), "again.jsonl");
      QVERIFY2(import["warnings"].dump().find(words) != std::string::npos, import["warnings"].dump().c_str());
    };
    verify_warned(
        all + "\n" + all + "\n" + all + "\n", one,
        R"(2 answers repeat an earlier one, with the same id and the same rows, and count nothing; the first has the id \"cmpl-1\")");
    verify_warned(all + "\n" + all + "\n", one,
                  "1 answer repeats an earlier one, with the same id and the same rows, and counts nothing; ");
    verify_warned(
        all + "\n" + other + "\n", sum(one, rest),
        R"(1 answer has the id of an earlier one, and other rows: both are counted; the first has the id \"cmpl-1\")");
  }

  void answers_without_a_row_are_no_recording() {
    verify_refused_answer(vllm("null", "[]"), "holds nothing: no token was recorded in it");
    verify_refused_answer(vllm("[]", "[]") + "\n" + vllm("null", "[]"), "holds nothing: no token was recorded in it");
  }

  void rows_that_begin_in_the_middle_have_their_positions_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<int>("first");
    const auto row = [](const char* name, const std::string& text, int first) {
      QTest::newRow(name) << QByteArray::fromStdString(text) << first;
    };
    row("SGLang, within the prompt", sglang(raw(kTokens, 2, kAll)), 2);
    row("SGLang, at the answer", sglang(raw(kTokens, 3, kAll)), 3);
    row("SGLang, a row alone", sglang(raw(kTokens, 4, kAll)), 4);
    row("SGLang, which says where", sglang(raw(kTokens, 2, kAll), 3, 3, R"(, "routed_experts_start_len": 2)"), 2);
    row("vLLM, the answer alone", vllm("null", lists(kTokens, 3, kAll)), 3);
    row("vLLM, the prompt's begin left out", vllm(lists(kTokens, 1, kPrompt), lists(kTokens, kPrompt, kAll)), 1);
    row("vLLM, as many rows as the prompt has",
        R"({"prompt_routed_experts": )" + lists(kTokens, 2, kPrompt) + R"(, "choices": [{"routed_experts": )" +
            lists(kTokens, kPrompt, kAll) + "}], " + kUsage + "}",
        2);
    row("Dynamo's start",
        vllm("null", R"({"data": ")" + base64_of(numbers(kTokens, 2, kAll, false)) +
                         R"(", "shape": [3, 2, 2], "dtype": "int32", "start": 2.0})"),
        2);
  }
  void rows_that_begin_in_the_middle_have_their_positions() {
    QFETCH(QByteArray, text);
    QFETCH(int, first);
    const std::string session = new_session();
    const Json import =
        verify_loads(text.toStdString(), loads_of_tokens(kTokens, static_cast<size_t>(first), kAll), session);
    const SessionReader reader(session);
    QCOMPARE(reader.spaces(1, 0)[0].cells.step, first);
    QCOMPARE(reader.phases(1).size(), first < 3 ? size_t{2} : size_t{1});
    QVERIFY2(import["warnings"].dump().find("1 of 1 answer lacks rows of " + std::to_string(first) + " token") !=
                 std::string::npos,
             import["warnings"].dump().c_str());
  }

  // Ids of two layers for each token; the configuration has six layers, all with experts.
  void a_configuration_of_another_model_is_named() {
    const std::string six =
        scratch_.write("six/config.json", R"({"model_type": "qwen3_moe", "num_hidden_layers": 6, "num_experts": 4,
 "num_experts_per_tok": 2, "hidden_size": 64, "moe_intermediate_size": 32, "decoder_sparse_step": 1, "mlp_only_layers": []})");
    Tokens longer = kTokens;
    longer.insert(longer.end(), kTokens.begin(), kTokens.begin() + 4);
    longer.resize(9);
    Tokens first(longer.begin(), longer.begin() + 6);
    const auto of = [](const Tokens& tokens) {
      return sglang(raw(tokens, 0, tokens.size(), false), 3, static_cast<int>(tokens.size()) - 2);
    };
    const std::string none = scratch_.path("other.storm"),
                      file = scratch_.write("other.jsonl", of(first) + "\n" + of(longer) + "\n");
    VERIFY_REFUSED((Arguments{"import", file, "-o", none, "--model-config", six}), file,
                   "has ids of 2 layers for each token, ");
    QVERIFY(!std::filesystem::exists(none));
    // One length alone may lack rows in this ratio.
    const Json import = imported(scratch_.write("one.jsonl", of(first)), new_session(), {"--model-config", six});
    QVERIFY2(
        import["warnings"].dump().find("as with routed_experts_start_len, or ") != std::string::npos &&
            import["warnings"].dump().find(" is of another model: loads are those of the rest") != std::string::npos,
        import["warnings"].dump().c_str());
  }

  // 4 rows of 4 layers have as many numbers as 8 rows of the 2 layers with experts: the content decides.
  void as_many_numbers_in_another_layout_are_told_apart() {
    const std::string four = scratch_.write(
        "four/config.json", R"({"model_type": "deepseek_v3", "num_hidden_layers": 4, "n_routed_experts": 4,
 "first_k_dense_replace": 2, "num_experts_per_tok": 2, "hidden_size": 64, "moe_intermediate_size": 32})");
    std::vector<int32_t> rows;
    const Tokens last = {{{{1, 3}, {1, 0}}}, {{{1, 2}, {3, 2}}}, {{{2, 3}, {3, 0}}}, {{{0, 3}, {3, 1}}}};
    for (const Token& t : last) rows.insert(rows.end(), {0, 0, 0, 0, t[0][0], t[0][1], t[1][0], t[1][1]});
    const std::string session = new_session();
    verify_loads(sglang("\"" + base64_of(rows) + "\"", 6, 3), loads_of_tokens(last, 0, 4), session, "halved.jsonl",
                 four);
    QCOMPARE(SessionReader(session).spaces(1, 0)[0].cells.step, 4);
    // A model of three layers, two of them with experts, has as many numbers for eight tokens too.
    verify_refused_answer(sglang("\"" + base64_of(rows) + "\"", 6, 3), "has zeros that repeat after 4 layers");
    // These are the eight tokens of the two layers.
    Tokens all = last;
    all.insert(all.end(), last.begin(), last.end());
    const std::string whole = new_session();
    verify_loads(sglang(raw(all, 0, 8, false), 6, 3), loads_of_tokens(all, 0, 8), whole, "whole.jsonl", four);
    QCOMPARE(SessionReader(whole).spaces(1, 0)[0].cells.step, 0);
  }

  // A recorder may keep layers that predict further tokens behind the others.
  void layers_that_predict_further_tokens_are_left_out() {
    const std::string further = scratch_.write(
        "further/config.json", R"({"model_type": "deepseek_v3", "num_hidden_layers": 3, "n_routed_experts": 4,
 "first_k_dense_replace": 1, "num_experts_per_tok": 2, "num_nextn_predict_layers": 2, "hidden_size": 64, "moe_intermediate_size": 32})");
    std::vector<int32_t> all, only;
    for (const Token& t : kTokens) {
      all.insert(all.end(), {0, 0, t[0][0], t[0][1], t[1][0], t[1][1], 3, 1, 1, 2});
      only.insert(only.end(), {t[0][0], t[0][1], t[1][0], t[1][1], 3, 1, 1, 2});
    }
    const Loads loads = loads_of_tokens(kTokens, 0, kAll);
    verify_loads(sglang("\"" + base64_of(all) + "\""), loads, new_session(), "answers.json", further);
    verify_loads(sglang("\"" + base64_of(only) + "\""), loads, new_session(), "answers.json", further);
    verify_loads(sglang(raw(kTokens, 0, kAll)), loads, new_session(), "answers.json", further);
  }

  void answers_that_cannot_be_are_refused() {
    const std::string npy = npy_base64<int32_t>(kTokens, 0, kAll, false, "<i4");
    const auto in_choice = [](const std::string& field) { return vllm("null", field); };
    verify_refused_answer(in_choice("\"k05VTVBZAQB2AHsn\""), "line 1: choices[0].routed_experts: is truncated");
    verify_refused_answer(in_choice(npy_base64<float>(kTokens, 0, kAll, false, "<f4")),
                          "choices[0].routed_experts: holds \"<f4\", expected whole numbers of 1 to 8 bytes");
    verify_refused_answer(
        in_choice("\"" + base64_of_bytes(npy_of("(5, 4)", "<i4", numbers(kTokens, 0, kAll, false))) + "\""),
        "has the shape [5, 4], expected [tokens, layers, k]");
    verify_refused_answer(
        in_choice("\"" + base64_of_bytes(npy_of("(5, 4, 1)", "<i4", numbers(kTokens, 0, kAll, false))) + "\""),
        "has the shape [5, 4, 1], ");
    const std::string ids = {0, 1, 2, 3, 1, 2, 3, 0, 2, 3, 0, 1};
    const auto of_bytes = [&](const std::string& bytes) { return in_choice("\"" + base64_of_bytes(bytes) + "\""); };
    const auto in_type = [&]<class T>(T) {
      std::string bytes;
      for (const char id : ids) {
        const T value = static_cast<T>(id);
        bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
      }
      return of_bytes(bytes);
    };
    verify_refused_answer(of_bytes(ids), "is not base64 of int32: it names expert 50462976, and looks like uint8");
    verify_refused_answer(of_bytes(ids + ids[0]), "is not base64 of int32: it has 13 bytes, and looks like uint8");
    verify_refused_answer(in_type(int16_t{}), "and looks like int16");
    verify_refused_answer(in_type(int64_t{}), "every second number is 0, and it looks like int64");
    verify_refused_answer(in_type(float{}), "and looks like float32");
    std::string swapped;
    for (const char id : ids) swapped += std::string(3, '\0') + id;
    verify_refused_answer(of_bytes(swapped), "and looks like big-endian int32");
    verify_refused_answer(in_choice("\"0RR910ssI2}\""), "and looks like base85");
    verify_refused_answer(in_choice("\"AQAAAA_-\""), "and looks like URL-safe base64");
    verify_refused_answer(in_choice("\"AQAAAAI\""), "and looks like base64 without its padding");
    verify_refused_answer(in_choice("[[[0, 1], [2]]]"), "has layers with different numbers of choices");
    verify_refused_answer(in_choice("[[[0, 1], [2, 3]], [[0, 1]]]"), "has tokens with different numbers of layers");
    verify_refused_answer(in_choice("[[0, 1], [2, 3]]"), "is a list of lists, but not of lists of lists");
    verify_refused_answer(in_choice("[[[0, 1.5], [2, 3]]]"), "holds something that is not a whole number: 1.5");
    verify_refused_answer(in_choice("[[[0, 1], [2, 4]]]"), "names expert 4");
    verify_refused_answer(in_choice("[[[0, 1], [2, 2]]]"), "names expert 2 twice");
    verify_refused_answer(in_choice("{\"data\": \"AAAA\", \"shape\": [5, 2, 2]}"),
                          "has 3 bytes for the shape [5, 2, 2]");
    verify_refused_answer(in_choice("{\"data\": \"AAAA\", \"shape\": [3, 1, 1], \"dtype\": \"float16\"}"),
                          "holds \"float16\", expected whole numbers");
    verify_refused_answer(in_choice("{\"data\": \"AAAA\", \"shape\": [3, 1, 1], \"encoding\": \"base85\"}"),
                          "is encoded as \"base85\"");
    verify_refused_answer(in_choice("12"), "is neither base64 nor a list");
    verify_refused_answer(
        sglang(raw({kTokens[0], kTokens[1], kTokens[2], kTokens[3], kTokens[4], kTokens[0], kTokens[1]}, 0, 7)),
        "more tokens than the 6");
    verify_refused_answer(sglang(raw(kTokens, 2, kAll), 3, 3, R"(, "routed_experts_start_len": 1)"),
                          "begins at token 1 and has 3 rows, of 6 tokens");
    verify_refused_answer(vllm(lists(kTokens, 0, kPrompt), lists(kTokens, kPrompt, 4)),
                          "have 4 rows, the prompt and the answer have 3 and 3 tokens");
    verify_refused_answer(vllm("null", "null"),
                          "has no answer with routed_experts (SGLang: send return_routed_experts");
    verify_refused_answer("data: " + sglang(npy) + "\noops\n", "line 2: is not a line of a stream of events: \"oops\"");
  }

  void arrays_by_themselves_are_read() {
    const std::vector<int32_t> ids = numbers(kTokens, 0, kAll, false);
    Arguments arguments = {"import"};
    const auto add = [&]<class T>(const char* type, T) {
      const std::string name = "array" + std::to_string(arguments.size()) + ".npy";
      arguments.push_back(scratch_.write(name, npy_of("(5, 2, 2)", type, std::vector<T>(ids.begin(), ids.end()))));
    };
    add("<i2", int16_t{}), add("|u1", uint8_t{}), add("|i1", int8_t{}), add("<u2", uint16_t{}), add("<u4", uint32_t{}),
        add("<i4", int32_t{}), add("<i8", int64_t{});
    const std::string session = new_session();
    arguments.insert(arguments.end(), {"-o", session, "--model-config", config(), "--json", "-"});
    QCOMPARE(json_of(arguments)["runs"].size(), size_t{7});
    const SessionReader reader(session);
    const Loads loads = loads_of_tokens(kTokens, 0, kAll);
    for (int64_t run = 1; run <= 7; ++run)
      for (int32_t r = 0; r < 2; ++r) QCOMPARE(reader.total_loads(run, r).load, loads[static_cast<size_t>(r)]);
  }
};

STORMCELL_TEST(ContractRoutedAnswersTest)

}  // namespace stormcell::testing

#include "routed_answers_test.moc"
