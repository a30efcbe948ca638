#include "core/patterns/label_file.h"

#include <array>
#include <string_view>

#include "core/base/error.h"
#include "core/formats/delimited_text.h"
#include "core/formats/file_text.h"

namespace stormcell {

std::map<int64_t, std::string> read_label_file(const std::string& path) {
  constexpr size_t kMostBytes = size_t{256} << 20;
  constexpr std::array<std::string_view, 2> kColumns = {"request", "label"};
  const std::string text = read_file_text(path, kMostBytes);
  DelimitedText table(text, path, TableComments::hash, "each row is a request and its label");
  if (!table.next_row()) bad_input(path, "holds no row", "begin it with the names request,label");
  table.read_names(kColumns, kColumns);
  const auto request = static_cast<size_t>(table.column("request")), label = static_cast<size_t>(table.column("label"));
  std::map<int64_t, std::string> labels;
  while (table.next_row()) {
    const std::string& name = table.fields()[label];
    const int64_t number = table.whole(request);
    if (number < 0) table.wrong_field(request, "a request is a number from 0 on", table.correct_line());
    if (name.empty()) table.wrong_field(label, "is empty", "leave requests without a label out");
    const auto [at, is_new] = labels.emplace(number, name);
    if (!is_new && at->second != name)
      table.wrong_field(label,
                        "request " + std::to_string(number) + " has the label " + in_quotes(at->second) + " already",
                        "leave one of the two out");
  }
  if (labels.empty()) bad_input(path, "holds no label", "write a row for each request that has one");
  return labels;
}

}  // namespace stormcell
