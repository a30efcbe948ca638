// Assertions are on here, whatever the build says: the types are this file's own.
#undef NDEBUG
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <map>
#include <type_traits>
#include <unordered_set>

#include "core/base/id_vector.h"
#include "tests/testing/testing.h"

using namespace stormcell;

namespace {

using AppleId = Id<struct AppleTag>;
using PearId = Id<struct PearTag>;

int pick(AppleId, PearId) { return 1; }

template <class A, class B>
concept Equated = requires(A a, B b) {
  a == b;
};
template <class Things, class Key>
concept Indexed = requires(Things things, Key key) {
  things[key];
};

/// Whether f() ends its process by an assertion.
template <class F>
bool aborts(F f) {
  const pid_t child = fork();
  if (child == 0) {
    close(STDERR_FILENO);  // what it says is of no interest
    std::signal(SIGABRT, SIG_DFL);
    f();
    _exit(0);
  }
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

// Expressions that must not compile, held so that they never do.
static_assert(!std::is_convertible_v<int32_t, AppleId> && !std::is_convertible_v<AppleId, int32_t>);
static_assert(!std::is_convertible_v<PearId, AppleId> && !std::is_constructible_v<AppleId, PearId>);
static_assert(!std::is_constructible_v<bool, AppleId> && !std::is_constructible_v<AppleId, bool>);
static_assert(!std::is_invocable_v<decltype(pick), PearId, AppleId> && !std::is_invocable_v<decltype(pick), int, int>);
static_assert(!Equated<AppleId, PearId> && !Equated<AppleId, int> && Equated<AppleId, NoId>);
static_assert(!Indexed<IdVector<AppleId, int>, PearId> && Indexed<IdVector<AppleId, int>, AppleId> &&
              Indexed<IdVector<AppleId, int>, size_t>);
// Checks that cost nothing.
static_assert(sizeof(AppleId) == sizeof(int32_t) && std::is_trivially_copyable_v<AppleId>);

}  // namespace

class IdTest : public QObject {
  Q_OBJECT
 private slots:
  void none_is_of_every_kind_and_before_all_ids() {
    const AppleId none;
    QVERIFY(none == kNone && PearId(kNone) == kNone && none == AppleId(-1));
    QVERIFY(none < AppleId(0) && AppleId(0) < AppleId(1) && AppleId(7) >= AppleId(7));
    const int32_t number = kNone;
    QCOMPARE(number, -1);
    QCOMPARE(pick(kNone, PearId(2)), 1);
  }
  void an_id_is_its_number() {
    QCOMPARE(static_cast<int64_t>(AppleId(int64_t{12})), int64_t{12});
    QCOMPARE(static_cast<size_t>(AppleId(size_t{12})), size_t{12});
    QCOMPARE(int64_t{AppleId(3)}, int64_t{3});
    QCOMPARE(to_text(AppleId(12)) + to_text(AppleId()), std::string("12-1"));
    QCOMPARE(std::unordered_set<AppleId>({AppleId(1), AppleId(2), AppleId(1)}).size(), size_t{2});
    QCOMPARE((std::map<AppleId, int>{{AppleId(2), 20}, {AppleId(1), 10}}.begin()->second), 10);
  }
  void things_are_found_by_their_ids() {
    IdVector<PearId, std::string> pears;
    QVERIFY(pears.ids().begin() == pears.ids().end() && !pears.holds(PearId(0)) && !pears.holds(kNone));
    const PearId first = pears.add("first"), second = pears.add("second");
    QCOMPARE(pears[second], std::string("second"));
    QCOMPARE(pears[0], pears[first]);
    QVERIFY(pears.next_id() == PearId(2) && pears.holds(second) && !pears.holds(pears.next_id()) &&
            !pears.holds(kNone));
    // The range that was there when the loop began.
    int seen = 0;
    for (const PearId id : pears.ids()) {
      QCOMPARE(id, PearId(seen++));
      pears.add("more");
    }
    QCOMPARE(seen, 2);
    QCOMPARE(pears.size(), size_t{4});
  }
  void flags_by_id() {
    IdVector<AppleId, bool> ripe(3, false);
    ripe[AppleId(1)] = true;
    QVERIFY(!ripe[AppleId(0)] && ripe[AppleId(1)] && !ripe[AppleId(2)]);
  }
  void what_is_not_there_is_no_place() {
    const IdVector<PearId, int> pears(3, 5);
    IdVector<AppleId, bool> ripe(3, true);
    QVERIFY(!aborts([&] { return pears[PearId(2)] + ripe[AppleId(2)] + pears[size_t{2}]; }));
    QVERIFY(aborts([&] { return pears[PearId(3)]; }) && aborts([&] { return pears[PearId(kNone)]; }) &&
            aborts([&] { return pears[3]; }));
    QVERIFY(aborts([&] { ripe[AppleId(3)] = false; }) && aborts([&] { ripe[AppleId(kNone)] = false; }));
  }
};
STORMCELL_TEST(IdTest)
#include "id_test.moc"
