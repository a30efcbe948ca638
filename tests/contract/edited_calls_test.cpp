// Measured calls that were kept in a spreadsheet give the same fit, or one error with line and column.
#include <cmath>

#include "tests/contract/edited_text.h"
#include "tests/contract/imports.h"

namespace stormcell::testing {
namespace {

const std::string kCallNames =
    "op,mode,dtype,gpu,laboratory,nodes,ranks,gpus_per_node,nic_gbit,tokens_per_rank,top_k,experts,hidden,ffn,bytes_"
    "per_copy,us,source,"
    "id\n";
// The calls take 20 us and half a microsecond a token.
std::string call_rows() {
  std::string text;
  for (const int tokens : {16, 32, 64, 128})
    text += "dispatch,low-latency,bf16,H100,lab,1,8,8,0," + std::to_string(tokens) + ",8,256,7168,,14336," +
            std::to_string(20 + tokens / 2) + ".000,table," + std::to_string(tokens) + "\n";
  return text;
}
std::string plain_calls() { return kCallNames + call_rows(); }

}  // namespace

class ContractEditedCallsTest : public QObject, private Imports {
  Q_OBJECT
 private slots:
  void calls_of_spreadsheets_give_the_same_fit_data() {
    edited_columns();
    const std::string rows = call_rows(), plain = plain_calls();
    edited_row("byte order mark and CRLF", kMark + with_crlf(plain));
    edited_row("CR alone", replaced(plain, "\n", "\r"));
    edited_row("no last line end", plain.substr(0, plain.size() - 1));
    edited_row("all quoted", quoted(plain));
    edited_row("a comma in a text", replaced(plain, ",table,", ",\"table\",").insert(0, "# \"a\", b\n"));
    edited_row("blanks", replaced(plain, ",", " , "));
    edited_row("scientific", replaced(replaced(plain, "7168", "7.168e3"), "14336", "1.4336E+04"));
    edited_row("whole numbers with a fraction", replaced(plain, ",256,", ",256.0,"));
    edited_row("semicolons", replaced(plain, ",", ";"));
    edited_row("a line that names the separator", "sep=;\n" + replaced(plain, ",", ";"));
    edited_row("a line that names the tab", kMark + "sep=\t\r\n" + with_crlf(replaced(plain, ",", "\t")));
    edited_row("tabs", replaced(plain, ",", "\t"));
    edited_row("empty fields behind", replaced(plain, "\n", ",,\n"));
    edited_row("empty lines", "# measured on Monday\n\n" + replaced(plain, "\n", "\n\n"),
               "6 empty lines are left out; the first is line 2");
    edited_row("empty rows", plain + replaced(kCallNames, kCallNames, ",,,,,,,,,,,,,,,,,\n"),
               "1 empty line is left out; the first is line 6");
    edited_row("packed", gzip_of(plain));
    edited_row("a column that nothing reads", replaced(replaced(plain, "\n", ",1\n"), "id,1\n", "id,nodez\n"),
               "nothing reads the column \"nodez\" (did you mean nodes?)");
  }
  void calls_of_spreadsheets_give_the_same_fit() {
    QFETCH(QByteArray, bytes);
    QFETCH(QString, words);
    const std::string cal = scratch_.path("edited.json"), as_plain = scratch_.path("plain.json");
    const Arguments arguments = {"calibrate", scratch_.write("edited.csv", bytes.toStdString()), "-o", cal, "--json",
                                 "-"};
    const Ended ended = run_program(arguments);
    QVERIFY2(ended.exit == 0, told(arguments, ended).c_str());
    QVERIFY2(words.isEmpty() ? ended.err.empty() : ended.err.find(words.toStdString()) != std::string::npos,
             ended.err.c_str());
    const Json fit = ended.json()["fits"][0];
    // The fit is 20 us, and 16 tokens of 8 copies in 8 us.
    QVERIFY2(std::abs(fit["t0_us"].get<double>() - 20) < 1e-6, fit.dump().c_str());
    QVERIFY2(std::abs(fit["rate"].get<double>() / (16. * 8 * 14336 / 8e-6) - 1) < 1e-6, fit.dump().c_str());
    if (!std::filesystem::exists(as_plain))
      json_of({"calibrate", scratch_.write("plain.csv", plain_calls()), "-o", as_plain, "--json", "-"});
    QCOMPARE(Scratch::read(cal), Scratch::read(as_plain));
  }

  void calls_that_nobody_could_know_are_refused_data() {
    edited_columns();
    const std::string plain = plain_calls();
    edited_row("decimal commas", replaced(replaced(plain, ",", ";"), ".000", ",000"),
               "line 2, column 16: us is \"28,000\", with a comma in a number");
    edited_row("thousands", replaced(plain, "84.000", "\"1,084.000\""),
               "line 5, column 16: us is \"1,084.000\", with a comma in a number");
    edited_row("thousands with blanks", replaced(plain, "84.000", "1 084.000"),
               "line 5, column 16: us is \"1 084.000\"");
    edited_row("NaN", replaced(plain, "84.000", "NaN"), "line 5, column 16: us is \"NaN\", not a finite number");
    edited_row("half a rank", replaced(plain, ",8,8,0,128", ",8.5,8,0,128"),
               "line 5, column 7: ranks is \"8.5\", not a whole number");
    edited_row("half a byte", replaced(plain, "14336", "14336.5"),
               "line 2, column 15: bytes_per_copy is \"14336.5\", not a whole number");
    edited_row("a misspelt column", replaced(plain, ",us,", ",usec,"),
               "line 1: has no column us (is it the column \"usec\"? Call it us)");
    edited_row(
        "a column with blanks in its name", replaced(plain, ",tokens_per_rank,", ",tokens per rank,"),
        "tokens_per_rank is missing or too small for op \"dispatch\" (is it the column \"tokens per rank\"? Call "
        "it tokens_per_rank)");
    edited_row("JSON lines", "{\"op\":\"dispatch\",\"us\":3}\n{\"op\":\"dispatch\",\"us\":4}\n",
               "is JSON lines with the keys \"op\", \"us\", not a table of measured calls");
    edited_row("a JSON list", "[{\"op\":\"dispatch\",\"us\":3}]\n",
               "not a table of measured calls (the guide's page calibrate-and-simulate has the columns)");
    edited_row("JSON", "{\"op\":\"dispatch\"}\n", "is JSON with the keys \"op\", not a table of measured calls");
    edited_row(
        "words", "dispatch took three\n",
        "is a text file, not a table of measured calls (the guide's page calibrate-and-simulate has the columns)");
    edited_row("an error of the spreadsheet", replaced(plain, "84.000", "#DIV/0!"),
               "line 5, column 16: us is \"#DIV/0!\", not a number");
    edited_row("a cut row", plain.substr(0, plain.size() - 25),
               "line 5: has 13 fields, the line of names has 18 (the file may be cut");
    edited_row("UTF-16", utf16(plain), "is text in UTF-16");
    edited_row("Latin-1", replaced(plain, ",lab,", ",caf\xe9,"), "line 2, column 5: laboratory is not a line of UTF-8");
    edited_row("packed and cut", gzip_of(plain).substr(0, 100), "is packed with gzip and ends in the middle");
  }
  void calls_that_nobody_could_know_are_refused() {
    QFETCH(QByteArray, bytes);
    QFETCH(QString, words);
    const std::string wrong = scratch_.write("wrong.csv", bytes.toStdString()),
                      there = scratch_.write("there.json", "what is there");
    VERIFY_REFUSED((Arguments{"calibrate", wrong, "-o", there}), wrong, words.toStdString());
    QCOMPARE(Scratch::read(there), std::string("what is there"));
  }
};

STORMCELL_TEST(ContractEditedCallsTest)

}  // namespace stormcell::testing

#include "edited_calls_test.moc"
