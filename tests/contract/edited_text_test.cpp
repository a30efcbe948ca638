// Text that went through an editor, a spreadsheet or a shell, and files packed with gzip: traces, calls, labels and data are read with the
// same figures, or refused in one line with line and column; nothing is read by halves.
#include "core/formats/file_text.h"
#include "tests/contract/imports.h"
#include "tests/contract/server_traces.h"
#include "tests/testing/gzip_bytes.h"

namespace stormcell::testing {
namespace {

using Loads = std::vector<std::vector<int64_t>>;

// What is measured below, by hand: experts of each of the three tokens, slot by slot.
constexpr int kExperts[2][3][2] = {{{0, 1}, {1, 2}, {2, 3}}, {{1, 2}, {2, 3}, {3, 0}}};
Loads loads_by_hand() {
  Loads loads(2, std::vector<int64_t>(4));
  for (size_t layer = 0; layer < 2; ++layer)
    for (const auto& token : kExperts[layer])
      for (const int expert : token) ++loads[layer][static_cast<size_t>(expert)];
  return loads;
}

const std::string kPreamble = "# route_trace v1\n# model=made arch=made n_layer=2 n_expert=4 n_expert_used=2\n",
                  kNames = "turn,phase,step,layer,slot,expert,weight\n";
std::string trace_rows() {
  std::string text;
  const auto put = [&](int phase, int step, int layer) {
    for (int slot = 0; slot < 2; ++slot)
      text += "0," + std::to_string(phase) + "," + std::to_string(step) + "," + std::to_string(layer) + "," + std::to_string(slot) + "," +
              std::to_string(kExperts[layer][step][slot]) + (slot == 0 ? ",0.75\n" : ",0.25\n");
  };
  for (int layer = 0; layer < 2; ++layer)
    for (int step = 0; step < 2; ++step) put(0, step, layer);
  for (int layer = 0; layer < 2; ++layer) put(1, 2, layer);
  return text;
}
std::string plain_trace() { return kPreamble + kNames + trace_rows(); }

const std::string kCallNames =
    "op,mode,dtype,gpu,laboratory,nodes,ranks,gpus_per_node,nic_gbit,tokens_per_rank,top_k,experts,hidden,ffn,bytes_per_copy,us,source,"
    "id\n";
// 20 us and half a microsecond a token.
std::string call_rows() {
  std::string text;
  for (const int tokens : {16, 32, 64, 128})
    text += "dispatch,low-latency,bf16,H100,lab,1,8,8,0," + std::to_string(tokens) + ",8,256,7168,,14336," +
            std::to_string(20 + tokens / 2) + ".000,table," + std::to_string(tokens) + "\n";
  return text;
}
std::string plain_calls() { return kCallNames + call_rows(); }

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) text.replace(at, from.size(), to);
  return text;
}
std::string with_crlf(const std::string& text) { return replaced(text, "\n", "\r\n"); }
std::string quoted(const std::string& text) {
  std::string all = "\"" + replaced(text, ",", "\",\"");
  all = replaced(all, "\n", "\"\n\"");
  return all.substr(0, all.size() - 1);
}
std::string utf16(const std::string& text) {
  std::string wide("\xFF\xFE");
  for (const char c : text) wide += c, wide += '\0';
  return wide;
}
const std::string kMark = "\xEF\xBB\xBF";

}  // namespace

class ContractEditedTextTest : public QObject, private Imports {
  Q_OBJECT

  static void columns() {
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QString>("words");
  }
  static void row(const char* name, const std::string& bytes, const std::string& words = {}) {
    QTest::newRow(name) << QByteArray(bytes.data(), static_cast<qsizetype>(bytes.size())) << QString::fromStdString(words);
  }

 private slots:
  void a_trace_in_other_hands_is_the_same_trace_data() {
    columns();
    const std::string rows = trace_rows(), plain = plain_trace();
    row("plain", plain);
    row("byte order mark and CRLF", kMark + with_crlf(plain));
    row("CR alone", replaced(plain, "\n", "\r"));
    row("no last line end", plain.substr(0, plain.size() - 1));
    row("semicolons", kPreamble + replaced(kNames + rows, ",", ";"));
    row("tabs", kPreamble + replaced(kNames + rows, ",", "\t"));
    row("quoted names", kPreamble + quoted(kNames) + rows);
    row("all quoted", quoted(kPreamble) + quoted(kNames) + quoted(rows));
    row("blanks behind commas", kPreamble + replaced(kNames + rows, ",", ", "));
    row("ids in floating point", kPreamble + kNames + replaced(rows, ",0.", ".0,0."));
    row("scientific", kPreamble + kNames + replaced(replaced(rows, "0.75", "7.5E-01"), "0,1,2,", "0e0,1e0,2.0E+00,"));
    row("empty fields behind comments", replaced(kPreamble, "\n", ",,,,,,\n") + kNames + rows);
    row("semicolons behind comments", replaced(kPreamble, "\n", ";;;;;;\n") + replaced(kNames + rows, ",", ";"));
    row("empty lines", "\n" + kPreamble + "\n" + kNames + "\n" + replaced(rows, "\n", "\n\n"), "15 empty lines are left out");
    row("empty rows of a spreadsheet", kPreamble + kNames + rows + ",,,,,,\n", "1 empty line is left out; the first is line 16");
    row("a column of notes",
        kPreamble + replaced(kNames, "turn,", "note,turn,") + replaced("\n" + rows, "\n0,", "\n\"a, \"\"b\"\"\",0,").substr(1));
    row("packed", gzip_of(plain));
    row("packed in two members", gzip_of(kPreamble) + gzip_of(kNames + rows));
    row("packed with a byte order mark", gzip_of(kMark + with_crlf(plain)));
  }
  void a_trace_in_other_hands_is_the_same_trace() {
    QFETCH(QByteArray, bytes);
    QFETCH(QString, words);
    const std::string name = std::string("edited-") + QTest::currentDataTag(), session = scratch_.path(name + ".storm");
    const Arguments arguments = {"import", scratch_.write(name + ".csv.gz", bytes.toStdString()), "-o", session, "--json", "-"};
    const Ended ended = run_program(arguments);
    QVERIFY2(ended.exit == 0, told(arguments, ended).c_str());
    QCOMPARE(ended.json()["format"].get<std::string>(), std::string("route-trace"));
    QCOMPARE(ended.json()["rows_read"].get<int>(), 12);
    QVERIFY2(words.isEmpty() ? ended.err.empty() : ended.err.find(words.toStdString()) != std::string::npos, ended.err.c_str());
    QCOMPARE(ended.json()["empty_lines"].get<int>() > 0, !words.isEmpty());
    const Json analysis = analyzed(session);
    QVERIFY2((Loads{loads_of(analysis, 0), loads_of(analysis, 1)}) == loads_by_hand(), analysis["routers"].dump().c_str());
    // The name without endings, weights as they were.
    const SessionReader reader(session);
    QCOMPARE(reader.runs().at(0).name, name);
    QCOMPARE(reader.decision(1, 0, 0)->weight[0], 0.75F);
  }

  void a_trace_that_nobody_could_know_is_refused_data() {
    columns();
    const std::string rows = trace_rows(), plain = plain_trace(), head = kPreamble + kNames;
    row("decimal commas between semicolons", kPreamble + replaced(replaced(kNames + rows, ",", ";"), "0.", "0,"),
        "line 4, column 7: weight is \"0,75\", with a comma in a number");
    row("one decimal comma", kPreamble + replaced(replaced(kNames + rows, ",", ";"), "0;0.25", "0;0,25"),
        "line 15, column 7: weight is \"0,25\"");
    row("decimal commas between commas", head + replaced(rows, "0.", "0,"), "line 4: has 8 fields, the line of names has 7 (write a point");
    row("a thousand with a comma", head + "0,0,\"1,000\",0,0,0,0.75\n", "line 4, column 3: step is \"1,000\", with a comma in a number");
    row("half an id", head + replaced(rows, "0,0,0,0,1,1,", "0,0,0,0,1,1.5,"), "line 5, column 6: expert is \"1.5\", not a whole number");
    row("NaN", head + replaced(rows, "2,0.75", "2,NaN"), "column 7: weight is \"NaN\", not a finite number");
    row("infinite", head + replaced(rows, "2,0.75", "2,inf"), "column 7: weight is \"inf\", not a finite number");
    row("a missing weight", head + replaced(rows, "2,0.75", "2,"), "column 7: weight is empty");
    row("an error of the spreadsheet", head + replaced(rows, "2,0.75", "2,#N/A"), "column 7: weight is \"#N/A\", not a number");
    row("an error in the first column", head + rows + "#REF!,1,2,1,1,0,0.25\n",
        "line 16, column 1: is \"#REF!\", an error of the spreadsheet");
    row("cut in a number", plain.substr(0, plain.size() - 21), "line 14");
    row("cut in a row", plain.substr(0, plain.size() - 11),
        "line 15: has 4 fields, the line of names has 7 (the file may be cut; get it again)");
    row("cut behind a row", plain.substr(0, plain.size() - 17), "layer 1 of turn 0, step 2 has 1 of 2 choices");
    row("UTF-16", utf16(plain), "is text in UTF-16 (save it as UTF-8");
    row("UTF-16 without a mark", utf16(plain).substr(2), "is text in UTF-16 (save it as UTF-8");
    row("no column", kPreamble + replaced(kNames, "slot", "place") + rows, "line 3: has no column slot; the first columns are");
    row("an open quote", head + "\"" + rows, "line 4: a quote is not closed");
    row("packed and cut", gzip_of(plain).substr(0, 200), "is packed with gzip and ends in the middle: it was cut");
    row("packed and padded", gzip_of(plain) + std::string(100, '\0'), "goes on behind its end with 100 bytes");
    row("packed with another checksum", gzip_of(plain).replace(plain.size() + 16, 1, "!"), "is packed with gzip and is damaged");
    row("packed and decimal commas", gzip_of(kPreamble + replaced(replaced(kNames + rows, ",", ";"), "0.", "0,")), "line 4, column 7");
  }
  void a_trace_that_nobody_could_know_is_refused() {
    QFETCH(QByteArray, bytes);
    QFETCH(QString, words);
    const std::string good = scratch_.path("good.storm");
    if (!std::filesystem::exists(good)) imported(scratch_.write("good.csv", plain_trace()), good);
    const std::string before = Scratch::read(good);
    const std::string wrong = scratch_.write("wrong.csv.gz", bytes.toStdString()), none = scratch_.path("none.storm");
    for (const std::string& session : {good, none}) VERIFY_REFUSED((Arguments{"import", wrong, "-o", session}), wrong, words.toStdString());
    QVERIFY(Scratch::read(good) == before);
    QVERIFY(!std::filesystem::exists(none));
  }

  void calls_of_spreadsheets_give_the_same_fit_data() {
    columns();
    const std::string rows = call_rows(), plain = plain_calls();
    row("byte order mark and CRLF", kMark + with_crlf(plain));
    row("CR alone", replaced(plain, "\n", "\r"));
    row("no last line end", plain.substr(0, plain.size() - 1));
    row("all quoted", quoted(plain));
    row("a comma in a text", replaced(plain, ",table,", ",\"table\",").insert(0, "# \"a\", b\n"));
    row("blanks", replaced(plain, ",", " , "));
    row("scientific", replaced(replaced(plain, "7168", "7.168e3"), "14336", "1.4336E+04"));
    row("whole numbers with a fraction", replaced(plain, ",256,", ",256.0,"));
    row("semicolons", replaced(plain, ",", ";"));
    row("tabs", replaced(plain, ",", "\t"));
    row("empty fields behind", replaced(plain, "\n", ",,\n"));
    row("empty lines", "# measured on Monday\n\n" + replaced(plain, "\n", "\n\n"), "6 empty lines are left out; the first is line 2");
    row("empty rows", plain + replaced(kCallNames, kCallNames, ",,,,,,,,,,,,,,,,,\n"), "1 empty line is left out; the first is line 6");
    row("packed", gzip_of(plain));
  }
  void calls_of_spreadsheets_give_the_same_fit() {
    QFETCH(QByteArray, bytes);
    QFETCH(QString, words);
    const std::string cal = scratch_.path("edited.json"), as_plain = scratch_.path("plain.json");
    const Arguments arguments = {"calibrate", scratch_.write("edited.csv", bytes.toStdString()), "-o", cal, "--json", "-"};
    const Ended ended = run_program(arguments);
    QVERIFY2(ended.exit == 0, told(arguments, ended).c_str());
    QVERIFY2(words.isEmpty() ? ended.err.empty() : ended.err.find(words.toStdString()) != std::string::npos, ended.err.c_str());
    const Json fit = ended.json()["fits"][0];
    // 20 us, and 16 tokens of 8 copies in 8 us.
    QVERIFY2(std::abs(fit["t0_us"].get<double>() - 20) < 1e-6, fit.dump().c_str());
    QVERIFY2(std::abs(fit["rate"].get<double>() / (16. * 8 * 14336 / 8e-6) - 1) < 1e-6, fit.dump().c_str());
    if (!std::filesystem::exists(as_plain))
      json_of({"calibrate", scratch_.write("plain.csv", plain_calls()), "-o", as_plain, "--json", "-"});
    QCOMPARE(Scratch::read(cal), Scratch::read(as_plain));
  }

  void calls_that_nobody_could_know_are_refused_data() {
    columns();
    const std::string plain = plain_calls();
    row("decimal commas", replaced(replaced(plain, ",", ";"), ".000", ",000"),
        "line 2, column 16: us is \"28,000\", with a comma in a number");
    row("thousands", replaced(plain, "84.000", "\"1,084.000\""), "line 5, column 16: us is \"1,084.000\", with a comma in a number");
    row("thousands with blanks", replaced(plain, "84.000", "1 084.000"), "line 5, column 16: us is \"1 084.000\"");
    row("NaN", replaced(plain, "84.000", "NaN"), "line 5, column 16: us is \"NaN\", not a finite number");
    row("half a rank", replaced(plain, ",8,8,0,128", ",8.5,8,0,128"), "line 5, column 7: ranks is \"8.5\", not a whole number");
    row("an error of the spreadsheet", replaced(plain, "84.000", "#DIV/0!"), "line 5, column 16: us is \"#DIV/0!\", not a number");
    row("a cut row", plain.substr(0, plain.size() - 25), "line 5: has 13 fields, the line of names has 18 (the file may be cut");
    row("UTF-16", utf16(plain), "is text in UTF-16");
    row("Latin-1", replaced(plain, "lab", "caf\xe9"), "line 2, column 5: laboratory is no line of UTF-8");
    row("packed and cut", gzip_of(plain).substr(0, 100), "is packed with gzip and ends in the middle");
  }
  void calls_that_nobody_could_know_are_refused() {
    QFETCH(QByteArray, bytes);
    QFETCH(QString, words);
    const std::string wrong = scratch_.write("wrong.csv", bytes.toStdString()), there = scratch_.write("there.json", "what is there");
    VERIFY_REFUSED((Arguments{"calibrate", wrong, "-o", there}), wrong, words.toStdString());
    QCOMPARE(Scratch::read(there), std::string("what is there"));
  }

  void traces_of_servers_are_read_packed_and_edited() {
    // Steps 7 and 8 of vllm_loads(), by its maps of slots: loads of experts.
    const Loads expected = {{1 + 4 + 7, 2 + 1 + 1, 3 + 1}, {0 + 1, 5 + 5 + 0, 0 + 9}};
    const std::string text = vllm_loads();
    const std::vector<std::string> forms = {text, gzip_of(text), kMark + with_crlf(text), text.substr(0, text.size() - 1),
                                            "\n" + replaced(text, "\n", "\n\n")};
    for (size_t i = 0; i < forms.size(); ++i) {
      const std::string name = "eplb-" + std::to_string(i), session = scratch_.path(name + ".storm");
      const Json import = imported(scratch_.write(name + ".jsonl", forms[i]), session);
      QCOMPARE(import["format"].get<std::string>(), std::string("vllm-eplb"));
      QCOMPARE(import["empty_lines"].get<int>(), i + 1 == forms.size() ? 4 : 0);
      const Json analysis = analyzed(session);
      QVERIFY2((Loads{loads_of(analysis, 0), loads_of(analysis, 1)}) == expected, analysis["routers"].dump().c_str());
    }
    const std::string cut = scratch_.write("cut.jsonl", text.substr(0, text.size() - 20));
    VERIFY_REFUSED((Arguments{"import", cut, "-o", scratch_.path("cut.storm")}), cut,
                   "line 3: the file ends within the JSON that begins here");
    const std::string wide = scratch_.write("wide.jsonl", utf16(text));
    VERIFY_REFUSED((Arguments{"import", wide, "-o", scratch_.path("cut.storm")}), wide, "is text in UTF-16");
    // Other formats, packed; answers with what Python writes for numbers.
    const std::string config = scratch_.write("three/config.json", kThreeLayers);
    const std::string answers = replaced(routed_experts(), "\"text\": \"hi there\"", "\"logprob\": -Infinity, \"text\": \"hi\"");
    const Json read =
        imported(scratch_.write("answers.jsonl.gz", gzip_of(answers)), scratch_.path("answers.storm"), {"--model-config", config});
    QCOMPARE(read["rows_read"].get<int>(), 20);
    const Json npy =
        imported(scratch_.write("ids.npy.gz", gzip_of(npy_of("(1, 1, 2)", "<i4", std::vector<int32_t>{0, 1}))), scratch_.path("npy.storm"));
    QVERIFY(npy["format"] == "npy" && npy["rows_read"] == 2);
    const std::string native = SmallTrace().write(scratch_.path("native.safetensors"));
    const Json small = imported(scratch_.write("native.safetensors.gz", gzip_of(Scratch::read(native))), scratch_.path("native.storm"));
    QVERIFY(small["format"] == "native" && small["rows_read"] == 5);
    const Json router = imported(scratch_.write("router.json", kMark + router_trace()), scratch_.path("router.storm"));
    QCOMPARE(router["format"].get<std::string>(), std::string("router-trace"));
  }

  void a_packed_trace_is_known_again() {
    const std::string session = scratch_.path("again.storm"), plain = scratch_.write("again.csv", plain_trace()),
                      packed = scratch_.write("again.csv.gz", gzip_of(plain_trace()));
    imported(packed, session);
    const Json again = imported(plain, session);
    QVERIFY2(again["runs"].empty() && again["files_known"] == 1, again.dump().c_str());
  }

  void text_is_read_packed_and_edited() {
    const std::string model = model_with_tokenizer(scratch_);
    const std::string lines = "{\"text\": \"one two\"}\r\n\r\n{\"text\": \"three\", \"score\": NaN}\r\n  \r\n{\"text\": \"four five six\"}";
    const std::string data = scratch_.write("data.jsonl.gz", gzip_of(kMark + lines));
    Arguments arguments = short_run("run", model, data, {"--batch", "2", "--json", "-"});
    const Ended ended = run_program(arguments);
    QVERIFY2(ended.exit == 0, told(arguments, ended).c_str());
    QVERIFY2(ended.err.find("stormcell: warning: " + data + ": 2 empty lines are left out; the first is line 2") != std::string::npos,
             ended.err.c_str());
    QVERIFY2(ended.json()["warnings"].dump().find("2 empty lines are left out") != std::string::npos, ended.out.c_str());
    const std::string wide = scratch_.write("wide.txt", utf16("one\ntwo\n"));
    VERIFY_REFUSED(short_run("run", model, wide), wide, "is text in UTF-16");
    const std::string cut = scratch_.write("cut.txt.gz", gzip_of("one\ntwo\n").substr(0, 20));
    VERIFY_REFUSED(short_run("run", model, cut), cut, "is packed with gzip and ends in the middle");
  }

  void numbers_that_python_alone_writes_do_not_stop_a_config() {
    const ModelCopy copy(mixtral_model());
    std::string config = Scratch::read(copy.file("config.json"));
    config.insert(config.rfind('}'), ", \"_made_up\": Infinity, \"_list\": [NaN, -Infinity]");
    copy.write("config.json", config);
    VERIFY_DONE(run_program({"inspect", copy.folder()}), (Arguments{"inspect", copy.folder()}));
    for (const char* word : {"NaN", "Infinity"}) {
      const size_t at = config.find("\"rms_norm_eps\"");
      QVERIFY(at != std::string::npos);
      const size_t value = config.find(':', at) + 1;
      std::string wrong = config;
      wrong.replace(value, wrong.find_first_of(",}", value) - value, std::string(" ") + word);
      copy.write("config.json", wrong);
      VERIFY_REFUSED((Arguments{"inspect", copy.folder()}), copy.file("config.json"), std::string("got ") + word);
    }
  }
};

STORMCELL_TEST(ContractEditedTextTest)

}  // namespace stormcell::testing

#include "edited_text_test.moc"
