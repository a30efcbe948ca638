// The texts of tokens in a native trace.
#pragma once
#include <cstdint>
#include <map>
#include <string>

#include "core/base/progress.h"

namespace stormcell {

class SafetensorsFile;

/// Reads token.id i32 [n], token.end i64 [n], token.text u8 [bytes]: text i ends at end i. Texts that are no UTF-8 are
/// left out; empty: the file has none. Error(bad_input) that names `path`: another type or shape, an end that descends.
std::map<int32_t, std::string> read_token_pieces(const SafetensorsFile& file, const std::string& path,
                                                 const Progress& progress);

}  // namespace stormcell
