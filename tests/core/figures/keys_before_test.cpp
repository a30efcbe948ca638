// Every key that a verb's JSON had before figures had rows still exists with its kind, and compare takes it for what it
// took it for by its spelling. The page of the reference still has every word.
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "core/base/enum_words.h"
#include "core/comparison/figure_rows.h"
#include "core/figures/describe.h"
#include "core/planning/place_fields.h"
#include "core/summary/fields.h"
#include "simulator/simulate_fields.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

std::string text_of_file(const std::string& below) {
  std::ifstream file(source_folder() + below);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct KeyBefore {
  std::string file, path, kind, better;
  bool measured = false, of_phase = false, of_time = false, sum = false;
  bool is_figure() const { return !better.empty(); }
};
std::vector<KeyBefore> keys_before() {
  std::vector<KeyBefore> keys;
  std::istringstream lines(text_of_file("/tests/core/figures/keys_before.txt"));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("#")) continue;
    std::istringstream words(line);
    KeyBefore& key = keys.emplace_back();
    words >> key.file >> key.path >> key.kind >> key.better >> key.measured >> key.of_phase >> key.of_time >> key.sum;
  }
  return keys;
}

std::string_view kind_word(KeyKind kind) {
  constexpr std::array<std::string_view, 8> kWords = {"object", "number",   "whole", "flag",
                                                      "text",   "interval", "json",  "nothing"};
  return row_of(kWords, kind);
}
std::string_view better_word(Better better) {
  constexpr std::array<std::string_view, 3> kWords = {"less", "more", "neither"};
  return row_of(kWords, better);
}

bool is_barred_with_times(const Figure& f) {
  return f.scope == Scope::time || f.scope == Scope::work || (f.scope == Scope::sum && f.origin == Origin::measured);
}

/// Keys that the spelling took for something else than they are. Times of tokens have the rows of all latencies, so less
/// is better; the time of recording is a clock's; a limit of an operator has no direction. The parts of a
/// predicted step are no clock's, and "tokens_per_step" is no rate although it begins as "tokens_per_s" does.
bool was_mistaken(const std::string& path) {
  return path == "record_work" || path.starts_with("first_token_ms.") || path.starts_with("token_ms.") ||
         path.ends_with(".limit_compute_ms_per_batch") || path.find(".step_ms.") != std::string::npos ||
         path.ends_with(".tokens_per_step");
}

/// Keys that compare leaves out: options, lists of findings, reasons and ends of intervals.
bool is_left_out(const std::string& path) {
  for (const char* word : {"other_load", "expected_seconds", "likely_seconds", "listed_flips", "measurings", "curve",
                           "wrong", "parameters", "_withheld", "_ci95"})
    if (path.find(word) != std::string::npos) return true;
  return path.starts_with("outputs") || path == "session_run" || path.ends_with(".item");
}

}  // namespace

class KeysBeforeTest : public QObject {
  Q_OBJECT
 private slots:
  void every_key_exists_with_its_kind() {
    const std::map<std::string, FigureNode> files = {{"run", describe(RunSummaryFigures{.verb = "profile"})},
                                                     {"generate", describe<GenerateFigures>()},
                                                     {"inspect", describe<ModelStructure>()},
                                                     {"place", describe<PlaceFigures>()},
                                                     {"simulate", describe<SimulateFigures>()}};
    const std::vector<KeyBefore> keys = keys_before();
    QVERIFY(keys.size() > 1000);
    for (const KeyBefore& key : keys) {
      const FigureNode* node = find_node(files.at(key.file), key.path);
      QVERIFY2(node, key.path.c_str());
      QVERIFY2(kind_word(node->kind) == key.kind, key.path.c_str());
      if (!key.is_figure()) continue;
      const Figure& f = node->figure;
      QVERIFY2(f.origin != Origin::unknown, key.path.c_str());
      if (is_left_out(key.path) || was_mistaken(key.path)) continue;
      QVERIFY2(better_word(f.better) == key.better, key.path.c_str());
      QVERIFY2((f.origin == Origin::measured) == key.measured, key.path.c_str());
      QVERIFY2((f.scope == Scope::work) == key.of_phase && is_barred_with_times(f) == key.of_time, key.path.c_str());
      QVERIFY2((f.scope == Scope::sum) == key.sum, key.path.c_str());
    }
  }

  void a_path_means_the_same_in_every_file() {
    for (const KeyBefore& key : keys_before()) {
      if (!key.is_figure() || is_left_out(key.path) || was_mistaken(key.path)) continue;
      const Figure& f = figure_of(key.path);
      QVERIFY2(better_word(f.better) == key.better && (f.origin == Origin::measured) == key.measured, key.path.c_str());
      QVERIFY2((f.scope == Scope::work) == key.of_phase && (f.scope == Scope::sum) == key.sum, key.path.c_str());
    }
  }

  void the_page_has_every_word_of_code_that_it_had() {
    const std::string page = text_of_file("/docs/reference/json.md");
    std::istringstream lines(text_of_file("/tests/core/figures/page_before.txt"));
    int words = 0;
    for (std::string word; std::getline(lines, word);) {
      if (word.starts_with("# ")) continue;
      QVERIFY2(page.find("`" + word + "`") != std::string::npos, word.c_str());
      ++words;
    }
    QVERIFY(words > 500);
  }
};

STORMCELL_TEST(KeysBeforeTest)

}  // namespace stormcell::testing

#include "keys_before_test.moc"
