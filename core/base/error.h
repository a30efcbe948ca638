// The one exception type of Stormcell: place, fault, remedy, and the exit code.
#pragma once
#include <stdexcept>
#include <string>
#include <string_view>

namespace stormcell {

/// Kinds of errors that callers treat differently.
enum class ErrorKind {
  bad_input,    ///< bad usage or bad input: exit code 2
  failed,       ///< a run failed, could not be verified, or a disk or device failed: exit code 1
  interrupted,  ///< Ctrl-C: exit code 130
  terminated,   ///< SIGTERM: exit code 143
};

/// The message reads `where: what (advice)`; `where` is a file, an option, or a node of a graph.
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, std::string_view where, std::string_view what, std::string_view advice = {});
  ErrorKind kind() const { return kind_; }
  int exit_code() const;

 private:
  ErrorKind kind_;
};

/// Throws an Error of kind bad_input (exit code 2).
[[noreturn]] void bad_input(std::string_view where, std::string_view what, std::string_view advice = {});
/// Throws an Error of kind failed (exit code 1).
[[noreturn]] void failed(std::string_view where, std::string_view what, std::string_view advice = {});

}  // namespace stormcell
