// The message of a refused call.
#pragma once
#include <concepts>
#include <string>

#include "core/base/error.h"

namespace stormcell::testing {

/// The message of the Error that f() throws, and its kind; empty: it throws none.
template <std::invocable F>
std::string complaint(F&& f, ErrorKind* kind = nullptr) {
  try {
    f();
  } catch (const Error& e) {
    if (kind) *kind = e.kind();
    return e.what();
  }
  return {};
}

/// The same of what has to be bad input; of an Error of another kind it says so.
template <std::invocable F>
std::string bad_input_complaint(F&& f) {
  ErrorKind kind = ErrorKind::bad_input;
  const std::string said = complaint(f, &kind);
  return (kind == ErrorKind::bad_input ? "" : "not bad input: ") + said;
}

}  // namespace stormcell::testing
