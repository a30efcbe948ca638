#include "views/cells/cells_model.h"

#include <QLocale>
#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

#include "core/readings/exits_view.h"
#include "core/readings/patch_regions.h"
#include "views/drawing/thumbnail_image.h"
#include "views/words/tr.h"

namespace stormcell::views {
namespace {

QString grouped(int64_t count) { return QLocale(QLocale::English).toString(static_cast<qlonglong>(count)); }

int fan_out(const CellPage& page, size_t router) { return page.routers[router].fan_out; }

int stripe_of(int32_t choice) { return choice >= 0 ? choice : choice == kNoChoice ? kStripeNone : kStripeDropped; }

double parts_of(const CellPage& page, const CellLine& line, const std::vector<RouterPlace>& places, size_t cell) {
  return static_cast<double>(places_computed(page.routers, places, [&](size_t router) {
    const size_t k = fan_out(page, router);
    return std::span<const int32_t>(line.routed[router].choice).subspan(cell * k, k);
  }));
}

/// The figure that colours a cell; NaN: there is none.
double value_of(const CellPage& page, const CellLine& line, const ShownPage& shown, size_t cell) {
  const auto nothing = std::nan("");
  const CellColor color = shown.options.color;
  const int router = shown.router;
  if (color == CellColor::work) return work_of(page, line, cell);
  if (color == CellColor::parts) return line.seen[cell] ? parts_of(page, line, shown.places, cell) : nothing;
  if (color == CellColor::exit) {
    const std::optional<int32_t> exit = exit_of(page.routers, line, cell);
    return exit ? *exit : nothing;
  }
  if (router < 0) return nothing;
  const CellLine::Routed& routed = line.routed[router];
  const size_t k = fan_out(page, static_cast<size_t>(router));
  if (routed.choice[cell * k] == kNoChoice) return nothing;
  double dropped = 0, weight = nothing;
  for (size_t j = 0; j < k; ++j) {
    const int32_t choice = routed.choice[cell * k + j];
    dropped += choice < 0 && choice != kNoChoice;
    if (choice >= 0 && std::isnan(weight) && !routed.weight.empty()) weight = routed.weight[cell * k + j];
  }
  switch (color) {
    case CellColor::weight:
      return weight;
    case CellColor::margin:
      return routed.margin.empty() || !std::isfinite(routed.margin[cell]) ? nothing : routed.margin[cell];
    case CellColor::drops:
      return dropped;
    default:
      return 0;
  }
}

double highest(const CellPage& page, const ShownPage& shown) {
  const CellOptions& options = shown.options;
  const int router = shown.router;
  if (options.color == CellColor::exit) return std::max(1, exits_of(page.routers));
  if (options.color == CellColor::parts) return std::max(1.0, static_cast<double>(shown.places.size()));
  if (options.color == CellColor::work) {
    double most = 0;
    for (size_t r = 0; r < page.routers.size(); ++r)
      if (computes(page.routers, r, page.routers[r].branches - 1)) most += page.routers[r].fan_out;
    return std::max(1.0, most);
  }
  if (options.color == CellColor::drops) return router >= 0 ? fan_out(page, static_cast<size_t>(router)) : 1;
  // Weights of one router usually are shares of one: the same scale on every page. Margins have no such end.
  double most = options.color == CellColor::weight ? 1 : 0;
  for (const CellLine& line : page.lines)
    for (size_t c = 0; c < line.position.size(); ++c)
      if (const double v = value_of(page, line, shown, c); line.real[c] && std::isfinite(v)) most = std::max(most, v);
  return most > 0 ? most : 1;
}

bool same_choices(const CellLine::Routed& a, size_t cell_a, const CellLine::Routed& b, size_t cell_b, size_t k) {
  return std::equal(a.choice.begin() + static_cast<int64_t>(cell_a * k),
                    a.choice.begin() + static_cast<int64_t>((cell_a + 1) * k),
                    b.choice.begin() + static_cast<int64_t>(cell_b * k));
}

Chip chip_of(const CellPage& page, const CellLine& line, const ShownPage& shown, size_t cell) {
  Chip chip;
  chip.cell = static_cast<int>(cell);
  chip.real = line.real[cell] != 0;
  chip.seen = line.seen[cell] != 0;
  if (!line.token.empty()) {
    const auto piece = page.pieces.find(line.token[cell]);
    const PieceText text =
        piece == page.pieces.end() ? PieceText{QString::number(line.token[cell]), true} : piece_text(piece->second);
    chip.text = text.text, chip.word = text.word;
  } else {
    chip.text = place_text(line, cell);
  }
  for (size_t r = 0; r < page.routers.size(); ++r) {
    const size_t k = fan_out(page, r);
    for (size_t j = 0; j < k; ++j) {
      const int32_t choice = line.routed[r].choice[cell * k + j];
      chip.stripes.push_back(stripe_of(choice));
      if (static_cast<int>(r) != shown.router) continue;
      if (choice >= 0 && chip.branch < 0) chip.branch = choice;
      chip.dropped |= stripe_of(choice) == kStripeDropped;
    }
  }
  const double value = value_of(page, line, shown, cell);
  if (std::isfinite(value)) {
    chip.value = value;
    chip.tone = static_cast<float>(std::clamp(value / shown.high, 0.0, 1.0));
  }
  const CellOptions& o = shown.options;
  if (!o.label.isEmpty() && QString::fromStdString(line.label) != o.label) chip.faded = true;
  if (!o.phase.isEmpty() && o.phase != kPhaseNames[line.phase[cell]]) chip.faded = true;
  if (shown.options.branch >= 0 && shown.router >= 0) {
    const CellLine::Routed& routed = line.routed[shown.router];
    const size_t k = fan_out(page, static_cast<size_t>(shown.router));
    bool there = false;
    for (size_t j = 0; j < k; ++j)
      if (routed.choice[cell * k + j] == shown.options.branch) there = true, chip.branch = shown.options.branch;
    chip.faded |= !there;
  }
  return chip;
}

/// Cells of a grid are parts of the picture, a cell alone is all of it; others have no place on it.
bool lies_on_picture(const CellLine& line) {
  const bool all_listed = line.cells == std::ssize(line.position);
  return all_listed && (line.columns > 0 || line.cells == 1);
}

/// Neighbouring patches of one branch are framed together. Other figures differ from cell to cell.
void join_patches(const CellLine& line, const CellOptions& options, std::vector<Chip>& chips) {
  constexpr int32_t kStepsBack = -2, kDropped = -3;
  if (options.color != CellColor::branch || chips.size() != static_cast<size_t>(line.cells)) return;
  std::vector<int32_t> region;
  for (const Chip& chip : chips)
    region.push_back(!chip.real || chip.faded ? kStepsBack : chip.dropped && chip.branch < 0 ? kDropped : chip.branch);
  const std::vector<uint8_t> sides = region_sides(region, line.columns);
  for (size_t c = 0; c < chips.size(); ++c) chips[c].sides = sides[c];
}

/// The byte of a byte-fallback piece ("<0xE3>"); -1: it is no such piece.
int byte_of(const std::string& piece) {
  if (piece.size() != 6 || !piece.starts_with("<0x") || piece[5] != '>') return -1;
  bool ok = false;
  const int byte = QString::fromLatin1(piece.data() + 3, 2).toInt(&ok, 16);
  return ok ? byte : -1;
}

/// Neighbouring bytes that spell one letter: the first shows the letter, the others that they belong to it.
void join_bytes(const CellPage& page, const CellLine& line, std::vector<Chip>& chips) {
  const auto byte_at = [&](size_t i) {
    if (i >= chips.size()) return -1;
    const auto piece = page.pieces.find(line.token[chips[i].cell]);
    return piece == page.pieces.end() ? -1 : byte_of(piece->second);
  };
  if (line.token.empty()) return;
  for (size_t i = 0; i < chips.size(); ++i) {
    const int first = byte_at(i);
    const size_t length = first < 0xc2 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 1;
    QByteArray bytes(1, static_cast<char>(first));
    while (length > 1 && static_cast<size_t>(bytes.size()) < length) {
      const size_t at = i + static_cast<size_t>(bytes.size());
      const int next = byte_at(at);
      if (next < 0x80 || next > 0xbf || line.position[chips[at].cell] != line.position[chips[at - 1].cell] + 1) break;
      bytes.append(static_cast<char>(next));
    }
    if (length == 1 || static_cast<size_t>(bytes.size()) < length) continue;
    const QString letter = QString::fromUtf8(bytes);
    if (letter.contains(QChar(QChar::ReplacementCharacter))) continue;
    for (size_t part = 0; part < length; ++part) {
      Chip& chip = chips[i + part];
      chip.text = part == 0 ? letter : QString(QChar(0x2039));
      chip.part = tr("byte %1 of %2 of %3").arg(part + 1).arg(length).arg(letter);
    }
    i += length - 1;
  }
}

/// Marks the cells that the other run's router sent elsewhere. Only like is compared with like: the same token at the
/// same place.
void compare(const CellPage& page, const CellLine& line, const CellPage& other, ShownPage& shown, ShownLine& to) {
  if (shown.router < 0) return;
  const RouterLine& router = page.routers[shown.router];
  const auto same = std::find_if(other.routers.begin(), other.routers.end(), [&](const RouterLine& r) {
    return r.name == router.name && r.branches == router.branches && r.fan_out == router.fan_out;
  });
  const int64_t at = line.sequence - other.first_sequence;
  if (same == other.routers.end() || at < 0 || at >= std::ssize(other.lines)) return;
  const CellLine& there = other.lines[at];
  const size_t other_router = same - other.routers.begin();
  for (Chip& chip : to.chips) {
    const size_t c = chip.cell;
    if (c >= there.position.size() || there.position[c] != line.position[c] || !chip.real) continue;
    if (!line.token.empty() && !there.token.empty() && line.token[c] != there.token[c]) continue;
    ++to.compared;
    chip.differs =
        !same_choices(line.routed[shown.router], c, there.routed[other_router], c, static_cast<size_t>(router.fan_out));
    to.differing += chip.differs;
  }
}

}  // namespace

ColorText text_of(CellColor color) {
  switch (color) {
    case CellColor::branch:
      return {tr("Branch"),
              tr("the branch that the router gave a cell (with several: the first); measured in the recorded run")};
    case CellColor::weight:
      return {tr("Weight"),
              tr("what the branch's result is multiplied by (with several: the first kept one's); measured")};
    case CellColor::margin:
      return {
          tr("Margin"),
          tr("score of the last chosen branch minus that of the first not chosen one: small is a near tie; measured")};
    case CellColor::drops:
      return {tr("Drops"), tr("choices of the router that a branch's capacity kept out; measured")};
    case CellColor::work:
      return {
          tr("Work received"),
          tr("kept choices of all routers of this cell space together, of branches that compute something; measured")};
    case CellColor::exit:
      return {tr("Exit"),
              tr("the one at which the cell left, or the end of the network; measured in the recorded run")};
    case CellColor::parts:
      return {tr("Parts computed"), tr("parts of the model, each with its routers, at which something was computed for "
                                       "the cell; counted in the recorded run")};
  }
  return {};
}

int exits_of(const std::vector<RouterLine>& routers) {
  return static_cast<int>(std::count_if(routers.begin(), routers.end(), is_exit));
}

bool is_of(CellColor color, const std::vector<RouterLine>& routers) {
  if (color == CellColor::exit) return exits_of(routers) > 0;
  if (color != CellColor::parts) return true;
  // If every branch computes, all parts are computed for all cells.
  const auto may_pass = [&](size_t router) {
    for (int32_t b = 0; b < routers[router].branches; ++b)
      if (!computes(routers, router, b)) return true;
    return false;
  };
  if (places_of(routers).size() < 2) return false;
  for (size_t r = 0; r < routers.size(); ++r)
    if (may_pass(r)) return true;
  return false;
}

CellColor telling_color(const std::vector<RouterLine>& routers) {
  for (const CellColor color : {CellColor::exit, CellColor::parts})
    if (is_of(color, routers)) return color;
  return CellColor::branch;
}

int work_of(const CellPage& page, const CellLine& line, size_t cell) {
  int kept = 0;
  for (size_t r = 0; r < page.routers.size(); ++r)
    for (int j = 0; j < fan_out(page, r); ++j) {
      const int32_t choice = line.routed[r].choice[cell * fan_out(page, r) + j];
      kept += choice >= 0 && computes(page.routers, r, choice);
    }
  return kept;
}

PieceText piece_text(const std::string& piece) {
  PieceText out{QString::fromStdString(piece), false};
  const QChar mark(0x2581);
  out.word = out.text.startsWith(mark);
  if (out.word) out.text.remove(0, 1);
  out.text.replace(mark, ' ');
  for (QChar& c : out.text)
    if (c.category() == QChar::Other_Control) c = QChar(0x00B7);
  // An accent that a tokenizer has split from its letter needs a base character.
  if (!out.text.isEmpty() && out.text[0].isMark()) out.text.prepend(QChar(0x25CC));
  if (out.text.trimmed().isEmpty()) out.text = QString(QChar(0x2423));  // a blank alone would be nothing to point at
  return out;
}

QString place_text(const CellLine& line, size_t cell) {
  if (line.cells == 1)
    return line.label.empty() ? QString("#%1").arg(line.sequence) : QString::fromStdString(line.label);
  const int32_t position = line.position[cell];
  return line.columns > 0 ? QString("%1,%2").arg(position / line.columns).arg(position % line.columns)
                          : QString::number(position);
}

ShownPage show_page(const CellPage& page, const CellOptions& options, const CellPage* other, double high) {
  ShownPage shown;
  shown.first_sequence = page.first_sequence;
  shown.routers = page.routers, shown.exits = exit_roles(page.routers);
  shown.ends = exits_of(page.routers) + 1;
  shown.tokens =
      std::any_of(page.lines.begin(), page.lines.end(), [](const CellLine& line) { return !line.token.empty(); });
  shown.numbers = shown.tokens && page.pieces.empty();
  shown.options = options;
  for (size_t r = 0; r < page.routers.size(); ++r)
    if (QString::fromStdString(page.routers[r].name) == options.router) shown.router = static_cast<int>(r);
  if (options.color == CellColor::parts) shown.places = places_of(page.routers);
  shown.high = high > 0 ? high : highest(page, shown);
  for (const CellLine& line : page.lines) {
    ShownLine to;
    to.sequence = line.sequence;
    to.title = QString("#%1").arg(line.sequence);
    if (!line.label.empty()) to.title += " " + QString::fromStdString(line.label);
    to.text = QString::fromStdString(line.text).simplified();
    for (size_t c = 0; c < line.position.size(); ++c)
      if (line.real[c] || options.padding) to.chips.push_back(chip_of(page, line, shown, c));
    join_bytes(page, line, to.chips);
    to.placed = options.tint != PictureTint::none && lies_on_picture(line);
    if (to.placed && !line.picture.empty()) {
      to.picture = image_of(line.picture);
      if (!shown.pictures) shown.pictures = true, shown.shape = to.picture.size();
      shown.patches = shown.patches || line.cells > 1;
    }
    const auto passed = [](const Chip& chip) { return chip.real && chip.seen && chip.branch < 0; };
    shown.unbranched = shown.unbranched || std::any_of(to.chips.begin(), to.chips.end(), passed);
    if (to.placed && line.columns > 0) join_patches(line, shown.options, to.chips);
    if (const int64_t rest = line.cells - std::ssize(line.position); rest > 0)
      to.left_out = tr("%1 more cells of this sequence are not shown").arg(grouped(rest));
    if (other) compare(page, line, *other, shown, to);
    shown.lines.push_back(std::move(to));
  }
  return shown;
}

}  // namespace stormcell::views
