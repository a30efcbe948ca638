// An optimisation: asks the profile, rewrites the graph, guards what the profile could be wrong about, says why it did
// or did not apply.
#pragma once
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/graph.h"
#include "core/runtime/bf16_rows.h"

namespace stormcell {

/// Loads of a router, summed over the profiled batches; a profile has them by the router's name.
struct RouterLoad {
  std::vector<int64_t> load;  ///< [branches] cells kept
  int64_t cells = 0;          ///< cells decided about
  int64_t batches = 0;
  std::vector<int64_t> load_real = {};  ///< [branches] without padding; empty: not known
  int64_t cells_real = 0;
  /// The same for the prompt and for turns, in this order, if a router decides in both. Empty: it decides in one of
  /// them alone.
  std::vector<RouterLoad> prompt_and_turns = {};
};
struct LoadProfile {
  std::map<std::string, RouterLoad, std::less<>> routers;
};

/// Facts about the data's masks, over all batches.
struct MaskFacts {
  int64_t cells = 0, real = 0;
  bool padding_last = true;  ///< no sequence has padding before a real cell
  bool some_in_each = true;  ///< every sequence has a real cell
};

/// A setting of a pass that a user may change, and its default.
struct PassOption {
  enum class Kind : uint8_t { flag, share, count };  ///< flag: 0 or 1; share: of one; count: whole
  std::string_view key, summary;
  Kind kind = Kind::flag;
  double standard = 1, least = 0, most = 1;
};

/// Option values as texts by key ("on", "off", "0.01", "3"); those of a configuration include what the pass found.
using PassParameters = std::map<std::string, std::string>;

struct PassInput {
  const Graph& graph;
  const LoadProfile& profile;
  const PassParameters* parameters = nullptr;  ///< from a configuration: does the same again, whatever the profile says
  PassParameters options = {};                 ///< options that differ from the standard; checked
  std::map<std::string, MaskFacts, std::less<>> masks = {};  ///< by the mask's name
  /// Operators whose kernels take rows in bf16, of a device whose products round their input to it; null: they do not.
  const Bf16Rows* bf16_rows = nullptr;
  /// Names of the parts under a budget (--weight-budget): weights of one branch, read when it gets cells. Empty: all
  /// weights are loaded for good.
  std::set<std::string, std::less<>> parts = {};
  /// Operators that the device has kernels for (DeviceInfo::operators), which must outlive this; empty: all.
  std::span<const std::string_view> operators = {};

  /// Whether a pass may make such a node. A guard or a repeat needs no kernel.
  bool has_kernel(std::string_view op) const;
  double option(const PassOption& option) const;
  bool is_on(const PassOption& flag) const { return option(flag) != 0; }
  /// The same for another graph and with other settings: what is known of the data, the device and the budget stays.
  PassInput on(const Graph& other, PassParameters settings, const PassParameters* found) const {
    return {other, profile, found, std::move(settings), masks, bf16_rows, parts, operators};
  }
};

/// The assumption of a pass about a router: every cell goes to all of `branches`, and to no other.
struct ConstantClaim {
  std::string router;
  std::vector<int32_t> branches;
  int32_t fan_out = 1;
  bool of_real_cells = false;  ///< padding is left out where it decides
};

struct PassResult {
  Graph graph;  ///< equal to the input's where not applied; verified
  bool applied = false;
  /// real cells keep their last bit; false: sums run in another order. A lossy pass says false
  bool same_bits = true;
  std::string reason;  ///< one sentence: what was done, or why not
  std::vector<ConstantClaim> claims = {};
  bool decides = true;  ///< false: the routers of `claims` are gone, and all cells go as they say (approximate)
  /// what the pass found and `run --config` needs, beside the options, to do the same again
  PassParameters parameters;
};

struct Pass {
  std::string_view id, summary;
  bool lossy = false;  ///< runs only when enabled by name
  PassResult (*run)(const PassInput& input) = nullptr;
  std::span<const PassOption> options;
  bool leaves_padding_out = false;  ///< padded data then costs what its real cells do
};

/// The value that a text gives; Error(bad_input) naming `where` with what is allowed.
double parse_option(const PassOption& option, std::string_view text, const std::string& where);
/// The text of a value, the shortest that parses to it.
std::string option_text(const PassOption& option, double value);
/// nullptr for a key that the pass does not have.
const PassOption* find_option(const Pass& pass, std::string_view key);
/// The texts of `given` in their shortest form, without those that say the standard. Error(bad_input) naming `where`
/// for an unknown key.
PassParameters checked_options(const Pass& pass, const PassParameters& given, const std::string& where);

/// The visible list, in the order in which the pipeline applies them.
std::span<const Pass> standard_passes();
/// Ids of the contract whose passes are still to come.
std::span<const std::string_view> planned_passes();
/// The passes of this program: those, unless it is linked with others (used_passes.cpp).
std::span<const Pass> passes();
/// nullptr for an unknown id.
const Pass* find_pass(std::string_view id);
/// Throws Error(bad_input) naming `where`, with the list, for an id that is unknown or missing in this version.
void check_pass(std::string_view id, std::string_view where);

}  // namespace stormcell
