#include <algorithm>

#include "core/cpu/cpu_kernel.h"
#include "core/cpu/kernels/split_work.h"

namespace stormcell::cpu {
namespace {

class Reduce : public Kernel {
 public:
  explicit Reduce(const BuildContext& m)
      : last_(m.node().attributes.word("mode") == "last"),
        mean_(m.node().attributes.word("mode") == "mean"),
        integer_(m.type(0).dtype == DType::i32) {}
  void run(const Call& c) const override {
    if (integer_) {
      reduce<int32_t>(c);
    } else {
      reduce<float>(c);
    }
  }

 private:
  template <class Element>
  void reduce(const Call& c) const {
    const int64_t width = c.out[0].width;
    const CellGroups& groups = c.in[0].groups;
    const int64_t parents = c.out[0].rows;
    if (parents == 0) return;
    const int64_t rows = last_ ? 1 : (c.in[0].rows + parents - 1) / parents;  // rows of a parent, about
    // One parent of a narrow row would be one thread's. Pieces are whole columns: each sum has its order, however many
    // there are.
    const bool few = parents * ((width + kSplitColumns - 1) / kSplitColumns) < c.team.size();
    const auto piece = [&](int64_t p, int64_t first, int64_t columns) {
      const int64_t n = groups.count(p);
      Element* to = reinterpret_cast<Element*>(c.out[0].data) + p * width + first;
      const Element* from = reinterpret_cast<const Element*>(c.in[0].data) + groups.begin(p) * width + first;
      if (last_ && n > 0) {
        std::copy_n(from + (n - 1) * width, columns, to);
        return;
      }
      std::fill_n(to, columns, Element(0));
      for (int64_t i = 0; i < n; ++i)
        for (int64_t x = 0; x < columns; ++x) to[x] += from[i * width + x];
      for (int64_t x = 0; mean_ && x < columns && n > 0; ++x) to[x] /= static_cast<Element>(n);
    };
    split_columns(c.team, parents, width, rows + 1, piece, few ? kLineColumns : kSplitColumns);
  }

  bool last_, mean_, integer_;
};

}  // namespace
std::unique_ptr<Kernel> make_reduce(const BuildContext& m) { return std::make_unique<Reduce>(m); }
}  // namespace stormcell::cpu
