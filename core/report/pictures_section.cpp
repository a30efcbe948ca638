#include <fmt/format.h>

#include <algorithm>

#include "core/base/counted.h"
#include "core/report/html.h"
#include "core/report/picture_uri.h"
#include "core/report/sections.h"

namespace stormcell::report {
namespace {

constexpr double kWidth = 900, kGap = 10, kLine = 16;
constexpr int32_t kColours = 8, kSteps = 9;

/// The class of what stands for a branch: a colour of its own, or of how many routers sent it on a step of the scale.
std::string tint(const RoutedPictures& all, int32_t branch) {
  if (all.kind != PictureKind::routers) return fmt::format("c{}", branch % kColours);
  return fmt::format("q{}", std::min(kSteps - 1, branch * kSteps / std::max(1, all.branches)));
}

std::string name_of(const RoutedPictures& all, int32_t branch) {
  switch (all.kind) {
    case PictureKind::exit:
      return branch + 1 == all.branches ? "the end" : fmt::format("exit {}", branch + 1);
    case PictureKind::routers:
      return fmt::format("sent on by {} of {} routers", branch, all.branches);
    default:
      return branch < 0 ? "no branch" : fmt::format("branch {}", branch);
  }
}

std::string went_to(const RoutedPictures& all, const RoutedPicture& p) {
  if (all.kind != PictureKind::patches) return name_of(all, p.branch.front());
  std::string text;
  for (int32_t b = -1; b < all.branches; ++b)
    if (const auto patches = std::count(p.branch.begin(), p.branch.end(), b); patches > 0)
      text += (text.empty() ? "" : ", ") + counted(patches, "patch", "patches") + " to " + name_of(all, b);
  return text;
}

/// What a picture is called where nobody sees it, and when the mouse rests on it.
std::string title_of(const RoutedPictures& all, const RoutedPicture& p) {
  return fmt::format("item {}", p.item) + (p.label.empty() ? "" : ", label " + shortened(p.label, 60)) + ": " + went_to(all, p);
}

std::string tile(const RoutedPictures& all, const RoutedPicture& p, double x, double y, double width, double height) {
  std::string svg = fmt::format(
      "<g><title>{}</title><image x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" preserveAspectRatio=\"none\" href=\"{}\"/>",
      title_of(all, p), x, y, width, height, picture_uri(p.picture));
  if (all.kind == PictureKind::patches) {
    const double wide = width / static_cast<double>(p.columns), high = height / static_cast<double>(p.rows);
    for (size_t i = 0; i < p.branch.size(); ++i)
      if (p.branch[i] >= 0)
        svg += fmt::format("<rect class=\"tint {}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>", tint(all, p.branch[i]),
                           x + static_cast<double>(static_cast<int64_t>(i) % p.columns) * wide,
                           y + static_cast<double>(static_cast<int64_t>(i) / p.columns) * high, wide, high);
  } else if (p.branch.front() >= 0) {
    svg += fmt::format("<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"6\"/>", tint(all, p.branch.front()), x,
                       y + height + 1, width);
  }
  const std::string under = all.kind == PictureKind::routers ? fmt::format("{} of {}", p.branch.front(), all.branches)
                            : p.label.empty()                ? fmt::format("#{}", p.item)
                                                             : shortened(p.label, static_cast<size_t>(width / 7));
  return svg + fmt::format("<text class=\"soft mid\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text></g>\n", x + width / 2, y + height + 19, under);
}

/// Rows of tiles of one group, below `top`; returns where they end.
double rows_of(const RoutedPictures& all, size_t first, size_t end, double top, std::string& svg) {
  double x = 0, y = top, row = 0;
  for (size_t i = first; i < end; ++i) {
    const RoutedPicture& p = all.pictures[i];
    // A pixel of a small one is seen as a square; larger ones stand in rows of five. Patches have to be told apart.
    const auto longer = static_cast<double>(std::max(p.picture.size.width, p.picture.size.height));
    const double scale = (longer >= 48 ? 168 : all.kind == PictureKind::patches ? 112 : 56) / longer;
    const double width = static_cast<double>(p.picture.size.width) * scale, height = static_cast<double>(p.picture.size.height) * scale;
    if (x + width > kWidth && x > 0) x = 0, y += row, row = 0;
    svg += tile(all, p, x, y, width, height);
    x += width + kGap, row = std::max(row, height + kLine + 1.6 * kGap);
  }
  return y + row;
}

std::string legend(const RoutedPictures& all, double y) {
  std::string svg;
  double x = 0;
  for (int32_t b = 0; b < std::min(all.branches, 2 * kColours); ++b) {
    svg += fmt::format(
        "<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"14\" height=\"10\"/><text class=\"soft\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>",
        tint(all, b), x, y, x + 19, y + 9, name_of(all, b));
    x += 100;
    if (x + 90 > kWidth) x = 0, y += kLine + 2;
  }
  return svg;
}

std::string gallery(const RoutedPictures& all, const std::string& label) {
  std::string svg;
  double y = 0;
  for (size_t first = 0; first < all.pictures.size();) {
    size_t end = all.pictures.size();
    if (all.kind == PictureKind::exit) {
      const int32_t exit = all.pictures[first].branch.front();
      for (end = first; end < all.pictures.size() && all.pictures[end].branch.front() == exit;) ++end;
      svg += fmt::format("<text x=\"0\" y=\"{:.1f}\">{}</text>\n", y + 12, name_of(all, exit));
      y += kLine + 2;
    }
    y = rows_of(all, first, end, y, svg);
    first = end;
  }
  if (all.kind == PictureKind::patches || all.kind == PictureKind::branch) {
    svg += legend(all, y);
    y += (1 + std::min(all.branches, 2 * kColours) / 9) * (kLine + 2);
  }
  return fmt::format(
             "<svg class=\"pictures\" viewBox=\"0 0 {0} {1:.0f}\" width=\"{0}\" height=\"{1:.0f}\" role=\"img\" aria-label=\"{2}\">\n",
             kWidth, y + 4, escape(label)) +
         svg + "</svg>\n";
}

std::string explained(const RoutedPictures& all) {
  switch (all.kind) {
    case PictureKind::exit:
      return "Pictures by the exit that they left at, with their labels.";
    case PictureKind::routers:
      return "Each picture with how many of the " + counted(all.branches, "router") +
             " sent it on: the darker the bar, the more paths were open for it.";
    case PictureKind::patches:
      return "Each patch tinted by its branch of <code>" + escape(all.router) + "</code>; patches are drawn as an even grid.";
    default:
      return "Each picture with its branch of <code>" + escape(all.router) + "</code>.";
  }
}

}  // namespace

std::string pictures_section(const ReportData& d) {
  const RoutedPictures& all = d.pictures;
  if (all.pictures.empty()) return {};
  const std::string shown = fmt::format("{} of {} pictures; the session keeps {}.", all.pictures.size(), count(all.items), count(all.kept));
  Table table("Pictures and where they went", {"item", "label", "went to"}, 3);
  for (const RoutedPicture& p : all.pictures) table.row({count(p.item), shortened(p.label, 60), went_to(all, p)});
  return section("pictures", "The inputs, by where they went",
                 figure(gallery(all, "Pictures by where their cells went; the table below says it of each"), explained(all) + " " + shown,
                        d.measured()) +
                     table.details());
}

}  // namespace stormcell::report
