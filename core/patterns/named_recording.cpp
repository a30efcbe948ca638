#include "core/patterns/named_recording.h"

#include <filesystem>
#include <set>
#include <system_error>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/formats/file_text.h"

namespace stormcell {
namespace {

/// "step10" of "runs/step10.safetensors", "S#3" of "S.storm#3".
std::string name_of_recording(const std::string& path) {
  const size_t run = path.rfind(".storm#");
  const std::string file = run == std::string::npos ? path : path.substr(0, run + 6);
  return std::filesystem::path(file).stem().string() + (run == std::string::npos ? "" : path.substr(run + 6));
}

NamedRecording named_recording(const std::string& text) {
  std::error_code error;
  const size_t at = text.find('=');
  if (at != std::string::npos && at > 0 && !std::filesystem::exists(text, error))
    return {text.substr(0, at), text.substr(at + 1)};
  return {name_of_recording(text), text};
}

}  // namespace

std::vector<NamedRecording> named_recordings(const std::vector<std::string>& texts) {
  if (texts.size() > kMostRecordings)
    bad_input("RECORDING", "is named " + counted(std::ssize(texts), "time"),
              "at most " + std::to_string(kMostRecordings));
  std::vector<NamedRecording> recordings;
  std::set<std::string> names;
  for (const std::string& text : texts) {
    recordings.push_back(named_recording(text));
    if (!names.insert(recordings.back().name).second)
      bad_input(text, "two recordings have the name " + in_quotes(recordings.back().name), "name them: NAME=RECORDING");
  }
  return recordings;
}

}  // namespace stormcell
