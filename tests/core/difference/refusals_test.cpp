// Recordings that cannot be compared: one line that names the file and what is wrong.
#include <QTemporaryDir>

#include "core/base/error.h"
#include "core/difference/difference.h"
#include "core/difference/recording_source.h"
#include "core/difference/router_pairs.h"
#include "tests/core/difference/made_recordings.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

TraceHeader header_of(int32_t routers, int32_t first_layer, int32_t branches = 8, int32_t k = 2) {
  TraceHeader header;
  for (int32_t r = 0; r < routers; ++r) {
    TraceRouter router;
    router.name = "layer." + std::to_string(r), router.branches = branches, router.fan_out = k;
    router.layer = first_layer < 0 ? -1 : first_layer + r;
    header.routers.push_back(std::move(router));
  }
  return header;
}

}  // namespace

class DifferenceRefusalsTest : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;
  const MadeRecording good_ = record(MadeModel({.requests = 3, .tokens = 12, .layers = 2}));
  std::string path(const char* name) { return folder_.filePath(name).toStdString(); }

  /// Empty when a diff of these is refused in one line that begins with b's name and holds the words.
  std::string defect(const MadeRecording& b, const std::string& words, const MadeParts& parts = {}) {
    good_.write(path("a.safetensors"), parts), b.write(path("b.safetensors"), parts);
    try {
      diff_recordings({path("a.safetensors"), path("b.safetensors")});
    } catch (const Error& e) {
      const std::string said = e.what();
      if (e.kind() != ErrorKind::bad_input) return "wrong kind: " + said;
      if (said.find(path("b.safetensors")) != 0 || said.find('\n') != std::string::npos) return "wrong line: " + said;
      return said.find(words) == std::string::npos ? "other words: " + said : "";
    }
    return "not refused";
  }
#define VERIFY_DIFF_REFUSED(...)                  \
  do {                                            \
    const std::string text = defect(__VA_ARGS__); \
    QVERIFY2(text.empty(), text.c_str());         \
  } while (false)

 private slots:
  void no_shared_request() {
    MadeRecording b = good_;
    for (auto& cell : b.cells) cell.request += 10;
    VERIFY_DIFF_REFUSED(b, "shares no request with ");
    for (auto& cell : b.cells) cell.request -= 10, cell.position += 100;
    VERIFY_DIFF_REFUSED(b, "shares no token with ");
  }

  void other_tokens() {
    MadeRecording b = good_;
    b.cells[15].token = 96;
    VERIFY_DIFF_REFUSED(b, "has other tokens than ", {.tokens = true});
    VERIFY_DIFF_REFUSED(b, "request 1 has token 96 at position 3 and not ", {.tokens = true});
  }

  void unlike_models() {
    MadeRecording b = good_;
    b.branches = 32;
    VERIFY_DIFF_REFUSED(b, "is of another model than ");
    VERIFY_DIFF_REFUSED(b, "has 32 branches and not 16");
  }

  void layers_that_cannot_be_aligned() {
    MadeRecording b = good_;
    for (auto& cell : b.cells) cell.layers.pop_back();
    VERIFY_DIFF_REFUSED(b, "has layers that cannot be aligned with those of ");
    QVERIFY_THROWS_EXCEPTION(Error, pair_routers(header_of(3, 0), "a", header_of(3, 10), "b"));
  }

  void a_recording_that_is_cut() {
    good_.write(path("a.safetensors")), good_.write(path("b.safetensors"));
    QFile file(QString::fromStdString(path("b.safetensors")));
    QVERIFY(file.resize(file.size() / 2));
    QVERIFY_THROWS_EXCEPTION(Error, diff_recordings({path("a.safetensors"), path("b.safetensors")}));
    QVERIFY_THROWS_EXCEPTION(Error, diff_recordings({path("a.safetensors"), path("none.safetensors")}));
  }

  void servers_that_return_ids_alone_are_told_apart() {
    for (const char* format : {"sglang", "routed-experts", "megatron"})
      for (const char* fact : {"weights", "margins"})
        QVERIFY2(how_to_record(format, fact).find("ids alone: stormcell recorder") != std::string_view::npos, format);
    QVERIFY(how_to_record("native", "weights").empty() && how_to_record("imatrix", "decisions").size() > 0);
  }

  void counts_have_no_choices() {
    QFile file(QString::fromStdString(path("counts.json")));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(R"({"logical_count": [[8,1,1,8]]})");
    file.close();
    good_.write(path("a.safetensors"));
    try {
      diff_recordings({path("a.safetensors"), path("counts.json")});
      QFAIL("not refused");
    } catch (const Error& e) {
      QVERIFY2(std::string(e.what()).find("counts.json: holds counts, without the choices of single cells (") !=
                   std::string::npos,
               e.what());
    }
  }

  void routers_are_paired_by_layer_name_or_order() {
    const auto pairs = [](const TraceHeader& a, const TraceHeader& b) { return pair_routers(a, "a", b, "b").pairs; };
    QCOMPARE(pairs(header_of(3, 1), header_of(4, 2)).size(), size_t{2});
    QVERIFY(pairs(header_of(3, 1), header_of(4, 2))[0].a == 1 && pairs(header_of(3, 1), header_of(4, 2))[0].b == 0);
    QCOMPARE(pairs(header_of(3, -1), header_of(3, 5)).size(), size_t{3});
    TraceHeader named = header_of(2, -1), turned = header_of(3, -1);
    named.routers[0].name = "encoder.mlp", named.routers[1].name = "decoder.mlp";
    turned.routers[0].name = "decoder.mlp", turned.routers[1].name = "more", turned.routers[2].name = "encoder.mlp";
    QVERIFY(pairs(named, turned).size() == 2 && pairs(named, turned)[0].b == 2 && pairs(named, turned)[1].b == 0);
    // Shared experts are more branches beside more choices; more branches alone are another model.
    QCOMPARE(pairs(header_of(2, 0), header_of(2, 0, 9, 3)).size(), size_t{2});
    QVERIFY_THROWS_EXCEPTION(Error, pairs(header_of(2, 0), header_of(2, 0, 9, 2)));
    // Some formats know the number of branches by the largest id alone.
    TraceHeader by_ids = header_of(2, 0, 7);
    by_ids.lacks = {"branches"};
    QCOMPARE(pairs(header_of(2, 0), by_ids).size(), size_t{2});
  }
};

STORMCELL_TEST(DifferenceRefusalsTest)

}  // namespace stormcell::testing

#include "refusals_test.moc"
