// The verb `recorder`: its list, each file it prints, names it does not know; and what import says of their traces.
#include <filesystem>

#include "core/base/checkout.h"
#include "tests/contract/imports.h"

namespace stormcell::testing {
namespace {

const std::vector<std::string> kRecorders = {"exits",          "llama-cpp",      "pytorch", "sglang",
                                             "transformers-4", "transformers-5", "vllm"};

}  // namespace

class ContractRecorderTest : public QObject, private Imports {
  Q_OBJECT
 private slots:
  void without_a_name_all_are_listed_one_a_line() {
    const Ended list = run_program({"recorder"});
    VERIFY_DONE(list, Arguments{"recorder"});
    // Two sentences and an empty line stand above them.
    QCOMPARE(std::count(list.out.begin(), list.out.end(), '\n'), std::ssize(kRecorders) + 3);
    size_t last = 0;
    for (const std::string& name : kRecorders) {
      const size_t at = list.out.find("\n" + name + " ");
      QVERIFY2(at != std::string::npos && at > last, name.c_str());
      last = at;
    }
    QVERIFY2(list.out.find("\"\"\"") == std::string::npos, list.out.c_str());
  }

  void each_is_printed_as_it_lies_in_the_resources_data() {
    QTest::addColumn<QString>("name");
    for (const std::string& name : kRecorders) QTest::newRow(name.c_str()) << QString::fromStdString(name);
  }
  void each_is_printed_as_it_lies_in_the_resources() {
    QFETCH(QString, name);
    const std::string file = checkout_source_folder() + "/resources/recorders/" + name.toStdString() + ".py";
    for (const Arguments& arguments :
         {Arguments{"recorder", name.toStdString()}, Arguments{"recorder", name.toStdString(), "--quiet"}}) {
      const Ended printed = run_program(arguments);
      VERIFY_DONE(printed, arguments);
      QVERIFY2(printed.err.empty(), printed.err.c_str());
      QVERIFY(printed.out == Scratch::read(file));
    }
    const std::string text = Scratch::read(file);
    for (const std::string& words :
         {"stormcell recorder " + name.toStdString() + " > record.py", std::string("stormcell import"),
          std::string("Cost:"), std::string("stormcell.trace/1")})
      QVERIFY2(text.find(words) != std::string::npos, words.c_str());
  }

  void no_file_of_the_resources_is_left_out() {
    size_t files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(checkout_source_folder() + "/resources/recorders"))
      files += entry.path().extension() == ".py";
    QCOMPARE(files, kRecorders.size());
  }

  void a_name_that_is_nearly_one_is_answered_with_the_nearest() {
    VERIFY_REFUSED((Arguments{"recorder", "transformers"}), "NAME", "did you mean transformers-4 or transformers-5?");
    VERIFY_REFUSED((Arguments{"recorder", "llamacpp"}), "NAME", "did you mean llama-cpp?");
    VERIFY_REFUSED((Arguments{"recorder", "vlm"}), "NAME", "did you mean vllm?");
    VERIFY_REFUSED((Arguments{"recorder", "tensorflow-lite"}), "NAME", "one of exits, llama-cpp, pytorch");
    VERIFY_REFUSED((Arguments{"recorder", "../README"}), "NAME", "is not a recorder");
    VERIFY_REFUSED((Arguments{"recorder", ""}), "NAME", "is empty");
    VERIFY_REFUSED((Arguments{"recorder", "vllm", "sglang"}), "sglang", "one argument too many");
  }

  void resources_without_recorders_are_named() {
    Surroundings around;
    around.environment = {{"STORMCELL_RESOURCES", scratch_.path("nowhere")}};
    const Ended ended = run_program({"recorder"}, around);
    QCOMPARE(ended.exit, 2);
    QVERIFY2(ended.err.find("holds no recorders") != std::string::npos, ended.err.c_str());
  }
};

STORMCELL_TEST(ContractRecorderTest)

}  // namespace stormcell::testing

#include "recorder_test.moc"
