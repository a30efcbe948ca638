// Archives and pickles of torch.save(), and hostile ones: no function is run, nothing is larger than the file.
#include "core/formats/torch_file.h"

#include "core/base/error.h"
#include "tests/core/formats/scratch.h"
#include "tests/testing/complaint.h"
#include "tests/testing/counts.h"
#include "tests/testing/testing.h"

namespace stormcell {
namespace {
using namespace testing;

std::string refusal(const std::string& pickle) {
  return bad_input_complaint([&] { Pickle(std::as_bytes(std::span(pickle)), "made-up"); });
}

}  // namespace

class TorchFileTest : public QObject {
  Q_OBJECT
 private slots:
  void plain_values_are_read() {
    const std::string text(
        "\x80\x02}q\0(X\1\0\0\0aK\x07X\1\0\0\0b]q\1(M\x01\x02J\xff\xff\xff\xff\x8a\x02\x00\x80"
        "G\x3f\xf8\0\0\0\0\0\0N\x88\x89h\1eu.",
        53);
    const Pickle pickle(std::as_bytes(std::span(text)), "made-up");
    QCOMPARE(pickle.root().find("a")->whole, int64_t{7});
    const auto list = pickle.root().find("b")->items();
    QCOMPARE(list.size(), size_t{8});
    QCOMPARE(list[0].whole, int64_t{513});
    QCOMPARE(list[1].whole, int64_t{-1});
    QCOMPARE(list[2].whole, int64_t{-32768});
    QCOMPARE(list[3].real, 1.5);
    QVERIFY(list[4].is(PickleValue::Kind::none) && list[5].whole == 1 && list[6].whole == 0);
    QVERIFY(list[7].node == pickle.root().find("b")->node);  // in itself: nobody walks it
    QVERIFY(!pickle.root().find("c") && list[0].items().empty());
  }

  void what_is_no_plain_value_is_refused_data() {
    QTest::addColumn<QByteArray>("pickle");
    QTest::addColumn<QString>("words");
    const auto row = [](const char* name, const std::string& pickle, const char* words) {
      QTest::newRow(name) << QByteArray(pickle.data(), static_cast<int>(pickle.size())) << QString(words);
    };
    row("a function", std::string("cos\nsystem\n(X\2\0\0\0lstR.", 22),
        "it names \"os.system\", and nothing of that is run");
    row("a function of protocol 4", "\x80\x04\x8c\x02os\x8c\x06system\x93.", "it names \"os.system\"");
    row("a class that looks alike", "ctorch._utils\n_rebuild_tensor\n.", "it names \"torch._utils._rebuild_tensor\"");
    row("an object", "ccollections\nOrderedDict\n)\x81.", "instruction 129 is not one");
    row("a call with state", "ccollections\nOrderedDict\n)R}b.", "instruction 98 is not one");
    row("a call of a number", "K\1)R.", "a call of something that is not a function");
    row("a tensor without storage", "ctorch._utils\n_rebuild_tensor_v2\n(K\1K\1))\x89)tR.",
        "a tensor without a storage");
    row("text protocol", "I1\n.", "instruction 73 is not one");
    row("nothing", "", "it ends in the middle");
    row("no value", ".", "it does not end with one value");
    row("a long text", std::string("X\xff\xff\xff\x7f", 5), "it ends in the middle");
    row("a huge number", std::string("\x8a\x09\1\1\1\1\1\1\1\1\1.", 12), "a number of 9 bytes");
    row("a place far away", std::string("Nr\xff\xff\xff\x7f.", 7), "it keeps values out of order");
    row("a place that is not there", "h\5.", "it did not keep");
    row("below a mark", "N(0.", "a value is missing");
    row("a key alone", "}(K\1u.", "a key without a value");
  }
  void what_is_no_plain_value_is_refused() {
    QFETCH(QByteArray, pickle);
    QFETCH(QString, words);
    const std::string what = refusal(pickle.toStdString());
    QVERIFY2(what.starts_with("made-up: ") && what.find(words.toStdString()) != std::string::npos, what.c_str());
  }

  void tensors_lie_within_their_storage() {
    const TorchFile file(MappedFile::open(reference_path("sglang/stat.pt")));
    const PickleValue* value = file.root().find("logical_count");
    const TorchTensor tensor = file.tensor(value, "counts");
    QVERIFY((tensor.shape == std::vector<int64_t>{5, 4, 6}) && tensor.dtype == DType::i32);
    PickleTensor& stored = *value->node->tensor;
    const auto refused = [&] {
      try {
        file.tensor(value, "counts");
        return false;
      } catch (const Error& e) {
        return std::string(e.what()).find("is larger than its storage") != std::string::npos;
      }
    };
    const PickleTensor good = stored;
    stored.offset = 1;
    QVERIFY(refused());
    stored = good, stored.shape[0] = 6;
    QVERIFY(refused());
    stored = good, stored.strides[0] = INT64_MAX / 2;
    QVERIFY(refused());
    stored = good, stored.shape = {INT64_MAX, INT64_MAX}, stored.strides = {0, 0};
    QVERIFY(refused());
    stored = good, stored.storage = "7";
    QVERIFY(refused());
  }
};

STORMCELL_TEST(TorchFileTest)

}  // namespace stormcell

#include "torch_file_test.moc"
