// Runs a piece of a test in a process of its own, so that it can be killed or lose its rights.
#pragma once
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <exception>
#include <functional>
#include <string>

namespace stormcell::testing {

class Child {
 public:
  /// Starts `body` with a function that sends one line to the parent. What it throws is sent as "error: ...".
  using Send = std::function<void(const std::string&)>;
  explicit Child(const std::function<void(const Send&)>& body) {
    int ends[2];
    if (::pipe(ends) != 0) return;
    pid_ = ::fork();
    if (pid_ == 0) {
      ::close(ends[0]);
      const Send send = [&](const std::string& line) {
        const std::string text = line + "\n";
        if (::write(ends[1], text.data(), text.size()) < 0) ::_exit(3);
      };
      try {
        body(send);
      } catch (const std::exception& e) {
        send(std::string("error: ") + e.what());
      }
      ::_exit(0);
    }
    ::close(ends[1]);
    from_ = ends[0];
  }
  ~Child() {
    if (pid_ > 0) kill();
    ::close(from_);
  }
  /// The next line; empty at the end.
  std::string line() {
    std::string text;
    char c;
    while (::read(from_, &c, 1) == 1 && c != '\n') text += c;
    return text;
  }
  void kill() {
    ::kill(pid_, SIGKILL);
    wait();
  }
  int wait() {
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    return status;
  }

 private:
  pid_t pid_ = -1;
  int from_ = -1;
};

/// Gives up root's rights, before which no permission holds.
inline void become_nobody() {
  if (::geteuid() == 0 && (::setgid(65534) != 0 || ::setuid(65534) != 0)) ::_exit(4);
}

}  // namespace stormcell::testing
