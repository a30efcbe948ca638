// Arrays of choices.
#include "tests/contract/imports.h"

namespace stormcell::testing {

class ContractImportNpyTest : public QObject, private Imports {
  Q_OBJECT
 private slots:
  void an_array_of_choices_is_imported() {
    // Layer 0 has no branches and is filled with zeros; cell 1 was padded, cell 2 of layer 2 was not recorded.
    const std::vector<int64_t> ids = {0, 0, 1, 2, 3, 1, 0, 0, -1, -1, -1, -1, 0, 0, 5, 1, 0, 0};
    const std::string trace = scratch_.write("ids.npy", npy_of("(3, 3, 2)", "<i8", ids)),
                      session = scratch_.path("npy.storm");
    const Json import = imported(trace, session);
    QCOMPARE(import["model"]["layers"].get<int>(), 2);
    QCOMPARE(import["model"]["branches"].get<int>(), 6);
    QCOMPARE(import["rows_read"].get<int>(), 6);
    QCOMPARE(import["rows_skipped"].get<int>(), 6);
    QCOMPARE(import["rows_masked"].get<int>(), 6);
    QCOMPARE(loads_of(analyzed(session), 0), (std::vector<int64_t>{0, 2, 1, 0, 0, 1}));
    // A config.json knows the number of branches and which layers have them.
    const std::string config =
        scratch_.write("qwen/config.json", R"({"model_type": "qwen3_moe", "num_hidden_layers": 3, "num_experts": 8,
      "mlp_only_layers": [0], "hidden_size": 64, "moe_intermediate_size": 32})");
    const Json known = imported(trace, scratch_.path("known.storm"), {"--model-config", config});
    QCOMPARE(known["model"]["branches"].get<int>(), 8);
    QCOMPARE(known["model"]["name"].get<std::string>(), std::string("qwen"));
    QCOMPARE(analyzed(scratch_.path("known.storm"))["routers"][0]["layer"].get<int>(), 1);
  }

  void an_array_of_more_layers_than_tokens_is_doubted() {
    const auto warnings_of = [&](const std::string& name, int tokens, int layers, const Arguments& more = {}) {
      std::vector<int32_t> ids;
      for (int i = 0; i < tokens * layers; ++i) ids.insert(ids.end(), {i % 3, 3});
      const std::string shape = "(" + std::to_string(tokens) + ", " + std::to_string(layers) + ", 2)";
      return imported(scratch_.write(name + ".npy", npy_of(shape, "<i4", ids)), scratch_.path(name + ".storm"),
                      more)["warnings"]
          .dump();
    };
    const auto is_doubted = [](const std::string& warnings) { return warnings.find("transpose") != std::string::npos; };
    const std::string of_layers = warnings_of("swapped", 2, 129);
    QVERIFY2(of_layers.find("is read as 2 tokens of 129 layers; if it is [layers, tokens, k]: numpy.save(FILE, "
                            "ids.transpose(1, 0, 2))") != std::string::npos,
             of_layers.c_str());
    QVERIFY(!is_doubted(warnings_of("deep", 2, 128)) && !is_doubted(warnings_of("square", 129, 129)));
    const std::string config = scratch_.write(
        "deep/config.json",
        R"({"model_type": "mixtral", "num_hidden_layers": 129, "num_local_experts": 4, "num_experts_per_tok": 2})");
    QVERIFY(!is_doubted(warnings_of("deep of a known model", 2, 129, {"--model-config", config})));
  }

  // Programs that store ids in an unsigned type turn -1 into its largest number.
  void the_largest_unsigned_number_is_no_branch_data() {
    QTest::addColumn<QByteArray>("array");
    QTest::addColumn<int>("experts");
    QTest::addColumn<int>("branches");
    QTest::addColumn<int>("masked");
    QTest::addColumn<bool>("doubted");
    const auto row = [](const char* name, const std::string& array, int experts, int branches, int masked,
                        bool doubted) {
      QTest::newRow(name) << QByteArray(array.data(), static_cast<qsizetype>(array.size())) << experts << branches
                          << masked << doubted;
    };
    const std::string bytes = npy_of("(2, 1, 2)", "|u1", std::vector<uint8_t>{0, 1, 255, 2}),
                      words = npy_of("(2, 1, 2)", "<u2", std::vector<uint16_t>{0, 1, 65535, 2}),
                      longs = npy_of("(2, 1, 2)", "<u4", std::vector<uint32_t>{0, 1, 4294967295, 2});
    row("uint8 of 4 experts", bytes, 4, 4, 1, false);
    row("uint8 of 255 experts", bytes, 255, 255, 1, false);
    row("uint8 of 256 experts", bytes, 256, 256, 0, false);
    row("uint8 without a model", bytes, 0, 256, 0, true);
    row("uint16 of 4 experts", words, 4, 4, 1, false);
    row("uint16 without a model", words, 0, 3, 1, false);
    row("uint32 without a model", longs, 0, 3, 1, false);
    row("uint64 without a model", npy_of("(2, 1, 2)", "<u8", std::vector<uint64_t>{0, 1, 18446744073709551615U, 2}), 0,
        3, 1, false);
    row("255 in uint16", npy_of("(2, 1, 2)", "<u2", std::vector<uint16_t>{0, 1, 255, 2}), 0, 256, 0, false);
  }
  void the_largest_unsigned_number_is_no_branch() {
    QFETCH(QByteArray, array);
    QFETCH(int, experts);
    QFETCH(int, branches);
    QFETCH(int, masked);
    QFETCH(bool, doubted);
    const std::string name = QTest::currentDataTag(), session = scratch_.path(name + ".storm");
    const std::string config = scratch_.write(
        name + "/config.json",
        R"({"model_type": "qwen3_moe", "num_hidden_layers": 1, "num_experts_per_tok": 2, "num_experts": )" +
            std::to_string(experts) + "}");
    const Json import = imported(scratch_.write(name + ".npy", array.toStdString()), session,
                                 experts > 0 ? Arguments{"--model-config", config} : Arguments{});
    QCOMPARE(import["model"]["branches"].get<int>(), branches);
    QCOMPARE(import["rows_masked"].get<int>(), masked);
    QCOMPARE(import["warnings"].dump().find("holds 255 in uint8, which is read as branch 255") != std::string::npos,
             doubted);
    std::vector<int64_t> loads(static_cast<size_t>(branches));
    loads[0] = loads[1] = loads[2] = 1;
    if (masked == 0) loads[255] = 1;
    QCOMPARE(loads_of(analyzed(session), 0), loads);
  }

  // A server that computes the shared expert with the routed ones records one more choice of each token. Its id follows
  // those of the routed experts.
  void a_fused_shared_expert_is_no_routing() {
    const std::vector<int32_t> ids = {0, 1, 4, 2, 3, 4, 1, 2, 4, 3, 0, 4, 0, 3, 4, 0, 1, 4};
    const std::string trace = scratch_.write("fused.npy", npy_of("(3, 2, 3)", "<i4", ids));
    const auto config = [&](const char* name, const char* shared) {
      return scratch_.write(
          std::string(name) + "/config.json",
          std::string(R"({"model_type": "deepseek_v3", "num_hidden_layers": 2, "n_routed_experts": 4,)") +
              R"( "num_experts_per_tok": 2)" + shared + "}");
    };
    const std::string told = config("told", R"(, "n_shared_experts": 1)"),
                      untold = config("untold", R"(, "n_shared_experts": null)");
    const std::string session = scratch_.path("fused.storm");
    const Json import = imported(trace, session, {"--model-config", told});
    QVERIFY(import["model"]["branches"] == 4 && import["model"]["k"] == 2);
    QVERIFY(import["rows_read"] == 12 && import["rows_shared"] == 6 && import["rows_masked"] == 0);
    QCOMPARE(loads_of(analyzed(session), 0), (std::vector<int64_t>{2, 2, 1, 1}));
    const Ended text = run_program({"import", trace, "-o", scratch_.path("text.storm"), "--shared-experts", "1"});
    VERIFY_DONE(text, Arguments{"import"});
    QVERIFY2(text.out.find("6 rows of fused shared experts") != std::string::npos, text.out.c_str());
    // Without a config.json the number of routed experts follows from the largest id.
    const Json option = imported(trace, scratch_.path("option.storm"), {"--shared-experts", "1"});
    QVERIFY(option["model"]["branches"] == 4 && option["model"]["k"] == 2 && option["rows_shared"] == 6);
    QCOMPARE(imported(trace, scratch_.path("expert.storm"))["model"]["branches"].get<int>(),
             5);  // nobody said it is a shared one
    const std::string good =
        scratch_.write("five.npy", npy_of("(1, 2, 3)", "<i4", std::vector<int32_t>{0, 1, 2, 2, 3, 1}));
    verify_refused(trace, "is 4, -1 to 3 are allowed", {"--model-config", untold}, good);
    verify_refused(trace, "is 4, -1 to 3 are allowed", {"--model-config", told, "--shared-experts", "0"}, good);
    verify_refused(scratch_.write("behind.npy", npy_of("(1, 2, 3)", "<i4", std::vector<int32_t>{0, 1, 5, 2, 3, 4})),
                   "is 5, -1 to 4 are allowed", {"--model-config", told}, good);
    verify_refused(scratch_.write("unfused.npy", npy_of("(1, 2, 3)", "<i4", std::vector<int32_t>{0, 1, 2, 2, 3, 4})),
                   "layer.0 has a token of 3 routed choices, 2 choices beside the shared ones (--shared-experts 0",
                   {"--shared-experts", "1"},
                   scratch_.write("four.npy", npy_of("(1, 2, 2)", "<i4", std::vector<int32_t>{0, 1, 2, 3})));
    VERIFY_REFUSED((Arguments{"import", trace, "-o", session, "--shared-experts", "65"}), "--shared-experts",
                   "0 to 64");
  }

  void arrays_of_the_wrong_shape_or_type() {
    const std::vector<int32_t> four = {0, 1, 2, 3};
    verify_refused(scratch_.write("rank.npy", npy_of("(2, 2)", "<i4", four)), "expected [tokens, layers, k]");
    verify_refused(scratch_.write("rank4.npy", npy_of("(1, 2, 2, 1)", "<i4", four)), "expected [tokens, layers, k]");
    verify_refused(scratch_.write("none.npy", npy_of("(0, 2, 2)", "<i4", std::vector<int32_t>{})), "nothing is in it");
    verify_refused(scratch_.write("float.npy", npy_of("(2, 1, 2)", "<f4", std::vector<float>{0, 1, 2, 3})),
                   "holds \"<f4\", expected whole numbers of 1 to 8 bytes ('<i4', '<i8', ...) (save the numbers");
    // The advice names no type that would be refused next.
    verify_refused(scratch_.write("double.npy", npy_of("(2, 1, 2)", "<f8", std::vector<double>{0, 1, 2, 3})),
                   "holds \"<f8\", expected whole numbers of 1 to 8 bytes ('<i4', '<i8', ...) (save the numbers");
    verify_refused(scratch_.write("short.npy", npy_of("(2, 1, 2)", ">i2", std::vector<int16_t>{0, 1, 2, 3})), "'<i4'");
    verify_refused(scratch_.write("negative.npy", npy_of("(2, 1, 2)", "<i4", std::vector<int32_t>{0, 1, -2, 3})),
                   "element [1, 0, 0] is -2");
    verify_refused(
        scratch_.write("huge.npy", npy_of("(2, 1, 2)", "<i8", std::vector<int64_t>{0, 1, 2, int64_t{1} << 40})),
        "element [1, 0, 1]");
    verify_refused(scratch_.write("twice.npy", npy_of("(2, 1, 2)", "<i4", std::vector<int32_t>{0, 1, 2, 2})),
                   "element [1, 0, 1] is 2, which the same cell chose", {},
                   scratch_.write("good.npy", npy_of("(2, 1, 2)", "<i4", std::vector<int32_t>{0, 1, 2, 1})));
    const std::string config = scratch_.write(
        "mixtral/config.json", R"({"model_type": "mixtral", "num_hidden_layers": 2, "num_local_experts": 3})");
    verify_refused(scratch_.write("over.npy", npy_of("(1, 2, 2)", "<i4", four)), "is 3, -1 to 2 are allowed",
                   {"--model-config", config});
    verify_refused(scratch_.write("layers.npy", npy_of("(2, 1, 2)", "<i4", std::vector<int32_t>{0, 1, 2, 1})),
                   "has 1 layer;", {"--model-config", config});
  }
};

STORMCELL_TEST(ContractImportNpyTest)

}  // namespace stormcell::testing

#include "import_npy_test.moc"
