#include "core/report/html.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/counted.h"
#include "core/base/numbers.h"

namespace stormcell::report {
namespace {

// Length of the valid UTF-8 character at the front that XML allows, 0: none.
size_t character_length(std::string_view s) {
  const auto byte = [&](size_t i) { return i < s.size() ? static_cast<unsigned char>(s[i]) : 0u; };
  const unsigned first = byte(0);
  const size_t length = first < 0x80                    ? 1
                        : first >= 0xC2 && first < 0xE0 ? 2
                        : (first & 0xF0) == 0xE0        ? 3
                        : first >= 0xF0 && first < 0xF5 ? 4
                                                        : 0;
  if (length == 0 || length > s.size()) return 0;
  uint32_t code = length == 1 ? first : first & (0x7Fu >> length);
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3F);
  }
  if (length == 1 && code < 0x20 && code != '\n' && code != '\t') return 0;
  if (code == 0x7F || (code >= 0x80 && code < 0xA0) || (code >= 0xD800 && code < 0xE000) || code > 0x10FFFF) return 0;
  if ((length == 3 && code < 0x800) || (length == 4 && code < 0x10000) || (code & 0xFFFE) == 0xFFFE) return 0;
  if ((code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069))
    return 0;  // would turn the direction of what follows
  return length;
}

}  // namespace

std::string shortened(std::string_view text, size_t most) {
  std::string out;
  size_t characters = 0;
  for (size_t at = 0; at < text.size();) {
    if (characters++ == most) return out + "…";
    const size_t length = character_length(text.substr(at));
    const std::string_view one = text.substr(at, std::max<size_t>(length, 1));
    if (length == 0)
      out += "\xEF\xBF\xBD";
    else if (one == "&")
      out += "&amp;";
    else if (one == "<")
      out += "&lt;";
    else if (one == ">")
      out += "&gt;";
    else if (one == "\"")
      out += "&quot;";
    else if (one == "'")
      out += "&#39;";
    else
      out += one;
    at += one.size();
  }
  return out;
}
std::string escape(std::string_view text) { return shortened(text, std::string::npos); }

std::string count(int64_t value) { return value < 0 ? "−" + with_commas(value).substr(1) : with_commas(value); }
std::string number(double value, int digits) {
  if (!std::isfinite(value)) return "–";
  if (value == 0) return "0";
  const int whole = static_cast<int>(std::floor(std::log10(std::fabs(value)))) + 1;
  if (whole > 9 || whole < -3) return fmt::format("{:.{}e}", value, digits - 1);
  const std::string text = fmt::format("{:.{}f}", std::fabs(value), std::max(0, digits - whole));
  return (value < 0 ? "−" : "") + text;
}
std::string rough(double value) { return std::isfinite(value) ? fmt::format("{:.2g}", value) : "–"; }
std::string number(const std::optional<double>& value) { return value ? number(*value) : "–"; }
std::string percent(double share) { return std::isfinite(share) ? fmt::format("{:.1f} %", 100 * share) : "–"; }
std::string change(double share) {
  if (!std::isfinite(share)) return "–";
  const std::string text = fmt::format("{:.1f} %", std::fabs(100 * share));
  return text == "0.0 %" ? "0 %" : (share < 0 ? "−" : "+") + text;
}
std::string bytes(int64_t value) { return stormcell::to_text(Bytes(value)); }
std::string milliseconds(double value) { return number(value, 3) + " ms"; }
std::string times(double factor) { return number(factor, 3) + " ×"; }
std::string times(const std::optional<double>& factor) { return factor ? times(*factor) : "–"; }
std::string interval(const std::optional<std::array<double, 2>>& ci) {
  return ci ? number((*ci)[0]) + " to " + number((*ci)[1]) : "–";
}

Table::Table(std::string caption, std::vector<std::string> head, size_t numeric)
    : caption_(std::move(caption)), numeric_(numeric), columns_(head.size()) {
  body_ = "<thead><tr>";
  for (size_t i = 0; i < head.size(); ++i)
    body_ += std::string("<th scope=\"col\"") + (i >= numeric_ ? " class=\"n\">" : ">") + head[i] + "</th>";
  body_ += "</tr></thead>\n<tbody>\n";
}
void Table::row(const std::vector<std::string>& cells) {
  ++rows_;
  body_ += "<tr>";
  for (size_t i = 0; i < cells.size(); ++i) {
    if (i == 0)
      body_ += "<th scope=\"row\">" + cells[i] + "</th>";
    else
      body_ += (i >= numeric_ ? "<td class=\"n\">" : "<td>") + cells[i] + "</td>";
  }
  body_ += "</tr>\n";
}
std::string Table::html() const {
  return "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"" + caption_ + "\"><table>\n<caption>" +
         caption_ + "</caption>\n" + body_ + "</tbody></table></div>\n";
}
std::string Table::details() const {
  return std::string("<details") + (rows_ > 40 || columns_ > 18 ? " class=\"long\"" : "") +
         "><summary>Table: " + caption_ + "</summary>\n" + html() + "</details>\n";
}

std::string section(std::string_view id, std::string_view title, const std::string& body) {
  if (body.empty()) return {};
  return fmt::format(
      "<section id=\"{0}\" aria-labelledby=\"{0}-title\">\n<h2 id=\"{0}-title\">{1}</h2>\n{2}</section>\n", id, title,
      body);
}
std::string folded(std::string section) {
  const auto put = [&](std::string_view before, std::string_view text, size_t behind) {
    if (const size_t at = section.find(before); at != std::string::npos) section.insert(at + behind, text);
  };
  put("<h2", "<details class=\"part\"><summary>", 0);
  put("</h2>", "</summary>", 5);
  if (const size_t end = section.rfind("</section>"); end != std::string::npos) section.insert(end, "</details>");
  return section;
}

std::string keep_units(const std::string& html) {
  static constexpr std::string_view kUnits[] = {"%",  "ms", "s",  "B",  "KiB", "MiB",   "GiB",
                                                "KB", "MB", "GB", "dB", "×",   "GFLOP", "MFLOP"};
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  std::string out;
  out.reserve(html.size() + html.size() / 64);
  for (size_t at = 0; at < html.size(); ++at) {
    const bool behind_figure = html[at] == ' ' && at > 0 && html[at - 1] >= '0' && html[at - 1] <= '9';
    const std::string_view rest = behind_figure ? std::string_view(html).substr(at + 1) : std::string_view();
    const bool unit = std::any_of(std::begin(kUnits), std::end(kUnits), [&](std::string_view u) {
      return rest.starts_with(u) && (rest.size() == u.size() || !is_letter(rest[u.size()]));
    });
    out += unit ? std::string_view("\xC2\xA0") : std::string_view(html).substr(at, 1);
  }
  return out;
}

std::string paragraph(const std::string& html, std::string_view css) {
  return (css.empty() ? "<p>" : "<p class=\"" + std::string(css) + "\">") + html + "</p>\n";
}
std::string figure(const std::string& svg, const std::string& caption, const std::string& source) {
  return "<figure>\n" + svg + "<figcaption>" + caption + " <span class=\"source\">" + source +
         "</span></figcaption>\n</figure>\n";
}

}  // namespace stormcell::report
