// Shared by the tests of weight files: the model that they damage, its correct logits, and answers that a server may
// send instead of a file.
#pragma once
#include <string>

#include "tests/contract/models.h"
#include "tests/testing/file_bytes.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {

inline const std::string kLfsPointer =
    "version https://git-lfs.github.com/spec/v1\noid sha256:" + std::string(64, 'a') + "\nsize 30272\n";
inline const std::string kNotFoundPage =
    "<!DOCTYPE html>\n<html><head><title>404</title></head><body>Entry not found</body></html>\n";

class WeightCases {
 protected:
  /// Call it in initTestCase().
  void run_as_it_is() {
    ids_ = scratch_.write("ids.npy", npy_ids("(2, 5)", {3, 14, 15, 9, 2, 6, 5, 35, 8, 1}));
    const ForwardRun plain = forward_run(scratch_, mixtral_model("top-2-of-4-left-padding"), ids_);
    right_ = plain.logits;
    QCOMPARE(right_.size(), size_t{2 * 5 * 40 * 4});
    QVERIFY(plain.warnings.empty());
  }

  Scratch scratch_;
  std::string ids_, right_;  // correct logits of the model
};

}  // namespace stormcell::testing
