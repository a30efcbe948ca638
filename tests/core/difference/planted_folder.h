// Faults that somebody planted into files, and the verdicts on them. A folder has a folder for each pair, with the
// recordings a.* and b.* and with expect.json:
//
//   {"cause": "layer-shift", "cannot_be_told": false, "strength": "one of 48 layers"}
//
// `cause` is a word of kDiffCauses, "agree" for a healthy pair. `cannot_be_told` is true if the recordings lack what this
// cause needs: then a verdict that says so is right, too.
#pragma once
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/difference/causes.h"
#include "core/difference/difference.h"
#include "core/formats/json_file.h"

namespace stormcell::testing {

/// Limits of the verdicts: the smallest share of faults that are named, and the largest that may be untold.
inline constexpr double kNamedShare = .95, kUntoldShare = .25;

struct FolderPair {
  std::string name, a, b, cause, strength;
  bool may_be_untold = false;
  bool is_healthy() const { return cause == to_text(DiffCause::agree); }
};

/// `untold`: the recordings cannot tell it, as was stated before. `accused`: a cause is named of a healthy pair.
enum class FolderResult : uint8_t { named, untold, wrong, accused };
inline std::string_view to_text(FolderResult result) {
  constexpr std::string_view kWords[] = {"named", "cannot be told, as stated", "WRONG", "ACCUSED"};
  return kWords[static_cast<uint8_t>(result)];
}

struct FolderVerdict {
  FolderPair pair;
  std::string verdict, confidence, evidence;  ///< verdict: a cause, "cannot be told", or "refused"
  FolderResult result = FolderResult::wrong;
};

/// The one file of the folder that is named "a.*"; what SQLite leaves beside a session is none.
inline std::string recording_in(const std::filesystem::path& folder, const std::string& side) {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    const bool of_sqlite = name.ends_with("-wal") || name.ends_with("-shm") || name.ends_with("-journal");
    if (name.starts_with(side + ".") && !of_sqlite) found.push_back(entry.path().string());
  }
  if (found.size() != 1)
    bad_input(folder.string(),
              "has " + counted(std::ssize(found), "file", "files") + " named " + side + ".* in place of one",
              "a pair is the recordings a.* and b.* with expect.json");
  return found[0];
}

inline FolderPair pair_in(const std::filesystem::path& folder) {
  FolderPair pair{folder.filename().string(), recording_in(folder, "a"), recording_in(folder, "b"), {}, {}};
  const std::string file = (folder / "expect.json").string();
  const nlohmann::json expected = read_json_file(file);
  if (!expected.is_object() || !expected.contains("cause") || !expected["cause"].is_string() ||
      !expected.contains("cannot_be_told") || !expected["cannot_be_told"].is_boolean())
    bad_input(file, "does not state \"cause\" as a text and \"cannot_be_told\" as true or false");
  pair.cause = expected["cause"].get<std::string>();
  pair.may_be_untold = expected["cannot_be_told"].get<bool>();
  if (expected.contains("strength") && expected["strength"].is_string())
    pair.strength = expected["strength"].get<std::string>();
  if (std::ranges::find(kDiffCauses, std::string_view(pair.cause)) == kDiffCauses.end())
    bad_input(file, "\"" + pair.cause + "\" is not a cause", "a word of the table of causes that diff names");
  return pair;
}

/// Ascending by name. Throws Error(bad_input) that names the first folder or file that is no pair.
inline std::vector<FolderPair> pairs_in(const std::string& folder) {
  std::vector<std::filesystem::path> folders;
  if (!std::filesystem::is_directory(folder)) bad_input(folder, "is not a folder", "name the folder of the pairs");
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.is_directory()) folders.push_back(entry.path());
  std::sort(folders.begin(), folders.end());
  std::vector<FolderPair> pairs;
  for (const std::filesystem::path& of : folders) pairs.push_back(pair_in(of));
  if (pairs.empty()) bad_input(folder, "has no folder of a pair", "a pair is the recordings a.* and b.* with expect.json");
  return pairs;
}

inline FolderResult result_of(const FolderPair& pair, const DiffVerdict& verdict) {
  if (verdict.cause == pair.cause) return FolderResult::named;
  const auto& untold = verdict.cannot_be_told;
  const bool says_so = verdict.cause.empty() || (verdict.cause == to_text(DiffCause::agree) &&
                                                 std::find(untold.begin(), untold.end(), pair.cause) != untold.end());
  if (pair.may_be_untold && says_so) return FolderResult::untold;
  return pair.is_healthy() && !verdict.cause.empty() ? FolderResult::accused : FolderResult::wrong;
}

inline FolderVerdict judge_pair(const FolderPair& pair) {
  FolderVerdict judged{pair, "refused", {}, {}};
  try {
    const DiffVerdict verdict = diff_recordings({pair.a, pair.b}).verdict;
    judged.verdict = verdict.cause.empty() ? "cannot be told" : verdict.cause;
    if (verdict.confidence) judged.confidence = std::to_string(*verdict.confidence).substr(0, 4);
    judged.evidence = verdict.evidence;
    judged.result = result_of(pair, verdict);
  } catch (const Error& e) {
    judged.evidence = e.what();
  }
  return judged;
}

/// Counts of the verdicts, and whether they hold the limits.
struct FolderShares {
  int64_t faults = 0, right = 0, untold = 0, healthy = 0, agree = 0, accused = 0;
  bool hold() const {
    return static_cast<double>(right) >= kNamedShare * static_cast<double>(faults) &&
           static_cast<double>(untold) <= kUntoldShare * static_cast<double>(faults) && accused == 0 && agree == healthy;
  }
};

inline FolderShares shares_of(const std::vector<FolderVerdict>& verdicts) {
  FolderShares shares;
  for (const FolderVerdict& v : verdicts) {
    const bool is_right = v.result == FolderResult::named || v.result == FolderResult::untold;
    if (v.pair.is_healthy()) {
      ++shares.healthy;
      shares.agree += is_right, shares.accused += v.result == FolderResult::accused;
    } else {
      ++shares.faults;
      shares.right += is_right, shares.untold += v.result == FolderResult::untold;
    }
  }
  return shares;
}

inline std::string percent_of(int64_t part, int64_t of) {
  return of == 0 ? "none" : std::to_string(1000 * part / of / 10) + "." + std::to_string(1000 * part / of % 10) + " %";
}

/// A line for each pair, one for each cause, and the shares.
inline std::string table_of_verdicts(const std::vector<FolderVerdict>& verdicts) {
  std::vector<std::vector<std::string>> rows = {{"pair", "strength", "planted", "verdict", "confidence", "result"}};
  std::map<std::string, std::pair<int64_t, int64_t>> by_cause;
  for (const FolderVerdict& v : verdicts) {
    rows.push_back(
        {v.pair.name, v.pair.strength, v.pair.cause, v.verdict, v.confidence, std::string(to_text(v.result))});
    auto& [right, all] = by_cause[v.pair.cause];
    right += v.result == FolderResult::named || v.result == FolderResult::untold, ++all;
  }
  std::vector<size_t> wide(rows[0].size());
  for (const auto& row : rows)
    for (size_t c = 0; c < row.size(); ++c) wide[c] = std::max(wide[c], row[c].size());
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (size_t c = 0; c < row.size(); ++c) line += row[c] + std::string(wide[c] - row[c].size() + 2, ' ');
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  for (const FolderVerdict& v : verdicts)
    if (v.result == FolderResult::wrong || v.result == FolderResult::accused)
      text += "\n" + v.pair.name + ": " + v.evidence;
  text += "\n";
  for (const auto& [cause, counts] : by_cause)
    text += "\n" + cause + ": " + std::to_string(counts.first) + " of " + std::to_string(counts.second);
  const FolderShares s = shares_of(verdicts);
  text += "\n\nfaults named, or untold as stated: " + std::to_string(s.right) + " of " + std::to_string(s.faults) + " (" +
          percent_of(s.right, s.faults) + "; at least 95 %)";
  text += "\nof these untold: " + std::to_string(s.untold) + " (" + percent_of(s.untold, s.faults) + "; at most 25 %)";
  text += "\nhealthy pairs that agree: " + std::to_string(s.agree) + " of " + std::to_string(s.healthy) + ", accused: " +
          std::to_string(s.accused) + " (none may be)";
  return text + "\n" + (s.hold() ? "The limits hold." : "THE LIMITS DO NOT HOLD.") + "\n";
}

}  // namespace stormcell::testing
