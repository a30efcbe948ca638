// Numbers of cases under a sanitizer: it looks at code that each case runs, at a tenth of the speed. What
// the cases compute is judged of all of them by the build at full speed.
#pragma once

namespace stormcell::testing {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

/// All of `n` cases drawn by chance, or under a sanitizer the first third, and so of what they must have exercised.
constexpr int drawn(int n) { return kSanitized ? n / 3 : n; }

}  // namespace stormcell::testing
