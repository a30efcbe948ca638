#include "gpu/plan/move_nodes.h"

namespace stormcell::gpu {

MoveArgs moving(const Operand& from, const Operand& to) {
  MoveArgs args;
  args.width = args.from_width = args.to_width = static_cast<int32_t>(to.width);
  args.from = plan_format(from.dtype), args.to = plan_format(to.dtype);
  args.number_bytes = static_cast<int32_t>(bytes_of(args.to));
  args.piece = piece_of(args);
  return args;
}

int32_t piece_of(const MoveArgs& args) {
  const int32_t number = args.number_bytes;
  for (const int32_t piece : {16, 8, 4})
    if (args.width * number % piece == 0 && args.from_width * number % piece == 0 &&
        args.to_width * number % piece == 0 && args.from_column * number % piece == 0 &&
        args.to_column * number % piece == 0)
      return piece;
  return 2;
}

void add_move(StepNodes& nodes, const MoveArgs& args, int64_t most_rows, const std::vector<Ref>& outputs) {
  const int64_t pieces = most_rows * parts<int64_t>(int64_t{args.width} * args.number_bytes, int64_t{args.piece});
  // Every output gets as many stripes, however few rows it has: only the device knows their number.
  const auto count = static_cast<int64_t>(outputs.size());
  const int64_t most_stripes = std::max<int64_t>(1, nodes.blocks(INT64_MAX / 2, 1) / count);
  nodes.add<MoveKernel>(args, count * std::min(most_stripes, nodes.blocks(pieces, MoveKernel::kThreads)), outputs);
}

}  // namespace stormcell::gpu
