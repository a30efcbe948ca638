#include "app/cli/signals.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

namespace stormcell::cli {
namespace {

// A signal handler gets no context: the one place where the program needs a global.
const CancellationToken* signalled = nullptr;

void on_signal(int number) {
  signalled->cancel(number == SIGTERM ? ErrorKind::terminated : ErrorKind::interrupted);
  signal(SIGINT, SIG_DFL);
  signal(SIGTERM, SIG_DFL);
}

}  // namespace

void raise_on_signals(const CancellationToken& token) {
  static const CancellationToken kept = token;
  signalled = &kept;
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (const int number : {SIGINT, SIGTERM}) sigaction(number, &action, nullptr);
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
}

void open_standard_descriptors() {
  int descriptor = open("/dev/null", O_RDWR);
  while (descriptor >= 0 && descriptor <= 2) descriptor = dup(descriptor);
  if (descriptor > 2) close(descriptor);
}

}  // namespace stormcell::cli
