// Streamed answers with routed experts: events, chunks saved as lines, streams that were cut.
#include "tests/contract/routed_answers.h"

namespace stormcell::testing {

class ContractRoutedStreamsTest : public QObject, private RoutedAnswers {
  Q_OBJECT
 private slots:
  void streams_are_read_once_data() {
    QTest::addColumn<QByteArray>("text");
    const auto row = [](const char* name, const std::vector<std::string>& chunks,
                        const char* done = "data: [DONE]\n\n") {
      std::string text;
      for (const std::string& chunk : chunks) text += "data: " + chunk + "\n\n";
      QTest::newRow(name) << QByteArray::fromStdString(text + done);
    };
    const std::string none = R"({"text": "", "meta_info": {"id": "a", "prompt_tokens": 3, "completion_tokens": 1}})";
    row("in the last chunk", {none, sglang(raw(kTokens, 0, kAll))});
    row("all so far in each",
        {sglang(raw(kTokens, 0, 3), 3, 1), sglang(raw(kTokens, 0, 4), 3, 2), sglang(raw(kTokens, 0, kAll))});
    row("each its own",
        {sglang(raw(kTokens, 0, 3), 3, 1), sglang(raw(kTokens, 3, 4), 3, 2), sglang(raw(kTokens, 4, kAll))});
    row("without an end", {none, sglang(raw(kTokens, 0, kAll))}, "");
    const auto chunk = [](const std::string& field) {
      return R"({"id": "c", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": "x"})" +
             field + "}]}";
    };
    row("of choices, with the counts behind",
        {chunk(""), chunk(R"(, "routed_experts": )" + npy_base64<int16_t>(kTokens, 0, kAll, false, "<i2")),
         R"({"id": "c", "object": "chat.completion.chunk", "choices": [], )" + kUsage + "}"});
    row("after the head of an HTTP answer",
        {none + "\n\nHTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n:ok\nretry: 3",
         sglang(raw(kTokens, 0, kAll))});
    row("with comments and names of events", {none, sglang(raw(kTokens, 0, kAll)) + "\n\nevent: end\nid: 7\n: ping"});
  }
  void streams_are_read_once() {
    QFETCH(QByteArray, text);
    const std::string session = new_session();
    verify_loads(text.toStdString(), loads_of_tokens(kTokens, 0, kAll), session, "stream.txt");
    QCOMPARE(SessionReader(session).sequences(1), int64_t{1});
    // Two streams in one file are two answers.
    const std::string two = QByteArray(text)
                                .replace("\"id\": \"a\"", "\"id\": \"b\"")
                                .replace("\"id\": \"c\"", "\"id\": \"d\"")
                                .toStdString();
    const Loads one = loads_of_tokens(kTokens, 0, kAll);
    verify_loads(text.toStdString() + "\n" + two, sum(one, one), new_session(), "streams.txt");
  }

  // Clients save each chunk of a stream as a line; chunks of several requests are mixed.
  void chunks_of_one_id_are_one_answer_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<int>("answers");
    QTest::addColumn<int>("tokens");
    QTest::addColumn<int>("cut");
    const auto row = [](const char* name, const std::vector<std::string>& lines, int answers, int tokens = kAll,
                        int cut = 0) {
      std::string text;
      for (const std::string& line : lines) text += line + "\n";
      QTest::newRow(name) << QByteArray::fromStdString(text) << answers << tokens << cut;
    };
    const auto chunk = [](const std::string& id, const std::string& routed, const std::string& more = "") {
      return R"({"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": "x"})" + more +
             R"(, "routed_experts": )" + routed + R"(, "finish_reason": null}], "id": )" + Json(id).dump() + "}";
    };
    const auto usage = [](const std::string& id, int completion = 3) {
      return R"({"object": "chat.completion.chunk", "choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": )" +
             std::to_string(completion) + R"(}, "id": )" + Json(id).dump() + "}";
    };
    const std::string a = lists(kTokens, 0, 3), b = lists(kTokens, 3, 4), c = lists(kTokens, 4, 5),
                      ab = lists(kTokens, 0, 4), all = lists(kTokens, 0, kAll), one = lists(kTokens, 0, 1);
    row("new rows in each", {chunk("x", a), chunk("x", b), chunk("x", c), usage("x")}, 1);
    row("new rows in each, uncounted", {chunk("x", a), chunk("x", b), chunk("x", c)}, 1, kAll, 1);
    row("new rows and their tokens",
        {chunk("x", a, R"(, "token_ids": [7])"), chunk("x", b, R"(, "token_ids": [7])"),
         chunk("x", c, R"(, "token_ids": [7])")},
        1, kAll, 1);
    row("all rows so far in each", {chunk("x", a), chunk("x", ab), chunk("x", all), usage("x")}, 1);
    row("all rows in each", {chunk("x", all), chunk("x", all), usage("x")}, 1);
    row("all rows in each, uncounted", {chunk("x", all), chunk("x", all)}, 1, kAll, 1);
    row("in turns",
        {chunk("x", a), chunk("y", a), chunk("x", b), chunk("y", b), chunk("y", c), chunk("x", c), usage("y"),
         usage("x")},
        2);
    row("in turns, with an answer between", {chunk("x", a), vllm("null", all), chunk("x", b), chunk("x", c)}, 2, kAll,
        1);
    row("of text, whose last chunk is like a whole answer",
        {R"({"id": "x", "object": "text_completion", "choices": [{"index": 0, "text": "x", "finish_reason": null, "routed_experts": )" +
             ab + "}]}",
         R"({"id": "x", "object": "text_completion", "choices": [{"index": 0, "text": "x", "finish_reason": "stop", "routed_experts": )" +
             c + "}]}"},
        1);
    row("of SGLang",
        {sglang(raw(kTokens, 0, 3), 3, 1, R"(, "finish_reason": null)"),
         sglang(raw(kTokens, 0, 4), 3, 2, R"(, "finish_reason": null)"),
         sglang(raw(kTokens, 0, kAll), 3, 3, R"(, "finish_reason": {"type": "stop"})")},
        1);
    // Equal new rows: three times the first token.
    row("equal rows", {chunk("x", one), chunk("x", one), chunk("x", one)}, 1, -3, 1);
    row("rows within delta",
        {R"({"id": "x", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"routed_experts": )" +
             all + "}}]}",
         usage("x")},
        1);
    row("equal rows, counted", {chunk("x", one), chunk("x", one), chunk("x", one), usage("x", 1)}, 1, -3);
  }
  void chunks_of_one_id_are_one_answer() {
    QFETCH(QByteArray, text);
    QFETCH(int, answers);
    QFETCH(int, tokens);
    QFETCH(int, cut);
    Loads one = loads_of_tokens(kTokens, 0, static_cast<size_t>(tokens < 0 ? 1 : tokens));
    Loads loads = one;
    for (int i = 1; i < (tokens < 0 ? -tokens : answers); ++i) loads = sum(loads, one);
    const std::string session = new_session();
    const Json import = verify_loads(text.toStdString(), loads, session, "chunks.jsonl");
    QCOMPARE(SessionReader(session).sequences(1), static_cast<int64_t>(answers));
    const std::string warnings = import["warnings"].dump(),
                      words = std::to_string(cut) + " of " + std::to_string(answers) +
                              (answers == 1 ? " answer" : " answers") + (cut == 1 ? " states" : " state") +
                              " no end: the stream was cut";
    QVERIFY2(cut == 0 ? import["warnings"].empty()
                      : import["warnings"].size() == 1 && warnings.find(words) != std::string::npos,
             warnings.c_str());
    // A stream of events with the same chunks.
    const std::string events =
        "data: " + QByteArray(text).trimmed().replace("\n", "\n\ndata: ").toStdString() + "\n\ndata: [DONE]\n";
    verify_loads(events, loads, new_session(), "chunks.txt");
  }

  void streams_that_were_cut_are_named_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QStringList>("words");
    const auto row = [](const char* name, const std::vector<std::string>& chunks, const QStringList& words) {
      std::string text = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
      for (const std::string& chunk : chunks) text += "data: " + chunk + "\n\n";
      QTest::newRow(name) << QByteArray::fromStdString(text) << words;
    };
    const std::string part = sglang(raw(kTokens, 0, kAll), 3, 3, R"(, "finish_reason": null)"),
                      last = sglang(raw(kTokens, 0, kAll), 3, 3, R"(, "finish_reason": {"type": "stop"})"),
                      error = R"({"error": {"message": "out of memory"}})";
    const QString cut = "1 of 1 answer states no end: the stream was cut, and its last rows are missing",
                  named = "1 error of the server in place of a chunk; the first is in line ";
    row("no chunk states an end", {part, part}, {cut});
    row("the stream ends", {part, "[DONE]"}, {});
    row("the last chunk states why", {part, last}, {});
    row("an error in place of a chunk", {part, error}, {cut, named + R"(6: \"out of memory\")"});
    row("an error before the end of the stream", {part, error, "[DONE]"}, {cut, named});
  }
  void streams_that_were_cut_are_named() {
    QFETCH(QByteArray, text);
    QFETCH(QStringList, words);
    const Json import = verify_loads(text.toStdString(), loads_of_tokens(kTokens, 0, kAll), new_session(), "cut.txt");
    const std::string warnings = import["warnings"].dump();
    QVERIFY2(std::ssize(import["warnings"]) == words.size(), warnings.c_str());
    for (const QString& some : words)
      QVERIFY2(warnings.find(some.toStdString()) != std::string::npos, warnings.c_str());
  }
};

STORMCELL_TEST(ContractRoutedStreamsTest)

}  // namespace stormcell::testing

#include "routed_streams_test.moc"
