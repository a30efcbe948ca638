#include "core/base/error.h"

namespace stormcell {
namespace {
// A message is one line on stderr: control characters from hostile input must not break that.
std::string one_line(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  return text;
}
std::string compose(std::string_view where, std::string_view what, std::string_view advice) {
  std::string text(where);
  if (!text.empty()) text += ": ";
  text += what;
  if (!advice.empty()) {
    text += " (";
    text += advice;
    text += ")";
  }
  return one_line(std::move(text));
}
}  // namespace

Error::Error(ErrorKind kind, std::string_view where, std::string_view what, std::string_view advice)
    : std::runtime_error(compose(where, what, advice)), kind_(kind) {}

int Error::exit_code() const {
  switch (kind_) {
    case ErrorKind::bad_input:
      return 2;
    case ErrorKind::failed:
      return 1;
    case ErrorKind::interrupted:
      return 130;
    case ErrorKind::terminated:
      return 143;
  }
  return 1;
}

void bad_input(std::string_view where, std::string_view what, std::string_view advice) {
  throw Error(ErrorKind::bad_input, where, what, advice);
}
void failed(std::string_view where, std::string_view what, std::string_view advice) {
  throw Error(ErrorKind::failed, where, what, advice);
}

}  // namespace stormcell
