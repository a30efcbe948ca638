// A model in GGUF that may be split: its parts agree with each other and with their names.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/formats/gguf_header.h"

namespace stormcell {

/// Error(bad_input) that names `path`: its header says that it is another part than part `i` of `parts`, or that it is
/// of another model than the first part, whose keys are `first`.
void check_gguf_part(const GgufEntries& keys, const GgufEntries& first, size_t i, size_t parts,
                     const std::string& path);

/// Error(bad_input) that names `path`: parts with so many tensors together are not those that the first part tells of.
void check_gguf_tensors(const GgufEntries& first, size_t parts, int64_t tensors, const std::string& path);

/// Error(bad_input) that names `path`: the data of its tensor `name` end beyond the file. `end`: from the end of the
/// header on.
void check_gguf_end(const GgufHeader& header, const std::string& name, uint64_t end, uint64_t file_bytes,
                    const std::string& path);

}  // namespace stormcell
