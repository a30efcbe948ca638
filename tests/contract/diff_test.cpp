// diff as its users have it: sessions and traces of several formats, text, JSON, refusals.
#include <algorithm>

#include "core/exports/text_output.h"
#include "tests/contract/imports.h"

namespace stormcell::testing {

class ContractDiffTest : public QObject, private Imports {
  Q_OBJECT
  std::string trace(const std::string& name, const std::function<void(int64_t row, std::string& line)>& change = {}) {
    return scratch_.write(name + ".csv", route_trace({}, "made-up.gguf", change));
  }
  Json diffed(const std::string& a, const std::string& b) { return json_of({"diff", a, b, "--json", "-"}); }

 private slots:
  void a_session_and_the_trace_that_it_was_made_of_agree() {
    const std::string csv = trace("same"), session = scratch_.path("same.storm"), native = scratch_.path("same.st");
    imported(csv, session);
    const Arguments arguments = {"export", session, "--format", "native", "-o", native};
    VERIFY_DONE(run_program(arguments), arguments);
    for (const auto& [a, b] : {std::pair(csv, session), {session + "#1", native}, {native, csv}}) {
      const Json json = diffed(a, b);
      QVERIFY2(json["verdict"]["cause"] == "agree" && json["differing"] == 0 && json["matched_cells"] == 50,
               json.dump().c_str());
      QVERIFY(json["schema"] == "stormcell.diff/1" && json["weights"]["median_difference"] == 0);
    }
  }

  void nothing_is_written() {
    const std::string a = trace("left"), b = trace("right");
    const auto files = [&] {
      return std::distance(std::filesystem::directory_iterator(std::filesystem::path(a).parent_path()), {});
    };
    const auto before = files();
    diffed(a, b);
    QCOMPARE(files(), before);
  }

  void the_text_begins_with_the_verdict() {
    // Layer 1 counts its experts from the end.
    const std::string a = trace("plain"),
                      b = trace("swapped", [](int64_t, std::string&line) {
                        std::vector<std::string> cells;
                        size_t from = 0;
                        for (size_t to; (to = line.find(',', from)) != std::string::npos; from = to + 1)
                          cells.push_back(line.substr(from, to - from));
                        cells.push_back(line.substr(from));
                        if (cells[3] == "1") cells[5] = std::to_string(7 - std::stoi(cells[5]));
                        line.clear();
                        for (const std::string& cell : cells) line += (line.empty() ? "" : ",") + cell;
                      });
    const Ended ended = run_program({"diff", a, b});
    QVERIFY2(ended.exit == 0 && ended.err.empty(), told({"diff", a, b}, ended).c_str());
    QVERIFY2(ended.out.starts_with("Verdict: ids-permuted: "), ended.out.c_str());
    QVERIFY2(ended.out.find("0 -> 7, 1 -> 6") != std::string::npos, ended.out.c_str());
    QVERIFY(std::count(ended.out.begin(), ended.out.end(), '\n') <= 60);
    const Json json = diffed(a, b);
    QVERIFY(json["verdict"]["confidence"].get<double>() > .5 && json["layers"][1]["differing"].get<int64_t>() > 0 &&
            json["layers"][0]["differing"] == 0);
  }

  void a_page_has_the_verdict_and_refers_to_nothing() {
    const std::string a = trace("first"), page = scratch_.path("diff.html");
    // The first slot of some cells has another expert: field 5 of a line.
    const std::string b = trace("second", [](int64_t row, std::string& line) {
      if (row % 8 != 0) return;
      size_t from = 0;
      for (int field = 0; field < 5; ++field) from = line.find(',', from) + 1;
      const size_t end = line.find(',', from);
      line.replace(from, end - from, std::to_string((std::stoi(line.substr(from, end - from)) + 4) % 8));
    });
    const Arguments arguments = {"diff", a, b, "--report", page, "--json", "-"};
    const Ended ended = run_program(arguments);
    VERIFY_DONE(ended, arguments);
    const Json json = ended.json();
    const std::string html = read_text(page);
    QVERIFY(json["differing"].get<int64_t>() > 0);
    const std::string cause =
        json["verdict"]["cause"].is_null() ? "cannot be told" : json["verdict"]["cause"].get<std::string>();
    QVERIFY2(html.find("<h1>Verdict: " + cause + "</h1>") != std::string::npos, cause.c_str());
    for (const char* outside : {"http", "<script", "<link", "<img", " src=", " href=", "url("})
      QVERIFY2(html.find(outside) == std::string::npos, outside);
    // Names of files are in it, and the page goes to standard output where it is asked for.
    QVERIFY(html.find(a) != std::string::npos && html.find(b) != std::string::npos);
    const Ended piped = run_program({"diff", a, b, "--report", "-"});
    QVERIFY2(piped.exit == 0 && piped.out.starts_with("<!DOCTYPE html>"), piped.out.substr(0, 200).c_str());
    const Ended twice = run_program({"diff", a, b, "--report", "-", "--json", "-"});
    QVERIFY2(twice.exit == 2 && twice.err.find("standard output is taken already") != std::string::npos,
             twice.err.c_str());
  }

  void a_refused_pair_leaves_no_page() {
    const std::string a = trace("right"), wide = scratch_.write("other.csv", route_trace({3, 16})),
                      page = scratch_.path("none.html");
    VERIFY_REFUSED((Arguments{"diff", a, wide, "--report", page}), wide, "is of another model than " + a);
    QVERIFY(!std::filesystem::exists(page));
  }

  void compare_of_two_recordings_points_to_diff() {
    const std::string a = scratch_.path("one.storm"), b = scratch_.path("two.storm"), c = scratch_.path("long.storm");
    TraceSize longer;
    longer.steps = 30;
    imported(trace("one"), a), imported(trace("two"), b);
    imported(scratch_.write("long.csv", route_trace(longer)), c);
    QVERIFY(run_program({"compare", a, b}).err.find("stormcell diff " + a + " " + b) != std::string::npos);
    QVERIFY(run_program({"compare", a, c}).err.find("stormcell diff") == std::string::npos);
  }

  void what_cannot_be_compared_is_refused() {
    const std::string a = trace("good");
    const std::string wide = scratch_.write("wide.csv", route_trace({3, 16})),
                      deep = scratch_.write("deep.csv", route_trace({4, 8})),
                      counts = scratch_.write("counts.json", R"({"logical_count": [[8,1,1,8]]})"),
                      cut = scratch_.path("cut.safetensors");
    SmallTrace().write(cut);
    std::filesystem::resize_file(cut, std::filesystem::file_size(cut) / 2);
    VERIFY_REFUSED((Arguments{"diff", a, wide}), wide, "is of another model than " + a);
    VERIFY_REFUSED((Arguments{"diff", a, counts}), counts, "holds counts, without the choices of single cells");
    VERIFY_REFUSED((Arguments{"diff", a, cut}), cut, "");
    VERIFY_REFUSED((Arguments{"diff", a, "no/such.storm"}), "no/such.storm", "no such file");
    VERIFY_REFUSED((Arguments{"diff", a, scratch_.write("page.html", "<html></html>")}), scratch_.path("page.html"),
                   "");
    // Layers with numbers are aligned by them.
    QVERIFY(diffed(a, deep)["warnings"].dump().find("in this recording alone") != std::string::npos);
  }
};

STORMCELL_TEST(ContractDiffTest)

}  // namespace stormcell::testing

#include "diff_test.moc"
