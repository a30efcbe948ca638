// Decisions as record steps leave them. One description for the device that writes them in its memory and the host that
// reads its copy.
#pragma once
#include "core/cell/decision.h"

namespace stormcell {

struct RecordHeader {
  int32_t cells = 0, turn = 0;
};

/// One execution's decision, laid out for the most cells that may come; as many are filled as the header says.
struct RecordView {
  RecordHeader* header = nullptr;
  int32_t* choice = nullptr;    ///< [cells, fan_out]
  float* weight = nullptr;      ///< [cells, fan_out]
  float* margin = nullptr;      ///< [cells]
  int32_t* ancestor = nullptr;  ///< [cells] row in the dense space
  int32_t* padded = nullptr;    ///< [branches]
  float* scores = nullptr;      ///< [cells, score_columns]
};

/// The places of one router's records in the area of records.
struct RecordLayout {
  DecisionShape bound;        ///< cells: most that may come
  int32_t score_columns = 0;  ///< scores that a record keeps of a cell; 0: none
  int64_t first = 0;          ///< byte offset of the first record

  /// Bytes of one record.
  int64_t bytes() const {
    MemoryParts<64> parts;
    lay(parts);
    return static_cast<int64_t>(parts.bytes());
  }
  /// The record of an execution in `area`, memory of a device or of the host, aligned to 64 bytes or, on the host,
  /// to 8.
  RecordView at(void* area, int32_t execution) const {
    MemoryParts<64> parts(static_cast<std::byte*>(area) + first + execution * bytes());
    return lay(parts);
  }

 private:
  RecordView lay(MemoryParts<64>& parts) const {
    RecordView r;
    r.header = parts.take<RecordHeader>(1);
    r.choice = parts.take<int32_t>(bound.slot_count());
    r.weight = parts.take<float>(bound.slot_count());
    r.margin = parts.take<float>(bound.cells);
    r.ancestor = parts.take<int32_t>(bound.cells);
    r.padded = parts.take<int32_t>(bound.branches);
    r.scores = parts.take<float>(bound.cells * score_columns);
    return r;
  }
};

}  // namespace stormcell
