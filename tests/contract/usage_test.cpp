// Bad usage: exit 2 and one line that names the option.
#include "core/base/listed_words.h"
#include "core/base/thread_team.h"
#include "core/exports/export_csv.h"
#include "tests/contract/models.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {

class UsageTest : public QObject {
  Q_OBJECT

  static Arguments run_with(const Arguments& more) { return short_run("run", switch_model(), switch_data(), more); }

 private slots:
  void an_option_before_the_verb_is_refused() {
    VERIFY_REFUSED((Arguments{"--quiet", "doctor"}), "--quiet", "after the verb");
  }

  void a_missing_argument_is_named() {
    std::string tables;
    for (const CsvTable& table : csv_tables()) add_to_list(tables, table.what);
    VERIFY_REFUSED((Arguments{"run"}), "MODEL", "is missing");
    VERIFY_REFUSED((Arguments{"run", switch_model()}), "--data", "is missing");
    VERIFY_REFUSED((Arguments{"inspect"}), "MODEL", "is missing");
    VERIFY_REFUSED((Arguments{"compare", "a"}), "B", "is missing");
    VERIFY_REFUSED((Arguments{"export", "s.storm"}), "--format", "is missing");
    VERIFY_REFUSED((Arguments{"export", "s.storm", "--format", "csv"}), "--what", tables);
    VERIFY_REFUSED((Arguments{"report", "s.storm"}), "-o", "is missing");
    VERIFY_REFUSED((Arguments{"batch"}), "JOBS.json", "is missing");
  }

  void a_missing_value_is_named() {
    VERIFY_REFUSED((Arguments{"run", switch_model(), "--data"}), "--data", "value is missing");
    VERIFY_REFUSED(run_with({"--batch"}), "--batch", "value is missing");
    VERIFY_REFUSED(run_with({"--json"}), "--json", "value is missing");
  }

  void an_empty_value_is_refused() {
    VERIFY_REFUSED((Arguments{"run", "", "--data", "x"}), "MODEL", "is empty");
    VERIFY_REFUSED(run_with({"-o", ""}), "-o", "is empty");
  }

  void an_unknown_option_is_named() {
    VERIFY_REFUSED(run_with({"--fast"}), "--fast", "no option of run");
    VERIFY_REFUSED(run_with({"-z"}), "-z", "no option of run");
    VERIFY_REFUSED((Arguments{"doctor", "--batch", "3"}), "--batch", "no option of doctor");
    VERIFY_REFUSED((Arguments{"run", "--dada", "x"}), "--dada", "no option of run");
  }

  void one_argument_too_many_is_named() {
    VERIFY_REFUSED(run_with({"another"}), "another", "one argument too many");
    VERIFY_REFUSED((Arguments{"doctor", "please"}), "please", "one argument too many");
  }

  void an_option_given_twice_is_refused() {
    VERIFY_REFUSED(run_with({"--batch", "1", "--batch", "2"}), "--batch", "more than once");
  }

  void numbers_that_are_none_are_refused_data() {
    QTest::addColumn<QString>("option");
    QTest::addColumn<QString>("value");
    for (const char* option : {"--batch", "--batches", "--length", "--threads"})
      for (const char* value : {"x", "0", "-1", "1.5", "3x", "99999999999999999999", " 1"})
        QTest::addRow("%s '%s'", option, value) << option << value;
    for (const char* value : {"x", "-1", "18446744073709551616", "0x10"})
      QTest::addRow("--seed '%s'", value) << "--seed" << value;
    for (const char* value : {"x", "-1", "inf", "nan", "1e999"})
      QTest::addRow("--verify-seconds '%s'", value) << "--verify-seconds" << value;
  }
  void numbers_that_are_none_are_refused() {
    QFETCH(QString, option);
    QFETCH(QString, value);
    VERIFY_REFUSED(run_with({option.toStdString() + "=" + value.toStdString()}), option.toStdString(),
                   value.toStdString());
  }

  void unknown_devices_and_number_formats_are_refused() {
    VERIFY_REFUSED(run_with({"--device", "abacus"}), "--device", "cpu");
    VERIFY_REFUSED(run_with({"--dtype", "f64"}), "--dtype", "f32 or bf16");
  }

  void a_split_that_there_is_not_is_refused() {
    VERIFY_REFUSED(short_run("optimize", switch_model(), switch_data(), {"--profile-split", "random"}),
                   "--profile-split", "strided or first");
    VERIFY_REFUSED(run_with({"--profile-split", "first"}), "--profile-split", "no option of run");
  }

  void options_that_passes_do_not_have_are_refused() {
    VERIFY_REFUSED(short_run("optimize", switch_model(), switch_data(), {"--pass-option", "dead-path.max-share"}),
                   "--pass-option", "is not PASS.OPTION=VALUE");
    VERIFY_REFUSED(short_run("optimize", switch_model(), switch_data(), {"--pass-option", "dead-path.max-share=2"}),
                   "--pass-option dead-path.max-share", "expected a share from 0 to 0.5");
    VERIFY_REFUSED(short_run("optimize", switch_model(), switch_data(), {"--pass-option", "dead-path.share=0"}),
                   "--pass-option", "did you mean max-share?");
  }

  void a_pass_that_is_asked_for_and_forbidden_is_refused() {
    VERIFY_REFUSED(
        short_run("optimize", switch_model(), switch_data(), {"--only", "dead-path", "--disable", "dead-path"}),
        "--disable", "dead-path");
  }

  void more_threads_than_cores_are_warned_of() {
    const Arguments arguments =
        short_run("run", switch_model(), switch_data(), {"--threads", std::to_string(available_cores() + 1)});
    const Ended ended = run_program(arguments);
    VERIFY_DONE(ended, arguments);
    QVERIFY2(ended.err.find("warning: --threads ") != std::string::npos, ended.err.c_str());
  }

  void a_session_or_a_binary_file_does_not_go_to_standard_output() {
    VERIFY_REFUSED(run_with({"-o", "-"}), "-o", "standard output");
    VERIFY_REFUSED(run_with({"--outputs", "-"}), "--outputs", "standard output");
    VERIFY_REFUSED((Arguments{"export", "any.storm", "--format", "native", "-o", "-"}), "-o", "standard output");
    VERIFY_REFUSED((Arguments{"export", "any.storm", "--format", "session"}), "-o", "standard output");
  }

  void standard_output_takes_one_thing_at_a_time() {
    VERIFY_REFUSED(short_run("optimize", switch_model(), switch_data(), {"--json", "-", "--config-out", "-"}),
                   "--config-out", "standard output");
    VERIFY_REFUSED((Arguments{"inspect", switch_model(), "--json", "-", "--dot", "-"}), "-", "standard output");
  }

  void standard_input_gives_one_thing_at_a_time() {
    VERIFY_REFUSED(short_run("run", switch_model(), "-", {"--config", "-"}), "--config", "standard input");
  }

  void a_place_that_cannot_be_written_is_told_before_the_work() {
    const Scratch scratch;
    const std::string nowhere = scratch.path("no/such/folder/file");
    VERIFY_REFUSED(run_with({"--json", nowhere}), nowhere, "No such file");
    VERIFY_REFUSED(run_with({"--outputs", nowhere}), nowhere, "No such file");
    VERIFY_REFUSED(run_with({"-o", nowhere}), nowhere, "No such file");
    VERIFY_REFUSED(short_run("optimize", switch_model(), switch_data(), {"--config-out", nowhere}), nowhere,
                   "No such file");
    VERIFY_REFUSED(run_with({"--json", scratch.folder()}), scratch.folder(), "is a folder");
    VERIFY_REFUSED((Arguments{"doctor", "--log-file", nowhere}), "--log-file", "No such file");
  }

  void control_characters_do_not_break_the_line() {
    const Ended ended = run_program({"inspect", "no\nsuch\tmodel\x1b[31m"});
    QCOMPARE(ended.exit, 2);
    QVERIFY2(defect_of_error_line(ended.err, "no such model [31m").empty(), ended.err.c_str());
  }
};

STORMCELL_TEST(UsageTest)

}  // namespace stormcell::testing

#include "usage_test.moc"
