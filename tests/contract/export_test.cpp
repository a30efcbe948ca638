// The formats of exported sessions.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <map>
#include <sstream>

#include "core/formats/safetensors.h"
#include "core/session/session_reader.h"
#include "tests/contract/models.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {
using Json = nlohmann::json;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}
std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells(1);
  for (const char c : line) c == ',' ? static_cast<void>(cells.emplace_back()) : cells.back().push_back(c);
  return cells;
}

std::span<const int32_t> integers(const SafetensorsFile& file, const std::string& name) {
  const StoredTensor* t = file.find(name);
  if (!t) return {};
  return {reinterpret_cast<const int32_t*>(t->bytes.data()), static_cast<size_t>(t->elements())};
}

}  // namespace

class ExportTest : public QObject {
  Q_OBJECT
  Scratch scratch_;
  std::string session_;
  std::string id_;
  Json profile_;  ///< figures of run #1; #2 and #3 are of optimize

  std::string text_of(const Arguments& more) {
    Arguments arguments = {"export", session_};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Ended ended = run_program(arguments);
    if (ended.exit != 0) QTest::qFail(told(arguments, ended).c_str(), __FILE__, __LINE__);
    return ended.out;
  }
  /// Rows of a table, without the comment and the names of the columns.
  std::vector<std::vector<std::string>> rows_of(const std::string& what, const std::string& columns,
                                                const std::string& run = {}) {
    const Ended ended = run_program({"export", session_ + run, "--format", "csv", "--what", what});
    const std::vector<std::string> lines = lines_of(ended.out);
    if (ended.exit != 0 || lines.size() < 2) {
      QTest::qFail(ended.err.c_str(), __FILE__, __LINE__);
      return {};
    }
    for (const std::string& part :
         {std::string("# stormcell " STORMCELL_VERSION), std::string("device "), std::string("date 20"), id_})
      if (lines[0].find(part) == std::string::npos)
        QTest::qFail(("no " + part + " in " + lines[0]).c_str(), __FILE__, __LINE__);
    if (lines[1] != columns) QTest::qFail(("columns " + lines[1]).c_str(), __FILE__, __LINE__);
    std::vector<std::vector<std::string>> rows;
    for (size_t i = 2; i < lines.size(); ++i) rows.push_back(cells_of(lines[i]));
    return rows;
  }

 private slots:
  void initTestCase() {
    session_ = scratch_.path("session.storm");
    const Arguments profile =
        short_run("profile", switch_model(), switch_data(), {"--batch", "1", "-o", session_, "--json", "-"});
    const Ended ended = run_program(profile);
    VERIFY_DONE(ended, profile);
    profile_ = ended.json();
    const Arguments optimize = short_run("optimize", switch_model(), switch_data(), {"--batch", "1", "-o", session_});
    VERIFY_DONE(run_program(optimize), optimize);
    id_ = SessionReader(session_).summary().id;
  }

  void loads_are_those_of_the_summary() {
    std::map<std::string, std::map<int, int64_t>> loads;
    for (const auto& row :
         rows_of("loads", "router,first_batch,batches,branch,cells,padding,dropped,padded,weight", "#1"))
      loads[row[0]][std::stoi(row[3])] += std::stoll(row[4]);
    QCOMPARE(loads.size(), size_t{3});
    for (const Json& router : profile_["routing"])
      for (size_t b = 0; b < router["load"].size(); ++b)
        QCOMPARE(loads[router["router"].get<std::string>()][static_cast<int>(b)], router["load"][b].get<int64_t>());
  }

  void labels_are_those_of_the_names() {
    const std::string
        session = scratch_.path("labels.storm"),
        names = scratch_.write(
            "names.jsonl",
            "{\"text\": \"Волга\", \"tongue\": \"ru, Cyrl\"}\n{\"text\": \"Αθήνα\", \"tongue\": \"el\"}\n");
    const Arguments profile = short_run("profile", "demo:switch-names", names,
                                        {"--label-field", "tongue", "--verify-seconds", "0", "-o", session});
    VERIFY_DONE(run_program(profile), profile);
    const Arguments table = {"export", session, "--format", "csv", "--what", "labels"};
    const Ended ended = run_program(table);
    VERIFY_DONE(ended, table);
    const std::vector<std::string> lines = lines_of(ended.out);
    QCOMPARE(lines.size(), size_t{2 + 3 * 2 * 8});  // routers, labels, branches
    QVERIFY(lines[0].starts_with("# stormcell " STORMCELL_VERSION) && lines[0].ends_with("; labels"));
    QCOMPARE(lines[1], std::string("router,label,branch,cells"));
    std::map<std::string, int64_t> cells;
    for (size_t i = 2; i < lines.size(); ++i) {
      const size_t name = lines[i].find(','), branch = lines[i].rfind(',', lines[i].rfind(',') - 1);
      cells[lines[i].substr(name + 1, branch - name - 1)] += std::stoll(lines[i].substr(lines[i].rfind(',') + 1));
    }
    // The letters (an accent is one of its own), the mark before them, the end: read by two routers and given to the
    // third.
    QVERIFY((cells == std::map<std::string, int64_t>{{"\"ru, Cyrl\"", 3 * 7}, {"el", 3 * 8}}));
    const Arguments none = {"export", session_, "--format", "csv", "--what", "labels"};
    VERIFY_REFUSED(none, session_, "--label-field");
  }

  void transitions_lead_from_router_to_router() {
    int64_t cells = 0;
    for (const auto& row : rows_of("transitions", "router,branch,next_router,next_branch,cells")) {
      QCOMPARE(row[0], std::string("encoder.block.1.layer.1.mlp"));
      QCOMPARE(row[2], std::string("encoder.block.3.layer.1.mlp"));
      cells += std::stoll(row[4]);
    }
    QVERIFY(cells > 0);
  }

  void decisions_name_every_cell_once_for_each_router() {
    std::map<std::string, int64_t> cells;
    for (const auto& row :
         rows_of("decisions", "batch,router,sequence,position,step,real,choice,branch,dropped,weight", "#1")) {
      ++cells[row[1]];
      QVERIFY(std::stoi(row[7]) >= 0 && std::stoi(row[7]) < 8);
    }
    QCOMPARE(cells["encoder.block.1.layer.1.mlp"], int64_t{3 * 13});
    QCOMPARE(cells["decoder.block.1.layer.2.mlp"], int64_t{3 * 11});
  }

  void recorded_scores_are_those_that_the_choices_were_made_by() {
    const std::string session = scratch_.path("scores.storm"), native = scratch_.path("scores.safetensors");
    const Arguments profile =
        short_run("profile", switch_model(), switch_data(), {"--batch", "1", "--record-scores", "-o", session});
    VERIFY_DONE(run_program(profile), profile);
    const Arguments table = {"export", session, "--format", "csv", "--what", "scores"};
    const Ended ended = run_program(table);
    VERIFY_DONE(ended, table);
    const std::vector<std::string> lines = lines_of(ended.out);
    QCOMPARE(lines.at(1), std::string("batch,router,sequence,position,step,real,branch,score"));
    using Cell = std::array<std::string, 4>;  // batch, router, sequence, position
    std::map<Cell, std::vector<double>> scores;
    for (size_t i = 2; i < lines.size(); ++i) {
      const auto row = cells_of(lines[i]);
      std::vector<double>& of = scores[{row[0], row[1], row[2], row[3]}];
      QCOMPARE(std::stoul(row[6]), of.size());
      of.push_back(std::stod(row[7]));
    }
    QCOMPARE(scores.size(), size_t{3 * (2 * 13 + 11)});
    // The margin is kept, too: the largest score less the second; and the largest is the one that was chosen, or
    // dropped.
    const SessionReader reader(session);
    const RunLayout layout = reader.layout(1);
    int64_t chosen = 0;
    for (int64_t batch = 0; batch < 3; ++batch)
      for (size_t r = 0; r < layout.routers.size(); ++r) {
        const auto d = reader.decision(1, static_cast<int32_t>(r), batch);
        QVERIFY(d && d->scores.size() == static_cast<size_t>(d->cells * d->branches) &&
                d->margin.size() == static_cast<size_t>(d->cells));
        for (size_t c = 0; c < static_cast<size_t>(d->cells); ++c) {
          const float* of = d->scores.data() + c * static_cast<size_t>(d->branches);
          const auto best = static_cast<int32_t>(std::max_element(of, of + d->branches) - of);
          QCOMPARE(branch_of(d->choice[c]), best);
          QVERIFY(d->margin[c] >= 0);
          ++chosen;
        }
      }
    QCOMPARE(chosen, static_cast<int64_t>(scores.size()));
    const Arguments trace = {"export", session, "--format", "native", "-o", native};
    VERIFY_DONE(run_program(trace), trace);
    const auto file = SafetensorsFile::open(native);
    const StoredTensor* layer = file->find("layer.0.scores");
    QVERIFY(layer && layer->dtype == DType::f32 &&
            layer->shape == (std::vector<int64_t>{file->find("layer.0.indices")->shape[0], 8}));
    // The import takes the files of this export.
    const Arguments import = {"import", native, "-o", scratch_.path("again.storm")};
    VERIFY_DONE(run_program(import), import);
    const Arguments none = {"export", session_, "--format", "csv", "--what", "scores"};
    VERIFY_REFUSED(none, session_, "--record-scores");
  }

  void skew_and_distinct_branches_of_each_layer() {
    const Ended analyzed = run_program({"analyze", session_ + "#1", "--json", "-"});
    const Json routers = analyzed.json()["routers"];
    const auto skew = rows_of(
        "skew", "router,layer,branches,choices_of_cell,cells,largest_over_mean,power_law_alpha,power_law_error", "#1");
    QCOMPARE(skew.size(), routers.size());
    for (size_t r = 0; r < skew.size(); ++r) {
      QCOMPARE(skew[r][0], routers[r]["router"].get<std::string>());
      QCOMPARE(std::stoll(skew[r][1]), routers[r]["layer"].get<long long>());
      QVERIFY(std::abs(std::stod(skew[r][5]) - 1 -
                       routers[r]["imbalance_real"]["max_over_mean_minus_1"].get<double>()) < 1e-9);
      QVERIFY(std::stod(skew[r][6]) >= 0 && std::stod(skew[r][7]) >= 0);
    }
    const auto distinct = rows_of("distinct", "router,layer,cells,distinct_branches,of_even_loads", "#1");
    QCOMPARE(distinct.size(), 14 * skew.size());
    for (size_t i = 0; i < distinct.size(); ++i) {
      const double met = std::stod(distinct[i][3]), even = std::stod(distinct[i][4]);
      if (distinct[i][2] == "1") QVERIFY(std::abs(met - 1) < 1e-9 && std::abs(even - 1) < 1e-9);
      QVERIFY(met <= even + 1e-9 && met <= routers[i / 14]["touched_real"].get<double>() + 1e-9);
    }
    const std::string counts = scratch_.write("counts.json", R"({"logical_count": [[[4, 0, 2]], [[1, 3, 2]]]})"),
                      storm = scratch_.path("counts.storm");
    QCOMPARE(run_program({"import", counts, "-o", storm}).exit, 0);
    VERIFY_REFUSED((Arguments{"export", storm, "--format", "csv", "--what", "distinct"}), storm,
                   "does not say how many branches a cell chooses");
  }

  void timings_have_every_batch_and_its_steps() {
    int64_t batches = 0, steps = 0;
    for (const auto& row : rows_of("timings", "batch,step,name,op,branch,worker,begin_ms,duration_ms")) {
      QVERIFY(std::stod(row[7]) >= 0);
      row[3] == "batch" ? ++batches : ++steps;
    }
    QCOMPARE(batches, int64_t{3});
    QVERIFY(steps > 3 * 10);
  }

  void a_chrome_trace_is_valid_json_and_says_where_it_is_from() {
    const Json trace = Json::parse(text_of({"--format", "chrome-trace"}), nullptr, false);
    QVERIFY(trace.is_object() && trace["traceEvents"].is_array());
    for (const char* key : {"version", "device", "date", "session"}) QVERIFY2(trace["otherData"].contains(key), key);
    QCOMPARE(trace["otherData"]["session"].get<std::string>(), id_);
    std::map<std::string, int> phases;
    for (const Json& event : trace["traceEvents"]) {
      ++phases[event["ph"].get<std::string>()];
      if (event["ph"] == "X")
        QVERIFY(event["ts"].is_number() && event["dur"].get<double>() >= 0 && event["name"].is_string() &&
                event.contains("tid"));
    }
    QVERIFY(phases["X"] > 30 && phases["M"] >= 2);
  }

  void a_native_trace_holds_every_cell() {
    const std::string file = scratch_.path("trace.safetensors");
    const Arguments whole = {"export", session_ + "#1", "--format", "native", "-o", file};
    VERIFY_DONE(run_program(whole), whole);
    const auto trace = SafetensorsFile::open(file);
    for (const char* key : {"model", "version", "device", "date", "session"})
      QVERIFY2(trace->metadata().contains(key), key);
    QCOMPARE(trace->metadata().at("layers"), std::string("3"));
    QCOMPARE(trace->metadata().at("branches"), std::string("8"));
    QCOMPARE(trace->metadata().at("k"), std::string("1"));
    const size_t cells = 3 * 13 + 3 * 11;
    for (const char* name :
         {"cell.request", "cell.position", "cell.phase", "layer.0.indices", "layer.1.indices", "layer.2.indices"})
      QCOMPARE(integers(*trace, name).size(), cells);
    QCOMPARE(trace->find("layer.0.indices")->shape, (std::vector<int64_t>{static_cast<int64_t>(cells), 1}));
    // The same loads as the summary's.
    for (size_t layer = 0; layer < 3; ++layer) {
      std::vector<int64_t> loads(8);
      for (const int32_t branch : integers(*trace, "layer." + std::to_string(layer) + ".indices"))
        if (branch >= 0) ++loads[static_cast<size_t>(branch)];
      for (size_t b = 0; b < loads.size(); ++b)
        QCOMPARE(loads[b], profile_["routing"][layer]["load"][b].get<int64_t>());
    }
    // The run without padding decided for real cells only: the others are not met.
    text_of({"--format", "native", "-o", file});
    const auto unpadded = SafetensorsFile::open(file);
    const auto met = [&](size_t layer) {
      const auto indices = integers(*unpadded, "layer." + std::to_string(layer) + ".indices");
      return std::ranges::count_if(indices, [](int32_t branch) { return branch != -2; });
    };
    QCOMPARE(unpadded->find("cell.request")->elements(), static_cast<int64_t>(cells));
    const auto is_real = integers(*unpadded, "cell.real");
    QCOMPARE(met(0) + met(2), std::ranges::count(is_real, 1));
    const auto request = integers(*trace, "cell.request"), position = integers(*trace, "cell.position");
    QVERIFY(request[0] == 0 && position[0] == 0 && position[1] == 1 && request[cells - 1] == 2 &&
            position[cells - 1] == 10);
  }

  void the_configuration_is_the_one_that_optimize_found() {
    const Json config = Json::parse(text_of({"--format", "stormcell"}), nullptr, false);
    QCOMPARE(config["schema"].get<std::string>(), std::string("stormcell.config/1"));
    QCOMPARE(config["origin"]["session"].get<std::string>(), id_);
    const std::string file = scratch_.write("exported.json", config.dump());
    const Arguments replay = short_run("run", switch_model(), switch_data(), {"--config", file, "--batch", "1"});
    VERIFY_DONE(run_program(replay), replay);
  }

  void a_copy_is_equal_and_never_overwrites() {
    const std::string copy = scratch_.path("copy.storm");
    text_of({"--format", "session", "-o", copy});
    const SessionReader reader(copy);
    QCOMPARE(reader.summary().id, id_);
    QCOMPARE(reader.runs().size(), SessionReader(session_).runs().size());
    VERIFY_REFUSED((Arguments{"export", session_, "--format", "session", "-o", copy}), copy, "there already");
  }

  void no_export_overwrites_a_session() {
    const std::string before = Scratch::read(session_);
    for (const char* format : {"stormcell", "chrome-trace", "native"})
      VERIFY_REFUSED((Arguments{"export", session_, "--format", format, "-o", session_}), session_, "session");
    VERIFY_REFUSED((Arguments{"export", session_, "--format", "csv", "--what", "loads", "-o", session_}), session_,
                   "session");
    QVERIFY(Scratch::read(session_) == before);
  }

  void a_report_is_one_page_without_a_reference_to_the_network() {
    const std::string page = scratch_.path("report.html");
    const Arguments arguments = {"report", session_, "-o", page};
    VERIFY_DONE(run_program(arguments), arguments);
    const std::string html = Scratch::read(page);
    QVERIFY(html.size() > 10000 && html.size() < 3000000);
    for (const char* part : {"<!doctype html", STORMCELL_VERSION, "speed-up", "encoder.block.1.layer.1.mlp"})
      QVERIFY2(QString::fromStdString(html).contains(part, Qt::CaseInsensitive), part);
    QVERIFY(html.find(id_) != std::string::npos);
    for (const char* reference : {"src=\"http", "href=\"http", "@import", "url(http"})
      QVERIFY2(html.find(reference) == std::string::npos, reference);
    VERIFY_REFUSED((Arguments{"report", session_, "-o", session_}), session_, "session");
    VERIFY_REFUSED((Arguments{"report", "no/such.storm", "-o", page}), "no/such.storm", "no such file");
  }

  void optimize_writes_a_report_with_and_without_a_session() {
    const std::string page = scratch_.path("optimize.html");
    const Arguments arguments = short_run("optimize", switch_model(), switch_data(), {"--report", page, "--json", "-"});
    const Ended ended = run_program(arguments);
    VERIFY_DONE(ended, arguments);
    QVERIFY(ended.json()["session"].is_null());
    QVERIFY(Scratch::read(page).size() > 10000);
  }

  void optimize_shows_its_table_and_then_where_the_report_is() {
    const std::string page = scratch_.path("shown.html");
    const Arguments arguments = short_run("optimize", switch_model(), switch_data(), {"--report", page});
    const Ended ended = run_program(arguments);
    VERIFY_DONE(ended, arguments);
    const std::string last = "report  " + page + "\n";
    QVERIFY2(ended.out.ends_with(last) && ended.out.find("latency of a batch") < ended.out.size() - last.size(),
             ended.out.c_str());
  }

  void a_full_disk_leaves_no_half_a_file() {
    Surroundings small;
    small.file_bytes = 2048;
    for (const char* format : {"chrome-trace", "native"}) {
      const std::string file = scratch_.path(std::string("full.") + format);
      const Ended ended = run_program({"export", session_, "--format", format, "-o", file}, small);
      QVERIFY2(ended.exit == 1 && defect_of_error_line(ended.err, file).empty(), ended.err.c_str());
      QVERIFY(!std::filesystem::exists(file));
    }
    for (const auto& entry : std::filesystem::directory_iterator(scratch_.folder()))
      QVERIFY2(entry.path().string().find("partial") == std::string::npos, entry.path().c_str());
  }

  void a_run_without_decisions_says_how_to_record_them() {
    const std::string session = scratch_.path("plain.storm");
    VERIFY_DONE(run_program(short_run("run", switch_model(), switch_data(), {"-o", session})), Arguments{"run"});
    VERIFY_REFUSED((Arguments{"export", session, "--format", "native", "-o", scratch_.path("none")}), session,
                   "profile");
    VERIFY_REFUSED((Arguments{"export", session, "--format", "csv", "--what", "decisions"}), session, "profile");
  }
};

STORMCELL_TEST(ExportTest)

}  // namespace stormcell::testing

#include "export_test.moc"
