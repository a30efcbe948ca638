// A text file appears when it is complete, or not at all.
#include <filesystem>

#include "core/exports/text_output.h"
#include "tests/core/formats/scratch.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {

class TextOutputTest : public QObject {
  Q_OBJECT
  static size_t files_in(const Scratch& scratch) {
    size_t count = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(scratch.folder())) ++count;
    return count;
  }

 private slots:
  void a_file_appears_when_it_is_finished() {
    const Scratch scratch;
    TextOutput out(scratch.path("a"));
    out.write("one\n");
    QVERIFY(!std::filesystem::exists(scratch.path("a")));
    out.write(std::string(200000, 'x'));
    out.finish();
    QCOMPARE(Scratch::read(scratch.path("a")).size(), size_t{200004});
    QCOMPARE(files_in(scratch), size_t{1});
  }

  void what_is_given_up_leaves_the_older_file_and_nothing_else() {
    const Scratch scratch;
    scratch.write("a", "old");
    {
      TextOutput out(scratch.path("a"));
      out.write(std::string(200000, 'x'));
    }
    QCOMPARE(Scratch::read(scratch.path("a")), std::string("old"));
    QCOMPARE(files_in(scratch), size_t{1});
    check_output_path(scratch.path("b"));
    QCOMPARE(files_in(scratch), size_t{1});
  }

  void a_link_stays_a_link() {
    const Scratch scratch;
    scratch.write("target", "old");
    std::filesystem::create_symlink("target", scratch.path("link"));
    TextOutput out(scratch.path("link"));
    out.write("new");
    out.finish();
    QVERIFY(std::filesystem::is_symlink(scratch.path("link")));
    QCOMPARE(Scratch::read(scratch.path("target")), std::string("new"));
  }

  void folders_sessions_and_places_that_are_not_there_are_refused() {
    const Scratch scratch;
    VERIFY_BAD_INPUT(TextOutput(scratch.folder()), scratch.folder(), "is a folder");
    VERIFY_BAD_INPUT(TextOutput(scratch.path("no/a")), scratch.path("no/a"), "No such file");
    const std::string session = scratch.write("s.storm", std::string("SQLite format 3\0...............", 31));
    VERIFY_BAD_INPUT(TextOutput(session), session, "never overwritten");
  }

  void a_device_that_is_full_is_a_failure() {
    TextOutput out("/dev/full");
    out.write("text");
    try {
      out.finish();
      QFAIL("nothing was thrown");
    } catch (const Error& e) {
      QCOMPARE(e.exit_code(), 1);
    }
  }

  void no_path_takes_everything() {
    TextOutput out("");
    out.write("text");
    out.finish();
  }
};

STORMCELL_TEST(TextOutputTest)

}  // namespace stormcell::testing

#include "text_output_test.moc"
