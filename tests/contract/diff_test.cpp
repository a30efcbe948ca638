// diff as its users have it: sessions and traces of several formats, text, JSON, refusals.
#include <algorithm>

#include "core/exports/text_output.h"
#include "tests/contract/imports.h"
#include "tests/core/difference/made_recordings.h"
#include "tests/testing/gzip_bytes.h"

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

  /// Token ids tell requests of the same numbers and lengths apart.
  void compare_points_to_diff_only_for_the_same_requests() {
    const MadeModel model({.requests = 3, .tokens = 12, .layers = 2});
    const MadeParts with_tokens = {.tokens = true};
    const auto session_of = [&](const char* name, const MadeRecording& made) {
      const std::string trace = made.write(scratch_.path(std::string(name) + ".safetensors"), with_tokens),
                        session = scratch_.path(std::string(name) + ".storm");
      imported(trace, session);
      return session;
    };
    MadeRecording same = record(model, MadeRule{.scale = 2}), others = record(model), fewer = record(model);
    for (auto& cell : others.cells) cell.token += 1;
    std::erase_if(fewer.cells, [](const auto& cell) { return cell.request == 2; });
    const std::string a = session_of("tokens-a", record(model));
    const auto said = [&](const std::string& b) { return run_program({"compare", a, b}).err; };
    const std::string b = session_of("tokens-b", same);
    QVERIFY2(said(b).find("both are recordings of the same requests: use stormcell diff " + a + " " + b) !=
                 std::string::npos,
             said(b).c_str());
    for (const std::string& other : {session_of("tokens-c", others), session_of("tokens-d", fewer)})
      QVERIFY2(said(other).find("stormcell diff") == std::string::npos, said(other).c_str());
  }

  void the_option_of_the_server_that_records_choices_is_named() {
    const std::string a = trace("choices"),
                      counts = scratch_.write("balance.json", R"({"logical_count": [[8,1,1,8]]})"),
                      session = scratch_.path("balance.storm");
    imported(counts, session);
    for (const std::string& b : {counts, session})
      VERIFY_REFUSED((Arguments{"diff", a, b}), b, "SGLang: --expert-distribution-recorder-mode per_token");
  }

  void a_recording_without_weights_says_what_records_them() {
    std::vector<int32_t> ids, other;
    for (int i = 0; i < 64; ++i) ids.insert(ids.end(), {i % 4, 4 + i % 3});
    other = ids;
    for (size_t i = 0; i < other.size(); i += 8) other[i] = 7;
    const std::string a = scratch_.write("ids.npy", npy_of("(32, 2, 2)", "<i4", ids)),
                      b = scratch_.write("other.npy", npy_of("(32, 2, 2)", "<i4", other));
    const Json verdict = diffed(a, b)["verdict"];
    const std::string record = verdict["record"].get<std::string>();
    QVERIFY2(record.find(a + ": write safetensors with layer.N.weights") != std::string::npos &&
                 record.find(b + ": write safetensors with layer.N.weights") != std::string::npos,
             record.c_str());
    QVERIFY(verdict["cannot_be_told"].dump().find("scale-lost") != std::string::npos);
  }

  void a_recording_that_is_cut_in_the_middle_is_refused() {
    const std::string a = trace("uncut"), whole = read_text(a), session = scratch_.path("uncut.storm"),
                      native = scratch_.path("uncut.safetensors");
    imported(a, session);
    const Arguments arguments = {"export", session, "--format", "native", "-o", native};
    VERIFY_DONE(run_program(arguments), arguments);
    const std::string packed = gzip_of(whole);
    std::vector<int32_t> ids(128, 1);
    const std::string array = npy_of("(32, 2, 2)", "<i4", ids);
    for (const auto& [name, bytes] :
         {std::pair<std::string, std::string>{"row.csv", whole.substr(0, whole.size() - 12)},
          {"slots.csv", whole.substr(0, whole.rfind('\n', whole.size() - 2) + 1)},
          {"head.csv", whole.substr(0, 60)},
          {"packed.csv.gz", packed.substr(0, packed.size() / 2)},
          {"half.safetensors", read_text(native).substr(0, std::filesystem::file_size(native) / 2)},
          {"few.safetensors", read_text(native).substr(0, 20)},
          {"half.npy", array.substr(0, array.size() / 2)},
          {"half.storm", read_text(session).substr(0, std::filesystem::file_size(session) / 2)},
          {"answers.jsonl", R"({"prompt_routed_experts": [[[0, 1], [1, 0)"}}) {
      const std::string cut = scratch_.write("cut-" + name, bytes);
      VERIFY_REFUSED((Arguments{"diff", a, cut}), cut, "");
      VERIFY_REFUSED((Arguments{"diff", cut, a}), cut, "");
    }
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
