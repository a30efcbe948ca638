// Vocabulary specialization that an even router gives by chance. It is far above the line k / branches that papers draw:
// of few cells, some branch always gets a large share.
#pragma once
#include <cstdint>
#include <map>

#include "core/chance/chance_figure.h"

namespace stormcell {

/// Largest shares of an even router's cells, by drawing up to 256 cells and in closed form above. Keeps what it drew.
class EvenVocabulary {
 public:
  EvenVocabulary(int32_t branches, int32_t k);
  /// `tokens_with`: number of tokens by their number of cells. `specialization`: the mean of their largest shares. The
  /// range includes the error of the draws.
  ChanceFigure judge(const std::map<int64_t, int64_t>& tokens_with, double specialization);

 private:
  struct LargestShare {
    double mean = 0, variance = 0;
    int64_t draws = 0;  ///< 0: closed form
  };
  const LargestShare& of_cells(int64_t cells);
  LargestShare drawn(int64_t cells) const;

  int32_t branches_, k_;
  std::map<int64_t, LargestShare> known_;
};

}  // namespace stormcell
