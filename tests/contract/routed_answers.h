// Answers with routed experts as servers write them, made of a few tokens.
#pragma once
#include <array>
#include <filesystem>

#include "tests/contract/imports.h"
#include "tests/contract/server_traces.h"
#include "tests/testing/file_bytes.h"

namespace stormcell::testing {

class RoutedAnswers : protected Imports {
 protected:
  using Loads = std::vector<std::vector<int64_t>>;
  /// The two experts of a token in each of two layers. Layer 0 of the model's three layers is dense.
  using Token = std::array<std::array<int32_t, 2>, 2>;
  using Tokens = std::vector<Token>;

  static std::string base64_of_bytes(const std::string& bytes) {
    return QByteArray::fromStdString(bytes).toBase64().toStdString();
  }

  /// The ids of the tokens [first, end), with the dense layer or without it.
  static std::vector<int32_t> numbers(const Tokens& tokens, size_t first, size_t end, bool all_layers) {
    std::vector<int32_t> out;
    for (size_t t = first; t < end; ++t) {
      if (all_layers) out.insert(out.end(), {0, 0});
      for (const auto& layer : tokens[t]) out.insert(out.end(), layer.begin(), layer.end());
    }
    return out;
  }
  template <class T>
  static std::string npy_base64(const Tokens& tokens, size_t first, size_t end, bool all_layers, const char* type) {
    const std::vector<int32_t> ids = numbers(tokens, first, end, all_layers);
    const std::string shape = "(" + std::to_string(end - first) + ", " + (all_layers ? "3" : "2") + ", 2)";
    return "\"" + base64_of_bytes(npy_of(shape, type, std::vector<T>(ids.begin(), ids.end()))) + "\"";
  }
  static std::string lists(const Tokens& tokens, size_t first, size_t end) {
    nlohmann::json json = nlohmann::json::array();
    for (size_t t = first; t < end; ++t) json.push_back(tokens[t]);
    return json.dump();
  }
  static std::string raw(const Tokens& tokens, size_t first, size_t end, bool all_layers = true) {
    return "\"" + base64_of(numbers(tokens, first, end, all_layers)) + "\"";
  }

  static Loads loads_of_tokens(const Tokens& tokens, size_t first, size_t end) {
    Loads loads(2, std::vector<int64_t>(4));
    for (size_t t = first; t < end; ++t)
      for (size_t l = 0; l < 2; ++l)
        for (const int32_t expert : tokens[t][l]) ++loads[l][static_cast<size_t>(expert)];
    return loads;
  }
  static Loads sum(const Loads& a, const Loads& b) {
    Loads loads = a;
    for (size_t l = 0; l < loads.size(); ++l)
      for (size_t e = 0; e < loads[l].size(); ++e) loads[l][e] += b[l][e];
    return loads;
  }

  /// Three tokens of a prompt and three of an answer, the last of which is not computed on.
  static inline const Tokens kTokens = {
      {{{0, 1}, {3, 0}}}, {{{1, 2}, {3, 1}}}, {{{2, 3}, {3, 2}}}, {{{3, 0}, {3, 0}}}, {{{2, 0}, {1, 3}}}};
  static constexpr size_t kPrompt = 3, kAll = 5;
  static inline const std::string kUsage =
      R"("usage": {"prompt_tokens": 3, "completion_tokens": 3, "total_tokens": 6})";

  static std::string vllm(const std::string& prompt, const std::string& completion, const std::string& usage = kUsage) {
    return R"({"id": "cmpl-1", "object": "text_completion", "prompt_routed_experts": )" + prompt +
           R"(, "choices": [{"index": 0, "text": "x", "finish_reason": "length", "routed_experts": )" + completion +
           "}], " + usage + "}";
  }
  static std::string sglang(const std::string& routed, int prompt = 3, int completion = 3,
                            const std::string& more = "") {
    return R"({"text": "x", "meta_info": {"id": "a", "prompt_tokens": )" + std::to_string(prompt) +
           R"(, "completion_tokens": )" + std::to_string(completion) + more + R"(, "routed_experts": )" + routed + "}}";
  }

  std::string config() { return scratch_.write("three/config.json", kThreeLayers); }
  std::string new_session() { return scratch_.path("r" + std::to_string(count_++) + ".storm"); }

  Json verify_loads(const std::string& text, const Loads& loads, const std::string& session,
                    const std::string& name = "answers.json", std::string config = {}) {
    if (config.empty()) config = this->config();
    const Json import = imported(scratch_.write(name, text), session, {"--model-config", config});
    const SessionReader reader(session);
    for (size_t r = 0; r < loads.size(); ++r)
      if (const std::vector<int64_t> load = reader.total_loads(1, static_cast<int32_t>(r)).load; load != loads[r])
        QTest::qFail((text.substr(0, 300) + ": " + Json(load).dump()).c_str(), __FILE__, __LINE__);
    if (reader.layout(1).routers.size() != loads.size()) QTest::qFail("another number of layers", __FILE__, __LINE__);
    return import;
  }
  void verify_refused_answer(const std::string& text, const std::string& words) {
    const std::string file = scratch_.write("wrong.json", text), none = scratch_.path("none.storm");
    VERIFY_REFUSED((Arguments{"import", file, "-o", none, "--model-config", config()}), file, words);
    QVERIFY(!std::filesystem::exists(none));
  }

 private:
  int count_ = 0;
};

}  // namespace stormcell::testing
