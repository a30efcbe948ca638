// The names of the passes and a sentence for each: terminal, report, views and help take both from here. Options,
// configurations, sessions and JSON name a pass by its id.
#pragma once
#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace stormcell {

struct PassName {
  std::string_view id, name, sentence;
};

namespace pass_names {
inline constexpr PassName kSkipPadding{"unpad", "Skip padding",
                                       "Products, attention and routers compute real cells only."};
inline constexpr PassName kSendFirst{"reorder", "Send cells first",
                                     "Work that one branch needs waits for the decision that sends cells there."};
inline constexpr PassName kDecideLater{
    "permanent-path", "Decide later",
    "A router that always decided the same way decides after its branch, and a guard checks the choice."};
inline constexpr PassName kSkipSending{
    "constant-decision", "Skip sending",
    "A router that sent all cells the same way moves no cells, and a guard checks its decisions."};
inline constexpr PassName kSkipUnused{
    "dead-path", "Skip unused branches",
    "The plan neither loads nor packs branches that got no cell, and a guard checks that they get none."};
inline constexpr PassName kGroupExperts{"horizontal-fusion", "Group experts",
                                        "One grouped product replaces the products of all branches of a router."};
inline constexpr PassName kFuseNeighbours{
    "vertical-fusion", "Fuse neighbours",
    "A step takes over the norm, scale, activation, gate or residual beside it, and some neighbouring convolutions "
    "become one."};
inline constexpr PassName kHalveBytes{
    "bf16-storage", "Store in bf16",
    "The plan stores values that only bf16 products read in bf16, which halves their bytes and rounds them once."};
}  // namespace pass_names

/// In the order in which the pipeline applies them.
inline constexpr std::array kPassNames = {
    pass_names::kSkipPadding, pass_names::kSendFirst,    pass_names::kDecideLater,    pass_names::kSkipSending,
    pass_names::kSkipUnused,  pass_names::kGroupExperts, pass_names::kFuseNeighbours, pass_names::kHalveBytes};

/// The name of a pass for people. An id that this version does not know is its own name.
inline std::string pass_name(std::string_view id) {
  for (const PassName& pass : kPassNames)
    if (pass.id == id) return std::string(pass.name);
  return std::string(id);
}
inline std::vector<std::string> names_of_passes(const std::vector<std::string>& ids) {
  std::vector<std::string> names;
  for (const std::string& id : ids) names.push_back(pass_name(id));
  return names;
}

}  // namespace stormcell
