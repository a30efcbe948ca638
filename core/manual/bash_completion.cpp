#include "core/manual/bash_completion.h"

#include <algorithm>
#include <string_view>

namespace stormcell {
namespace {

/// The part that all scripts share: @ is the program's function. Bash breaks words at ":" and "=", so the line
/// is split anew, and what stands before the last of them is taken off each answer.
constexpr std::string_view kFrame = R"(
@() {
  local IFS=$' \t\n' line=${COMP_LINE:0:COMP_POINT} typed word verb="" option="" cut
  local options="" words="" files="" commas="" is_value=""
  read -ra typed <<<"$line"
  word=""
  if [[ $line != *[[:space:]] ]]; then
    word=${typed[-1]}
    unset 'typed[-1]'
  fi
  if [ "${#typed[@]}" -gt 1 ]; then verb=${typed[1]}; fi
  option=${typed[-1]}
  if [[ $word == --*=* ]]; then
    option=${word%%=*}
    word=${word#*=}
  fi
  @_options "$verb"
  if [ "${#typed[@]}" -gt 1 ] || [ "$option" != "${typed[-1]}" ]; then @_values "$verb" "$option"; fi
  if [ -z "$is_value" ]; then
    if [[ $word == -* ]]; then words=$options; else @_values "$verb" ""; fi
  fi
  COMPREPLY=()
  cut=""
  if [ -n "$commas" ] && [[ $word == *,* ]]; then
    cut=${word%,*},
    word=${word##*,}
  fi
  mapfile -t COMPREPLY < <(compgen -P "$cut" -W "$words" -- "$word")
  if [ -n "$files" ]; then
    compopt -o filenames 2>/dev/null
    mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$word")
  fi
  if [[ ${COMP_WORDBREAKS-} == *:* && $cut$word == *:* ]]; then
    word=$cut$word
    COMPREPLY=("${COMPREPLY[@]#"${word%"${word##*:}"}"}")
  fi
}
complete -F @ )";

std::string joined_words(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::string function_name(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  return "_" + name;
}

/// The variables that are set where an option's value, or an argument, is typed.
std::string settings_of(const OptionEntry& option) {
  return "words=\"" + joined_words(option.words) + "\"" + (option.files ? " files=yes" : "") +
         (option.commas ? " commas=yes" : "") + " is_value=yes";
}

/// Arguments have one row: completion does not count them.
OptionEntry all_arguments(const CommandEntry& command) {
  OptionEntry all;
  for (const OptionEntry& argument : command.arguments) {
    all.words.insert(all.words.end(), argument.words.begin(), argument.words.end());
    all.files |= argument.files;
  }
  return all;
}

std::string options_row(const CommandEntry& command, const std::string& pattern) {
  std::vector<std::string> names;
  for (const OptionEntry& option : command.options) names.insert(names.end(), option.names.begin(), option.names.end());
  return "    " + pattern + ") options=\"" + joined_words(names) + "\" ;;\n";
}

std::string value_rows(const CommandEntry& command, const std::string& verb) {
  std::string rows;
  for (const OptionEntry& option : command.options) {
    if (option.value.empty()) continue;
    std::string pattern;
    for (const std::string& name : option.names) pattern += (pattern.empty() ? "" : " | ") + verb + ":" + name;
    rows += "    " + pattern + ") " + settings_of(option) + " ;;\n";
  }
  return rows + "    " + verb + ":) " + settings_of(all_arguments(command)) + " ;;\n";
}

std::string with_name(std::string_view frame, const std::string& name) {
  std::string text;
  for (size_t i = 0; i < frame.size(); ++i)
    // "${typed[@]}" is bash's own.
    if (frame[i] == '@' && (i == 0 || frame[i - 1] != '['))
      text += name;
    else
      text += frame[i];
  return text;
}

}  // namespace

std::string bash_completion(const CommandEntry& program, const std::vector<CommandEntry>& verbs) {
  const std::string name = function_name(program.name);
  std::string options, values;
  CommandEntry first = program;
  for (const CommandEntry& verb : verbs) {
    options += options_row(verb, verb.name);
    values += value_rows(verb, verb.name);
    OptionEntry argument;
    argument.words = {verb.name};
    first.arguments.push_back(argument);
  }
  options += options_row(program, "*");
  // An option of a program with verbs stands where a verb would.
  values += value_rows(first, "*");
  return "# Completion of " + program.name + " for bash, printed by " + program.name + " --completion\n" + name +
         "_options() {\n  case $1 in\n" + options + "  esac\n}\n" + name + "_values() {\n  case $1:$2 in\n" + values +
         "  esac\n}" + with_name(kFrame, name) + program.name + "\n";
}

}  // namespace stormcell
