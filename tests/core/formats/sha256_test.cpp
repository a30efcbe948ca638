#include "core/formats/sha256.h"

#include "tests/testing/testing.h"

using namespace stormcell;

class Sha256Test : public QObject {
  Q_OBJECT
 private slots:
  void the_vectors_of_the_standard_hold() {
    QCOMPARE(sha256_hex(""), std::string("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"));
    QCOMPARE(sha256_hex("abc"), std::string("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"));
    QCOMPARE(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
             std::string("248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"));
    QCOMPARE(sha256_hex(std::string(1'000'000, 'a')),
             std::string("cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"));
  }
  void pieces_give_what_the_whole_gives() {
    const std::string text(1000, 'x');
    for (size_t step = 1; step < 200; ++step) {
      Sha256 hash;
      for (size_t at = 0; at < text.size(); at += step) hash.update(std::string_view(text).substr(at, step));
      QCOMPARE(hash.hex(), sha256_hex(text));
    }
  }
};

STORMCELL_TEST(Sha256Test)
#include "sha256_test.moc"
