// Protects threads that must never wait, such as a window's: calls that read files or compute for long refuse to run
// there.
#pragma once

namespace stormcell {

/// From now on, calls that may block throw std::logic_error on the calling thread. It is meant for a window's thread.
void forbid_blocking_here();
/// First line of every call that may block.
void may_block(const char* what);

/// Lifts the ban for a scope: before a window is shown, or in a test that wants an answer at once.
class AllowBlocking {
 public:
  AllowBlocking();
  ~AllowBlocking();
  AllowBlocking(const AllowBlocking&) = delete;
  AllowBlocking& operator=(const AllowBlocking&) = delete;

 private:
  bool before_;
};

}  // namespace stormcell
