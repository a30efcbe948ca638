// Programs that were traced or compiled elsewhere: which operators they call, and whether any of them routes.
#include <algorithm>
#include <filesystem>
#include <map>

#include "core/base/counted.h"
#include "core/base/listed_words.h"
#include "core/formats/file_text.h"
#include "core/formats/header_bytes.h"
#include "core/formats/onnx_header.h"
#include "core/formats/open_file.h"
#include "core/formats/pt2_header.h"
#include "core/formats/torch_outline.h"
#include "core/sheet/sheet_parts.h"

namespace stormcell {
namespace {

using Operators = std::map<std::string, int64_t>;

int64_t calls_of(const Operators& operators, std::initializer_list<std::string_view> ends) {
  int64_t calls = 0;
  for (const auto& [name, count] : operators)
    if (std::any_of(ends.begin(), ends.end(), [&name = name](std::string_view end) { return name.ends_with(end); }))
      calls += count;
  return calls;
}

/// Adds what a traced program lacks: the paths that its example did not take.
void add_program_lacks(ModelSheet& sheet, int64_t nodes, int64_t mixtures, int64_t conditions,
                       std::string_view condition) {
  if (mixtures > 0) sheet.lacks.push_back({"experts in a fused operator", "in " + counted(mixtures, "node"), mixtures});
  if (conditions > 0)
    sheet.lacks.push_back({"needs `" + std::string(condition) + "`, which chooses a path for a whole input",
                           "in " + counted(conditions, "node"), conditions});
  if (mixtures == 0)
    sheet.lacks.push_back(
        {"a traced program keeps one path: " + counted(nodes, "node") + (conditions > 0 ? "" : ", no router"), "",
         nodes});
}

void fill_from_onnx(const ModelPlace& place, TensorTally& tally, ModelSheet& sheet) {
  const OpenFile file = OpenFile::open_regular(place.path);
  HeaderBytes bytes(file);
  const OnnxHeader header = read_onnx_header(bytes, [&](const DescribedTensor& tensor) { tally.add(tensor); });
  if (!header.producer.empty()) sheet.family = "ONNX of " + header.producer;
  // Numbers of a large model are in other files beside it.
  std::vector<std::string> missing;
  for (const std::string& name : header.files)
    if (has_entry((std::filesystem::path(place.path).parent_path() / name).string()))
      ++sheet.files;
    else
      missing.push_back(in_quotes(name));
  if (!missing.empty())
    sheet.lacks.push_back({"files of weights are not there: " + listed(missing, 3),
                           std::to_string(missing.size()) + " of " + std::to_string(header.files.size()),
                           std::ssize(missing)});
  add_program_lacks(sheet, header.nodes, calls_of(header.operators, {".MoE", ".QMoE"}),
                    calls_of(header.operators, {"If"}), "If");
}

void fill_from_pt2(const ModelPlace& place, TensorTally& tally, ModelSheet& sheet) {
  const OpenFile file = OpenFile::open_regular(place.path);
  HeaderBytes bytes(file);
  const Pt2Header header = read_pt2_header(bytes, [&](const DescribedTensor& tensor) { tally.add(tensor); });
  sheet.family = "torch.export";
  if (!header.torch_version.empty()) sheet.family += " of PyTorch " + header.torch_version;
  add_program_lacks(sheet, header.nodes, 0, calls_of(header.operators, {"higher_order.cond"}), "cond");
  if (tally.bytes() == 0) sheet.bytes = header.weight_bytes;
}

void fill_from_torchscript(const ModelPlace& place, TensorTally& tally, ModelSheet& sheet) {
  const OpenFile file = OpenFile::open_regular(place.path);
  outline_torch(file, [&](const DescribedTensor& tensor) { tally.add(tensor); });
  sheet.family = "TorchScript";
  sheet.lacks.push_back({"the routing of a TorchScript program is in its code, which is not read", "", 0});
}

}  // namespace

void fill_from_program(const ModelPlace& place, ModelSheet& sheet) {
  TensorTally tally;
  if (place.form == SheetForm::onnx) fill_from_onnx(place, tally, sheet);
  if (place.form == SheetForm::pt2) fill_from_pt2(place, tally, sheet);
  if (place.form == SheetForm::torchscript) fill_from_torchscript(place, tally, sheet);
  const int64_t stated = sheet.bytes;
  sheet.layers = tally.layers(), sheet.experts = tally.experts(),
  sheet.layers_with_experts = tally.layers_with_experts();
  set_weights(tally, sheet);
  if (sheet.bytes == 0) sheet.bytes = sheet.memory.rest_bytes = stated;
  ++sheet.files;
  sheet.recorder = "pytorch";
}

}  // namespace stormcell
