// Manual pages and completion, which the program prints from the options that its verbs have.
#include <QProcess>
#include <QTemporaryDir>
#include <fstream>
#include <sstream>

#include "core/experiment/pass_list.h"
#include "core/planning/cluster_file.h"
#include "tests/contract/models.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

/// The long options that a verb's help names at the beginning of its lines.
std::vector<std::string> options_of_help(const std::string& help) {
  std::vector<std::string> options;
  std::istringstream lines(help);
  for (std::string line; std::getline(lines, line);) {
    const size_t at = line.find("--");
    if (!line.starts_with("  -") || at == std::string::npos || at > 6) continue;
    options.push_back(line.substr(at, line.find_first_of(" ,=", at) - at));
  }
  return options;
}

std::vector<std::string> verbs_of_help() {
  std::vector<std::string> names;
  std::istringstream lines(run_program({"--help"}).out);
  for (std::string line; std::getline(lines, line) && line != "options:";)
    if (line.starts_with("  ") && line[2] != ' ') names.push_back(line.substr(2, line.find(' ', 2) - 2));
  return names;
}

/// As roff has it: a hyphen that stays one.
std::string in_roff(std::string text) {
  for (size_t at = text.find('-'); at != std::string::npos; at = text.find('-', at + 2)) text.insert(at, "\\");
  return text;
}

}  // namespace

class ContractManualTest : public QObject {
  Q_OBJECT
  QTemporaryDir scratch_;

  /// The words that bash would offer where `line` is typed, in a folder with the file routes.csv.
  std::vector<std::string> offered(const std::string& line) {
    QProcess bash;
    bash.setWorkingDirectory(scratch_.path());
    bash.start("bash", {"-c",
                        QString::fromStdString("source ./script; COMP_LINE=$1 COMP_POINT=${#1}; _stormcell; "
                                               "printf '%s\\n' \"${COMPREPLY[@]}\""),
                        "bash", QString::fromStdString(line)});
    bash.waitForFinished(20000);
    std::vector<std::string> words;
    std::istringstream out(bash.readAllStandardOutput().toStdString());
    for (std::string word; std::getline(out, word);)
      if (!word.empty()) words.push_back(word);
    return words;
  }

 private slots:
  void initTestCase() {
    const Ended script = run_program({"--completion"});
    VERIFY_DONE(script, Arguments{"--completion"});
    std::ofstream(scratch_.filePath("script").toStdString()) << script.out;
    std::ofstream(scratch_.filePath("routes.csv").toStdString()) << "a\n";
  }

  void the_page_of_the_program_names_every_verb() {
    const Ended page = run_program({"--manual"});
    VERIFY_DONE(page, Arguments{"--manual"});
    QVERIFY(page.out.starts_with(".TH \"STORMCELL\" 1 \"\" \"Stormcell " STORMCELL_VERSION "\""));
    const std::vector<std::string> verbs = verbs_of_help();
    QVERIFY(verbs.size() > 15);
    for (const std::string& verb : verbs)
      QVERIFY2(page.out.find(".BR stormcell\\-" + in_roff(verb) + " (1)") != std::string::npos, verb.c_str());
  }

  void the_page_of_a_verb_has_every_option_of_its_help() {
    for (const std::string& verb : verbs_of_help()) {
      const Ended page = run_program({"--manual", verb});
      VERIFY_DONE(page, (Arguments{"--manual", verb}));
      const std::vector<std::string> options = options_of_help(run_program({verb, "--help"}).out);
      QVERIFY2(options.size() >= 5, verb.c_str());
      for (const std::string& option : options)
        QVERIFY2(page.out.find("\\fB" + in_roff(option) + "\\fR") != std::string::npos, (verb + " " + option).c_str());
      for (const char* section : {".SH \"NAME\"", ".SH \"SYNOPSIS\"", ".SH \"OPTIONS\"", ".SH \"EXIT STATUS\""})
        QVERIFY2(page.out.find(section) != std::string::npos, (verb + section).c_str());
    }
  }

  void the_reference_of_the_json_ends_with_what_the_program_prints() {
    const Ended keys = run_program({"--json-keys"});
    VERIFY_DONE(keys, Arguments{"--json-keys"});
    std::ifstream file(source_folder() + "/docs/reference/json.md");
    const std::string page{std::istreambuf_iterator<char>(file), {}};
    const size_t begin = page.find("## Every key\n");
    QVERIFY(begin != std::string::npos);
    QCOMPARE(QString::fromStdString(page.substr(begin)), QString::fromStdString(keys.out));
    VERIFY_REFUSED((Arguments{"--json-keys", "run"}), "run", "one argument too many");
  }

  void a_page_is_for_verbs_alone() {
    VERIFY_REFUSED((Arguments{"--manual", "frobnicate"}), "frobnicate", "no such verb");
    VERIFY_REFUSED((Arguments{"--manual", "run", "more"}), "more", "one argument too many");
    VERIFY_REFUSED((Arguments{"--completion", "zsh"}), "zsh", "one argument too many");
  }

  void verbs_and_options_are_completed() {
    using Words = std::vector<std::string>;
    QCOMPARE(offered("stormcell opti"), (Words{"optimize"}));
    QCOMPARE(offered("stormcell doctor --js"), (Words{"--json"}));
    QCOMPARE(offered("stormcell --comp"), (Words{"--completion"}));
    QCOMPARE(offered("stormcell doctor "), Words());
    QCOMPARE(offered("stormcell run demo:x --tru"), (Words{"--truncate"}));
    QVERIFY(offered("stormcell ").size() == verbs_of_help().size());
  }

  void values_are_completed_by_what_there_is() {
    using Words = std::vector<std::string>;
    // Bash takes a word for ended at a colon: the answer is what stands behind it.
    QCOMPARE(offered("stormcell run demo:switch-n"), (Words{"switch-names"}));
    QCOMPARE(offered("stormcell run demo:switch-names --data demo:switch-names-s"), (Words{"switch-names-sample"}));
    QCOMPARE(offered("stormcell run preset:switch-base-25"), (Words{"switch-base-256"}));
    QCOMPARE(offered("stormcell optimize m --only dead"), (Words{"dead-path"}));
    QCOMPARE(offered("stormcell optimize m --only dead-path,dead"), (Words{"dead-path,dead-path"}));
    QCOMPARE(offered("stormcell place s --cluster=preset:gb2"), (Words{"gb200-nvl72"}));
    QCOMPARE(offered("stormcell optimize m --phase de"), (Words{"decode"}));
    QCOMPARE(offered("stormcell recorder vl"), (Words{"vllm"}));
    QCOMPARE(offered("stormcell import rou"), (Words{"routes.csv"}));
    QCOMPARE(offered("stormcell export s --format cs"), (Words{"csv"}));
    QCOMPARE(offered("stormcell run m --device cu"), (Words{"cuda"}));
    QCOMPARE(offered("stormcell run m --batch "), Words());
  }

  void every_pass_and_cluster_is_offered() {
    for (const PassLine& pass : list_passes())
      QVERIFY2(!offered("stormcell optimize m --enable " + pass.id).empty(), pass.id.c_str());
    QCOMPARE(offered("stormcell simulate s --cluster preset:").size(), cluster_presets().size());
  }
};

STORMCELL_TEST(ContractManualTest)

}  // namespace stormcell::testing

#include "manual_test.moc"
