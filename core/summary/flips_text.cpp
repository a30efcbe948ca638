#include <string>

#include "core/summary/results.h"

#include "core/base/counted.h"

namespace stormcell {

std::string flips_text(const Verification& v) {
  std::string text;
  if (v.flips == 0) {
    text = "no routing choice differs";
  } else {
    text = counted(v.flips, "routing choice differs", "routing choices differ") + ", ";
    const int64_t bad = v.flips - v.explained_flips;
    text += bad == 0         ? (v.flips == 1 ? "a near tie" : "all of them near ties")
            : bad == v.flips ? (v.flips == 1 ? "which is no near tie" : "none of them a near tie")
                             : with_commas(bad) + " of them without a near tie";
  }
  if (v.consequences > 0) text += "; " + counted(v.consequences, "more follows", "more follow") + " from that";
  return text;
}

}  // namespace stormcell
