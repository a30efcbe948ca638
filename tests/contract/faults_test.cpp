// Faults while a model runs or is loaded: each gives one clear line, and finished work stays.
#include <filesystem>
#include <fstream>

#include "core/formats/safetensors_writer.h"
#include "core/readings/session_runs.h"
#include "tests/contract/models.h"
#include "tests/testing/file_bytes.h"
#include "tests/testing/many_tensors.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

namespace fs = std::filesystem;

/// Bytes of address space that this program takes before it has a model.
int64_t bytes_of_doctor() {
  for (int64_t bytes = int64_t{16} << 20;; bytes += int64_t{4} << 20)
    if (run_program({"doctor"}, {.address_bytes = bytes}).exit == 0) return bytes;
}

}  // namespace

class FaultsTest : public QObject {
  Q_OBJECT

  /// Batches of the only run that a session holds; 0: it cannot be read, or there is none yet.
  static int64_t batches_in(const std::string& session) {
    try {
      const SessionRuns runs = list_session_runs(session);
      return runs.runs.empty() ? 0 : runs.runs[0].batches;
    } catch (const std::exception&) {
      return 0;
    }
  }

  /// Token ids of `sequences` of 5, in the format that the name's ending asks for.
  static std::string write_ids(const Scratch& scratch, const std::string& name, int64_t sequences) {
    std::vector<int32_t> ids(static_cast<size_t>(sequences * 5));
    for (size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<int32_t>(2 + i * 7 % 41);
    if (name.ends_with(".npy")) return scratch.write(name, npy_ids("(" + std::to_string(sequences) + ", 5)", ids));
    const TensorToWrite tensor{"input_ids", DType::i32, {sequences, 5}, ids.data()};
    write_safetensors(scratch.path(name), {&tensor, 1});
    return scratch.path(name);
  }

 private slots:
  // A mapping of the file would end the program with SIGBUS, and nothing on stderr.
  void data_that_shrink_while_they_are_read_end_the_run_and_keep_what_was_finished_data() {
    QTest::addColumn<QString>("name");
    for (const char* name : {"ids.npy", "ids.safetensors"}) QTest::newRow(name) << QString(name);
  }
  void data_that_shrink_while_they_are_read_end_the_run_and_keep_what_was_finished() {
    QFETCH(const QString, name);
    const Scratch scratch;
    const std::string data = write_ids(scratch, name.toStdString(), 40000), session = scratch.path("cut.storm");
    const Arguments arguments =
        short_run("profile", switch_model(), data, {"--batch", "2", "--threads", "2", "-o", session});
    Running running(arguments);
    int64_t seen = 0;
    QVERIFY(running.wait_until([&] { return (seen = batches_in(session)) > 0; }));
    fs::resize_file(data, 512);
    const Ended ended = running.wait();
    QVERIFY2(ended.exit == 1, told(arguments, ended).c_str());
    const std::string defect = defect_of_error_line(ended.err, data);
    QVERIFY2(defect.empty(), (defect + "\n" + told(arguments, ended)).c_str());
    QVERIFY2(ended.err.find("while it was used: it had ") != std::string::npos &&
                 ended.err.find("and has 512 now") != std::string::npos,
             ended.err.c_str());
    QVERIFY(batches_in(session) >= seen && batches_in(session) < 20000);
    QVERIFY(list_session_runs(session, true).checked);  // all of it is readable
    QVERIFY(!fs::exists(session + "-wal"));
  }

  // As many bytes as before: ids that nobody checked must not reach the model.
  void data_that_are_written_to_under_a_run_end_it() {
    const Scratch scratch;
    const std::string data = write_ids(scratch, "ids.npy", 40000), session = scratch.path("written.storm");
    const Arguments arguments =
        short_run("profile", switch_model(), data, {"--batch", "2", "--threads", "2", "-o", session});
    Running running(arguments);
    QVERIFY(running.wait_until([&] { return batches_in(session) > 0; }));
    {
      std::fstream file(data, std::ios::in | std::ios::out | std::ios::binary);
      file.seekp(-400000, std::ios::end);
      file << std::string(400000, '\x7f');
    }
    const Ended ended = running.wait();
    QVERIFY2(ended.exit == 1, told(arguments, ended).c_str());
    const std::string defect = defect_of_error_line(ended.err, data);
    QVERIFY2(defect.empty(), (defect + "\n" + told(arguments, ended)).c_str());
    QVERIFY2(ended.err.find("was written to while it was used (") != std::string::npos, ended.err.c_str());
  }

  void data_that_vanish_while_they_are_read_are_read_to_the_end() {
    for (const char* name : {"ids.npy", "ids.safetensors"}) {
      const Scratch scratch;
      const std::string data = write_ids(scratch, name, 600), session = scratch.path("gone.storm");
      const Arguments arguments =
          short_run("profile", switch_model(), data, {"--batch", "2", "--verify-seconds", "0", "-o", session});
      Running running(arguments);
      QVERIFY(running.wait_until([&] { return batches_in(session) > 0; }));
      fs::remove(data);
      VERIFY_DONE(running.wait(), arguments);
      QCOMPARE(batches_in(session), int64_t{300});
    }
  }

  void a_shard_that_shrinks_while_it_is_read_ends_the_run_and_keeps_what_was_finished() {
    const ModelCopy model;
    const std::string session = model.scratch().path("cut.storm");
    const Arguments arguments = short_run("profile", model.folder(), "random:20000x5",
                                          {"--batch", "2", "--threads", "2", "--weight-budget", "21kB", "-o", session});
    Running running(arguments);
    int64_t seen = 0;
    QVERIFY(running.wait_until([&] { return (seen = batches_in(session)) > 0; }));
    fs::resize_file(model.weights(), 4096);
    const Ended ended = running.wait();
    QVERIFY2(ended.exit == 1, told(arguments, ended).c_str());
    const std::string defect = defect_of_error_line(ended.err, model.weights());
    QVERIFY2(defect.empty(), (defect + "\n" + told(arguments, ended)).c_str());
    QVERIFY2(ended.err.find("has become shorter while it was used") != std::string::npos, ended.err.c_str());
    QVERIFY(batches_in(session) >= seen);
    // The line says where they are, and the run how it ended.
    QVERIFY2(ended.err.ends_with("; " + session + "#1 holds every batch that was finished)\n"), ended.err.c_str());
    const SessionRuns runs = list_session_runs(session, true);
    QVERIFY(runs.checked);  // all of it is readable
    QCOMPARE(runs.runs[0].status, RunStatus::failed);
    const Ended listed = run_program({"inspect", session});
    for (const char* words : {"  failed  ", "; 20.5 KiB for weights of branches"})
      QVERIFY2(listed.out.find(words) != std::string::npos, listed.out.c_str());
    QVERIFY(run_program({"inspect", session, "--json", "-"}).json()["runs"][0]["status"] == "failed");
    QVERIFY(!fs::exists(session + "-wal"));
  }

  // The weights are read again when the run is verified. A mapping of the file would end the program here.
  void a_shard_that_shrinks_without_a_budget_is_one_line() {
    const ModelCopy model;
    const std::string session = model.scratch().path("plain.storm");
    const Arguments arguments =
        short_run("profile", model.folder(), "random:600x5", {"--batch", "2", "--threads", "2", "-o", session});
    Running running(arguments);
    QVERIFY(running.wait_until([&] { return batches_in(session) > 0; }));
    fs::resize_file(model.weights(), 0);
    const Ended ended = running.wait();
    QVERIFY2(ended.exit == 1, told(arguments, ended).c_str());
    const std::string defect = defect_of_error_line(ended.err, model.weights());
    QVERIFY2(defect.empty(), (defect + "\n" + told(arguments, ended)).c_str());
    QVERIFY2(ended.err.find("bytes and has 0 now") != std::string::npos, ended.err.c_str());
  }

  // As many bytes as before, whatever they hold: neither garbage nor other weights are what was opened.
  void a_shard_that_is_written_to_under_a_run_is_named_and_verifies_nothing_data() {
    QTest::addColumn<QString>("budget");
    QTest::newRow("all in memory") << QString();
    QTest::newRow("under a budget") << QStringLiteral("21kB");
  }
  void a_shard_that_is_written_to_under_a_run_is_named_and_verifies_nothing() {
    QFETCH(const QString, budget);
    const ModelCopy model;
    const std::string session = model.scratch().path("written.storm");
    Arguments arguments = short_run("profile", model.folder(), "random:600x5",
                                    {"--batch", "2", "--threads", "2", "-o", session, "--json", "-"});
    if (!budget.isEmpty()) arguments.insert(arguments.end(), {"--weight-budget", budget.toStdString()});
    Running running(arguments);
    QVERIFY(running.wait_until([&] { return batches_in(session) > 0; }));
    {
      std::fstream file(model.weights(), std::ios::in | std::ios::out | std::ios::binary);
      file.seekp(-20000, std::ios::end);
      file << std::string(20000, '\xff');  // NaN in every format
    }
    const Ended ended = running.wait();
    QVERIFY2(ended.exit == 1, told(arguments, ended).c_str());
    QVERIFY2(ended.err.find(model.weights() + " was written to while it was used") != std::string::npos,
             ended.err.c_str());
    const nlohmann::json j = ended.json();
    QVERIFY(j["verified"]["passed"] == false);
  }

  void a_shard_that_vanishes_while_it_is_read_is_read_to_the_end() {
    const ModelCopy model;
    const std::string session = model.scratch().path("gone.storm");
    const Arguments arguments =
        short_run("profile", model.folder(), "random:600x5",
                  {"--batch", "2", "--verify-seconds", "0", "--weight-budget", "21kB", "-o", session});
    Running running(arguments);
    QVERIFY(running.wait_until([&] { return batches_in(session) > 0; }));
    fs::remove(model.weights());
    const Ended ended = running.wait();
    VERIFY_DONE(ended, arguments);
    QCOMPARE(batches_in(session), int64_t{300});
  }

  void a_recipe_that_does_not_fit_its_tensors_names_both() {
    const Scratch scratch;
    write_many_tensors(scratch.folder(), {.layers = 2, .experts = 4, .stacked = true});
    const std::string name = "model.layers.1.block_sparse_moe.experts.gate_up_proj",
                      weights = scratch.path("model.safetensors");
    VERIFY_DONE(run_program({"inspect", scratch.folder()}), Arguments{"inspect"});
    const std::string bytes = Scratch::read(weights);
    std::string header = bytes.substr(8, *reinterpret_cast<const uint64_t*>(bytes.data()));
    // Two experts for four, each twice as large: as many bytes.
    const std::string four = "[4,128,32]", two = "[2,256,32]";
    const size_t at = header.find(four, header.find(name));
    QVERIFY2(at != std::string::npos, header.substr(0, 3000).c_str());
    header.replace(at, four.size(), two);
    std::fstream file(weights, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(8);
    file.write(header.data(), static_cast<std::streamsize>(header.size()));
    file.close();
    VERIFY_REFUSED((Arguments{"inspect", scratch.folder()}), weights,
                   "the tensor \"" + name + "\" has the shape [2, 256, 32], expected [4, 128, 32] by config.json");
  }

  void threads_that_are_refused_are_one_line() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    QSKIP("sanitizers reserve more address space than the limit");
#endif
    const Arguments arguments = short_run("run", switch_model(), switch_data(), {"--threads", "1024"});
    const Ended ended = run_program(arguments, {.address_bytes = int64_t{2} << 30});
    QVERIFY2(ended.exit == 1, told(arguments, ended).c_str());
    const std::string defect = defect_of_error_line(ended.err.substr(ended.err.rfind("stormcell: ")), "threads");
    QVERIFY2(defect.empty(), (defect + "\n" + told(arguments, ended)).c_str());
  }

  void memory_that_is_refused_is_one_line_wherever_it_happens() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    QSKIP("sanitizers reserve more address space than the limit");
#endif
    const Scratch scratch;
    const std::string session = scratch.path("memory.storm");
    const Arguments arguments = short_run("run", "demo:switch-names", "random:8x12x12",
                                          {"--verify-seconds", "0", "--threads", "2", "-o", session});
    VERIFY_DONE(run_program(arguments), arguments);
    // From a little more than the bare program takes upwards, until a whole run fits: it is refused while it opens,
    // loads, records, runs, verifies. With less, memory runs out before main() begins.
    int failed = 0, done = 0;
    for (int64_t limit = bytes_of_doctor() + (int64_t{1} << 20); done < 2 && limit < int64_t{1} << 30;
         limit += int64_t{3} << 20) {
      const Ended ended = run_program(arguments, {.address_bytes = limit});
      const std::string whole = std::to_string(limit) + " bytes: " + told(arguments, ended);
      done += ended.exit == 0;
      if (ended.exit == 0) continue;
      ++failed;
      QVERIFY2(ended.exit == 1 || ended.exit == 2, whole.c_str());
      QVERIFY2(ended.err.starts_with("stormcell: ") && ended.err.ends_with(")\n") &&
                   ended.err.find('\n') == ended.err.size() - 1,
               whole.c_str());
      QVERIFY2(ended.err.find("memory") != std::string::npos && ended.err.find("internal") == std::string::npos,
               whole.c_str());
    }
    QVERIFY2(failed >= 3 && done == 2, std::to_string(failed).c_str());
    // Its earlier content is there.
    QVERIFY(list_session_runs(session, true).runs.size() >= 3);
  }
};
STORMCELL_TEST(FaultsTest)

}  // namespace stormcell::testing
#include "faults_test.moc"
