// Small operators that move or test whole cells.
#include <algorithm>
#include <cstring>

#include "core/cpu/cpu_kernel.h"
#include "core/cpu/kernels/elementwise.h"
#include "core/runtime/put_range.h"

namespace stormcell::cpu {
namespace {

class Reduce : public Kernel {
 public:
  explicit Reduce(const Making& m) : last_(m.node().attributes.word("mode") == "last") {}
  void run(const Call& c) const override {
    const int64_t width = c.out[0].width;
    const CellGroups& groups = c.in[0].groups;
    for (int64_t p = 0; p < c.out[0].rows; ++p) {
      float* to = c.out[0].reals() + p * width;
      const float* from = c.in[0].reals() + groups.begin(p) * width;
      const int64_t n = groups.count(p);
      if (last_ && n > 0) {
        std::copy_n(from + (n - 1) * width, width, to);
        continue;
      }
      std::fill_n(to, width, 0.0f);
      for (int64_t i = 0; i < n; ++i)
        for (int64_t x = 0; x < width; ++x) to[x] += from[i * width + x];
      for (int64_t x = 0; x < width && n > 0; ++x) to[x] /= static_cast<float>(n);
    }
  }

 private:
  bool last_;
};

class Broadcast : public Kernel {
 public:
  explicit Broadcast(const Making& m) : row_bytes_(m.graph().row_bytes(m.node().inputs[0])) {}
  void run(const Call& c) const override {
    const CellGroups& groups = c.out[0].groups;
    for (int64_t p = 0; p < groups.parents; ++p)
      for (int64_t r = groups.begin(p); r < groups.end(p); ++r)
        std::memcpy(c.out[0].data + r * row_bytes_, c.in[0].data + p * row_bytes_, static_cast<size_t>(row_bytes_));
  }

 private:
  int64_t row_bytes_;
};

class Argmax : public Kernel {
 public:
  explicit Argmax(const Making&) {}
  void run(const Call& c) const override {
    argmax_rows(c.team, c.in[0].reals(), c.in[0].rows, c.in[0].width, c.out[0].integers(), nullptr);
  }
};

class Extent : public Kernel {
 public:
  explicit Extent(const Making& m) : extent_(Dim::parse(m.node().attributes.word("extent"), m.graph().symbols, "extent")) {}
  void run(const Call& c) const override { *c.out[0].integers() = static_cast<int32_t>(extent_.evaluate(c.bindings)); }

 private:
  Dim extent_;
};

class AddConstant : public Kernel {
 public:
  explicit AddConstant(const Making& m) : value_(static_cast<int32_t>(m.node().attributes.integer("value"))) {}
  void run(const Call& c) const override {
    for (int64_t i = 0; i < c.in[0].elements(); ++i) c.out[0].integers()[i] = c.in[0].integers()[i] + value_;
  }

 private:
  int32_t value_;
};

class EndSequences : public Kernel {
 public:
  explicit EndSequences(const Making& m)
      : end_(static_cast<int32_t>(m.node().attributes.integer("end"))), pad_(static_cast<int32_t>(m.node().attributes.integer("pad"))) {}
  void run(const Call& c) const override {
    for (int64_t i = 0; i < c.in[0].rows; ++i) {
      const bool done = c.in[1].integers()[i] != 0;
      const int32_t next = c.in[0].integers()[i];
      c.out[0].integers()[i] = done ? pad_ : next;
      c.out[1].integers()[i] = done || (end_ >= 0 && next == end_);
    }
  }

 private:
  int32_t end_, pad_;
};

class AllSet : public Kernel {
 public:
  explicit AllSet(const Making&) {}
  void run(const Call& c) const override {
    const int32_t* flags = c.in[0].integers();
    *c.out[0].integers() = std::all_of(flags, flags + c.in[0].elements(), [](int32_t f) { return f != 0; });
  }
};

class StateFill : public Kernel {
 public:
  explicit StateFill(const Making& m) : integer_(m.type(0).dtype == DType::i32), value_(m.node().attributes.real("value")) {}
  void run(const Call& c) const override {
    if (integer_) {
      std::fill_n(c.in[0].integers(), c.in[0].elements(), static_cast<int32_t>(value_));
    } else {
      std::fill_n(c.in[0].reals(), c.in[0].elements(), static_cast<float>(value_));
    }
  }

 private:
  bool integer_;
  double value_;
};

class StateWrite : public Kernel {
 public:
  explicit StateWrite(const Making&) {}
  void run(const Call& c) const override { std::memmove(c.in[0].data, c.in[1].data, static_cast<size_t>(c.in[1].elements() * 4)); }
};

class StatePut : public Kernel {
 public:
  explicit StatePut(const Making& m)
      : name_(m.node().name),
        at_(extra_input(m.node(), "at", 2)),
        room_(m.graph().space(m.type(0).space).per_parent),
        rows_(m.graph().space(m.type(1).space).per_parent),
        row_bytes_(m.graph().row_bytes(m.node().inputs[1])) {}
  void run(const Call& c) const override {
    const int64_t room = room_.evaluate(c.bindings), rows = rows_.evaluate(c.bindings),
                  at = at_ < 0 ? 0 : *c.in[static_cast<size_t>(at_)].integers();
    expect_places(name_, room, rows, at);
    if (rows > 0) PutRange{room, rows, at, c.in[1].rows / rows, row_bytes_}.put(c.in[0].data, c.in[1].data);
  }

 private:
  std::string name_;
  int at_;
  Dim room_, rows_;
  int64_t row_bytes_;
};

}  // namespace
std::unique_ptr<Kernel> make_reduce(const Making& m) { return std::make_unique<Reduce>(m); }
std::unique_ptr<Kernel> make_broadcast(const Making& m) { return std::make_unique<Broadcast>(m); }
std::unique_ptr<Kernel> make_argmax(const Making& m) { return std::make_unique<Argmax>(m); }
std::unique_ptr<Kernel> make_extent(const Making& m) { return std::make_unique<Extent>(m); }
std::unique_ptr<Kernel> make_add_constant(const Making& m) { return std::make_unique<AddConstant>(m); }
std::unique_ptr<Kernel> make_end_sequences(const Making& m) { return std::make_unique<EndSequences>(m); }
std::unique_ptr<Kernel> make_all_set(const Making& m) { return std::make_unique<AllSet>(m); }
std::unique_ptr<Kernel> make_state_fill(const Making& m) { return std::make_unique<StateFill>(m); }
std::unique_ptr<Kernel> make_state_write(const Making& m) { return std::make_unique<StateWrite>(m); }
std::unique_ptr<Kernel> make_state_put(const Making& m) { return std::make_unique<StatePut>(m); }
}  // namespace stormcell::cpu
