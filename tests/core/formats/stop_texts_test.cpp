// Texts that end a text, whatever pieces it comes in; and where the template of a chat is found.
#include "core/formats/stop_texts.h"

#include "core/base/error.h"
#include "core/formats/chat_form.h"
#include "core/formats/chat_template.h"
#include "tests/core/formats/scratch.h"
#include "tests/testing/complaint.h"
#include "tests/testing/testing.h"

using namespace stormcell;
using namespace stormcell::testing;

namespace {

/// The text that is written of `text`, given in pieces of `size` bytes; "!" behind it: it was stopped.
std::string written(const std::string& text, size_t size, std::vector<std::string> stops) {
  StopTexts stop(std::move(stops));
  std::string all;
  for (size_t at = 0; at < text.size(); at += size) all += stop.add(text.substr(at, size));
  const bool stopped = stop.stopped();
  all += stop.finish();
  return stopped ? all + "!" : all;
}

}  // namespace

class StopTextsTest : public QObject {
  Q_OBJECT
 private slots:
  void a_text_ends_before_the_first_stop_in_whatever_pieces_it_comes() {
    for (size_t size = 1; size < 9; ++size) {
      QCOMPARE(written("the cat sat", size, {}), std::string("the cat sat"));
      QCOMPARE(written("the cat sat", size, {"dog"}), std::string("the cat sat"));
      QCOMPARE(written("the cat sat on", size, {"sat", "ca"}), std::string("the !"));
      QCOMPARE(written("aaab", size, {"aab"}), std::string("a!"));
      QCOMPARE(written("User: x", size, {"User:"}), std::string("!"));
      QCOMPARE(written("\u00fcber \u00df", size, {"\u00df"}), std::string("\u00fcber !"));
      QCOMPARE(written("ends with Use", size, {"User:"}),
               std::string("ends with Use"));  // held back, and given at last
    }
  }
  void nothing_is_held_back_that_begins_no_stop() {
    StopTexts stop({"\nUser:"});
    QCOMPARE(stop.add("Hello"), std::string("Hello"));
    QCOMPARE(stop.add(" you\nUs"), std::string(" you"));
    QCOMPARE(stop.add("ed"), std::string("\nUsed"));
    QCOMPARE(stop.add("\nUser: x"), std::string());
    QVERIFY(stop.stopped());
    QCOMPARE(stop.add("more"), std::string());
  }

  void the_template_of_a_chat_is_found_in_the_files_that_models_have() {
    const Scratch scratch;
    scratch.write("none/config.json", "{}");
    QVERIFY(chat_template_of(scratch.path("none")).text.empty());
    scratch.write("one/tokenizer_config.json", R"({"chat_template": "<|im_start|>"})");
    QCOMPARE(chat_template_of(scratch.path("one")).text, std::string("<|im_start|>"));
    QCOMPARE(chat_template_of(scratch.path("one")).where, scratch.path("one") + "/tokenizer_config.json");
    scratch.write(
        "some/tokenizer_config.json",
        R"({"chat_template": [{"name": "tool_use", "template": "[INST]"}, {"name": "default", "template": "[gMASK]"}]})");
    QCOMPARE(chat_template_of(scratch.path("some")).text, std::string("[gMASK]"));
    scratch.write("some/chat_template.jinja", "<start_of_turn>");
    scratch.write("some/tokenizer.json", "{}");
    QCOMPARE(chat_template_of(scratch.path("some")).text, std::string("<start_of_turn>"));
    QCOMPARE(chat_template_of(scratch.path("some/tokenizer.json")).text, std::string("<start_of_turn>"));
    scratch.write("bad/tokenizer_config.json", "{");
    QVERIFY_THROWS_EXCEPTION(Error, chat_template_of(scratch.path("bad")));
  }

  void a_form_that_is_not_written_is_refused_by_its_name() {
    const auto said = [](const char* text) { return complaint([&] { check_chat_form(text, "t.jinja"); }); };
    QVERIFY(said("<|im_start|>").empty());
    QVERIFY2(said("{{ hello }}").find("t.jinja: its chat template writes a form that is not known") == 0,
             said("{{ hello }}").c_str());
    QVERIFY(said("<|header_start|>").find("the form of Llama 4") != std::string::npos);
  }
};
STORMCELL_TEST(StopTextsTest)
#include "stop_texts_test.moc"
