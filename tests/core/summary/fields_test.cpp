// Every member of a summary's structs has a row in fields.h, and is read back as it was written.
#include <algorithm>
#include <memory>
#include <utility>

#include "core/summary/fields.h"
#include "core/summary/parse.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

/// Puts something into every member that no member has by default, each time something else.
class Filler {
 public:
  void operator()(const char*, auto& value, const Figure& = {}) { fill(value); }
  void schema(auto& verb, std::string& version) {
    if constexpr (std::is_same_v<std::decay_t<decltype(verb)>, std::string>)
      verb = "profile";  // the verb with the most keys
    version = "0.0.7";
  }
  void text_or_null(const char*, std::string& value) { fill(value); }
  void infinite_or_null(const char*, double& value, const Figure&) { fill(value); }
  void null_unless(const char*, auto& value, bool, const Figure& = {}) { fill(value); }
  void true_unless_said(const char*, bool& value) { value = false; }
  void minus_one_unless_said(const char*, int64_t& value) { fill(value); }
  void positive_or_null(const char*, int64_t& value) { fill(value); }
  void left_out_if_empty(const char*, std::vector<std::string>& list) { fill(list); }
  template <class Enum>
  void word(const char*, Enum& value, Enum (*)(std::string_view)) {
    value = static_cast<Enum>(1);
  }
  template <class Enum>
  void word(const char*, std::optional<Enum>& value, Enum (*)(std::string_view)) {
    value = static_cast<Enum>(1);
  }
  void withheld(const char*, std::optional<SpeedupWithheld>& value) {
    value = SpeedupWithheld{WithheldReason::few_batches, ++last_ + 0.25, ++last_ + 0.25};
  }
  void json(const char*, std::string& value) { value = "{\"key\":" + std::to_string(++last_) + "}"; }
  void group(const char*, auto members) { members(*this); }
  void list(const char*, auto& values, auto members) {
    values.resize(2);
    for (auto& value : values) members(*this, value);
  }
  template <class T>
  void shared(const char*, std::shared_ptr<const T>& value) {
    if (std::exchange(inside_, true)) return;  // of one that holds another, one
    auto made = std::make_shared<T>();
    fields(*this, *made);
    value = std::move(made);
    inside_ = false;
  }
  void decoded(const char*, std::vector<std::vector<int32_t>>& ids, std::vector<std::string>& texts) {
    fill(ids), fill(texts);
  }
  void derived(const char*, const auto&, const Figure& = {}) {}

 private:
  void fill(std::string& value) { value = "text " + std::to_string(++last_); }
  void fill(bool& value) { value = true; }
  void fill(std::integral auto& value) { value = ++last_; }
  void fill(double& value) { value = ++last_ + 0.25; }
  void fill(std::array<double, 2>& value) { fill(value[0]), fill(value[1]); }
  template <class T>
  void fill(std::optional<T>& value) {
    fill(value.emplace());
  }
  template <class T>
  void fill(std::vector<T>& values) {
    values.resize(2);
    for (T& value : values) fill(value);
  }
  template <class T>
  void fill(std::map<std::string, T>& values) {
    fill(values["key " + std::to_string(++last_)]);
  }
  void fill(auto& value) { fields(*this, value); }

  int last_ = 0;
  bool inside_ = false;
};

/// Which bytes of a struct lie under a row.
class Extents {
 public:
  void operator()(const char*, const auto& value, const Figure& = {}) { add(value); }
  void schema(const auto& verb, const std::string& version) {
    if constexpr (std::is_same_v<std::decay_t<decltype(verb)>, std::string>) add(verb);
    add(version);
  }
  void text_or_null(const char*, const auto& value) { add(value); }
  void infinite_or_null(const char*, const auto& value, const Figure&) { add(value); }
  void null_unless(const char*, const auto& value, bool, const Figure& = {}) { add(value); }
  void true_unless_said(const char*, const auto& value) { add(value); }
  void minus_one_unless_said(const char*, const auto& value) { add(value); }
  void positive_or_null(const char*, const auto& value) { add(value); }
  void left_out_if_empty(const char*, const auto& value) { add(value); }
  void word(const char*, const auto& value, auto) { add(value); }
  void withheld(const char*, const auto& value) { add(value); }
  void json(const char*, const auto& value) { add(value); }
  void group(const char*, auto members) { members(*this); }
  void list(const char*, const auto& values, auto) { add(values); }
  void shared(const char*, const auto& value) { add(value); }
  void decoded(const char*, const auto& ids, const auto& texts) { add(ids), add(texts); }
  void derived(const char*, const auto&, const Figure& = {}) {}

  /// Bytes between two rows, or behind the last, that are more than what aligns the next one.
  size_t left_out(const void* object, size_t size, size_t alignment) {
    std::sort(extents_.begin(), extents_.end(), [](const Extent& a, const Extent& b) { return a.at < b.at; });
    extents_.push_back({static_cast<const char*>(object) + size, 0, alignment});
    const char* end = static_cast<const char*>(object);
    size_t bytes = 0;
    for (const Extent& e : extents_) {
      const auto gap = static_cast<size_t>(e.at - end);
      if (gap >= e.alignment) bytes += gap;
      end = e.at + e.size;
    }
    return bytes;
  }

 private:
  struct Extent {
    const char* at;
    size_t size, alignment;
  };
  template <class T>
  void add(const T& value) {
    extents_.push_back({reinterpret_cast<const char*>(&value), sizeof(T), alignof(T)});
  }
  std::vector<Extent> extents_;
};

template <class T>
size_t bytes_left_out(const T& object = {}) {
  Extents extents;
  fields(extents, object);
  return extents.left_out(&object, sizeof(T), alignof(T));
}

/// A member without a row, to see that the test would find it.
struct Forgetful {
  std::string kept, forgotten;
  int64_t counted = 0;
};
void fields(auto& v, Of<Forgetful> auto& f) {
  v("kept", f.kept);
  v("counted", f.counted);
}

}  // namespace

class FieldsTest : public QObject {
  Q_OBJECT
 private slots:
  void every_member_has_a_row() {
    QCOMPARE(bytes_left_out<Forgetful>(), sizeof(std::string));
    QCOMPARE(bytes_left_out<Latency>(), size_t{0});
    QCOMPARE(bytes_left_out<SplitFigures>(), size_t{0});
    QCOMPARE(bytes_left_out<PlanFigures>(), size_t{0});
    QCOMPARE(bytes_left_out<ModelFigures>(), size_t{0});
    QCOMPARE(bytes_left_out<PictureFigures>(), size_t{0});
    QCOMPARE(bytes_left_out<DatasetFigures>(), size_t{0});
    QCOMPARE(bytes_left_out<DeviceFigures>(), size_t{0});
    QCOMPARE(bytes_left_out<Flip>(), size_t{0});
    QCOMPARE(bytes_left_out<OutputDifference>(), size_t{0});
    QCOMPARE(bytes_left_out<RouterDifference>(), size_t{0});
    QCOMPARE(bytes_left_out<FormatCost>(), size_t{0});
    QCOMPARE(bytes_left_out<DecodedTokens>(), size_t{0});
    QCOMPARE(bytes_left_out<JudgedPart>(), size_t{0});
    QCOMPARE(bytes_left_out<Verification>(), size_t{0});
    QCOMPARE(bytes_left_out<PassReport>(), size_t{0});
    QCOMPARE(bytes_left_out<RouterFigures>(), size_t{0});
    QCOMPARE(bytes_left_out<OperatorTime>(), size_t{0});
    QCOMPARE(bytes_left_out<ExitTarget>(), size_t{0});
    RunSummaryFigures profile;
    profile.verb = "profile";
    QCOMPARE(bytes_left_out(profile), size_t{0});
    QCOMPARE(bytes_left_out<DecodedVerification>(), size_t{0});
    QCOMPARE(bytes_left_out<GenerateFigures>(), size_t{0});
    QCOMPARE(bytes_left_out<RouterStructure>(), size_t{0});
    QCOMPARE(bytes_left_out<PictureStructure>(), size_t{0});
    QCOMPARE(bytes_left_out<SegmentStructure>(), size_t{0});
    QCOMPARE(bytes_left_out<PlanStructure>(), size_t{0});
    QCOMPARE(bytes_left_out<ModelStructure>(), size_t{0});
    QCOMPARE(bytes_left_out<SheetLack>(), size_t{0});
    QCOMPARE(bytes_left_out<SheetFormat>(), size_t{0});
    QCOMPARE(bytes_left_out<SheetMemory>(), size_t{0});
    QCOMPARE(bytes_left_out<ModelSheet>(), size_t{0});
  }

  void every_member_of_a_run_is_read_as_it_was_written() {
    RunSummaryFigures f;
    Filler filler;
    fields(filler, f);
    f.other_load = f.decode ? 0.125 : 0;  // a quarter or more would withhold what is read
    QVERIFY(f.passes.size() == 2 && f.passes[1].options.size() == 1 && f.verified->listed.size() == 2 && f.record_work);
    const auto read = parse_summary(to_json(f));
    QVERIFY(read && !read->generated);
    QCOMPARE(QString::fromStdString(to_json(read->figures)), QString::fromStdString(to_json(f)));
  }

  void every_member_of_a_decoding_is_read_as_it_was_written() {
    GenerateFigures f;
    Filler filler;
    fields(filler, f);
    QVERIFY(f.ids.size() == 2 && f.texts.size() == 2 && f.verified->tokens > 0);
    const auto read = parse_summary(to_json(f));
    QVERIFY(read && read->generated && !read->figures.verified);
    QCOMPARE(QString::fromStdString(to_json(*read->generated)), QString::fromStdString(to_json(f)));
    QCOMPARE(read->figures.model.name, f.model.name);
  }

  void what_another_version_wrote_otherwise_is_empty() {
    const auto read =
        parse_summary(R"({"schema":"stormcell.run/1","model":7,"dataset":{"batches":"many","cells":3},"speedup":[],
        "passes":[null,{"name":5,"options":{"a":1,"b":"2"}}],"warnings":[1,"w"],"device":{"threads":99999999999}})");
    QVERIFY(read);
    const RunSummaryFigures& f = read->figures;
    QVERIFY(f.verb == "run" && f.model.name.empty() && f.model.weights_stated && f.dataset.batches == 0 &&
            f.dataset.cells == 3);
    QVERIFY(!f.speedup && f.device.threads == 0 && f.warnings == std::vector<std::string>{"w"});
    QCOMPARE(f.passes.size(), size_t{2});
    QVERIFY(f.passes[1].name.empty() && f.passes[1].options.size() == 1 && f.passes[1].options.at("b") == "2");
    for (const char* none : {"", "{", "[]", "7", "{\"a\":1,\"a\":2}"}) QVERIFY2(!parse_summary(none), none);
  }

  void a_speed_up_that_was_not_verified_is_not_read() {
    const auto with = [](const char* verified) {
      return parse_summary(R"({"schema":"stormcell.optimize/1","speedup":1.5,"speedup_ci95":[1.4,1.6],"verified":)" +
                           std::string(verified) + "}");
    };
    QVERIFY(with("{\"passed\":true}")->figures.speedup == 1.5);
    for (const char* verified : {"null", "{\"passed\":false}"})
      QVERIFY2(!with(verified)->figures.speedup && !with(verified)->figures.speedup_ci95, verified);
  }
};

STORMCELL_TEST(FieldsTest)

}  // namespace stormcell::testing

#include "fields_test.moc"
