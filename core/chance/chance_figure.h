// A figure beside chance: what an even router gives, and whether the figure is beyond it.
#pragma once
#include <cstdint>
#include <string_view>

namespace stormcell {

/// Chances of a false call: of one figure on both sides together, or of a whole verdict over many of them.
inline constexpr double kFalseCalls = 0.05;

enum class ChanceMethod : uint8_t { closed_form, draws };
inline std::string_view to_text(ChanceMethod method) { return method == ChanceMethod::draws ? "draws" : "closed form"; }

/// `more_even`: further to the even side than chance goes, as a router that deals its branches in turn.
enum class BesideChance : uint8_t { within, more_even, more_skewed };
inline std::string_view to_text(BesideChance beside) {
  constexpr std::string_view kWords[] = {"within", "more even", "more skewed"};
  return kWords[static_cast<uint8_t>(beside)];
}

/// The middle value (median) and the interval that holds 95 % of all values.
struct ChanceRange {
  double middle = 0, low = 0, high = 0;
};

struct ChanceFigure {
  ChanceRange range;
  double p_value = 1;  ///< share of even routers that are at least as far to this side, times two; at most 1
  BesideChance beside = BesideChance::within;
};

}  // namespace stormcell
