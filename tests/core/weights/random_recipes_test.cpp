// Drawn recipes have the values of the oracle's own reading.
#include <algorithm>
#include <array>
#include <cmath>
#include <random>

#include "core/oracle/recipe_reader.h"
#include "core/weights/recipe.h"
#include "core/weights/recipe_weights.h"
#include "tests/core/weights/held_tensors.h"
#include "tests/testing/counts.h"
#include "tests/testing/testing.h"

namespace stormcell {
namespace {

using testing::canonical;
using testing::HeldTensors;
using testing::made;

/// A random recipe over tensors that it adds to `tensors`; `shape` and `dtype` are those it makes.
class RandomRecipes {
 public:
  RandomRecipes(HeldTensors& tensors, uint32_t seed) : tensors_(tensors), random_(seed) {}

  Recipe make(const std::vector<int64_t>& shape, DType dtype, int depth) {
    const auto axis = [&] { return static_cast<int64_t>(pick(static_cast<int>(shape.size()))); };
    if (depth > 0 && !shape.empty()) switch (pick(9)) {
        case 0: {
          const int64_t a = axis(), before = pick(3), behind = pick(3);
          std::vector<int64_t> wider = shape;
          wider[static_cast<size_t>(a)] += before + behind;
          return slice_recipe(make(wider, dtype, depth - 1), before, before + shape[static_cast<size_t>(a)], a);
        }
        case 1: {
          std::vector<int64_t> order(shape.size());
          for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
          std::shuffle(order.begin(), order.end(), random_);
          std::vector<int64_t> from(shape.size());
          for (size_t i = 0; i < order.size(); ++i) from[static_cast<size_t>(order[i])] = shape[i];
          return transpose_recipe(make(from, dtype, depth - 1), order);
        }
        case 2: {
          std::vector<Recipe> of;
          for (int64_t i = 0; i < shape[0]; ++i) of.push_back(make({shape.begin() + 1, shape.end()}, dtype, depth - 1));
          return stack_recipe(std::move(of));
        }
        case 3: {
          const int64_t a = axis();
          std::vector<Recipe> of;
          for (int64_t left = shape[static_cast<size_t>(a)]; left > 0;) {
            std::vector<int64_t> part = shape;
            left -= part[static_cast<size_t>(a)] = 1 + pick(static_cast<int>(left));
            of.push_back(make(part, dtype, depth - 1));
          }
          return concat_recipe(std::move(of), a);
        }
        case 4:
          if (dtype == DType::f32)
            return scale_recipe(make(shape, any_format(), depth - 1), make({shape[0]}, any_format(), depth - 1));
          break;
        case 5:
          return convert_recipe(make(shape, any_format(), depth - 1), dtype);
        case 6:
          if (dtype == DType::f32)
            return quantise_recipe(make(shape, any_format(), depth - 1), 2 + pick(7), 1 + pick(9));
          break;
        case 7: {
          std::vector<int64_t> more = shape;
          more.insert(more.begin(), 1 + pick(4));
          return index_recipe(make(more, dtype, depth - 1), pick(static_cast<int>(more[0])));
        }
        default:
          break;
      }
    if (depth > 0 && shape.size() == 1 && dtype == DType::f32) return norm(shape, depth);
    const std::string name = "t." + std::to_string(count_++);
    tensors_.add_random(name, dtype, shape, random_);
    return tensor_recipe(name);
  }

  int pick(int below) { return static_cast<int>(random_() % static_cast<uint32_t>(below)); }
  DType any_format() { return std::array{DType::f32, DType::bf16, DType::f16}[static_cast<size_t>(pick(3))]; }

 private:
  Recipe norm(const std::vector<int64_t>& shape, int depth) {
    const std::string variance = "v." + std::to_string(count_++);
    tensors_.add_random(variance, any_format(), shape, random_, true);
    const auto any = [&] { return make(shape, any_format(), depth - 1); };
    if (pick(2) == 0) return batch_norm_scale_recipe(any(), tensor_recipe(variance), 1e-5);
    if (pick(2) == 0) return batch_norm_shift_recipe(any(), any(), any(), tensor_recipe(variance), 1e-3);
    return batch_norm_shift_recipe(any(), any(), any(), tensor_recipe(variance), any(), 0.5);
  }

  HeldTensors& tensors_;
  std::mt19937 random_;
  int count_ = 0;
};

constexpr double kLeastVariance = 0.25;  // of add_random()

/// How large the numbers of a tensor are at most, and how far what was made may lie from the oracle's reading.
struct Bound {
  double size = 0, error = 0;
};

/// Structural steps are exact, and so are conversions and quantisations of what is exact: both sides do the same. An
/// arithmetic step, which the oracle does not round, is rounded to f32 once, by half a unit; eight units leave none
/// out. What a conversion gets may then lie on the other side of a middle: a unit of its format; what a quantisation
/// gets, too: a unit of its block.
Bound bound_of(const Recipe& r, const WeightSource& source) {
  constexpr double kUnit = 0x1p-24;
  if (r.kind == RecipeKind::tensor) {
    Bound bound;
    for (const float v : made(source, r.name)) bound.size = std::max(bound.size, std::fabs(static_cast<double>(v)));
    return bound;
  }
  std::vector<Bound> of;
  for (const Recipe& operand : r.of) of.push_back(bound_of(operand, source));
  const auto product = [](const Bound& a, const Bound& b) {
    return Bound{a.size * b.size, a.error * b.size + b.error * a.size};
  };
  const auto sum = [](const Bound& a, const Bound& b) { return Bound{a.size + b.size, a.error + b.error}; };
  const auto rounded = [](const Bound& b) { return Bound{b.size, b.error + 8 * kUnit * b.size}; };
  const Bound per_deviation{1 / std::sqrt(kLeastVariance), 0};
  switch (r.kind) {
    case RecipeKind::scale:
      return rounded(product(of[0], of[1]));
    case RecipeKind::batch_norm_scale:
      return rounded(product(of[0], per_deviation));
    case RecipeKind::batch_norm_shift:
      return rounded(sum(of[0], product(of.size() > 4 ? sum(of[1], of[4]) : of[1], product(of[2], per_deviation))));
    case RecipeKind::convert:
      if (of[0].error > 0)
        of[0].error += of[0].size * (r.dtype == DType::bf16 ? 0x1p-8 : r.dtype == DType::f16 ? 0x1p-11 : kUnit);
      return of[0];
    case RecipeKind::quantise:
      if (of[0].error > 0)
        of[0].error = 2 * of[0].error + of[0].size / static_cast<double>((int64_t{1} << (r.bits - 1)) - 1);
      return of[0];
    default:
      break;
  }
  Bound bound;
  for (const Bound& b : of) bound = {std::max(bound.size, b.size), std::max(bound.error, b.error)};
  return bound;
}

}  // namespace

class RandomRecipesTest : public QObject {
  Q_OBJECT
 private slots:
  void random_recipes_are_what_the_oracle_reads() {
    int deep = 0, near = 0;
    for (uint32_t seed = 0; seed < 400; ++seed) {
      auto held = std::make_shared<HeldTensors>();
      RandomRecipes random(*held, seed);
      std::vector<int64_t> shape;
      for (int i = random.pick(4); i >= 0; --i) shape.push_back(1 + random.pick(6));
      const Recipe recipe = random.make(shape, random.any_format(), 3);
      const std::string text = to_text(recipe);
      QVERIFY2(parse_recipe(text, "recipe") == recipe, text.c_str());
      deep += !recipe.of.empty() && !recipe.of[0].of.empty();
      const std::shared_ptr<const WeightSource> source = make_recipe_weights(held);
      const WeightInfo* info = source->find(text);
      QVERIFY2(info && info->shape == shape, text.c_str());
      const std::vector<float> came = made(*source, text);
      const auto reader = reference::make_recipe_reader(recipe, *source);
      QCOMPARE(reader->shape(), shape);
      QCOMPARE(static_cast<int64_t>(came.size()), reader->elements());
      // In pieces, as products read.
      std::vector<double> expected(came.size());
      for (size_t at = 0; at < expected.size();) {
        const auto n = std::min(expected.size() - at, static_cast<size_t>(1 + random.pick(7)));
        reader->read_flat(static_cast<int64_t>(at), static_cast<int64_t>(n), expected.data() + at);
        at += n;
      }
      const Bound bound = bound_of(recipe, *source);
      near += bound.error > 0 && bound.error < 1e-5 * bound.size;
      for (size_t i = 0; i < came.size(); ++i) {
        const double away = std::fabs(static_cast<double>(came[i]) - expected[i]);
        QVERIFY2(away <= bound.error,
                 (text + ": " + std::to_string(away) + " beside " + std::to_string(bound.error)).c_str());
      }
    }
    QVERIFY2(deep > 100, qPrintable(QString::number(deep)));
    QVERIFY2(near > 30, qPrintable(QString::number(near)));
  }
};

STORMCELL_TEST(RandomRecipesTest)

}  // namespace stormcell

#include "random_recipes_test.moc"
