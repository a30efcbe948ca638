// Sessions: appended to, never overwritten, valid however a run ends.
#include <algorithm>
#include <csignal>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/exports/export_formats.h"
#include "core/formats/safetensors.h"
#include "core/report/report.h"
#include "core/session/session_reader.h"
#include "core/session/session_writer.h"
#include "core/session/sqlite.h"
#include "tests/contract/models.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

constexpr const char* kManyBatches = "random:6000x16";

int64_t batches_in(const std::string& session) {
  try {
    const SessionReader reader(session);
    const auto runs = reader.runs();
    return runs.empty() ? 0 : runs.back().batches;
  } catch (const Error&) {
    return 0;  // not there yet
  }
}

/// Long enough that only a signal ends it.
Arguments endless(const std::string& verb, const std::string& session) {
  return {verb, switch_model(), "--data", kManyBatches, "--batch", "1", "--measure-seconds", "100000", "-o", session};
}

}  // namespace

class ContractSessionTest : public QObject {
  Q_OBJECT
  Scratch scratch_;

  /// The newest run is interrupted, and holds at least `batches` batches, each with its decisions.
  void verify_interrupted(const std::string& session, int64_t batches, bool decisions) {
    const SessionReader reader(session);
    const RunSummary run = reader.find_run("");
    QCOMPARE(static_cast<int>(run.status), static_cast<int>(RunStatus::interrupted));
    QVERIFY2(run.batches >= batches, (std::to_string(run.batches) + " of " + std::to_string(batches)).c_str());
    const RunLayout layout = reader.layout(run.id);
    for (int64_t b = 0; decisions && b < run.batches; ++b)
      for (size_t r = 0; r < layout.routers.size(); ++r)
        QVERIFY(reader.decision(run.id, static_cast<int32_t>(r), b).has_value());
  }

 private slots:
  void a_session_is_one_plain_file_that_later_runs_are_appended_to() {
    const std::string session = scratch_.path("appended.storm");
    VERIFY_DONE(run_program(short_run("run", switch_model(), switch_data(), {"-o", session})), Arguments{"run"});
    VERIFY_DONE(run_program(short_run("profile", switch_model(), switch_data(), {"-o", session})),
                Arguments{"profile"});
    QVERIFY(!std::filesystem::exists(session + "-wal") && !std::filesystem::exists(session + "-shm"));
    const SessionReader reader(session);
    const auto runs = reader.runs();
    QCOMPARE(runs.size(), size_t{2});
    QVERIFY(!reader.has_decisions(runs[0].id) && reader.has_decisions(runs[1].id));
    for (const RunSummary& run : runs) QCOMPARE(static_cast<int>(run.status), static_cast<int>(RunStatus::finished));
    // A run without decisions keeps their sums.
    for (size_t r = 0; r < reader.layout(runs[0].id).routers.size(); ++r) {
      const RouterLoads sums = reader.total_loads(runs[0].id, static_cast<int32_t>(r));
      QVERIFY(sums.cells > 0);
      QCOMPARE(sums.load, reader.total_loads(runs[1].id, static_cast<int32_t>(r)).load);
    }
  }

  void another_model_is_refused_and_the_session_stays_as_it_is() {
    const std::string session = scratch_.path("other.storm");
    VERIFY_DONE(run_program(short_run("run", switch_model(), switch_data(), {"-o", session})), Arguments{"run"});
    VERIFY_REFUSED(short_run("run", switch_model("two-experts-left-padding"), "random:2x5", {"-o", session}), session,
                   "another model");
    QVERIFY(!std::filesystem::exists(session + "-wal"));
    const SessionReader reader(session);
    QCOMPARE(reader.runs().size(), size_t{1});
    QCOMPARE(reader.summary().model.name, switch_model());
  }

  void a_file_that_is_no_session_is_not_written() {
    const std::string text = scratch_.write("notes.txt", "remember the milk\n");
    VERIFY_REFUSED(short_run("run", switch_model(), switch_data(), {"-o", text}), text, "not a session");
    QCOMPARE(Scratch::read(text), std::string("remember the milk\n"));
    VERIFY_REFUSED((Arguments{"export", text, "--format", "stormcell"}), text, "not a session");
    VERIFY_REFUSED((Arguments{"compare", text, text}), text, "");
  }

  void no_session_at_all() {
    VERIFY_REFUSED((Arguments{"export", "no/such.storm", "--format", "csv", "--what", "loads"}), "no/such.storm",
                   "no such file");
    VERIFY_REFUSED((Arguments{"compare", "no/such.storm", "no/such.json"}), "no/such.storm", "");
    const std::string empty = scratch_.write("empty.storm", "");
    VERIFY_REFUSED((Arguments{"export", empty, "--format", "csv", "--what", "loads"}), empty, "empty");
  }

  void a_session_of_a_newer_version_is_refused() {
    const std::string session = scratch_.path("newer.storm");
    VERIFY_DONE(run_program(short_run("run", switch_model(), switch_data(), {"-o", session})), Arguments{"run"});
    std::string bytes = Scratch::read(session);
    bytes[62] = 3;  // user_version, big endian at 60: 0x300 and more
    scratch_.write("newer.storm", bytes);
    VERIFY_REFUSED((Arguments{"export", session, "--format", "csv", "--what", "loads"}), session, "newer");
    VERIFY_REFUSED(short_run("run", switch_model(), switch_data(), {"-o", session}), session, "newer");
    QVERIFY(Scratch::read(session) == bytes);
  }

  void a_session_of_which_a_part_is_missing_is_refused() {
    const std::string session = scratch_.path("cut.storm");
    VERIFY_DONE(run_program(short_run("profile", switch_model(), switch_data(), {"-o", session})),
                Arguments{"profile"});
    const std::string bytes = Scratch::read(session);
    for (const size_t left : {size_t{10}, size_t{100}, size_t{5000}, bytes.size() / 2}) {
      scratch_.write("cut.storm", bytes.substr(0, left));
      VERIFY_REFUSED((Arguments{"export", session, "--format", "csv", "--what", "decisions"}), session, "");
      VERIFY_REFUSED((Arguments{"report", session, "-o", scratch_.path("cut.html")}), session, "");
    }
  }

  void a_damaged_session_is_told_by_check_and_by_report() {
    const std::string session = scratch_.path("whole.storm"), page = scratch_.path("whole.html");
    VERIFY_DONE(run_program(short_run("profile", switch_model(), switch_data(), {"-o", session})),
                Arguments{"profile"});
    const Arguments check = {"inspect", session, "--check"}, report = {"report", session, "-o", page};
    VERIFY_DONE(run_program(check), check);
    VERIFY_DONE(run_program(report), report);
    QVERIFY(Scratch::read(page).find("nothing of it is damaged") != std::string::npos);
    // Figures that no page can tell from right ones.
    sqlite::Database(session, sqlite::OpenMode::create).execute("UPDATE load_window SET cells = cells + 1");
    VERIFY_REFUSED(check, session, "the loads of router ");
    VERIFY_REFUSED(report, session, "are not those of its decisions");
  }

  void what_is_called_a_session_is_told_of_as_one() {
    const std::string empty = scratch_.write("nothing.storm", ""),
                      text = scratch_.write("text.storm", std::string(20000, 'x'));
    const std::string missing = scratch_.path("missing.storm"), headless = scratch_.path("headless.storm");
    VERIFY_DONE(run_program(short_run("run", switch_model(), switch_data(), {"-o", headless})), Arguments{"run"});
    std::string bytes = Scratch::read(headless);
    std::fill(bytes.begin(), bytes.begin() + 100, '\0');
    scratch_.write("headless.storm", bytes);
    for (const Arguments& more : {Arguments{}, Arguments{"--check"}}) {
      const auto inspect = [&](const std::string& file) {
        Arguments all = {"inspect", file};
        all.insert(all.end(), more.begin(), more.end());
        return all;
      };
      VERIFY_REFUSED(inspect(empty), empty, "is empty, not a session");
      VERIFY_REFUSED(inspect(text), text, "not a session");
      VERIFY_REFUSED(inspect(headless), headless, "is not a session: it does not begin like one");
      VERIFY_REFUSED(inspect(missing), missing, "no such file");
    }
    VERIFY_REFUSED((Arguments{"compare", empty, empty}), empty, "is empty, not a session");
  }

  void a_session_with_one_bad_row_is_shown_or_refused_data() {
    QTest::addColumn<QString>("change");
    QTest::newRow("branches") << "UPDATE router SET branches = 16777216";
    QTest::newRow("choices") << "UPDATE router SET fan_out = 65536";
    QTest::newRow("no branches") << "UPDATE router SET branches = 0";
    QTest::newRow("space of a router") << "UPDATE router SET space = 77";
    QTest::newRow("router's text") << "UPDATE router SET name = x'ff0a22'";
    QTest::newRow("total") << "UPDATE router SET total = x'01'";
    QTest::newRow("windows") << "UPDATE load_window SET data = x'01000800ffffffffffffff7fffffffffffffff7f'";
    QTest::newRow("window counts") << "UPDATE load_window SET cells = 9223372036854775807, batches = -1";
    QTest::newRow("windows and no total")
        << "UPDATE router SET total = NULL; UPDATE load_window SET cells = 9223372036854775807";
    QTest::newRow("number of batches") << "UPDATE batch SET id = id + 4000000000";
    QTest::newRow("batch numbers")
        << "UPDATE batch SET number = -9223372036854775808, first_sequence = 9223372036854775807";
    QTest::newRow("latencies") << "UPDATE batch SET latency_ms = 1e999";
    QTest::newRow("cells")
        << "UPDATE batch_space SET sequences = 2147483647, per_sequence = 2147483647, mask = x'0001'";
    QTest::newRow("cells without a mask")
        << "UPDATE batch_space SET sequences = 2147483647, per_sequence = 2147483647, mask = NULL";
    QTest::newRow("no cells") << "UPDATE batch_space SET sequences = 0, per_sequence = 0, mask = NULL";
    QTest::newRow("first sequence") << "UPDATE batch_space SET first_sequence = -9223372036854775808";
    QTest::newRow("masks") << "UPDATE batch_space SET mask = x'01ff'";
    QTest::newRow("decisions") << "UPDATE decision SET data = x'01000404ffffff7f0400000001000000'";
    QTest::newRow("ancestors")
        << "UPDATE decision SET data = x'01040101010000000800000001000000000000000000000000010000ffffffff'";
    QTest::newRow("events")
        << "UPDATE event SET data = x'0101feffffffffffffffff01ffff03feffffffffffffffff01ffffffffffffffffff01'";
    QTest::newRow("pairs") << "UPDATE pair_window SET data = x'01080801ffffffffffffffffff0101', level = -level - 1";
    QTest::newRow("guards") << "INSERT OR REPLACE INTO guard SELECT 1, -5, 9223372036854775807, -1";
    QTest::newRow("run's number") << "UPDATE run SET id = 9223372036854775807";
    QTest::newRow("run's texts")
        << "UPDATE run SET kind = x'00ff', name = x'0a', started = '', finished = 3, status = 'x'";
    for (const char* json : {"", "nothing", "3", "[1]", "{\"schema\": 7, \"passes\": 1, \"latency_ms\": []}"})
      QTest::addRow("JSON %s", json) << QString(
                                            "UPDATE run SET config = '%1', machine = '%1', dataset = '%1', summary = "
                                            "'%1'; UPDATE model SET json = '%1'")
                                            .arg(json);
    const QString deep = QString("[").repeated(100000) + QString("]").repeated(100000);
    QTest::newRow("deep JSON")
        << QString(
               "UPDATE run SET config = '{\"schema\": \"stormcell.config/1\", \"a\": %1}', machine = config, summary = "
               "'{\"schema\": \"stormcell.run/1\", \"settings\": {\"a\": %1}, \"model\": %1}'")
               .arg(deep);
    QTest::newRow("no model") << "DELETE FROM model";
    QTest::newRow("no layout") << "DELETE FROM router; DELETE FROM space; DELETE FROM step";
    QTest::newRow("no table") << "DROP TABLE batch_space";
    QTest::newRow("no column") << "ALTER TABLE router RENAME COLUMN branches TO twigs";
  }
  void a_session_with_one_bad_row_is_shown_or_refused() {
    QFETCH(QString, change);
    const std::string good = scratch_.path("good.storm"), session = scratch_.path("bad.storm"),
                      out = scratch_.path("bad.out");
    if (!std::filesystem::exists(good))
      VERIFY_DONE(run_program(short_run("profile", switch_model(), switch_data(), {"-o", good})), Arguments{"profile"});
    std::filesystem::copy_file(good, session, std::filesystem::copy_options::overwrite_existing);
    sqlite::Database(session, sqlite::OpenMode::create).execute(change.toStdString().c_str());
    const Arguments compare = {"compare", session, good};
    const Ended ended = run_program(compare);
    QVERIFY2(ended.exit == 0 || ended.exit == 2, told(compare, ended).c_str());
    const std::string defect_of_program = ended.exit == 0 ? std::string() : defect_of_error_line(ended.err, session);
    QVERIFY2(defect_of_program.empty(), (defect_of_program + "\n" + told(compare, ended)).c_str());
    // The others call nothing else than this, and to start each for each row would take a minute under sanitizers.
    std::vector<std::pair<std::string, std::function<void()>>> all = {{"report", [&] { write_report(session, out); }}};
    const auto add_export = [&](const std::string& format, const std::string& what) {
      all.emplace_back(format + " " + what, [&session, &out, format, what] {
        ExportOptions options;
        options.session = session, options.output = out, options.what = what;
        export_session(format, options);
      });
    };
    for (const char* what : {"loads", "transitions", "decisions", "timings"}) add_export("csv", what);
    for (const char* format : {"stormcell", "native", "chrome-trace"}) add_export(format, "");
    for (const auto& [name, act] : all) {
      std::filesystem::remove(out);
      try {
        act();
      } catch (const Error& error) {
        const std::string text = error.what(),
                          line = "stormcell: " + text + (text.ends_with(')') ? "\n" : " (--help)\n");
        const std::string defect = defect_of_error_line(line, session);
        QVERIFY2(error.kind() == ErrorKind::bad_input && defect.empty(), (name + ": " + defect + "\n" + line).c_str());
      }
    }
    // And another run is appended or refused.
    try {
      SessionWriter writer(session, SessionReader(good).summary().model);
      writer.begin_run({});
    } catch (const Error& error) {
      QVERIFY2(error.kind() == ErrorKind::bad_input, error.what());
    }
  }

  void a_run_that_is_not_there_is_refused_with_the_list() {
    const std::string session = scratch_.path("runs.storm");
    VERIFY_DONE(run_program(short_run("profile", switch_model(), switch_data(), {"-o", session})),
                Arguments{"profile"});
    VERIFY_REFUSED((Arguments{"export", session + "#7", "--format", "native", "-o", scratch_.path("x")}), session,
                   "#1 profile");
    VERIFY_REFUSED((Arguments{"export", session, "--format", "stormcell"}), session, "configuration");
  }

  void an_interrupted_run_ends_with_130_and_leaves_a_valid_session() {
    for (const char* verb : {"profile", "run", "optimize"}) {
      const std::string session = scratch_.path(std::string(verb) + "-interrupted.storm");
      Running running(endless(verb, session));
      QVERIFY(running.wait_until([&] { return batches_in(session) >= 8; }));
      running.signal(SIGINT);
      const Ended ended = running.wait();
      QVERIFY2(ended.exit == 130 && ended.out.empty(), told({verb}, ended).c_str());
      QVERIFY2(defect_of_error_line(ended.err.substr(ended.err.find("stormcell: ")), session).empty(),
               ended.err.c_str());
      QVERIFY(!std::filesystem::exists(session + "-wal"));
      verify_interrupted(session, 8, std::string(verb) != "run");
    }
  }

  /// While plans are measured nothing is recorded: the session says all the same that there was such a run.
  void optimize_that_is_stopped_behind_its_profile_leaves_a_run_that_says_so() {
    const std::string session = scratch_.path("optimize-stopped.storm");
    Running running({"optimize", switch_model(), "--data", switch_data(), "--measure-seconds", "600", "-o", session});
    const auto is_profiled = [&] {
      try {
        const auto runs = SessionReader(session).runs();
        return !runs.empty() && runs.front().status == RunStatus::finished;
      } catch (const Error&) {
        return false;  // not there yet
      }
    };
    QVERIFY(running.wait_until(is_profiled));
    running.signal(SIGINT);
    const Ended ended = running.wait();
    QVERIFY2(ended.exit == 130 && ended.err.find("interrupted") != std::string::npos,
             told({"optimize"}, ended).c_str());
    const SessionReader reader(session);
    const auto runs = reader.runs();
    QCOMPARE(runs.size(), size_t{2});
    QVERIFY(runs[0].kind == "profile" && runs[0].status == RunStatus::finished && runs[0].batches > 0);
    QVERIFY(runs[1].kind == "optimize" && runs[1].status == RunStatus::interrupted && runs[1].batches == 0);
    reader.check();
    const Ended inspected = run_program({"inspect", session});
    QVERIFY2(inspected.exit == 0 && inspected.out.find("interrupted") != std::string::npos, inspected.out.c_str());
  }

  void a_terminated_run_ends_with_143_and_leaves_a_valid_session() {
    const std::string session = scratch_.path("terminated.storm");
    Running running(endless("profile", session));
    QVERIFY(running.wait_until([&] { return batches_in(session) >= 8; }));
    running.signal(SIGTERM);
    QCOMPARE(running.wait().exit, 143);
    verify_interrupted(session, 8, true);
  }

  void a_killed_run_leaves_every_finished_batch() {
    const std::string session = scratch_.path("killed.storm");
    Running running(endless("profile", session));
    int64_t seen = 0;
    QVERIFY(running.wait_until([&] { return (seen = batches_in(session)) >= 50; }));
    running.signal(SIGKILL);
    running.wait();
    verify_interrupted(session, seen, true);
    // And the next verb goes on with it.
    VERIFY_DONE(
        run_program({"export", session, "--format", "csv", "--what", "decisions", "-o", scratch_.path("killed.csv")}),
        Arguments{"export"});
    VERIFY_DONE(run_program(short_run("run", switch_model(), switch_data(), {"-o", session})), Arguments{"run"});
    QCOMPARE(SessionReader(session).runs().size(), size_t{2});
  }

  void a_session_that_is_being_written_is_copied() {
    const std::string session = scratch_.path("live.storm"), copy = scratch_.path("copy.storm");
    Running running(endless("profile", session));
    QVERIFY(running.wait_until([&] { return batches_in(session) >= 8; }));
    const Arguments arguments = {"export", session, "--format", "session", "-o", copy};
    VERIFY_DONE(run_program(arguments), arguments);
    QVERIFY(batches_in(copy) >= 8);
    QVERIFY(!std::filesystem::exists(copy + "-wal"));
    running.signal(SIGTERM);
    QCOMPARE(running.wait().exit, 143);
    VERIFY_REFUSED(arguments, copy, "there already");
  }

  void a_disk_that_is_full_ends_the_run_with_1_and_keeps_what_was_finished() {
    const std::string session = scratch_.path("full.storm");
    Surroundings small;
    small.file_bytes = 256 << 10;
    const Arguments arguments = short_run("profile", switch_model(), kManyBatches, {"--batch", "1", "-o", session});
    const Ended ended = run_program(arguments, small);
    QVERIFY2(ended.exit == 1, told(arguments, ended).c_str());
    QVERIFY2(defect_of_error_line(ended.err, session).empty(), ended.err.c_str());
    QVERIFY(batches_in(session) > 0);
  }

  void a_disk_that_is_full_from_the_start_leaves_nothing() {
    const std::string recorded = scratch_.path("recorded.storm"), folder = scratch_.path("full");
    VERIFY_DONE(run_program(short_run("profile", switch_model(), kManyBatches, {"--batches", "20", "-o", recorded})),
                Arguments{"profile"});
    std::filesystem::create_directories(folder);
    const Arguments run = short_run("run", switch_model(), switch_data());
    const auto with = [](Arguments arguments, const Arguments& more) {
      arguments.insert(arguments.end(), more.begin(), more.end());
      return arguments;
    };
    for (const Arguments& arguments :
         {with(run, {"-o"}), with(run, {"--json"}), with(run, {"--outputs"}),
          Arguments{"inspect", switch_model(), "--text"}, Arguments{"report", recorded, "-o"},
          Arguments{"export", recorded, "--format", "session", "-o"},
          Arguments{"export", recorded, "--format", "native", "-o"},
          Arguments{"export", recorded, "--format", "chrome-trace", "-o"},
          Arguments{"export", recorded, "--format", "csv", "--what", "decisions", "-o"}}) {
      Surroundings small;
      small.file_bytes = 1000;
      const Arguments whole = with(arguments, {folder + "/file"});
      const Ended ended = run_program(whole, small);
      QVERIFY2(ended.exit == 1, told(whole, ended).c_str());
      const std::string defect = defect_of_error_line(ended.err, folder + "/file");
      QVERIFY2(defect.empty(), (defect + "\n" + told(whole, ended)).c_str());
      QVERIFY2(std::filesystem::is_empty(folder), told(whole, ended).c_str());
    }
  }

  void no_permission_for_the_session() {
    const Scratch closed;
    std::filesystem::permissions(closed.folder(),
                                 std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
    Surroundings around;
    around.obey_permissions = true;
    const Arguments arguments = short_run("run", switch_model(), switch_data(), {"-o", closed.path("s.storm")});
    const Ended ended = run_program(arguments, around);
    std::filesystem::permissions(closed.folder(), std::filesystem::perms::owner_all);
    QVERIFY2(ended.exit == 2, told(arguments, ended).c_str());
    QVERIFY2(defect_of_error_line(ended.err, closed.path("s.storm")).empty(), ended.err.c_str());
    QVERIFY(!std::filesystem::exists(closed.path("s.storm")));
  }

  void generate_writes_a_session_data() {
    QTest::addColumn<QString>("model");
    QTest::addColumn<int>("prompt");  // cells of a sequence that the first record of a batch has
    QTest::newRow("encoder-decoder") << QString::fromStdString(switch_model()) << 6;
    QTest::newRow("decoder-only") << QString::fromStdString(mixtral_model()) << 6;
  }
  void generate_writes_a_session() {
    QFETCH(const QString, model);
    QFETCH(const int, prompt);
    const std::string name = QTest::currentDataTag(), session = scratch_.path(name + ".storm");
    const Arguments generate = {
        "generate", model.toStdString(), "--data", "random:3x6", "--batch", "2", "--max-new-tokens", "4", "-o",
        session,    "--record-inputs",   "--json", "-"};
    const Ended ended = run_program(generate);
    VERIFY_DONE(ended, generate);
    const nlohmann::json figures = ended.json();
    QCOMPARE(figures["session_run"].get<int>(), 1);
    const SessionReader reader(session);
    const RunSummary run = reader.find_run("");
    QCOMPARE(run.kind, std::string("generate"));
    QCOMPARE(static_cast<int>(run.status), static_cast<int>(RunStatus::finished));
    QVERIFY(nlohmann::json::parse(run.summary)["tokens"] == figures["tokens"]);
    // Loads agree with the JSON; a router of prompt and turns is one router.
    const RunLayout layout = reader.layout(run.id);
    QCOMPARE(layout.routers.size(), figures["routing"].size());
    for (size_t r = 0; r < layout.routers.size(); ++r) {
      QCOMPARE(layout.routers[r].name, figures["routing"][r]["router"].get<std::string>());
      const RouterLoads loads = reader.total_loads(run.id, static_cast<int32_t>(r));
      QCOMPARE(loads.load, figures["routing"][r]["load"].get<std::vector<int64_t>>());
      QCOMPARE(loads.cells, figures["routing"][r]["cells"].get<int64_t>());
    }
    // A record of the prompt, then one a turn: two batches of them, the turns no more than the tokens.
    int64_t prompts = 0, turns = 0;
    for (int64_t b = 0; b < run.batches; ++b) {
      QVERIFY(!reader.events(run.id, b).empty());
      const auto spaces = reader.spaces(run.id, b);
      QVERIFY(!spaces.empty());
      const bool decodes = spaces[0].cells.phase == Phase::decode;
      ++(decodes ? turns : prompts);
      QCOMPARE(spaces[0].cells.per_sequence, decodes ? 1 : prompt);
      if (!decodes) QCOMPARE(static_cast<int>(spaces[0].cells.phase), static_cast<int>(Phase::prefill));
      for (size_t r = 0; r < layout.routers.size(); ++r)
        if (const auto d = reader.decision(run.id, static_cast<int32_t>(r), b))
          QCOMPARE(d->cells, spaces[0].cells.cells());
    }
    QCOMPARE(prompts, int64_t{2});
    QVERIFY2(turns >= 2 && turns <= 8, std::to_string(turns).c_str());
    // The fields that others read.
    for (const char* what : {"loads", "transitions", "decisions", "timings"}) {
      const Arguments table = {"export", session, "--format", "csv", "--what", what};
      VERIFY_DONE(run_program(table), table);
    }
    const std::string trace = scratch_.path(name + ".safetensors");
    const Arguments native = {"export", session, "--format", "native", "-o", trace};
    VERIFY_DONE(run_program(native), native);
    const auto file = SafetensorsFile::open(trace);
    const StoredTensor *phase = file->find("cell.phase"), *position = file->find("cell.position");
    QVERIFY(phase && position && phase->elements() == position->elements());
    const auto* phases = reinterpret_cast<const int32_t*>(phase->bytes.data());
    QVERIFY(std::count(phases, phases + phase->elements(), 0) == 3 * prompt &&
            std::count(phases, phases + phase->elements(), 1) > 0);
    for (size_t r = 0; r < layout.routers.size(); ++r) QVERIFY(file->find("layer." + std::to_string(r) + ".weights"));
    const Arguments page = {"report", session, "-o", scratch_.path(name + ".html")};
    VERIFY_DONE(run_program(page), page);
  }

  void texts_are_kept_only_where_they_are_asked_for() {
    const std::string reader = model_with_tokenizer(scratch_),
                      text = scratch_.write("texts.txt", "one text\nanother text\n");
    const std::string without = scratch_.path("without.storm"), with = scratch_.path("with.storm");
    VERIFY_DONE(run_program(short_run("profile", reader, text, {"-o", without})), Arguments{"profile"});
    VERIFY_DONE(run_program(short_run("profile", reader, text, {"-o", with, "--record-inputs"})), Arguments{"profile"});
    QVERIFY(Scratch::read(without).find("another text") == std::string::npos);
    const auto inputs = SessionReader(with).inputs(1, {0, 2});
    QCOMPARE(inputs.size(), size_t{2});
    QCOMPARE(inputs[1].text, std::string("another text"));
  }
};

STORMCELL_TEST(ContractSessionTest)

}  // namespace stormcell::testing

#include "session_test.moc"
