// Recipes as text and back: WORD(operands, numbers, key=value...); defaults are not written.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "core/base/text_names.h"
#include "core/weights/recipe.h"

namespace stormcell {
namespace {

constexpr int kMostDeep = 64;
constexpr size_t kMostOperands = 1 << 16, kMostExtents = 8;
constexpr int64_t kDefaultBlock = 128, kMostBlock = 1 << 20;  // sides of the blocks of FP8 files
constexpr int64_t kMostWindow = 1 << 10, kMostLimit = 1 << 20;

struct Word {
  RecipeKind kind;
  std::string_view text;
  size_t least, most;  // operands
};
constexpr std::array kWords = {
    Word{RecipeKind::index, "index", 1, 1},
    Word{RecipeKind::slice, "slice", 1, 1},
    Word{RecipeKind::transpose, "transpose", 1, 1},
    Word{RecipeKind::stack, "stack", 1, kMostOperands},
    Word{RecipeKind::concat, "concat", 1, kMostOperands},
    Word{RecipeKind::scale, "scale", 2, 2},
    Word{RecipeKind::batch_norm_scale, "batch_norm_scale", 2, 2},
    Word{RecipeKind::batch_norm_shift, "batch_norm_shift", 4, 5},
    Word{RecipeKind::position_bias, "position_bias", 2, 4},
    Word{RecipeKind::block_scale, "block_scale", 2, 2},
    Word{RecipeKind::mxfp4, "mxfp4", 2, 2},
    Word{RecipeKind::convert, "convert", 1, 1},
    Word{RecipeKind::quantise, "quantise", 1, 1},
};

std::string_view word_of(RecipeKind kind) {
  return std::find_if(kWords.begin(), kWords.end(), [&](const Word& w) { return w.kind == kind; })->text;
}

std::string real_text(double x) {
  std::array<char, 32> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), x).ptr;
  return {text.data(), end};
}

void write(const Recipe& r, std::string& out) {
  if (r.kind == RecipeKind::tensor) {
    out += quoted(r.name);
    return;
  }
  out += word_of(r.kind);
  out += '(';
  for (size_t i = 0; i < r.of.size(); ++i) {
    if (i > 0) out += ", ";
    write(r.of[i], out);
  }
  const bool plain_turn = r.order == std::vector<int64_t>{1, 0};
  if (r.kind == RecipeKind::index) out += ", " + std::to_string(r.begin);
  if (r.kind == RecipeKind::slice) out += ", " + std::to_string(r.begin) + ", " + std::to_string(r.end);
  if (r.kind == RecipeKind::transpose && !plain_turn)
    for (const int64_t i : r.order) out += ", " + std::to_string(i);
  if (r.kind == RecipeKind::convert) out += ", " + std::string(to_text(r.dtype));
  if ((r.kind == RecipeKind::slice || r.kind == RecipeKind::concat) && r.axis != 0)
    out += ", axis=" + std::to_string(r.axis);
  if (r.kind == RecipeKind::batch_norm_scale || r.kind == RecipeKind::batch_norm_shift)
    out += ", eps=" + real_text(r.eps);
  if (r.kind == RecipeKind::quantise) out += ", bits=" + std::to_string(r.bits) + ", block=" + std::to_string(r.block);
  if (r.kind == RecipeKind::block_scale)
    out += ", height=" + std::to_string(r.height) + ", width=" + std::to_string(r.width);
  if (r.kind == RecipeKind::position_bias) {
    out += ", height=" + std::to_string(r.height) + ", width=" + std::to_string(r.width);
    if (r.turned) out += ", turned=1";
    if (r.limit != 0) out += ", limit=" + std::to_string(r.limit);
  }
  out += ')';
}

class Reader {
 public:
  explicit Reader(TextCursor& line) : line_(line) {}

  Recipe read(int depth) {
    if (depth > kMostDeep) line_.complain("expected a recipe at most " + std::to_string(kMostDeep) + " deep");
    if (line_.sees('"')) return tensor_recipe(line_.quoted());
    for (const Word& word : kWords)
      if (line_.accept(word.text)) return step(word, depth);
    std::string known;
    for (const Word& word : kWords) known += (known.empty() ? "" : ", ") + std::string(word.text);
    line_.fail("the name of a tensor in quotes, or one of " + known);
  }

 private:
  Recipe step(const Word& word, int depth) {
    line_.expect("(");
    std::vector<Recipe> of;
    do {
      if (of.size() == word.most)
        line_.complain("expected at most " + std::to_string(word.most) + " operands of " + std::string(word.text));
      of.push_back(read(depth + 1));
    } while (of.size() < word.most && next_is_operand());
    if (of.size() < word.least)
      line_.complain("expected " + std::to_string(word.least) + " operands of " + std::string(word.text) + ", got " +
                     std::to_string(of.size()));
    return made(word.kind, std::move(of));
  }

  // True behind a comma if an operand follows: a name in quotes or a word, neither a number nor key=.
  bool next_is_operand() {
    const TextCursor before = line_;
    if (!line_.accept(",")) return false;
    if (line_.sees('"')) return true;
    const TextCursor operand = line_;
    for (const Word& word : kWords)
      if (line_.accept(word.text) && line_.sees('(')) {
        line_ = operand;
        return true;
      } else {
        line_ = operand;
      }
    line_ = before;
    return false;
  }

  Recipe made(RecipeKind kind, std::vector<Recipe> of) {
    switch (kind) {
      case RecipeKind::index: {
        const int64_t at = number();
        if (at < 0) line_.complain("expected a number that is not negative, got " + std::to_string(at));
        close();
        return index_recipe(std::move(of[0]), at);
      }
      case RecipeKind::slice: {
        const int64_t begin = number(), end = number(), axis = key("axis", 0, 0, kMostExtents - 1);
        if (begin < 0 || end <= begin)
          line_.complain("expected a range that holds something, got " + std::to_string(begin) + " to " +
                         std::to_string(end));
        close();
        return slice_recipe(std::move(of[0]), begin, end, axis);
      }
      case RecipeKind::transpose:
        return transpose_recipe(std::move(of[0]), order());
      case RecipeKind::stack:
        close();
        return stack_recipe(std::move(of));
      case RecipeKind::concat: {
        const int64_t axis = key("axis", 0, 0, kMostExtents - 1);
        close();
        return concat_recipe(std::move(of), axis);
      }
      case RecipeKind::scale:
        close();
        return scale_recipe(std::move(of[0]), std::move(of[1]));
      case RecipeKind::batch_norm_scale: {
        const double eps = epsilon();
        return batch_norm_scale_recipe(std::move(of[0]), std::move(of[1]), eps);
      }
      case RecipeKind::batch_norm_shift: {
        const double eps = epsilon();
        Recipe r = batch_norm_shift_recipe(std::move(of[0]), std::move(of[1]), std::move(of[2]), std::move(of[3]), eps);
        if (of.size() == 5) r.of.push_back(std::move(of[4]));
        return r;
      }
      case RecipeKind::position_bias: {
        const int64_t height = key("height", 1, 1, kMostWindow), width = key("width", 1, 1, kMostWindow);
        const bool turned = key("turned", 0, 0, 1) != 0;
        const int64_t limit = key("limit", 0, 0, kMostLimit);
        close();
        return position_bias_recipe(std::move(of), height, width, turned, limit);
      }
      case RecipeKind::block_scale: {
        const int64_t height = key("height", kDefaultBlock, 1, kMostBlock),
                      width = key("width", kDefaultBlock, 1, kMostBlock);
        close();
        return block_scale_recipe(std::move(of[0]), std::move(of[1]), height, width);
      }
      case RecipeKind::mxfp4:
        close();
        return mxfp4_recipe(std::move(of[0]), std::move(of[1]));
      case RecipeKind::convert: {
        line_.expect(",");
        const std::string word = line_.name("a number format");
        const std::optional<DType> dtype = parse_dtype(word);
        if (!dtype || !is_engine_float(*dtype))
          line_.complain("expected " + engine_float_names() + ", got " + quoted(word));
        close();
        return convert_recipe(std::move(of[0]), *dtype);
      }
      default: {
        const int64_t bits = key("bits", 8, 2, 8), block = key("block", 32, 1, 1 << 20);
        close();
        return quantise_recipe(std::move(of[0]), bits, block);
      }
    }
  }

  int64_t number() {
    line_.expect(",");
    return line_.integer("an integer");
  }
  int64_t key(std::string_view name, int64_t otherwise, int64_t least, int64_t most) {
    const TextCursor before = line_;
    if (!line_.accept(",") || !line_.accept(name)) {
      line_ = before;
      return otherwise;
    }
    line_.expect("=");
    const int64_t came = line_.integer("an integer");
    if (came < least || came > most)
      line_.complain("expected " + std::string(name) + " from " + std::to_string(least) + " to " +
                     std::to_string(most) + ", got " + std::to_string(came));
    return came;
  }
  double epsilon() {
    line_.expect(",");
    line_.expect("eps");
    line_.expect("=");
    const std::string word = line_.name("a number");
    double eps = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), eps);
    if (error != std::errc() || end != word.data() + word.size() || !(eps >= 0) || !std::isfinite(eps))
      line_.complain("expected eps to be a number that is not negative, got " + quoted(word));
    close();
    return eps;
  }
  std::vector<int64_t> order() {
    std::vector<int64_t> order;
    while (line_.accept(",")) {
      if (order.size() == kMostExtents) line_.complain("expected at most " + std::to_string(kMostExtents) + " extents");
      order.push_back(line_.integer("the number of an extent"));
    }
    close();
    if (order.empty()) return {1, 0};
    std::vector<int64_t> sorted = order;
    std::sort(sorted.begin(), sorted.end());
    for (size_t i = 0; i < sorted.size(); ++i)
      if (sorted[i] != static_cast<int64_t>(i))
        line_.complain("expected each of the extents 0 to " + std::to_string(order.size() - 1) + " once");
    return order;
  }
  void close() { line_.expect(")"); }

  TextCursor& line_;
};

}  // namespace

std::string to_text(const Recipe& recipe) {
  std::string text;
  write(recipe, text);
  return text;
}

bool looks_like_recipe(std::string_view text) {
  if (text.starts_with('"')) return true;
  return text.ends_with(')') && std::any_of(kWords.begin(), kWords.end(), [&](const Word& word) {
           return text.starts_with(word.text) && text.substr(word.text.size()).starts_with('(');
         });
}

std::string weight_text(const Recipe& recipe) {
  const bool plain = recipe.kind == RecipeKind::tensor && !looks_like_recipe(recipe.name);
  return plain ? recipe.name : to_text(recipe);
}

Recipe parse_recipe(TextCursor& line) { return Reader(line).read(0); }

Recipe parse_recipe(std::string_view text, std::string_view where) {
  TextCursor line(where, text, 1);
  Recipe recipe = parse_recipe(line);
  if (!line.at_end()) line.fail("the end of the recipe");
  return recipe;
}

}  // namespace stormcell
