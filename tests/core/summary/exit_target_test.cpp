// Thresholds for a target in words: nothing is said that was not looked at.
#include "core/summary/exit_target.h"

#include <algorithm>

#include "core/summary/exits_text.h"

#include "tests/testing/testing.h"

using namespace stormcell;

namespace {

ExitTarget some_target() {
  ExitTarget t;
  t.of = Bounded::quality, t.target = 0.9, t.met = true, t.measure = "accuracy", t.unit = "share", t.item = "picture";
  t.thresholds = t.own_thresholds = {0.9};
  t.fitted = t.predicted = t.held_out = t.own = {0.9, 0.5, 0.95, {}, {30, 10}};
  t.left_elsewhere = 0;
  return t;
}

bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string found_on(const ExitTarget& t) { return exit_target_lines(t).at(2).second; }

}  // namespace

class ExitTargetTextTest : public QObject {
  Q_OBJECT
 private slots:
  void that_every_item_left_where_the_replay_said_needs_every_item() {
    ExitTarget t = some_target();
    QCOMPARE(replay_text(t), std::string("really run, every one of them left where the replay said"));
    t.left_elsewhere = 2;  // two changed places: the counts are the same
    QVERIFY2(says(replay_text(t), "which the real run does not repeat: 2 pictures left elsewhere"),
             replay_text(t).c_str());
    t.left_elsewhere.reset();
    QCOMPARE(replay_text(t), std::string("really run, as many left at each exit as the replay said"));
    t.held_out.items = {29, 11};
    QVERIFY(says(replay_text(t), "does not repeat") && !says(replay_text(t), "elsewhere"));
  }

  void an_exit_that_takes_all_or_none_is_named_data() {
    QTest::addColumn<QList<int>>("held_out");
    QTest::addColumn<QString>("words");
    QTest::newRow("some each") << QList{30, 10} << "";
    QTest::newRow("the first takes all") << QList{40, 0, 0} << "exit 1 takes all 40 pictures";
    QTest::newRow("the second takes all") << QList{0, 40, 0} << "exit 2 takes all 40 pictures";
    QTest::newRow("all go through") << QList{0, 0, 40} << "the end of the network takes all 40 pictures";
    QTest::newRow("one takes none") << QList{30, 0, 10} << "exit 2 takes none of 40 pictures";
    QTest::newRow("two take none") << QList{30, 0, 0, 10}
                                   << "exit 2 takes none of 40 pictures|exit 3 takes none of 40 pictures";
    QTest::newRow("the end takes none") << QList{30, 10, 0} << "the end of the network takes none of 40 pictures";
    QTest::newRow("one picture") << QList{1, 0} << "exit 1 takes all 1 picture";
    // Nothing was really run, so the figures of the replay are used.
    QTest::newRow("not run") << QList<int>{} << "";
  }
  void an_exit_that_takes_all_or_none_is_named() {
    QFETCH(QList<int>, held_out);
    QFETCH(QString, words);
    ExitTarget t = some_target();
    t.held_out.items.assign(held_out.begin(), held_out.end());
    QStringList all;
    for (const std::string& sentence : exits_taken_text(t)) all << QString::fromStdString(sentence);
    QCOMPARE(all.join("|"), words);
    for (const QString& sentence : all) QVERIFY(says(over_model_sentence(t), sentence.toStdString()));
  }

  void the_headline_is_the_gain_over_the_model_as_it_came() {
    ExitTarget t = some_target();
    t.speedup = 1.2, t.speedup_ci95 = {{1.1, 1.3}};
    QVERIFY2(over_model_text(t).empty() && says(over_model_sentence(t), "is not stated"),
             over_model_sentence(t).c_str());
    t.over_model_withheld = SpeedupWithheld{WithheldReason::few_pairs, 3};
    QVERIFY2(says(over_model_sentence(t), "as it came was not measured well enough: 3 pairs were measured"),
             over_model_sentence(t).c_str());
    const auto in_all = [&] {
      std::string text;
      for (const auto& [title, line] : exit_target_lines(t))
        if (title == "in all") text += line;
      return text;
    };
    QVERIFY2(says(in_all(), "not measured well enough: 3 pairs were measured"), in_all().c_str());
    t.speedup_over_model = 2.31, t.speedup_over_model_ci95 = {{2.2, 2.42}};
    QCOMPARE(over_model_text(t),
             std::string("2.31 [2.2, 2.42] times as fast as the model as it came, with its own thresholds"));
    QCOMPARE(in_all(), over_model_text(t));
  }

  void thresholds_at_which_nothing_is_compared_are_told_in_words() {
    ExitTarget t = some_target();
    t.thresholds = {0.87, 2}, t.own_thresholds = {-1, 1000};
    QCOMPARE(thresholds_text(t),
             std::string("0.87 at exit 1, none leaves at exit 2; the model's own: all leave, none leaves"));
    QCOMPARE(exit_threshold_text(1), std::string("1"));
  }

  void a_quality_with_other_thresholds_has_the_model_s_own_beside_it() {
    ExitTarget t = some_target();
    t.own.value_ci95 = {{0.9, 0.98}};
    QCOMPARE(found_thresholds_text(t),
             std::string("with the thresholds that were found; with the model's own: 95.0 % [90.0, 98.0] over 40 "
                         "pictures that they were not found on"));
    t.own.value.reset();
    QCOMPARE(found_thresholds_text(t), std::string("with the thresholds that were found"));
  }

  void what_is_bounded_is_a_word_in_a_summary_alone() {
    ExitTarget t = some_target();
    QCOMPARE(exit_target_text(t), std::string("accuracy of at least 90.0 %"));
    t.of = Bounded::operations, t.target = 0.6;
    QCOMPARE(exit_target_text(t), std::string("at most 60.0 % of the operations of the whole network"));
    t.of = Bounded::latency, t.target = 2.5;
    QCOMPARE(exit_target_text(t), std::string("at most 2.5 ms a batch"));
    for (const Bounded of : {Bounded::quality, Bounded::operations, Bounded::latency})
      QVERIFY(bounded(to_text(of)) == of);
    QVERIFY(bounded("energy") == Bounded::unknown);
  }

  void that_none_is_better_is_said_where_all_were_tried() {
    ExitTarget t = some_target();
    QVERIFY(says(found_on(t), "not all were") && !says(found_on(t), "no "));
    t.is_optimum = true;
    QVERIFY(says(found_on(t), "no other thresholds are better there"));
  }
};

STORMCELL_TEST(ExitTargetTextTest)
#include "exit_target_test.moc"
