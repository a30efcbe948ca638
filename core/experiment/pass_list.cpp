#include "core/experiment/pass_list.h"

#include "core/base/error.h"
#include "core/base/pass_names.h"
#include "core/passes/pass.h"

namespace stormcell {

namespace {
PassOptionLine::Kind kind_of(PassOption::Kind kind) {
  switch (kind) {
    case PassOption::Kind::flag:
      return PassOptionLine::Kind::flag;
    case PassOption::Kind::share:
      return PassOptionLine::Kind::share;
    case PassOption::Kind::count:
      return PassOptionLine::Kind::count;
  }
  return PassOptionLine::Kind::flag;
}
}  // namespace

std::vector<PassLine> list_passes() {
  std::vector<PassLine> list;
  for (const Pass& pass : passes()) {
    PassLine& line = list.emplace_back(
        PassLine{std::string(pass.id), pass_name(pass.id), std::string(pass.summary), pass.lossy, {}});
    for (const PassOption& o : pass.options)
      line.options.push_back(
          {std::string(o.key), std::string(o.summary), kind_of(o.kind), option_text(o, o.standard), o.least, o.most});
  }
  return list;
}

void check_pass_ids(const std::string& option, const std::vector<std::string>& ids) {
  for (const std::string& id : ids) check_pass(id, option);
}

std::map<std::string, std::map<std::string, std::string>> parse_pass_options(const std::string& option,
                                                                             const std::vector<std::string>& texts) {
  std::map<std::string, std::map<std::string, std::string>> options;
  for (const std::string& text : texts) {
    const size_t dot = text.find('.'), equals = text.find('=');
    if (dot == std::string::npos || equals == std::string::npos || equals < dot)
      bad_input(option, "\"" + text + "\" is not PASS.OPTION=VALUE", "write it as dead-path.max-share=0.01");
    const std::string id = text.substr(0, dot), key = text.substr(dot + 1, equals - dot - 1);
    check_pass_ids(option, {id});
    if (options[id].contains(key)) bad_input(option, id + "." + key + " is given twice", "give it once");
    options[id][key] = text.substr(equals + 1);
    checked_options(*find_pass(id), options[id], option);
  }
  return options;
}

}  // namespace stormcell
