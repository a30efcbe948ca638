#include "core/base/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/base/error.h"

namespace stormcell {
namespace {

constexpr int kPollMs = 50;
constexpr size_t kKeptErrors = size_t{64} << 10;

struct Pipe {
  int ends[2] = {-1, -1};
  bool open() { return pipe2(ends, O_CLOEXEC) == 0; }
  ~Pipe() {
    for (const int end : ends)
      if (end >= 0) close(end);
  }
  void close_write() {
    close(ends[1]);
    ends[1] = -1;
  }
};

// Uses only async-signal-safe calls, because this process may have threads. A group of its own keeps a terminal's
// Ctrl-C from reaching the child twice; when this process dies, the child gets a signal to end.
[[noreturn]] void become(const ChildOptions& options, char* const* arguments, int errors) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  signal(SIGINT, SIG_DFL);
  signal(SIGTERM, SIG_DFL);
  signal(SIGPIPE, SIG_DFL);
  const int nothing = open("/dev/null", O_RDWR);
  dup2(nothing, STDIN_FILENO);
  if (options.silent) dup2(nothing, STDOUT_FILENO);
  dup2(errors, STDERR_FILENO);
  if (chdir(options.folder.c_str()) == 0) execv(options.program.c_str(), arguments);
  _exit(127);
}

void collect(int from, std::string& into) {
  char part[4096];
  const ssize_t n = read(from, part, sizeof part);
  if (n > 0) into.append(part, static_cast<size_t>(n));
  if (into.size() > 2 * kKeptErrors) into.erase(0, into.size() - kKeptErrors);
}

}  // namespace

ChildResult run_child(const ChildOptions& options, const CancellationToken& cancel) {
  std::vector<std::string> words = {"stormcell"};
  words.insert(words.end(), options.arguments.begin(), options.arguments.end());
  std::vector<char*> arguments;
  for (std::string& w : words) arguments.push_back(w.data());
  arguments.push_back(nullptr);

  ChildResult result;
  Pipe errors;
  const pid_t child = errors.open() ? fork() : -1;
  if (child < 0)
    failed(std::string(options.called_for), std::string("cannot start a process: ") + std::strerror(errno));
  if (child == 0) become(options, arguments.data(), errors.ends[1]);
  errors.close_write();

  bool asked = false, open = true;
  int status = 0;
  for (;;) {
    if (cancel.cancelled() && !asked) {
      asked = true;
      kill(child, SIGTERM);
    }
    pollfd wait_for = {errors.ends[0], POLLIN, 0};
    if (open && poll(&wait_for, 1, kPollMs) > 0) {
      if (wait_for.revents & POLLIN) {
        collect(errors.ends[0], result.errors);
      } else {
        open = false;
      }
      continue;
    }
    const pid_t ended = waitpid(child, &status, open ? WNOHANG : 0);
    if (ended == child || (ended < 0 && errno != EINTR)) break;
  }
  result.exit = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

}  // namespace stormcell
