// Lists of verbs, passes and formats, and the messages about those that are not in this version.
#include "core/base/listed_words.h"
#include "core/base/pass_names.h"
#include "core/exports/export_formats.h"
#include "core/passes/pass.h"
#include "tests/contract/models.h"
#include "tests/testing/page_table.h"

namespace stormcell::testing {
namespace {

// The verbs of this version, in the order of the help. Adding to them is part of adding one.
const Arguments kVerbs = {"inspect", "run",     "generate", "profile",   "optimize",   "what-if", "import", "recorder",
                          "merge",   "analyze", "place",    "calibrate", "simulate",   "export",  "report", "compare",
                          "diff",    "drift",   "cache",    "patterns",  "saturation", "batch",   "doctor"};
const Arguments kPlannedVerbs = {"tune"};

bool has_word(const std::string& text, std::string_view word) {
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    const auto part_of_word = [&](size_t i) {
      return i < text.size() && (std::isalnum(static_cast<unsigned char>(text[i])) || text[i] == '-');
    };
    if ((at == 0 || !part_of_word(at - 1)) && !part_of_word(at + word.size())) return true;
  }
  return false;
}

}  // namespace

class VerbsTest : public QObject {
  Q_OBJECT
 private slots:
  void help_lists_the_verbs_there_are_in_their_order() {
    const Ended help = run_program({"--help"});
    QCOMPARE(help.exit, 0);
    QVERIFY(help.err.empty());
    size_t last = 0;
    for (const std::string& verb : kVerbs) {
      const size_t at = help.out.find("\n  " + verb + " ");
      QVERIFY2(at != std::string::npos && at > last, verb.c_str());
      last = at;
    }
    for (const std::string& verb : kPlannedVerbs) QVERIFY2(!has_word(help.out, verb), verb.c_str());
  }

  void every_verb_has_help_of_its_own() {
    for (const std::string& verb : kVerbs) {
      const Ended help = run_program({verb, "--help"});
      QVERIFY2(help.exit == 0 && help.err.empty(), told({verb, "--help"}, help).c_str());
      for (const char* option : {"--help", "--version", "--all", "--quiet", "--verbose", "--log-file"})
        QVERIFY2(help.out.find(option) != std::string::npos, (verb + " " + option).c_str());
    }
  }

  void verbs_that_open_a_model_and_data_take_the_common_options() {
    const Arguments common = {"data",          "batch",          "batches",      "bucket-by-length", "length",
                              "truncate",      "field",          "target-field", "label-field",      "seed",
                              "threads",       "device",         "dtype",        "allow-nonfinite",  "record-inputs",
                              "record-scores", "verify-seconds", "json"};
    for (const char* verb : {"run", "generate", "profile", "optimize", "what-if"}) {
      const std::string help = run_program({verb, "--help"}).out;
      for (const std::string& option : common)
        QVERIFY2(help.find("--" + option) != std::string::npos, (std::string(verb) + " --" + option).c_str());
      QVERIFY2(help.find("  -o ") != std::string::npos, verb);
      QVERIFY2(help.find("Names the device that computes: cpu, cuda (default: cpu).\n") != std::string::npos,
               help.c_str());
    }
  }

  void help_does_not_name_what_is_not_there() {
    // import reads some formats that export does not write yet.
    for (const std::string& verb : kVerbs) {
      const std::string help = run_program({verb, "--help"}).out;
      for (const char* word : {"int8", "q8_0"}) QVERIFY2(!has_word(help, word), (verb + " " + word).c_str());
      for (const std::string_view format : planned_export_formats())
        if (verb != "import") QVERIFY2(!has_word(help, format), (verb + " " + std::string(format)).c_str());
      if (verb == "optimize")
        for (const std::string_view pass : planned_passes()) QVERIFY2(!has_word(help, pass), std::string(pass).c_str());
    }
    const std::string exporting = run_program({"export", "--help"}).out,
                      optimizing = run_program({"optimize", "--help"}).out;
    for (const ExportFormat& format : export_formats())
      QVERIFY2(has_word(exporting, format.id), std::string(format.id).c_str());
    for (const Pass& pass : passes()) QVERIFY2(has_word(optimizing, pass.id), std::string(pass.id).c_str());
    for (const PassName& pass : kPassNames)
      QVERIFY2(
          optimizing.find(" " + std::string(pass.name) + ". " + std::string(pass.sentence) + "\n") != std::string::npos,
          std::string(pass.id).c_str());
    for (const char* option : {"--profile-split", "--keep-all", "--dense", "--target-quality", "--target-latency"})
      QVERIFY2(has_word(optimizing, option), option);
  }

  void the_version_is_told_by_the_program_and_by_every_verb() {
    const std::string version = run_program({"--version"}).out;
    QCOMPARE(version, "stormcell " STORMCELL_VERSION "\n");
    for (const std::string& verb : kVerbs) QCOMPARE(run_program({verb, "--version"}).out, version);
  }

  void a_planned_verb_is_not_in_this_version() {
    for (const std::string& verb : kPlannedVerbs) {
      VERIFY_REFUSED((Arguments{verb}), verb, "not in this version");
      VERIFY_REFUSED((Arguments{verb, "--help"}), verb, "not in this version");
    }
  }

  void an_unknown_verb_is_refused_with_the_list() {
    VERIFY_REFUSED((Arguments{"frobnicate", "x"}), "frobnicate", "inspect, run, generate");
  }

  void no_verb_is_refused() { VERIFY_REFUSED(Arguments{}, "VERB", "is missing"); }

  void a_planned_format_is_not_in_this_version() {
    for (const std::string_view format : planned_export_formats())
      VERIFY_REFUSED((Arguments{"export", "any.storm", "--format", std::string(format)}), "--format",
                     "not in this version");
    VERIFY_REFUSED((Arguments{"export", "any.storm", "--format", "csv", "--what", "placement"}), "--what",
                   "not in this version");
  }

  void an_unknown_format_is_refused_with_the_list() {
    VERIFY_REFUSED((Arguments{"export", "any.storm", "--format", "excel"}), "--format",
                   joined(ids_of(export_formats())));
  }

  void a_planned_pass_is_not_in_this_version() {
    for (const std::string_view pass : planned_passes())
      for (const char* option : {"--enable", "--disable", "--only"})
        VERIFY_REFUSED(short_run("optimize", switch_model(), switch_data(), {option, std::string(pass)}), option,
                       "not in this version");
  }

  void an_unknown_pass_is_refused_with_the_list() {
    VERIFY_REFUSED(short_run("optimize", switch_model(), switch_data(), {"--only", "dead-path,magic"}), "--only",
                   joined(ids_of(passes())));
  }

  void a_second_gpu_is_no_device() {
    for (const char* device : {"cuda:0", "cuda:3"})
      VERIFY_REFUSED(short_run("run", switch_model(), switch_data(), {"--device", device}), "--device",
                     "is not a device");
  }

  void number_formats_that_are_planned_are_not_in_this_version() {
    VERIFY_REFUSED(short_run("run", switch_model(), switch_data(), {"--dtype", "int8"}), "--dtype",
                   "not in this version");
    VERIFY_REFUSED(short_run("run", switch_model(), switch_data(), {"--dtype", "q8_0"}), "--dtype",
                   "is not a number format to compute in");
  }
};

STORMCELL_TEST(VerbsTest)

}  // namespace stormcell::testing

#include "verbs_test.moc"
