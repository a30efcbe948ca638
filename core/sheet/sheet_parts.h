// The steps that sheets of all kinds of files share.
#pragma once
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "core/formats/described_tensor.h"
#include "core/formats/torch_outline.h"
#include "core/sheet/model_place.h"
#include "core/sheet/tensor_tally.h"
#include "core/summary/sheet_figures.h"

namespace stormcell {

// Each of these fills what its kind of files says.
void fill_from_folder(const ModelPlace& place, ModelSheet& sheet);
void fill_from_gguf(const ModelPlace& place, ModelSheet& sheet);
void fill_from_tensors(const ModelPlace& place, ModelSheet& sheet);  ///< safetensors alone, files of torch.save()
void fill_from_program(const ModelPlace& place, ModelSheet& sheet);  ///< ONNX, torch.export, TorchScript
void fill_from_trace(const ModelPlace& place, ModelSheet& sheet);

/// Error(bad_input): the file is of a kind that is known and none of these (ids): a pointer, a page of a server.
void refuse_unlike(const std::string& path, std::initializer_list<std::string_view> kinds);

/// Reads the header of a safetensors file and counts it.
void see_safetensors(const std::string& path, const SeeTensor& see, ModelSheet& sheet);

/// The same of a file of torch.save().
TorchOutline see_torch(const std::string& path, const SeeTensor& see, ModelSheet& sheet);

/// Parameters, active ones, formats and the parts of memory. The sheet's experts and k must be set, or 0.
void set_weights(const TensorTally& tally, ModelSheet& sheet);

inline void add_lacks(ModelSheet& sheet, std::vector<SheetLack> lacks) {
  sheet.lacks.insert(sheet.lacks.end(), lacks.begin(), lacks.end());
}

/// The last part of a path, for names.
std::string file_name(const std::string& path);

}  // namespace stormcell
