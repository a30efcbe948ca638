// A weight as an expression over stored tensors, with one text for one meaning: stack(slice("a", 0, 64),
// transpose("b")).
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/text_cursor.h"
#include "core/weights/weight_source.h"

namespace stormcell {

/// The operation of a recipe on its operands `of`. Extents and axes are those of the stored tensors, row-major.
enum class RecipeKind : uint8_t {
  tensor,            ///< the stored tensor `name`
  index,             ///< element `begin` along the first extent, which is gone then
  slice,             ///< elements [begin, end) along `axis`
  transpose,         ///< extent i of the result is extent order[i] of the operand
  stack,             ///< operands of one shape, one after another along a new first extent
  concat,            ///< operands that differ along `axis` at most, one after another there
  scale,             ///< (w [n, ...], s [n]): row i of w times s[i], in f32
  batch_norm_scale,  ///< (gamma [n], variance [n]): gamma / sqrt(variance + eps), in f32: what a norm multiplies
                     ///< channels by
  batch_norm_shift,  ///< (beta [n], mean [n], gamma [n], variance [n] and, where the layer before has one, its bias
                     ///< [n]): beta + (bias - mean) * gamma / sqrt(variance + eps), in f32: what it adds
  position_bias,     ///< (w [hidden, 2], v [heads, hidden] and, where they are there, the biases of w and of v): what
                     ///< attention in windows of height x width adds by relative place, [(2 height - 1) (2 width - 1),
                     ///< heads] in f32 (position_bias_recipe)
  block_scale,       ///< (w [n, k], s): w[i][j] times s[i / height][j / width], in f32; w may be in 8 bits, and the
                     ///< last blocks may be short
  mxfp4,             ///< (codes [..., blocks, 16], scales [..., blocks], both u8): [..., 32 blocks] in mxfp4. A byte of
                     ///< the codes is two neighbours, the lower half first: blocks of mxfp4 have another order
  convert,           ///< in number format `dtype`, each element rounded to the nearest, ties to even
  quantise,  ///< in f32: each element the nearest of the 2^bits - 1 multiples of its block's largest magnitude /
             ///< (2^(bits-1) - 1); blocks of `block` elements along the last extent
};

/// Formats of blocks are taken apart between blocks alone: rows as they are, a range along the last extent where it is
/// whole blocks; no transposition.
///
/// An expression. The functions below make it, and write equal meanings in one way if that needs no shapes: a slice of
/// a slice is one slice, two transpositions are one or none, and nested concatenations along one axis are one.
struct Recipe {
  RecipeKind kind = RecipeKind::tensor;
  std::string name;
  std::vector<Recipe> of;
  int64_t axis = 0, begin = 0, end = 0;
  std::vector<int64_t> order;
  double eps = 0;
  DType dtype = DType::f32;
  int64_t bits = 8, block = 32;
  int64_t height = 0, width = 0, limit = 0;
  bool turned = false;
  bool operator==(const Recipe&) const = default;
};

Recipe tensor_recipe(std::string name);
Recipe index_recipe(Recipe of, int64_t at);
Recipe slice_recipe(Recipe of, int64_t begin, int64_t end, int64_t axis = 0);
/// Without an order, the last two extents are swapped.
Recipe transpose_recipe(Recipe of, std::vector<int64_t> order = {1, 0});
Recipe stack_recipe(std::vector<Recipe> of);
Recipe concat_recipe(std::vector<Recipe> of, int64_t axis = 0);
Recipe scale_recipe(Recipe of, Recipe by);
Recipe batch_norm_scale_recipe(Recipe gamma, Recipe variance, double eps);
Recipe batch_norm_shift_recipe(Recipe beta, Recipe mean, Recipe gamma, Recipe variance, double eps);
Recipe batch_norm_shift_recipe(Recipe beta, Recipe mean, Recipe gamma, Recipe variance, Recipe bias, double eps);
/// Biases of an MLP over log-spaced relative places: v relu(w c + bias) + bias. Rows are the places query - key from (1
/// - height, 1 - width) on; c are the coordinates of the place, with `turned` of key - query. With `limit` above 0:
/// limit * sigmoid of that. `of`: 2 to 4 operands.
Recipe position_bias_recipe(std::vector<Recipe> of, int64_t height, int64_t width, bool turned, int64_t limit);
/// Weights with a scale for each block of height x width, as the FP8 files of DeepSeek and Qwen have them.
Recipe block_scale_recipe(Recipe of, Recipe by, int64_t height, int64_t width);
/// Weights in MXFP4 as the files of gpt-oss have them.
Recipe mxfp4_recipe(Recipe codes, Recipe scales);
Recipe convert_recipe(Recipe of, DType dtype);
Recipe quantise_recipe(Recipe of, int64_t bits, int64_t block);

/// The one text of a recipe; it names a weight in stores, graphs and files.
std::string to_text(const Recipe& recipe);
/// Reads a recipe at the cursor. Errors are the cursor's: place, what was expected, what came. At most 64 deep.
Recipe parse_recipe(TextCursor& line);
/// A whole text; `where` begins complaints.
Recipe parse_recipe(std::string_view text, std::string_view where);

/// True if a text that names a weight in stores and sources is a recipe; else it is the name of a stored tensor.
bool looks_like_recipe(std::string_view text);
/// The text that names a weight: a stored tensor's name, in quotes if it looks like a recipe; any other recipe's text.
std::string weight_text(const Recipe& recipe);

/// Format and shape of a stored tensor; nullptr: there is none.
using FindStored = std::function<const WeightInfo*(std::string_view name)>;
/// Format and shape of a recipe's result; its name is the recipe's text. Throws Error(bad_input) that names the recipe,
/// the step, what was expected and what came: a missing tensor, a slice beyond its extent, operands that do not fit.
WeightInfo info_of(const Recipe& recipe, const FindStored& stored);
WeightInfo info_of(const Recipe& recipe, const WeightSource& stored);

/// The stored tensors a recipe reads, each once, in the order of the text.
std::vector<std::string> tensors_of(const Recipe& recipe);

}  // namespace stormcell
