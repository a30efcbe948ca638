// The page of every verb: at most five conclusions, in sentences, and at most 60 lines unless --all asks for more. And
// the help of every verb: options in sentences with their defaults, and three examples that the program can read.
#include <algorithm>
#include <cctype>
#include <map>
#include <sstream>

#include "tests/contract/imports.h"
#include "tests/contract/models.h"

namespace stormcell::testing {
namespace {

constexpr std::ptrdiff_t kMostConclusions = 5, kMostLines = 60;

std::vector<std::string> lines_in(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// Empty if the page keeps both rules; else what is wrong with it.
std::string defect_of_page(const std::string& out) {
  const std::vector<std::string> lines = lines_in(out);
  if (lines.empty()) return "nothing is said";
  if (std::ssize(lines) > kMostLines) return std::to_string(lines.size()) + " lines";
  const auto conclusions = std::find(lines.begin(), lines.end(), std::string()) - lines.begin();
  if (conclusions > kMostConclusions) return std::to_string(conclusions) + " lines of conclusions";
  for (std::ptrdiff_t i = 0; i < conclusions; ++i) {
    const std::string& line = lines[i];
    const bool command = line.starts_with("Next: stormcell ");
    if (!command && (!line.ends_with('.') || std::count(line.begin(), line.end(), ' ') < 2))
      return "no sentence: " + line;
  }
  return {};
}

/// The words of a line as a shell has them, with single quotes.
Arguments words_of(const std::string& line) {
  Arguments words;
  std::string word;
  bool quoted = false, any = false;
  for (const char c : line) {
    if (c == '\'') {
      quoted = !quoted, any = true;
    } else if (c == ' ' && !quoted) {
      if (any || !word.empty()) words.push_back(word);
      word.clear(), any = false;
    } else {
      word += c;
    }
  }
  if (any || !word.empty()) words.push_back(word);
  return words;
}

/// A line of route_trace() with another expert in one row of seven, so that some cells of each layer differ.
void with_another_expert(int64_t row, std::string& line) {
  if (row % 7 != 0) return;
  size_t at = 0;
  for (int column = 0; column < 5; ++column) at = line.find(',', at) + 1;
  line[at] = static_cast<char>('0' + (line[at] - '0' + 4) % 8);
}

/// The verbs that the program's help lists.
Arguments verbs_of_help() {
  Arguments verbs;
  bool listed = false;
  for (const std::string& line : lines_in(run_program({"--help"}).out)) {
    if (line == "verbs:") listed = true;
    if (listed && line.empty()) break;
    if (listed && line.starts_with("  ")) verbs.push_back(line.substr(2, line.find(' ', 2) - 2));
  }
  return verbs;
}

struct HelpOfOption {
  std::string name, text;
};
/// The options and arguments of a verb's help, each with its text.
std::vector<HelpOfOption> options_of_help(const std::string& help) {
  constexpr size_t kColumn = 36;
  std::vector<HelpOfOption> options;
  for (const std::string& line : lines_in(help)) {
    if (line.starts_with("passes") || line.starts_with("tables") || line.starts_with("clusters") ||
        line.starts_with("formats") || line.starts_with("examples") || line.starts_with("A recorder"))
      break;
    const bool begins = line.starts_with("  ") && line.size() > 2 && line[2] != ' ';
    if (begins && line.size() > kColumn && line[kColumn - 1] == ' ')
      options.push_back({line.substr(2, line.find("  ", 2) - 2), line.substr(kColumn)});
    else if (begins)
      options.push_back({line.substr(2), {}});
    else if (!options.empty() && line.starts_with(std::string(kColumn, ' ')))
      options.back().text += line.substr(kColumn);
  }
  return options;
}

}  // namespace

class PagesTest : public QObject, private Imports {
  Q_OBJECT

  std::string session_, plain_, other_, trace_, large_;
  std::map<std::string, Arguments> calls_;  ///< one of each verb

 private slots:
  void initTestCase() {
    session_ = scratch_.path("S.storm"), trace_ = scratch_.write("trace.csv", route_trace());
    plain_ = scratch_.path("plain.storm"), other_ = scratch_.path("other.storm"), large_ = scratch_.path("large.storm");
    const std::string model = switch_model(), data = switch_data();
    imported(trace_, plain_);
    imported(trace_, other_);
    imported(scratch_.write("large.csv", route_trace({.layers = 60})), large_);
    const Arguments record = short_run("profile", model, data, {"-o", session_});
    VERIFY_DONE(run_program(record), record);
    const std::string cluster = four_gpus(),
                      calls = scratch_.write("calls.csv",
                                             "id,op,gpu,dtype,inputs,outputs,experts,rows,us,source\n"
                                             "a,product,H100,bf16,64,32,,1,12,my desk\n"
                                             "b,product,H100,bf16,64,32,,64,32,my desk\n"),
                      // Every layer of 60 differs.
        different = scratch_.write("different.csv", route_trace({.layers = 60}, "made-up.gguf", with_another_expert)),
                      router = json_of({"inspect", model, "--json", "-"})["routers"][0]["name"],
                      jobs = scratch_.write("jobs.json", R"({"schema": "stormcell.jobs/1", "jobs": [
 {"name": "one", "args": ["doctor"]}, {"name": "two", "args": ["recorder"]}, {"name": "three", "args": ["doctor"]}]})");
    calls_ = {{"inspect", {"inspect", model}},
              {"run", short_run("run", model, data)},
              {"generate", short_run("generate", model, data)},
              {"profile", short_run("profile", model, data)},
              {"optimize", short_run("optimize", model, data)},
              {"what-if", short_run("what-if", model, data, {"--off", router + "/0"})},
              {"import", {"import", trace_, "-o", scratch_.path("again.storm")}},
              {"recorder", {"recorder"}},
              {"merge", {"merge", plain_, other_, "-o", scratch_.path("merged.storm"), "--by", "days"}},
              {"analyze", {"analyze", large_}},
              {"place", {"place", plain_, "--cluster", cluster, "--hidden", "64", "--ffn", "32"}},
              {"calibrate", {"calibrate", calls, "-o", scratch_.path("c.json")}},
              {"simulate", {"simulate", large_, "--cluster", cluster, "--hidden", "64", "--ffn", "32"}},
              {"export", {"export", session_, "--format", "csv", "--what", "loads", "-o", scratch_.path("loads.csv")}},
              {"report", {"report", session_, "-o", scratch_.path("report.html")}},
              {"compare", {"compare", plain_, other_}},
              {"diff", {"diff", large_, different}},
              {"drift", {"drift", plain_, other_}},
              {"cache", {"cache", large_, "--expert-bytes", "1MiB", "--disk", "1GB/s"}},
              {"patterns", {"patterns", large_}},
              {"saturation", {"saturation", "early=" + large_, "late=" + large_}},
              {"batch", {"batch", jobs}},
              {"doctor", {"doctor"}}};
  }

  void every_verb_begins_with_conclusions_and_ends_at_sixty_lines_data() {
    QTest::addColumn<QString>("verb");
    for (const std::string& verb : verbs_of_help()) QTest::newRow(verb.c_str()) << QString::fromStdString(verb);
  }
  void every_verb_begins_with_conclusions_and_ends_at_sixty_lines() {
    QFETCH(QString, verb);
    const auto call = calls_.find(verb.toStdString());
    QVERIFY2(call != calls_.end(), "a verb without a call in this test");
    const Ended ended = run_program(call->second);
    VERIFY_DONE(ended, call->second);
    QVERIFY2(defect_of_page(ended.out).empty(), (defect_of_page(ended.out) + "\n" + ended.out).c_str());
  }

  void long_pages_are_cut_and_all_has_the_rest_data() {
    QTest::addColumn<QString>("verb");
    QTest::newRow("analyze") << "analyze";
  }
  void long_pages_are_cut_and_all_has_the_rest() {
    QFETCH(QString, verb);
    Arguments arguments = calls_.at(verb.toStdString());
    const std::vector<std::string> shown = lines_in(run_program(arguments).out);
    arguments.emplace_back("--all");
    const std::vector<std::string> all = lines_in(run_program(arguments).out);
    QVERIFY(std::ssize(shown) <= kMostLines && all.size() > shown.size());
    const std::string left = "... " + std::to_string(all.size() - shown.size() + 1) + " more lines: --all shows them";
    QCOMPARE(shown.back(), left);
    QVERIFY(std::equal(shown.begin(), shown.end() - 1, all.begin()));
  }

  void both_phases_share_one_page() {
    const Ended ended = run_program(
        short_run("run", switch_model(), switch_data(), {"--phase", "both", "--max-new-tokens", "3", "--verbose"}));
    QVERIFY2(ended.exit == 0 && defect_of_page(ended.out).empty(), (defect_of_page(ended.out) + ended.out).c_str());
  }

  void many_jobs_share_one_page() {
    Json jobs = {{"schema", "stormcell.jobs/1"}, {"jobs", Json::array()}};
    for (int i = 0; i < 12; ++i) jobs["jobs"].push_back({{"name", "job " + std::to_string(i)}, {"args", {"doctor"}}});
    const std::string file = scratch_.write("many.json", jobs.dump());
    const Ended ended = run_program({"batch", file}), all = run_program({"batch", file, "--all"});
    QVERIFY2(ended.exit == 0 && defect_of_page(ended.out).empty(), (defect_of_page(ended.out) + ended.out).c_str());
    for (int i = 0; i < 12; ++i) QVERIFY(ended.out.find("== job " + std::to_string(i) + "\n") != std::string::npos);
    QVERIFY(std::ssize(lines_in(all.out)) > 12 * 10);
  }

  void an_analysis_names_its_worst_layers_and_the_next_command() {
    const std::vector<std::string> lines = lines_in(run_program({"analyze", large_}).out);
    QVERIFY2(lines[0].starts_with("The least even layer") && lines[0].find(" times the mean)") != std::string::npos,
             lines[0].c_str());
    QVERIFY2(lines[1].find("chance") != std::string::npos, lines[1].c_str());
    const Json analysis = analyzed(large_);
    double worst = 0;
    std::string name;
    for (const Json& r : analysis["routers"])
      if (const double imbalance = r["imbalance_real"]["max_over_mean_minus_1"]; imbalance > worst)
        worst = imbalance, name = r["router"];
    QVERIFY2(lines[0].find(name + " (its busiest branch gets ") != std::string::npos, lines[0].c_str());
    const auto next = std::find_if(lines.begin(), lines.end(), [](const auto& l) { return l.starts_with("Next: "); });
    QVERIFY(next != lines.end());
    // It can be typed as it is.
    Arguments words = words_of(next->substr(std::string("Next: stormcell ").size()));
    if (words[0] == "export") words.back() = scratch_.path("next.csv");
    const Ended ended = run_program(words);
    QVERIFY2(ended.exit == 0, told(words, ended).c_str());
  }

  void the_next_command_of_a_run_asks_for_no_number_format_that_was_not_asked_for() {
    const auto next_of = [](const Arguments& more) {
      for (const std::string& line : lines_in(run_program(short_run("run", switch_model(), switch_data(), more)).out))
        if (line.starts_with("Next: ")) return line;
      return std::string();
    };
    const std::string plain = next_of({}), converted = next_of({"--dtype", "bf16"});
    QVERIFY2(plain.starts_with("Next: stormcell optimize ") && plain.find("--dtype") == std::string::npos,
             plain.c_str());
    QVERIFY2(converted.find(" --dtype bf16") != std::string::npos, converted.c_str());
  }

  void every_option_is_a_sentence_with_its_default() {
    for (const std::string& verb : verbs_of_help()) {
      const std::vector<HelpOfOption> options = options_of_help(run_program({verb, "--help"}).out);
      QVERIFY2(options.size() > 4, verb.c_str());
      for (const HelpOfOption& option : options) {
        const std::string told = verb + " " + option.name + ": " + option.text;
        QVERIFY2(option.text.size() > 10 && option.text.ends_with('.'), told.c_str());
        QVERIFY2(std::isupper(static_cast<unsigned char>(option.text[0])), told.c_str());
        QVERIFY2(option.text.find(". ") == std::string::npos, (told + ": more than one sentence").c_str());
        const bool takes_value = option.name.starts_with("-") && option.name.find(' ') != std::string::npos;
        if (takes_value && option.name.find("REQUIRED") == std::string::npos)
          QVERIFY2(option.text.find("default") != std::string::npos, told.c_str());
      }
    }
  }

  void every_verb_has_three_examples_that_the_program_can_read() {
    for (const std::string& verb : verbs_of_help()) {
      const std::string help = run_program({verb, "--help"}).out;
      const size_t at = help.find("\nexamples:\n");
      QVERIFY2(at != std::string::npos, verb.c_str());
      const std::vector<std::string> lines = lines_in(help.substr(at + 1));
      QCOMPARE(lines.size(), size_t{4});
      for (size_t i = 1; i < lines.size(); ++i) {
        const std::string begin = "  stormcell ";
        QVERIFY2(lines[i].starts_with(begin + verb), lines[i].c_str());
        // The one defect must be the option that no verb has: all before it was read and is complete.
        Arguments words = words_of(lines[i].substr(begin.size()));
        words.emplace_back("--no-such-option");
        const Ended ended = run_program(words);
        QVERIFY2(ended.exit == 2 && ended.err.starts_with("stormcell: --no-such-option: no option of " + verb + " ("),
                 told(words, ended).c_str());
      }
    }
  }
};

STORMCELL_TEST(PagesTest)

}  // namespace stormcell::testing

#include "pages_test.moc"
