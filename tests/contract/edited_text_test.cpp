// Traces and data that went through an editor, a spreadsheet or a shell, or are packed with gzip. They are read with
// the same figures, or refused in one line with line and column; nothing is read in part.
#include "tests/contract/edited_text.h"
#include "tests/contract/imports.h"
#include "tests/contract/server_traces.h"

namespace stormcell::testing {
namespace {

using Loads = std::vector<std::vector<int64_t>>;

// The expected values, by hand: the experts of each of the three tokens, slot by slot.
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
      text += "0," + std::to_string(phase) + "," + std::to_string(step) + "," + std::to_string(layer) + "," +
              std::to_string(slot) + "," + std::to_string(kExperts[layer][step][slot]) +
              (slot == 0 ? ",0.75\n" : ",0.25\n");
  };
  for (int layer = 0; layer < 2; ++layer)
    for (int step = 0; step < 2; ++step) put(0, step, layer);
  for (int layer = 0; layer < 2; ++layer) put(1, 2, layer);
  return text;
}
std::string plain_trace() { return kPreamble + kNames + trace_rows(); }

}  // namespace

class ContractEditedTextTest : public QObject, private Imports {
  Q_OBJECT
 private slots:
  void a_trace_in_other_hands_is_the_same_trace_data() {
    edited_columns();
    const std::string rows = trace_rows(), plain = plain_trace();
    edited_row("plain", plain);
    edited_row("byte order mark and CRLF", kMark + with_crlf(plain));
    edited_row("CR alone", replaced(plain, "\n", "\r"));
    edited_row("no last line end", plain.substr(0, plain.size() - 1));
    edited_row("semicolons", kPreamble + replaced(kNames + rows, ",", ";"));
    edited_row("tabs", kPreamble + replaced(kNames + rows, ",", "\t"));
    edited_row("quoted names", kPreamble + quoted(kNames) + rows);
    edited_row("all quoted", quoted(kPreamble) + quoted(kNames) + quoted(rows));
    edited_row("blanks behind commas", kPreamble + replaced(kNames + rows, ",", ", "));
    edited_row("ids in floating point", kPreamble + kNames + replaced(rows, ",0.", ".0,0."));
    edited_row("scientific",
               kPreamble + kNames + replaced(replaced(rows, "0.75", "7.5E-01"), "0,1,2,", "0e0,1e0,2.0E+00,"));
    edited_row("empty fields behind comments", replaced(kPreamble, "\n", ",,,,,,\n") + kNames + rows);
    edited_row("semicolons behind comments", replaced(kPreamble, "\n", ";;;;;;\n") + replaced(kNames + rows, ",", ";"));
    edited_row("a line that names the separator", "sep=;\n" + replaced(kPreamble + kNames + rows, ",", ";"));
    edited_row("the same from a spreadsheet",
               kMark + "sep=;\r\n" + with_crlf(replaced(quoted(kPreamble) + kNames + rows, ",", ";")));
    edited_row("empty lines", "\n" + kPreamble + "\n" + kNames + "\n" + replaced(rows, "\n", "\n\n"),
               "15 empty lines are left out");
    edited_row("empty rows of a spreadsheet", kPreamble + kNames + rows + ",,,,,,\n",
               "1 empty line is left out; the first is line 16");
    edited_row("a column of notes", kPreamble + replaced(kNames, "turn,", "note,turn,") +
                                        replaced("\n" + rows, "\n0,", "\n\"a, \"\"b\"\"\",0,").substr(1));
    edited_row("packed", gzip_of(plain));
    edited_row("packed in two members", gzip_of(kPreamble) + gzip_of(kNames + rows));
    edited_row("packed with a byte order mark", gzip_of(kMark + with_crlf(plain)));
  }
  void a_trace_in_other_hands_is_the_same_trace() {
    QFETCH(QByteArray, bytes);
    QFETCH(QString, words);
    const std::string name = std::string("edited-") + QTest::currentDataTag(), session = scratch_.path(name + ".storm");
    const Arguments arguments = {
        "import", scratch_.write(name + ".csv.gz", bytes.toStdString()), "-o", session, "--json", "-"};
    const Ended ended = run_program(arguments);
    QVERIFY2(ended.exit == 0, told(arguments, ended).c_str());
    QCOMPARE(ended.json()["format"].get<std::string>(), std::string("route-trace"));
    QCOMPARE(ended.json()["rows_read"].get<int>(), 12);
    QVERIFY2(words.isEmpty() ? ended.err.empty() : ended.err.find(words.toStdString()) != std::string::npos,
             ended.err.c_str());
    QCOMPARE(ended.json()["empty_lines"].get<int>() > 0, !words.isEmpty());
    const Json analysis = analyzed(session);
    QVERIFY2((Loads{loads_of(analysis, 0), loads_of(analysis, 1)}) == loads_by_hand(),
             analysis["routers"].dump().c_str());
    // The run has the name without endings; the weights are unchanged.
    const SessionReader reader(session);
    QCOMPARE(reader.runs().at(0).name, name);
    QCOMPARE(reader.decision(1, 0, 0)->weight[0], 0.75F);
  }

  void a_trace_that_nobody_could_know_is_refused_data() {
    edited_columns();
    const std::string rows = trace_rows(), plain = plain_trace(), head = kPreamble + kNames;
    edited_row("decimal commas between semicolons", kPreamble + replaced(replaced(kNames + rows, ",", ";"), "0.", "0,"),
               "line 4, column 7: weight is \"0,75\", with a comma in a number");
    edited_row("one decimal comma", kPreamble + replaced(replaced(kNames + rows, ",", ";"), "0;0.25", "0;0,25"),
               "line 15, column 7: weight is \"0,25\"");
    edited_row("decimal commas between commas", head + replaced(rows, "0.", "0,"),
               "line 4: has 8 fields, the line of names has 7 (write a point");
    edited_row("a thousand with a comma", head + "0,0,\"1,000\",0,0,0,0.75\n",
               "line 4, column 3: step is \"1,000\", with a comma in a number");
    edited_row("half an id", head + replaced(rows, "0,0,0,0,1,1,", "0,0,0,0,1,1.5,"),
               "line 5, column 6: expert is \"1.5\", not a whole number");
    edited_row("NaN", head + replaced(rows, "2,0.75", "2,NaN"), "column 7: weight is \"NaN\", not a finite number");
    edited_row("infinite", head + replaced(rows, "2,0.75", "2,inf"),
               "column 7: weight is \"inf\", not a finite number");
    edited_row("a missing weight", head + replaced(rows, "2,0.75", "2,"), "column 7: weight is empty");
    edited_row("an error of the spreadsheet", head + replaced(rows, "2,0.75", "2,#N/A"),
               "column 7: weight is \"#N/A\", not a number");
    edited_row("an error in the first column", head + rows + "#REF!,1,2,1,1,0,0.25\n",
               "line 16, column 1: is \"#REF!\", an error of the spreadsheet");
    edited_row("cut in a number", plain.substr(0, plain.size() - 21), "line 14");
    edited_row("cut in a row", plain.substr(0, plain.size() - 11),
               "line 15: has 4 fields, the line of names has 7 (the file may be cut; get it again)");
    edited_row("cut behind a row", plain.substr(0, plain.size() - 17), "layer 1 of turn 0, step 2 has 1 of 2 choices");
    edited_row("UTF-16", utf16(plain), "is text in UTF-16, not a routing trace (save it as UTF-8");
    edited_row("UTF-16 without a mark", utf16(plain).substr(2),
               "is text in UTF-16, not a routing trace (save it as UTF-8");
    edited_row("no column", kPreamble + replaced(kNames, "slot", "place") + rows,
               "line 3: has no column slot; the first columns are");
    edited_row("an open quote", head + "\"" + rows, "line 4: a quote is not closed");
    edited_row("packed and cut", gzip_of(plain).substr(0, 200),
               "is packed with gzip and ends in the middle: it was cut");
    edited_row("packed and padded", gzip_of(plain) + std::string(100, '\0'), "has 100 bytes after its end");
    edited_row("packed with another checksum", gzip_of(plain).replace(plain.size() + 16, 1, "!"),
               "is packed with gzip and is damaged");
    edited_row("packed and decimal commas",
               gzip_of(kPreamble + replaced(replaced(kNames + rows, ",", ";"), "0.", "0,")), "line 4, column 7");
  }
  void a_trace_that_nobody_could_know_is_refused() {
    QFETCH(QByteArray, bytes);
    QFETCH(QString, words);
    const std::string good = scratch_.path("good.storm");
    if (!std::filesystem::exists(good)) imported(scratch_.write("good.csv", plain_trace()), good);
    const std::string before = Scratch::read(good);
    const std::string wrong = scratch_.write("wrong.csv.gz", bytes.toStdString()), none = scratch_.path("none.storm");
    for (const std::string& session : {good, none})
      VERIFY_REFUSED((Arguments{"import", wrong, "-o", session}), wrong, words.toStdString());
    QVERIFY(Scratch::read(good) == before);
    QVERIFY(!std::filesystem::exists(none));
  }

  void traces_of_servers_are_read_packed_and_edited() {
    // The loads of experts in steps 7 and 8 of vllm_loads(), by its maps of slots.
    const Loads expected = {{1 + 4 + 7, 2 + 1 + 1, 3 + 1}, {0 + 1, 5 + 5 + 0, 0 + 9}};
    const std::string text = vllm_loads();
    const std::vector<std::string> forms = {text, gzip_of(text), kMark + with_crlf(text),
                                            text.substr(0, text.size() - 1), "\n" + replaced(text, "\n", "\n\n")};
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
                   "line 3: the file ends in the middle of the JSON that begins here");
    const std::string wide = scratch_.write("wide.jsonl", utf16(text));
    VERIFY_REFUSED((Arguments{"import", wide, "-o", scratch_.path("cut.storm")}), wide, "is text in UTF-16");
    // Other formats, packed; answers with what Python writes for numbers.
    const std::string config = scratch_.write("three/config.json", kThreeLayers);
    const std::string answers =
        replaced(routed_experts(), "\"text\": \"hi there\"", "\"logprob\": -Infinity, \"text\": \"hi\"");
    const Json read = imported(scratch_.write("answers.jsonl.gz", gzip_of(answers)), scratch_.path("answers.storm"),
                               {"--model-config", config});
    QCOMPARE(read["rows_read"].get<int>(), 20);
    const Json npy =
        imported(scratch_.write("ids.npy.gz", gzip_of(npy_of("(1, 1, 2)", "<i4", std::vector<int32_t>{0, 1}))),
                 scratch_.path("npy.storm"));
    QVERIFY(npy["format"] == "npy" && npy["rows_read"] == 2);
    const std::string native = SmallTrace().write(scratch_.path("native.safetensors"));
    const Json small = imported(scratch_.write("native.safetensors.gz", gzip_of(Scratch::read(native))),
                                scratch_.path("native.storm"));
    QVERIFY(small["format"] == "native" && small["rows_read"] == 5);
    const std::string routed = replaced(router_trace(), "\"version\": 2", "\"version\": 2.0");
    const Json router = imported(scratch_.write("router.json", kMark + routed), scratch_.path("router.storm"));
    QCOMPARE(router["format"].get<std::string>(), std::string("router-trace"));
  }

  void a_packed_trace_is_known_again() {
    const std::string session = scratch_.path("again.storm"), plain = scratch_.write("again.csv", plain_trace()),
                      packed = scratch_.write("again.csv.gz", gzip_of(plain_trace()));
    imported(packed, session);
    const Json again = imported(plain, session);
    QVERIFY2(again["runs"].empty() && again["files_known"] == 1, again.dump().c_str());
  }

  void a_damaged_packed_trace_of_a_folder_is_named_and_the_others_are_read() {
    const std::string good = gzip_of(plain_trace());
    scratch_.write("folder/a.csv.gz", good), scratch_.write("folder/b.csv.gz", good.substr(0, 100));
    const std::string folder = scratch_.path("folder"), session = scratch_.path("folder.storm");
    const Ended ended = run_program({"import", folder, "-o", session, "--json", "-"});
    QVERIFY2(ended.exit == 0 && ended.json()["runs"].size() == 1, ended.err.c_str());
    QVERIFY2(ended.err.find(folder + "/b.csv.gz: is packed with gzip and ends in the middle") != std::string::npos,
             ended.err.c_str());
  }

  void text_is_read_packed_and_edited() {
    const std::string model = model_with_tokenizer(scratch_);
    const std::string lines =
        "{\"text\": \"one two\"}\r\n\r\n{\"text\": \"three\", \"score\": NaN}\r\n  \r\n{\"text\": \"four five six\"}";
    const std::string data = scratch_.write("data.jsonl.gz", gzip_of(kMark + lines));
    Arguments arguments = short_run("run", model, data, {"--batch", "2", "--json", "-"});
    const Ended ended = run_program(arguments);
    QVERIFY2(ended.exit == 0, told(arguments, ended).c_str());
    QVERIFY2(ended.err.find("stormcell: warning: " + data + ": 2 empty lines are left out; the first is line 2") !=
                 std::string::npos,
             ended.err.c_str());
    QVERIFY2(ended.json()["warnings"].dump().find("2 empty lines are left out") != std::string::npos,
             ended.out.c_str());
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
