#include <fmt/format.h>

#include <algorithm>

#include "core/base/counted.h"
#include "core/readings/patch_regions.h"
#include "core/report/html.h"
#include "core/report/palette.h"
#include "core/report/picture_uri.h"
#include "core/report/sections.h"
#include "core/summary/exits_text.h"

namespace stormcell::report {
namespace {

/// The class of a colour of its own.
std::string tint_of_branch(int32_t branch) { return fmt::format("c{}", colour_of(branch)); }
std::string name_of_branch(int32_t branch) { return branch < 0 ? "no branch" : fmt::format("branch {}", branch); }
std::string name_of_exit(const RoutedPictures& all, int32_t exit) {
  return exit_name(static_cast<size_t>(exit), static_cast<size_t>(all.exits));
}

/// The colour class for a whole picture; empty: it has none.
std::string tint_of(const RoutedPictures& all, const RoutedPicture& p) {
  switch (all.kind) {
    case PictureKind::patches:
    case PictureKind::unknown:
      return {};
    case PictureKind::branch:
      return p.branch_of_patch.front() < 0 ? std::string() : tint_of_branch(p.branch_of_patch.front());
    case PictureKind::exit:
      return tint_of_branch(p.exit);
    case PictureKind::places:
      break;
  }
  return fmt::format("q{}", std::min(kScaleSteps - 1, p.places_computed * kScaleSteps / std::max(1, all.places)));
}

std::string went_to(const RoutedPictures& all, const RoutedPicture& p) {
  if (all.kind == PictureKind::exit) return name_of_exit(all, p.exit);
  if (all.kind == PictureKind::places) return fmt::format("computed at {} of {} places", p.places_computed, all.places);
  if (all.kind == PictureKind::unknown) return {};
  const std::vector<int32_t>& of_patch = p.branch_of_patch;
  if (all.kind == PictureKind::branch) return name_of_branch(of_patch.front());
  std::string text;
  for (int32_t b = -1; b < all.branches; ++b)
    if (const auto patches = std::count(of_patch.begin(), of_patch.end(), b); patches > 0)
      text += (text.empty() ? "" : ", ") + counted(patches, "patch", "patches") + " to " + name_of_branch(b);
  return text;
}

std::string answer_text(const RoutedPicture& p) {
  if (p.known.answer.empty()) return {};
  return p.known.wrong ? "answered " + shortened(p.known.answer, 60) + ", which is wrong" : "answered right";
}

/// Text for screen readers and for the mouse resting on the picture.
std::string title_of(const RoutedPictures& all, const RoutedPicture& p) {
  const std::string went = went_to(all, p), answer = answer_text(p);
  return fmt::format("item {}", p.item) + (p.label.empty() ? "" : ", label " + shortened(p.label, 60)) +
         (went.empty() ? "" : ": " + went) + (answer.empty() ? "" : "; " + answer);
}

/// Draws the border around neighbouring patches of one branch, and a light wash over the picture.
std::string patches_of(const RoutedPicture& p, double width, double height) {
  constexpr double kBorder = 2;
  const double wide = width / static_cast<double>(p.columns), high = height / static_cast<double>(p.rows);
  const std::vector<uint8_t> sides = region_sides(p.branch_of_patch, p.columns);
  std::string washes, borders;
  for (size_t i = 0; i < p.branch_of_patch.size(); ++i) {
    if (p.branch_of_patch[i] < 0) continue;
    const double x = static_cast<double>(static_cast<int64_t>(i) % p.columns) * wide,
                 y = static_cast<double>(static_cast<int64_t>(i) / p.columns) * high;
    const std::string css = tint_of_branch(p.branch_of_patch[i]);
    washes += fmt::format("<rect class=\"tint {}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>", css,
                          x, y, wide, high);
    std::string path;
    if (sides[i] & kLeftSide) path += fmt::format("M{:.1f} {:.1f}h{}v{:.1f}h-{}z", x, y, kBorder, high, kBorder);
    if (sides[i] & kRightSide)
      path += fmt::format("M{:.1f} {:.1f}h{}v{:.1f}h-{}z", x + wide - kBorder, y, kBorder, high, kBorder);
    if (sides[i] & kTopSide) path += fmt::format("M{:.1f} {:.1f}h{:.1f}v{}h-{:.1f}z", x, y, wide, kBorder, wide);
    if (sides[i] & kBottomSide)
      path += fmt::format("M{:.1f} {:.1f}h{:.1f}v{}h-{:.1f}z", x, y + high - kBorder, wide, kBorder, wide);
    if (!path.empty()) borders += fmt::format("<path class=\"{}\" d=\"{}\"/>", css, path);
  }
  return washes + borders;
}

/// The picture, below it a bar of its colour if it is one cell, and its text.
std::string tile(const RoutedPictures& all, const RoutedPicture& p) {
  constexpr double kBar = 6;
  // Pixels of a small picture are visible as squares. Patches must be distinguishable.
  const double longer = std::max(p.picture.size.width, p.picture.size.height);
  const double scale = (all.kind == PictureKind::patches ? (longer >= 48 ? 184 : 140)
                        : longer >= 48                   ? 128
                                                         : 50) /
                       longer;
  const double width = static_cast<double>(p.picture.size.width) * scale,
               height = static_cast<double>(p.picture.size.height) * scale;
  const std::string bar = tint_of(all, p);
  const std::string title = title_of(all, p);
  std::string svg = fmt::format(
      "<svg viewBox=\"0 0 {0:.1f} {1:.1f}\" width=\"{0:.1f}\" height=\"{1:.1f}\" role=\"img\" "
      "aria-label=\"{2}\"><title>{2}</title><image "
      "width=\"{0:.1f}\" height=\"{3:.1f}\" preserveAspectRatio=\"none\" href=\"{4}\"/>",
      width, height + (bar.empty() ? 0 : kBar + 1), title, height, picture_uri(p.picture));
  if (all.kind == PictureKind::patches) svg += patches_of(p, width, height);
  if (!bar.empty())
    svg +=
        fmt::format("<rect class=\"{}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{}\"/>", bar, height + 1, width, kBar);
  if (p.known.wrong)
    svg += "<path class=\"under-cross\" d=\"M4 4l9 9m0-9l-9 9\"/><path class=\"cross\" d=\"M4 4l9 9m0-9l-9 9\"/>";
  std::string under = all.kind == PictureKind::places ? fmt::format("{} of {}", p.places_computed, all.places)
                      : p.label.empty()               ? fmt::format("#{}", p.item)
                                        : shortened(p.label, static_cast<size_t>(std::max(4.0, width / 8)));
  if (p.known.wrong) under += " → <strong class=\"bad\">" + shortened(p.known.answer, 12) + "</strong>";
  return "<li>" + svg + "</svg><span>" + under + "</span></li>\n";
}

/// Names of branches on their colours, with the share of the patches or pictures shown that each got.
std::string legend(const RoutedPictures& all) {
  constexpr int32_t kMostNamed = 2 * kBranchColours;
  int64_t cells = 0;
  for (const RoutedPicture& p : all.pictures) cells += std::ssize(p.branch_of_patch);
  std::string html;
  for (int32_t b = -1; b < std::min(all.branches, kMostNamed); ++b) {
    int64_t got = 0;
    for (const RoutedPicture& p : all.pictures)
      got += std::count(p.branch_of_patch.begin(), p.branch_of_patch.end(), b);
    if (b < 0 && got == 0) continue;
    html += "<li><svg width=\"14\" height=\"14\" aria-hidden=\"true\"><rect class=\"" +
            (b < 0 ? std::string("zero") : tint_of_branch(b)) + "\" width=\"14\" height=\"14\"/></svg> " +
            name_of_branch(b) + ", " + percent(static_cast<double>(got) / (std::max<int64_t>(1, cells))) + "</li>";
  }
  if (all.branches > kMostNamed) html += fmt::format("<li>and {} more</li>", all.branches - kMostNamed);
  return "<ul class=\"legend\">" + html + "</ul>\n";
}

std::string gallery(const RoutedPictures& all) {
  std::string html;
  for (size_t first = 0; first < all.pictures.size();) {
    size_t end = all.pictures.size();
    if (all.kind == PictureKind::exit) {
      const int32_t exit = all.pictures[first].exit;
      for (end = first; end < all.pictures.size() && all.pictures[end].exit == exit;) ++end;
      html += "<h3>" + name_of_exit(all, exit) + "</h3>\n";
    }
    html += "<ul class=\"pictures\">\n";
    for (; first < end; ++first) html += tile(all, all.pictures[first]);
    html += "</ul>\n";
  }
  return html + (all.kind == PictureKind::patches || all.kind == PictureKind::branch ? legend(all) : std::string());
}

std::string explained(const RoutedPictures& all) {
  switch (all.kind) {
    case PictureKind::exit:
      return "Pictures by the exit that they left at, with their labels, of every label in turn.";
    case PictureKind::places:
      return "Each picture with at how many of the " + counted(all.places, "place") +
             " of the graph something was computed for it, from the least to the most: elsewhere it only passed.";
    case PictureKind::patches:
      return "Patches by their branch of <code>" + escape(all.router) +
             "</code>: borders stand where the branch changes; patches are drawn as an even grid.";
    case PictureKind::unknown:
      return "Some of the pictures; this run recorded no decisions, so nothing is known of where each went "
             "(<code>stormcell profile</code> "
             "records them).";
    default:
      return "Each picture with its branch of <code>" + escape(all.router) + "</code>.";
  }
}

}  // namespace

std::string pictures_section(const ReportData& d) {
  const RoutedPictures& all = d.pictures;
  if (all.pictures.empty()) return {};
  const bool marked =
      std::any_of(all.pictures.begin(), all.pictures.end(), [](const RoutedPicture& p) { return p.known.wrong; });
  const std::string shown =
      fmt::format(" {} of {} pictures; the session keeps {}.", all.pictures.size(), count(all.items), count(all.kept)) +
      (marked ? " A cross marks a wrong answer, the arrow leads to what was answered." : "");
  const bool routed = all.kind != PictureKind::unknown;
  std::vector<std::string> head = {"item", "label", "answer"};
  if (routed) head.emplace_back("went to");
  Table table(routed ? "Pictures and where they went" : "Pictures", head, 4);
  for (const RoutedPicture& p : all.pictures) {
    std::vector<std::string> row = {count(p.item), shortened(p.label, 60),
                                    p.known.answer.empty() ? "–" : answer_text(p)};
    if (routed) row.push_back(went_to(all, p));
    table.row(row);
  }
  return section("pictures", routed ? "The inputs, by where they went" : "The inputs",
                 figure(gallery(all), explained(all) + shown, d.measured()) + table.details());
}

}  // namespace stormcell::report
