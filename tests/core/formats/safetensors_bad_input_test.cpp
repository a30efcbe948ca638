#include "core/formats/safetensors.h"
#include "tests/core/formats/scratch.h"
#include "tests/testing/damaged_files.h"
#include "tests/testing/testing.h"

using namespace stormcell;
using namespace stormcell::testing;

class SafetensorsBadInputTest : public QObject {
  Q_OBJECT

 private slots:
  void a_broken_file_is_refused_data() { add_rows(damaged_safetensors()); }
  void a_broken_file_is_refused() {
    QFETCH(QByteArray, bytes);
    QFETCH(QByteArray, words);
    const Scratch scratch;
    const std::string path =
        scratch.write("broken.safetensors", std::string_view(bytes.constData(), static_cast<size_t>(bytes.size())));
    VERIFY_BAD_INPUT(SafetensorsFile::open(path), path, words.toStdString());
  }

  void what_is_no_file_is_refused() {
    const Scratch scratch;
    VERIFY_BAD_INPUT(SafetensorsFile::open(scratch.path("none")), scratch.path("none"), "check the path");
    VERIFY_BAD_INPUT(SafetensorsFile::open(scratch.folder()), scratch.folder(), "is a folder");
    VERIFY_BAD_INPUT(SafetensorsFile::open("/dev/null"), "/dev/null", "not a regular file");
  }
};

STORMCELL_TEST(SafetensorsBadInputTest)
#include "safetensors_bad_input_test.moc"
