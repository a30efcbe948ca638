#include "core/readings/session_contents.h"

#include <unistd.h>

#include <filesystem>

#include "core/base/blocking.h"
#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/models/model.h"
#include "core/readings/session_lookup.h"
#include "core/session/session_reader.h"

namespace stormcell {

SessionContents session_contents(const std::string& file) {
  may_block("session_contents");
  const SessionReader reader(file);
  SessionContents contents;
  const SessionSummary& s = reader.summary();
  contents.holds.push_back("The name and the fingerprint of the model (" + s.model.name + "), no weights.");
  const std::vector<RunSummary> runs = reader.runs();
  int64_t batches = 0, decisions = 0, texts = 0, tokens = 0, labels = 0;
  for (const RunSummary& run : runs) {
    batches += run.batches;
    decisions += reader.has_decisions(run.id);
    const RecordedInputs inputs = recorded_inputs(reader, run.id);
    texts += inputs.texts, tokens += inputs.tokens, labels += inputs.labels;
  }
  contents.private_texts = texts > 0 || tokens > 0;
  contents.holds.push_back(counted(std::ssize(runs), "run") + " with " + counted(batches, "batch") +
                           ": timings, loads by router and branch; in " + std::to_string(decisions) +
                           " of them every single routing decision.");
  contents.holds.emplace_back(
      "The settings of each run with the paths of model and data, and the machine's processor, threads and measured "
      "ceilings.");
  if (texts) contents.holds.push_back("The texts of the data, of " + counted(texts, "run") + ".");
  if (tokens)
    contents.holds.push_back("The token ids of the data, of " + counted(tokens, "run") +
                             (reader.has_pieces() ? ", with the pieces of text that they stand for."
                                                  : ": with the tokenizer they are the texts."));
  if (labels) contents.holds.push_back("The labels of the data, of " + counted(labels, "run") + ".");
  return contents;
}

namespace {
std::filesystem::path sample_file() { return std::filesystem::path(resources_folder()) / "sample" / "sample.storm"; }
}  // namespace

bool session_is_writable(const std::string& file) {
  may_block("session_is_writable");
  // The sample stays as it was recorded, wherever it lies: the next one who opens it expects its runs.
  std::error_code none;
  if (std::filesystem::equivalent(file, sample_file(), none)) return false;
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  return ::access(file.c_str(), W_OK) == 0 && ::access(folder.empty() ? "." : folder.c_str(), W_OK) == 0;
}

std::string sample_session() {
  may_block("sample_session");
  std::error_code error;
  const std::filesystem::path file = sample_file();
  if (std::filesystem::exists(file, error)) return file.string();
  bad_input(file.string(), "the sample session is not installed here",
            "set STORMCELL_RESOURCES to the folder that holds sample/sample.storm");
}

}  // namespace stormcell
