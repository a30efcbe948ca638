// what-if of decoding: the change applies to the prompt and to each turn, and the texts before and after are compared.
#include <algorithm>
#include <map>
#include <sstream>

#include "core/formats/safetensors_writer.h"
#include "tests/contract/models.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {
using Json = nlohmann::json;

constexpr const char* kNewTokens = "6";
constexpr int kSequences = 4;

Arguments decoding(const std::string& verb, const std::string& model, const Arguments& more) {
  Arguments all = short_run(verb, model, "random:4x5", {"--max-new-tokens", kNewTokens});
  if (verb != "generate") all.insert(all.end(), {"--phase", "decode"});
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

std::vector<int> ids_in(const std::string& text) {
  std::vector<int> ids;
  std::istringstream in(text);
  for (int id = 0; in >> id;) ids.push_back(id);
  return ids;
}

/// The decoder's router of encoder-decoder-8-experts, which decides in turns alone.
Json decoder_router(const Json& generated) {
  for (const Json& router : generated["routing"])
    if (router["router"].get<std::string>().starts_with("decoder.")) return router;
  return {};
}

const Json& router_named(const Json& routers, const std::string& name) {
  static const Json none;
  for (const Json& router : routers)
    if (router["router"] == Json(name)) return router;
  return none;
}

int64_t sum_of(const Json& loads) {
  int64_t all = 0;
  for (const Json& load : loads) all += load.get<int64_t>();
  return all;
}

}  // namespace

class ContractWhatIfDecodingTest : public QObject {
  Q_OBJECT
 private slots:
  void texts_and_tokens_that_change_are_counted() {
    const Json generated = json_of(decoding("generate", mixtral_model(), {})),
               j = json_of(decoding("what-if", mixtral_model(), {"--k", "1"}));
    QVERIFY2(j["phase"] == "decode" && j["item"] == "text" && j["answer"] == "token", j.dump(1).c_str());
    QVERIFY2(j["before"]["verified"]["passed"] == true && j["after"]["verified"]["passed"] == true, j.dump(1).c_str());
    QVERIFY2(j["outputs"]["of"] == kSequences && j["outputs"]["changed"] == j["texts"].size(), j.dump(1).c_str());
    // Half of the experts are left out: 24 tokens by chance the same would be a wonder.
    QVERIFY2(!j["texts"].empty(), j.dump(1).c_str());
    std::map<int, std::vector<int>> after;
    for (const Json& text : j["texts"]) {
      const std::vector<int> was = ids_in(text["before"]), is = ids_in(text["after"]);
      QVERIFY2(generated["outputs"].at(text["item"].get<size_t>())["ids"] == Json(was), text.dump().c_str());
      const auto [a, b] = std::mismatch(was.begin(), was.end(), is.begin(), is.end());
      QCOMPARE(text["first_token"].get<std::ptrdiff_t>(), a - was.begin());
      QVERIFY2(text["token_before"] == (a == was.end() ? Json() : Json(*a)), text.dump().c_str());
      QVERIFY2(text["token_after"] == (b == is.end() ? Json() : Json(*b)), text.dump().c_str());
      after[text["item"].get<int>()] = is;
    }
    size_t changed = 0, all = 0;
    for (int item = 0; item < kSequences; ++item) {
      const auto was = generated["outputs"].at(static_cast<size_t>(item))["ids"].get<std::vector<int>>();
      const std::vector<int>& is = after.contains(item) ? after[item] : was;
      all += std::max(was.size(), is.size());
      for (size_t t = 0; t < std::max(was.size(), is.size()); ++t)
        changed += t >= was.size() || t >= is.size() || was[t] != is[t];
    }
    QVERIFY2(j["answers"]["changed"] == changed && j["answers"]["of"] == all, j.dump(1).c_str());
  }

  void a_branch_is_off_in_the_prompt_and_in_each_turn() {
    const Json generated = json_of(decoding("generate", mixtral_model(), {}));
    const Json& router = generated["routing"].at(0);
    const auto loads = router["load"].get<std::vector<int64_t>>();
    const auto busiest = std::max_element(loads.begin(), loads.end()) - loads.begin();
    const std::string name = router["router"];
    const Json j = json_of(decoding("what-if", mixtral_model(), {"--off", name + "/" + std::to_string(busiest)}));
    QVERIFY2(j["after"]["verified"]["passed"] == true, j.dump(1).c_str());
    const Json& changed = router_named(j["routers"], name);
    QVERIFY2(changed["load_before"][static_cast<size_t>(busiest)] > 0, j.dump(1).c_str());
    QVERIFY2(changed["load_after"][static_cast<size_t>(busiest)] == 0, j.dump(1).c_str());
    // The configuration of the second run holds it, and is run again.
    const Scratch scratch;
    scratch.write("c.json", j["after"]["config"].dump());
    const Json again = json_of(decoding("run", mixtral_model(), {"--config", scratch.path("c.json")}));
    QVERIFY2(again["verified"]["passed"] == true, again.dump(1).c_str());
    QVERIFY2(router_named(again["routing"], name)["load"][static_cast<size_t>(busiest)] == 0, again.dump(1).c_str());
  }

  void a_branch_that_no_turn_takes_changes_no_text() {
    // One sequence takes at most six of eight experts in its six turns.
    const Arguments one = {"--batch", "1", "--batches", "1"};
    const Json router = decoder_router(json_of(decoding("generate", switch_model(), one)));
    const auto loads = router["load"].get<std::vector<int64_t>>();
    const auto idle = std::find(loads.begin(), loads.end(), 0) - loads.begin();
    QVERIFY(idle < std::ssize(loads));
    const std::string off = router["router"].get<std::string>() + "/" + std::to_string(idle);
    const Arguments change = {"--batch", "1", "--batches", "1", "--off", off};
    const Json j = json_of(decoding("what-if", switch_model(), change));
    QVERIFY2(j["outputs"]["changed"] == 0 && j["answers"]["changed"] == 0 && j["texts"].empty(), j.dump(1).c_str());
    QVERIFY2(j["after"]["verified"]["passed"] == true, j.dump(1).c_str());
    const Arguments plain = decoding("what-if", switch_model(), change);
    const Ended told_so = run_program(plain);
    VERIFY_DONE(told_so, plain);
    QVERIFY2(told_so.out.find("No text differs, nor any token.") != std::string::npos, told_so.out.c_str());
  }

  void choices_are_forced_in_each_turn() {
    const Scratch scratch;
    const std::string name = decoder_router(json_of(decoding("generate", switch_model(), {})))["router"];
    // In the first four turns expert 5, then 2; sequence 3 is free in all of them.
    constexpr int kTurns = 6;
    std::vector<int32_t> choices;
    for (int s = 0; s < kSequences; ++s)
      for (int t = 0; t < kTurns; ++t) choices.push_back(s == 3 ? -2 : t < 4 ? 5 : 2);
    const auto file_of = [&](const std::string& tensor, std::vector<int64_t> shape) {
      const TensorToWrite one{tensor, DType::i32, std::move(shape), choices.data()};
      const std::string path = scratch.path("forced.safetensors");
      write_safetensors(path, {&one, 1});
      return path;
    };
    const std::string turns = "b0." + name + ".turns";
    const Json j = json_of(decoding("what-if", switch_model(), {"--force", file_of(turns, {kSequences, kTurns, 1})}));
    QVERIFY2(j["after"]["verified"]["passed"] == true, j.dump(1).c_str());
    const Json& router = router_named(j["routers"], name);
    // A text of at least one turn each; what sequence 3 takes is its own.
    const int64_t forced = router["load_after"][5].get<int64_t>() + router["load_after"][2].get<int64_t>();
    QVERIFY2(router["load_after"][5] >= 3 && sum_of(router["load_after"]) - forced <= kTurns, router.dump().c_str());

    const auto refused = [&](const std::string& path, const char* words) {
      return defect_of_refusal(decoding("what-if", switch_model(), {"--force", path}), path, words);
    };
    QCOMPARE(refused(file_of(turns, {kSequences * kTurns, 1, 1}), "expected shape"), std::string());
    QCOMPARE(refused(file_of(turns, {kSequences, kTurns}), "expected shape"), std::string());
    QCOMPARE(refused(file_of("b0." + name + ".branch", {kSequences * kTurns, 1}), "in each turn"), std::string());
    choices[0] = 8;
    QCOMPARE(refused(file_of(turns, {kSequences, kTurns, 1}), "a branch below 8"), std::string());
    // A forward pass has no turns.
    choices[0] = 5;
    const std::string path = file_of(turns, {kSequences, kTurns, 1});
    QCOMPARE(
        defect_of_refusal(short_run("what-if", switch_model(), "random:4x5", {"--force", path}), path, "in no turn"),
        std::string());
  }

  void a_capacity_holds_in_decoding_too() {
    const Json j = json_of(decoding("what-if", switch_model(), {"--capacity", "1"}));
    QVERIFY2(j["after"]["verified"]["passed"] == true, j.dump(1).c_str());
    // Five cells of a prompt can take five of eight branches; a turn has one cell of each sequence and drops none.
    const std::string name = decoder_router(json_of(decoding("generate", switch_model(), {})))["router"];
    QVERIFY2(router_named(j["routers"], name)["dropped_after"] == 0, j.dump(1).c_str());
    for (const Json& router : j["routers"])
      if (router["router"].get<std::string>().starts_with("encoder."))
        for (const Json& load : router["load_after"]) QVERIFY2(load <= kSequences, router.dump().c_str());
  }

  void the_page_tells_the_first_token_that_differs() {
    const Arguments arguments = decoding("what-if", mixtral_model(), {"--k", "1"});
    const Ended told_so = run_program(arguments);
    VERIFY_DONE(told_so, arguments);
    for (const char* words :
         {"each cell takes 1 branch", " of 4 texts differ", "the earliest at token ", "first other token"})
      QVERIFY2(told_so.out.find(words) != std::string::npos, (std::string(words) + "\n" + told_so.out).c_str());
    const std::string conclusion = told_so.out.substr(0, told_so.out.find("\n\n") + 1);
    QVERIFY2(std::count(conclusion.begin(), conclusion.end(), '\n') <= 5, told_so.out.c_str());
  }
};

STORMCELL_TEST(ContractWhatIfDecodingTest)

}  // namespace stormcell::testing

#include "what_if_decoding_test.moc"
