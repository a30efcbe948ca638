#include "tests/contract/program.h"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include <QElapsedTimer>
#include <QTest>
#include <QThread>
#include <csignal>
#include <cstdint>

#include "core/base/checkout.h"

namespace stormcell::testing {
namespace {

/// A program that hangs ends the test; how fast a machine is decides none.
constexpr int kHung = 15 * 60000;

QStringList list_of(const Arguments& arguments) {
  QStringList list;
  for (const std::string& a : arguments) list << QString::fromStdString(a);
  return list;
}

Ended ended(QProcess& process) {
  Ended e;
  if (process.exitStatus() == QProcess::NormalExit) e.exit = process.exitCode();
  e.out = process.readAllStandardOutput().toStdString();
  e.err = process.readAllStandardError().toStdString();
  return e;
}

}  // namespace

std::string program_path() { return checkout_build_folder() + "/bin/stormcell"; }

Ended run_program(const Arguments& arguments, const Surroundings& around) {
  QProcess process;
  QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
  for (const auto& [name, value] : around.environment)
    environment.insert(QString::fromStdString(name), QString::fromStdString(value));
  process.setProcessEnvironment(environment);
  if (!around.folder.empty()) process.setWorkingDirectory(QString::fromStdString(around.folder));
  if (!around.out_file.empty()) process.setStandardOutputFile(QString::fromStdString(around.out_file));
  process.setChildProcessModifier([&around] {
    const auto limit_to = [](auto resource, int64_t bytes) {
      const rlimit limit = {static_cast<rlim_t>(bytes), static_cast<rlim_t>(bytes)};
      if (bytes > 0) ::setrlimit(resource, &limit);
    };
    limit_to(RLIMIT_FSIZE, around.file_bytes);
    limit_to(RLIMIT_AS, around.address_bytes);
    if (around.obey_permissions) ::prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, 0, 0, 0);
  });
  const std::string program =
      around.fault.empty() ? program_path() : checkout_build_folder() + "/tests/stormcell_faulty";
  if (!around.fault.empty()) {
    environment.insert("STORMCELL_FAULT", QString::fromStdString(around.fault));
    process.setProcessEnvironment(environment);
  }
  process.start(QString::fromStdString(program), list_of(arguments));
  if (!process.waitForStarted()) return {-1, {}, "cannot start " + program};
  process.write(around.input.data(), static_cast<qint64>(around.input.size()));
  process.closeWriteChannel();
  if (!process.waitForFinished(kHung)) {
    process.kill();
    process.waitForFinished();
    Ended e = ended(process);
    e.exit = -1;
    return e;
  }
  return ended(process);
}

nlohmann::json json_of(Arguments arguments) {
  arguments.insert(arguments.end(), {"--json", "-"});
  const Ended ended = run_program(arguments);
  if (ended.exit != 0) QTest::qFail(told(arguments, ended).c_str(), __FILE__, __LINE__);
  return ended.json();
}

std::string told(const Arguments& arguments, const Ended& ended) {
  std::string text = "stormcell";
  for (const std::string& a : arguments) text += " '" + a + "'";
  return text + "\nexit " + std::to_string(ended.exit) + "\nstderr: " + ended.err +
         "\nstdout: " + ended.out.substr(0, 2000);
}

std::string defect_of_error_line(const std::string& err, std::string_view where) {
  const std::string begin = "stormcell: " + std::string(where) + ": ";
  if (err.empty() || err.find('\n') != err.size() - 1) return "standard error is not exactly one line";
  if (!err.starts_with(begin)) return "the line does not begin with \"" + begin + "\"";
  if (!err.ends_with(")\n") || err.find(" (") == std::string::npos)
    return "the line does not end with what to do, in parentheses";
  if (err.size() > 1200) return "the line is too long to read";
  return {};
}

std::string defect_of_refusal(const Arguments& arguments, std::string_view where, std::string_view words) {
  const Ended refused = run_program(arguments);
  std::string defect = refused.exit == 2 ? defect_of_error_line(refused.err, where) : "the exit code is not 2";
  if (defect.empty() && refused.err.find(words) == std::string::npos)
    defect = "expected \"" + std::string(words) + "\"";
  if (defect.empty() && !refused.out.empty()) defect = "something is on standard output";
  return defect.empty() ? defect : defect + "\n" + told(arguments, refused);
}

Running::Running(const Arguments& arguments) {
  process_.start(QString::fromStdString(program_path()), list_of(arguments));
  process_.waitForStarted();
}

Running::~Running() {
  if (process_.state() == QProcess::NotRunning) return;
  process_.kill();
  process_.waitForFinished();
}

bool Running::wait_until(const std::function<bool()>& reached) {
  QElapsedTimer time;
  for (time.start(); time.elapsed() < kHung;) {
    if (reached()) return true;
    if (process_.waitForFinished(5)) return false;
  }
  return false;
}

void Running::signal(int number) { ::kill(static_cast<pid_t>(process_.processId()), number); }

Ended Running::wait() {
  if (process_.state() != QProcess::NotRunning && !process_.waitForFinished(kHung)) return {};
  return ended(process_);
}

}  // namespace stormcell::testing
