// Scratch files of a test, and what every refusal of bad input must look like.
#pragma once
#include <QTemporaryDir>
#include <QTest>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>

#include "core/base/error.h"

namespace stormcell::testing {

/// A folder that goes away with the object.
class Scratch {
 public:
  Scratch() {}  // user-provided, so that a constant one may be declared without an initializer
  std::string path(const std::string& name) const {
    return (std::filesystem::path(folder_.path().toStdString()) / name).string();
  }
  std::string folder() const { return folder_.path().toStdString(); }
  std::string write(const std::string& name, std::string_view content) const {
    const std::string file = path(name);
    std::filesystem::create_directories(std::filesystem::path(file).parent_path());
    std::ofstream(file, std::ios::binary) << content;
    return file;
  }
  static std::string read(const std::string& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

 private:
  QTemporaryDir folder_;
};

/// The message of the Error of kind bad_input that `action` must throw; empty, with a failure, when it does not.
/// It is one line that names `where` first and ends with what to do in parentheses.
inline std::string bad_input_of(const std::function<void()>& action, const std::string& where) {
  std::string message;
  try {
    action();
    QTest::qFail("expected an Error, nothing was thrown", __FILE__, __LINE__);
    return {};
  } catch (const Error& error) {
    message = error.what();
    if (error.kind() != ErrorKind::bad_input) QTest::qFail(("not bad input: " + message).c_str(), __FILE__, __LINE__);
  }
  const bool well_formed = message.starts_with(where + ":") && message.ends_with(')') &&
                           message.find('\n') == std::string::npos && message.size() < 1500;
  if (!well_formed)
    QTest::qFail(("expected one line \"" + where + ": what (what to do)\", got: " + message).c_str(), __FILE__,
                 __LINE__);
  return message;
}

}  // namespace stormcell::testing

/// The refusal must contain `words`.
#define VERIFY_BAD_INPUT(expression, where, words)                                                      \
  do {                                                                                                  \
    const std::string refusal = ::stormcell::testing::bad_input_of([&] { (void)(expression); }, where); \
    QVERIFY2(refusal.find(words) != std::string::npos,                                                  \
             ("expected \"" + std::string(words) + "\" in: " + refusal).c_str());                       \
  } while (false)
