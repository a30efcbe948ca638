// Cases whose answers are computed by hand.
#pragma once
#include <cmath>

#include "core/oracle/oracle.h"
#include "core/weights/recipe_weights.h"
#include "tests/testing/graph_case.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {

/// A graph with its weights and inputs, written by hand.
class Hand : public GraphBuilder {
 public:
  std::shared_ptr<MemoryWeights> weights = std::make_shared<MemoryWeights>();
  Bindings bindings;
  OracleInputs<double> inputs;

  Dim bound(std::string_view name, int64_t value) {
    const Dim dim = symbol(name);
    bindings.resize(graph().symbols.size());
    bindings.back() = value;
    return dim;
  }
  ValueId held(std::string_view name, std::vector<int64_t> shape, const std::vector<float>& values) {
    weights->add(name, DType::f32, shape, values);
    return weight(name, DType::f32, std::move(shape));
  }
  /// Made of what held() or weights->add() gave.
  ValueId made(std::string_view recipe, DType dtype, std::vector<int64_t> shape) {
    return weight("made." + std::to_string(graph().values.size()), parse_recipe(recipe, "recipe"), dtype,
                  std::move(shape));
  }
  ValueId reals(std::string_view name, SpaceId space, std::vector<Dim> content, std::vector<double> values) {
    inputs[std::string(name)].reals = std::move(values);
    return input(name, DType::f32, space, std::move(content));
  }
  ValueId integers(std::string_view name, SpaceId space, std::vector<int32_t> values) {
    inputs[std::string(name)].integers = std::move(values);
    return input(name, DType::i32, space);
  }
  OracleTensor<double> result(ValueId v) {
    output("result", v);
    kept = finish();
    const auto source = make_recipe_weights(weights);
    return Oracle<double>(kept, *source).run(inputs, bindings).output("result");
  }
  Graph kept;
};

inline void compare(const std::vector<double>& came, const std::vector<double>& expected) {
  QCOMPARE(came.size(), expected.size());
  for (size_t i = 0; i < came.size(); ++i)
    QVERIFY2(std::fabs(came[i] - expected[i]) < 1e-6 * (1 + std::fabs(expected[i])),
             qPrintable(QString("element %1: %2, expected %3").arg(i).arg(came[i]).arg(expected[i])));
}

}  // namespace stormcell::testing
