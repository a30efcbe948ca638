// The native trace: of other programs, and of sessions, which come back as they were.
#include <cstring>
#include <limits>

#include "tests/contract/imports.h"

namespace stormcell::testing {

class ContractImportNativeTest : public QObject, private Imports {
  Q_OBJECT
 private slots:
  void a_native_trace_of_another_program_is_imported() {
    const std::string session = scratch_.path("small.storm");
    const Json import = imported(SmallTrace().write(scratch_.path("small.safetensors")), session);
    QCOMPARE(import["format"].get<std::string>(), std::string("native"));
    QCOMPARE(import["rows_read"].get<int>(), 5);
    const Json analysis = analyzed(session);
    QVERIFY((analysis["phases"] == Json::array({"prefill", "decode"})));
    QCOMPARE(loads_of(analysis, 0), (std::vector<int64_t>{2, 1, 1, 1}));
  }

  void a_native_export_comes_back_as_it_was() {
    const std::string first = scratch_.path("first.storm"), second = scratch_.path("second.storm"),
                      trace = scratch_.path("round.safetensors"), again = scratch_.path("again.safetensors");
    imported(scratch_.write("round.csv", route_trace()), first);
    for (const auto& [session, file] : {std::pair{first, trace}, std::pair{second, again}}) {
      if (file == again) imported(trace, session);
      const Arguments arguments = {"export", session, "--format", "native", "-o", file};
      VERIFY_DONE(run_program(arguments), arguments);
    }
    const auto tensors = [](const std::string& file) {
      const std::string bytes = Scratch::read(file);
      uint64_t header = 0;
      std::memcpy(&header, bytes.data(), 8);
      return bytes.substr(8 + header);
    };
    QVERIFY(tensors(trace) == tensors(again));
    QVERIFY(analyzed(first)["routers"] == analyzed(second)["routers"]);
    // The same model: it may go into the first session, too.
    imported(trace, first);
    QCOMPARE(SessionReader(first).runs().size(), size_t{2});
  }

  void a_profiled_session_comes_back_with_the_same_loads() {
    const std::string session = scratch_.path("profiled.storm"), back = scratch_.path("back.storm"),
                      trace = scratch_.path("profiled.safetensors");
    VERIFY_DONE(run_program(short_run("profile", switch_model(), switch_data(), {"--batch", "2", "-o", session})),
                Arguments{"profile"});
    VERIFY_DONE(run_program({"export", session, "--format", "native", "-o", trace}), Arguments{"export"});
    imported(trace, back);
    Json before = analyzed(session), after = analyzed(back);
    QVERIFY(before["routers"] == after["routers"]);
    QVERIFY(before["phases"] == after["phases"]);
    const SessionReader a(session), b(back);
    for (int64_t batch = 0; batch < a.find_run("").batches; ++batch)
      for (int32_t r = 0; r < 3; ++r) {
        QVERIFY(a.decision(1, r, batch)->choice == b.decision(1, r, batch)->choice);
        QVERIFY(a.decision(1, r, batch)->weight == b.decision(1, r, batch)->weight);
        QCOMPARE(a.spaces(1, batch).size(), b.spaces(1, batch).size());
      }
  }

  void native_traces_that_are_wrong() {
    const std::string file = scratch_.path("wrong.safetensors"),
                      good = SmallTrace().write(scratch_.path("good.safetensors"));
    SmallTrace over, weight, request, phase, twice;
    over.indices[3] = 4;
    verify_refused(over.write(file), "element [3, 0] of layer.0.indices is 4, -1 to 3 are allowed", {}, good);
    over.indices[3] = -3;
    verify_refused(over.write(file), "element [3, 0] of layer.0.indices is -3", {}, good);
    weight.weights[2] = std::numeric_limits<float>::quiet_NaN();
    verify_refused(weight.write(file), "element [2, 0] of layer.0.weights is not a finite number", {}, good);
    request.request[1] = -1;
    verify_refused(request.write(file), "element [1] of cell.request is -1", {}, good);
    phase.phase[4] = 2;
    verify_refused(phase.write(file), "element [4] of cell.phase is 2", {}, good);
    SmallTrace layers;
    layers.about["layers"] = "2";
    verify_refused(layers.write(file), "layers=2", {}, good);
  }
};

STORMCELL_TEST(ContractImportNativeTest)

}  // namespace stormcell::testing

#include "import_native_test.moc"
