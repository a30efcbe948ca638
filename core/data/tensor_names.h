// Names of the tensors that data have.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stormcell {

class TensorFile;

/// What is to be said of tensors that nobody reads: empty, or one sentence. Error(bad_input) naming `path` where one is
/// called almost as a known one: data without their mask would be computed as if all were real.
std::vector<std::string> check_tensor_names(const std::string& path, const TensorFile& file,
                                            std::span<const std::string_view> known);

/// Behind "has no tensor x": "; it holds y and z". Empty where the file holds nothing.
std::string held_instead(const TensorFile& file);

}  // namespace stormcell
