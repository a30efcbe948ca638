// The epilogue of some columns of a product in f32, as a task for the table: private to the kernels that multiply by
// panels.
#pragma once
#include "core/cpu/kernels/kernel_table.h"
#include "core/cpu/kernels/linear.h"
#include "core/cpu/kernels/non_temporal.h"

namespace stormcell::cpu {

/// Sums of rows from `first_row` on and of columns from `column` on.
struct PanelSums {
  const float* tile = nullptr;  ///< as EpilogueTask::tile
  int64_t ld_tile = 0;          ///< floats between rows
  int64_t first_row = 0, rows = 0, column = 0, columns = 0;
  bool non_temporal = false;  ///< y is stored past the caches
};

/// The epilogue of a panel on its way to y, whose rows are `ldy` floats apart. `bias` has all columns, or is null; that
/// of the epilogue does not count.
inline EpilogueTask panel_epilogue(const Epilogue& e, const float* bias, const PanelSums& sums, float* y, int64_t ldy) {
  const int64_t extra = sums.first_row * e.ld_extra + sums.column;
  EpilogueTask task;
  task.tile = sums.tile;
  task.ld_tile = sums.ld_tile;
  task.rows = sums.rows;
  task.columns = sums.columns;
  task.scale = e.scale;
  task.bias = bias ? bias + sums.column : nullptr;
  task.activation = e.activation;
  task.multiply = e.multiply ? e.multiply + extra : nullptr;
  task.residual = e.residual ? e.residual + extra : nullptr;
  task.residual_first = e.residual_first;
  task.ld_extra = e.ld_extra;
  task.y = y + sums.first_row * ldy + sums.column;
  task.ldy = ldy;
  task.non_temporal = sums.non_temporal;
  return task;
}

/// Whether y[rows, columns] is stored past the caches. Not if it is in them already, since the epilogue reads it there.
inline bool is_non_temporal(const Epilogue& e, const float* y, int64_t rows, int64_t columns) {
  return is_non_temporal(y, rows, columns) && e.residual != y && e.multiply != y;
}

}  // namespace stormcell::cpu
