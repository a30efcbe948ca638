// Memory of this process as the system counts it.
#pragma once
#include <cstdint>

namespace stormcell {

/// Bytes this process may still take: the smaller of the machine's available memory and the control group's rest.
int64_t available_memory();
/// Largest resident set of this process so far.
int64_t peak_resident_memory();
/// The peak counts from here on, where the system allows it.
void reset_peak_resident_memory();

}  // namespace stormcell
