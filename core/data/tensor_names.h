// Names of the tensors that data have.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stormcell {

class TensorFile;

/// A warning about unused tensors: empty, or one sentence. Error(bad_input) naming `path` if a name is almost a known
/// one: without a misspelt mask, for example, padding would be computed as data.
std::vector<std::string> check_tensor_names(const std::string& path, const TensorFile& file,
                                            std::span<const std::string_view> known);

/// The end of "has no tensor x": "; it holds y and z". Empty if the file holds no tensor.
std::string held_instead(const TensorFile& file);

}  // namespace stormcell
