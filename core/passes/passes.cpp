// The visible list of passes, in the order in which the pipeline applies them. A new one: its file here, its row, its
// test. Passes that leave work out come first. Vertical fusion comes after horizontal fusion: a norm that fed a scatter
// only then feeds a product, and the convolutions of all branches only then become chains of all branches. Formats are
// chosen last, for the values that are left.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "core/base/error.h"
#include "core/base/listed_words.h"
#include "core/base/nearest_words.h"
#include "core/base/pass_names.h"
#include "core/graph/operator.h"
#include "core/passes/bf16_storage.h"
#include "core/passes/constant_decision.h"
#include "core/passes/dead_path.h"
#include "core/passes/horizontal_fusion.h"
#include "core/passes/pass.h"
#include "core/passes/permanent_path.h"
#include "core/passes/reorder.h"
#include "core/passes/unpad.h"
#include "core/passes/vertical_fusion.h"

namespace stormcell {
namespace {
/// A row's id and sentence, from the table of names.
constexpr Pass named(const PassName& name, bool lossy, PassResult (*run)(const PassInput&),
                     std::span<const PassOption> options = {}, bool leaves_padding_out = false) {
  return {name.id, name.sentence, lossy, run, options, leaves_padding_out};
}

constexpr std::array kPasses = {
    named(pass_names::kSkipPadding, false, unpad, {}, true),
    named(pass_names::kSendFirst, false, reorder, kReorderOptions),
    named(pass_names::kDecideLater, true, permanent_path, kPermanentPathOptions),
    named(pass_names::kSkipSending, false, constant_decision, kConstantDecisionOptions),
    named(pass_names::kSkipUnused, false, dead_path, kDeadPathOptions),
    named(pass_names::kGroupExperts, false, horizontal_fusion, kHorizontalFusionOptions),
    named(pass_names::kFuseNeighbours, false, vertical_fusion, kVerticalFusionOptions),
    named(pass_names::kHalveBytes, false, bf16_storage),
};
constexpr std::string_view kPlanned[] = {"constant-folding", "capacity",      "kernel-tuning",
                                         "quantize-bf16",    "quantize-int8", "speculative-routing",
                                         "weight-preload",   "memory-plan",   "placement"};

std::string shortest(double value) {
  char text[32];
  const auto [end, error] = std::to_chars(text, text + sizeof text, value);
  return std::string(text, end);
}
}  // namespace

std::span<const Pass> standard_passes() { return kPasses; }
std::span<const std::string_view> planned_passes() { return kPlanned; }

bool PassInput::has_kernel(std::string_view op) const {
  if (operators.empty() || std::find(operators.begin(), operators.end(), op) != operators.end()) return true;
  const Operator* known = find_operator(op);
  return known && (known->role == Role::guard || known->role == Role::repeat);
}

double PassInput::option(const PassOption& option) const {
  const auto at = options.find(std::string(option.key));
  return at == options.end() ? option.standard : parse_option(option, at->second, std::string(option.key));
}

double parse_option(const PassOption& option, std::string_view text, const std::string& where) {
  if (option.kind == PassOption::Kind::flag) {
    if (text != "on" && text != "off") bad_input(where, "expected on or off, got \"" + std::string(text) + "\"");
    return text == "on" ? 1 : 0;
  }
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = option.kind != PassOption::Kind::count || value == std::floor(value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= option.least && value <= option.most) ||
      !whole)
    bad_input(where,
              (option.kind == PassOption::Kind::count ? "expected a whole number from " : "expected a share from ") +
                  shortest(option.least) + " to " + shortest(option.most) + ", got \"" + std::string(text) + "\"");
  return value;
}

std::string option_text(const PassOption& option, double value) {
  return option.kind == PassOption::Kind::flag ? (value != 0 ? "on" : "off") : shortest(value);
}

const PassOption* find_option(const Pass& pass, std::string_view key) {
  for (const PassOption& option : pass.options)
    if (option.key == key) return &option;
  return nullptr;
}

PassParameters checked_options(const Pass& pass, const PassParameters& given, const std::string& where) {
  PassParameters checked;
  for (const auto& [key, text] : given) {
    const PassOption* option = find_option(pass, key);
    if (!option) {
      bad_input(where, "pass " + std::string(pass.id) + " has no option \"" + key + "\"",
                pass.options.empty() ? "it has none"
                                     : advice_on_word(
                                           key, pass.options, [](const PassOption& o) { return o.key; }, "it has "));
    }
    const double value = parse_option(*option, text, where + " " + std::string(pass.id) + "." + key);
    if (value != option->standard) checked[key] = option_text(*option, value);
  }
  return checked;
}

const Pass* find_pass(std::string_view id) {
  for (const Pass& pass : passes())
    if (pass.id == id) return &pass;
  return nullptr;
}

void check_pass(std::string_view id, std::string_view where) {
  if (find_pass(id)) return;
  const bool planned = std::find(std::begin(kPlanned), std::end(kPlanned), id) != std::end(kPlanned);
  bad_input(where, "\"" + std::string(id) + "\" is " + (planned ? "not in this version" : "not a pass"),
            advice_on_word(planned ? "" : id, passes(), [](const Pass& p) { return p.id; }));
}

}  // namespace stormcell
