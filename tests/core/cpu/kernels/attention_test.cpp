#include "core/cpu/kernels/attention.h"

#include <QTest>
#include <algorithm>
#include <limits>

#include "core/runtime/relative_bucket.h"
#include "tests/core/cpu/kernels/kernel_case.h"
#include "tests/testing/testing.h"

namespace stormcell::cpu::testing {
namespace {

/// A problem with its inputs; leading dimensions are wider than the rows.
struct Case {
  AttentionProblem p;
  Floats q, k, v, table, sinks;
  std::vector<int32_t> mask, steps;  // steps: of a cache; empty: none
  int64_t ldq, ldk, ldv, ldo;

  explicit Case(const AttentionProblem& problem, bool bias = false, bool masked = false)
      : p(problem),
        q(random_floats(static_cast<size_t>(p.sequences * p.q_length * (p.heads * p.head_dim + 3)), 1, 2)),
        k(random_floats(static_cast<size_t>(p.sequences * p.k_length * (p.kv_heads * p.head_dim + 5)), 2, 2)),
        v(random_floats(static_cast<size_t>(p.sequences * p.k_length * (p.kv_heads * p.value_dim + 1)), 3)),
        table(random_floats(static_cast<size_t>(p.buckets * p.heads), 4)),
        sinks(random_floats(static_cast<size_t>(p.heads), 5, 2)),
        mask(static_cast<size_t>(p.sequences * p.k_length)),
        ldq(p.heads * p.head_dim + 3),
        ldk(p.kv_heads * p.head_dim + 5),
        ldv(p.kv_heads * p.value_dim + 1),
        ldo(p.heads * p.value_dim + 2) {
    // Sequence 0 sees everything, 1 nothing, others lose some keys at the start and in the middle.
    for (int64_t s = 0; s < p.sequences; ++s)
      for (int64_t j = 0; j < p.k_length; ++j)
        mask[static_cast<size_t>(s * p.k_length + j)] = s == 0 || (s > 1 && j > 2 && (j * 7 + s) % 5 != 0);
    if (masked) p.key_mask = mask.data();
    if (bias) p.bias_table = table.data();
  }
  Case& from(std::vector<int32_t> places) {
    steps = std::move(places);
    return *this;
  }
  Case& with_sinks() {
    p.sinks = sinks.data();
    return *this;
  }
  int64_t position(int64_t s) const { return steps.empty() ? 0 : steps[static_cast<size_t>(s)]; }
  int64_t valid(int64_t s) const { return steps.empty() ? p.k_length : position(s) + p.q_length; }

  /// Rows of keys or values, page by page in another order, with NaN where no row is; addresses by sequence and page.
  std::vector<uint64_t> paged(const Floats& rows, int64_t ld, Floats& pages) const {
    const int64_t each = pages_of_sequence();
    std::vector<uint64_t> addresses;
    for (int64_t i = 0; i < p.sequences * each; ++i) {
      const int64_t s = i / each, first = i % each * kPage, to = (i * 7 + 3) % (p.sequences * each) * kPage * ld;
      const int64_t count = std::max<int64_t>(0, std::min(kPage, valid(s) - first));
      std::copy_n(rows.data() + (s * p.k_length + first) * ld, count * ld, pages.data() + to);
      addresses.push_back(count > 0 ? reinterpret_cast<uint64_t>(pages.data() + to) : 0);
    }
    return addresses;
  }
  Floats room_for_pages(int64_t ld) const {
    return Floats(static_cast<size_t>(p.sequences * pages_of_sequence() * kPage * ld),
                  std::numeric_limits<float>::quiet_NaN());
  }
  int64_t pages_of_sequence() const { return (p.k_length + kPage - 1) / kPage; }

  Floats run(int threads) const {
    ThreadTeam team(threads);
    Floats out(static_cast<size_t>(p.sequences * p.q_length * ldo), -7.0f);
    Scratch scratch(attention_scratch_bytes(p, threads), std::byte{0xff});
    AttentionProblem now = p;
    if (!steps.empty()) now.steps = steps.data();
    attention(team, q.data(), ldq, k.data(), ldk, v.data(), ldv, now, out.data(), ldo, scratch.data());
    if (!out.intact() || !scratch.intact()) qFatal("attention wrote outside its output");
    return out;
  }

  /// The same with keys and values in pages.
  Floats run_in_pages(int threads) const {
    Floats kept_k = room_for_pages(ldk), kept_v = room_for_pages(ldv);
    const std::vector<uint64_t> k_pages = paged(k, ldk, kept_k), v_pages = paged(v, ldv, kept_v);
    AttentionProblem in_pages = p;
    in_pages.steps = steps.data();
    in_pages.k_pages = k_pages.data(), in_pages.v_pages = v_pages.data();
    in_pages.pages_of_sequence = pages_of_sequence(), in_pages.page_rows = kPage;
    ThreadTeam team(threads);
    Floats out(static_cast<size_t>(p.sequences * p.q_length * ldo), -7.0f);
    Scratch scratch(attention_scratch_bytes(p, threads), std::byte{0xff});
    attention(team, q.data(), ldq, nullptr, ldk, nullptr, ldv, in_pages, out.data(), ldo, scratch.data());
    return out;
  }
  static constexpr int64_t kPage = 64;

  /// transformers' way: f32 scores plus bias plus the most negative float, then softmax.
  std::vector<double> expected() const {
    std::vector<double> out(static_cast<size_t>(p.sequences * p.q_length * ldo), -7.0);
    const float least = std::numeric_limits<float>::lowest();
    for (int64_t s = 0; s < p.sequences; ++s)
      for (int64_t h = 0; h < p.heads; ++h)
        for (int64_t i = 0; i < p.q_length; ++i) {
          const int64_t kv = h / (p.heads / p.kv_heads), position = this->position(s) + i;
          std::vector<float> score(static_cast<size_t>(valid(s)));
          for (int64_t j = 0; j < valid(s); ++j) {
            double dot = 0;
            for (int64_t d = 0; d < p.head_dim; ++d)
              dot += double{q[static_cast<size_t>((s * p.q_length + i) * ldq + h * p.head_dim + d)]} *
                     k[static_cast<size_t>((s * p.k_length + j) * ldk + kv * p.head_dim + d)];
            double x = dot * p.scale;
            if (p.bias_table)
              x += table[static_cast<size_t>(
                  relative_bucket(static_cast<int>(j - position), p.bidirectional, p.buckets, p.max_distance) *
                      p.heads +
                  h)];
            const bool hidden = (p.causal && j > position) || (p.window > 0 && position - j >= p.window) ||
                                (p.key_mask && p.key_mask[s * p.k_length + j] == 0);
            score[static_cast<size_t>(j)] = static_cast<float>(x) + (hidden ? least : 0.0f);
          }
          double most = *std::max_element(score.begin(), score.end()), total = 0;
          if (p.sinks) {
            const double sink = p.sinks[h];
            most = std::max(most, sink);
            total = std::exp(sink - most);
          }
          for (const float x : score) total += std::exp(x - most);
          for (int64_t c = 0; c < p.value_dim; ++c) {
            double sum = 0;
            for (int64_t j = 0; j < valid(s); ++j)
              sum += std::exp(score[static_cast<size_t>(j)] - most) / total *
                     v[static_cast<size_t>((s * p.k_length + j) * ldv + kv * p.value_dim + c)];
            out[static_cast<size_t>((s * p.q_length + i) * ldo + h * p.value_dim + c)] = sum;
          }
        }
    return out;
  }

  QString check(const QString& name) const {
    const std::vector<double> reference = expected();
    QString error;
    for_each_isa([&](Isa isa) {
      const Floats one = run(1);
      // Scores are sums of head_dim terms of up to 4; an error in a score is a relative error of the weight.
      const double tolerance =
          4 * kEpsilon * (4.0 * p.head_dim * std::fabs(p.scale) + static_cast<double>(p.k_length) / 8 + 20);
      if (error.isEmpty()) error = worst(one.data(), reference, tolerance, name + " " + to_text(isa).data());
      if (error.isEmpty() && !(run(2) == one && run(3) == one)) error = name + ": depends on the thread count";
    });
    return error;
  }
};

AttentionProblem problem(int64_t sequences, int32_t heads, int32_t kv_heads, int32_t dim, int64_t q_length,
                         int64_t k_length) {
  AttentionProblem p;
  p.sequences = sequences, p.heads = heads, p.kv_heads = kv_heads, p.head_dim = p.value_dim = dim;
  p.q_length = q_length, p.k_length = k_length;
  p.scale = 1 / std::sqrt(static_cast<float>(dim));
  return p;
}

}  // namespace

class AttentionTest : public QObject {
  Q_OBJECT
 private slots:
  void a_cancelled_team_begins_no_task() {
    AttentionProblem p;
    p.q_length = p.k_length = 300;
    const Case c(p);
    ThreadTeam team(2);
    const CancellationToken cancel;
    cancel.cancel();
    team.set_cancel(&cancel);
    Floats out(static_cast<size_t>(p.q_length * c.ldo), -7.0f);
    Scratch scratch(attention_scratch_bytes(p, 2), std::byte{0xff});
    attention(team, c.q.data(), c.ldq, c.k.data(), c.ldk, c.v.data(), c.ldv, p, out.data(), c.ldo, scratch.data());
    QVERIFY(std::all_of(out.data(), out.data() + p.q_length * c.ldo, [](float x) { return x == -7.0f; }));
  }

  void plain_over_odd_sizes() {
    for (const int64_t q : {1, 5, 7, 130})
      for (const int64_t k : {1, 2, 17, 64, 65, 300})
        for (const int32_t dim : {1, 5, 16, 33, 64}) {
          if (q == 130 && dim < 33) continue;
          const QString error =
              Case(problem(2, 2, 2, dim, q, k)).check(QString("q %1 k %2 dim %3").arg(q).arg(k).arg(dim));
          QVERIFY2(error.isEmpty(), qPrintable(error));
        }
  }

  void values_may_have_another_width_than_keys() {
    for (const int32_t value_dim : {3, 64, 80, 130}) {
      AttentionProblem p = problem(1, 2, 2, 24, 9, 40);
      p.value_dim = value_dim;
      const QString error = Case(p).check(QString("value_dim %1").arg(value_dim));
      QVERIFY2(error.isEmpty(), qPrintable(error));
    }
  }

  void causal_from_any_position_in_a_cache() {
    for (const int32_t offset : {0, 3, 290})
      for (const int64_t q : {1, 6, 10}) {
        AttentionProblem p = problem(2, 2, 2, 16, q, 320);
        p.causal = true;
        for (const int32_t other : {offset, 150}) {
          const QString error =
              Case(p).from({offset, other}).check(QString("offsets %1 %2 q %3").arg(offset).arg(other).arg(q));
          QVERIFY2(error.isEmpty(), qPrintable(error));
        }
      }
    AttentionProblem prefill = problem(1, 3, 3, 16, 280, 280);
    prefill.causal = true;
    const QString error = Case(prefill).check("prefill");
    QVERIFY2(error.isEmpty(), qPrintable(error));
  }

  void a_sliding_window_hides_far_keys() {
    for (const int32_t window : {1, 5, 70, 270}) {
      AttentionProblem p = problem(1, 2, 2, 16, 300, 300);
      p.causal = true, p.window = window;
      const QString error = Case(p).check(QString("window %1").arg(window));
      QVERIFY2(error.isEmpty(), qPrintable(error));
    }
  }

  void heads_share_key_heads() {
    for (const int32_t kv : {1, 2, 4}) {
      AttentionProblem p = problem(2, 8, kv, 20, 35, 35);
      p.causal = true;
      const QString error = Case(p, false, true).check(QString("kv_heads %1").arg(kv));
      QVERIFY2(error.isEmpty(), qPrintable(error));
    }
  }

  void t5_bias_in_encoder_decoder_and_cache() {
    AttentionProblem encoder = problem(3, 3, 3, 16, 150, 150);
    encoder.scale = 1;
    AttentionProblem decoder = encoder;
    decoder.causal = true, decoder.bidirectional = false;
    AttentionProblem step = decoder;
    step.q_length = 1;
    for (const bool masked : {false, true})
      for (const auto& [name, p] : {std::pair{"encoder", encoder}, {"decoder", decoder}, {"step", step}}) {
        Case c(p, true, masked);
        if (p.q_length == 1) c.from({140, 3, 149});
        const QString error = c.check(QString("%1 masked %2").arg(name).arg(masked));
        QVERIFY2(error.isEmpty(), qPrintable(error));
      }
  }

  void a_query_without_visible_keys_weighs_all_alike() {
    for (const bool causal : {false, true}) {
      // sequence 1 is masked throughout, others lose their first keys
      AttentionProblem p = problem(4, 2, 2, 16, 12, 12);
      p.causal = causal;
      const QString error = Case(p, true, true).check(QString("causal %1").arg(causal));
      QVERIFY2(error.isEmpty(), qPrintable(error));
    }
  }

  void a_sink_takes_its_share_of_a_head() {
    for (const int64_t q : {1, 7, 150}) {
      AttentionProblem p = problem(3, 8, 2, 16, q, 320);
      p.causal = true;
      for (const int32_t window : {0, 5, 270})
        for (const bool masked : {false, true}) {
          // Sequence 1 is masked throughout: its sinks take everything.
          p.window = window;
          Case c(p, false, masked);
          c.from({0, 160, 91}).with_sinks();
          const QString error = c.check(QString("q %1 window %2 masked %3").arg(q).arg(window).arg(masked));
          QVERIFY2(error.isEmpty(), qPrintable(error));
        }
    }
  }

  void a_query_that_sees_no_key_gives_0_with_sinks() {
    for_each_isa([&](Isa isa) {
      Case c(problem(2, 4, 2, 16, 9, 20), false, true);
      c.with_sinks();
      const Floats out = c.run(2);
      for (int64_t i = 0; i < 9; ++i)
        for (int64_t column = 0; column < 4 * 16; ++column)
          QVERIFY2(out[static_cast<size_t>((9 + i) * c.ldo + column)] == 0, to_text(isa).data());
    });
  }

  void a_query_does_not_depend_on_the_others() {
    AttentionProblem p = problem(1, 2, 2, 64, 200, 330);
    p.causal = true, p.window = 290;
    for_each_isa([&](Isa isa) {
      Case all(p, true);
      all.from({130});
      const Floats together = all.run(2);
      for (const int64_t i : {0, 1, 77, 199}) {
        Case one(p, true);
        one.p.q_length = 1, one.from({static_cast<int32_t>(130 + i)});
        std::copy_n(all.q.data() + i * all.ldq, all.ldq, one.q.data());
        const Floats alone = one.run(1);
        QVERIFY2(
            std::memcmp(alone.data(), together.data() + i * all.ldo, static_cast<size_t>(all.ldo) * sizeof(float)) == 0,
            to_text(isa).data());
      }
    });
  }

  void pages_give_the_same_bits() {
    for (const auto& [q, k] : {std::pair<int64_t, int64_t>{1, 700}, {5, 320}, {70, 190}, {3, 64}, {2, 65}})
      for (const int32_t window : {0, 40}) {
        AttentionProblem p = problem(3, 4, 2, 20, q, k);
        p.value_dim = 70, p.causal = true, p.window = window;
        const auto last = static_cast<int32_t>(k - q);
        for_each_isa([&, &q = q](Isa isa) {
          Case c(p, true);
          c.from({last, 0, last / 2});
          const Floats expected = c.run(2), came = c.run_in_pages(2);
          QVERIFY2(std::memcmp(came.data(), expected.data(),
                               static_cast<size_t>(p.sequences * q * c.ldo) * sizeof(float)) == 0,
                   to_text(isa).data());
        });
      }
  }

  void nan_is_not_hidden() {
    for (const bool sinks : {false, true}) {
      Case c(problem(1, 1, 1, 16, 3, 9));
      if (sinks) c.with_sinks();
      c.q[5] = std::numeric_limits<float>::quiet_NaN();
      for_each_isa([&](Isa) {
        const Floats out = c.run(1);
        QVERIFY(std::isnan(out[0]) && !std::isnan(out[static_cast<size_t>(c.ldo)]));
      });
    }
  }
};

}  // namespace stormcell::cpu::testing

using stormcell::cpu::testing::AttentionTest;
STORMCELL_TEST(AttentionTest)
#include "attention_test.moc"
