// Model of the view of cells: each cell of some sequences as a chip with a text and a tone. Pure: no widget, no
// reading.
#pragma once
#include <QImage>
#include <QString>
#include <string>
#include <vector>

#include "core/readings/cells_view.h"
#include "core/readings/router_places.h"
#include "views/drawing/branch_colors.h"
#include "views/frame/table.h"

namespace stormcell::views {

enum class CellColor { branch, weight, margin, drops, work, exit, parts };
/// Drawing of kept pictures below the colours of their cells; `none`: they are not drawn.
enum class PictureTint { light, strong, plain, none };

struct CellOptions {
  CellColor color = CellColor::branch;
  QString router;        ///< router whose decision colours the cells
  int branch = -1;       ///< the others step back; -1: none does
  bool padding = false;  ///< shown, too
  QString label, phase;  ///< cells of others step back; empty: none does
  PictureTint tint = PictureTint::light;
  bool operator==(const CellOptions&) const = default;
};

/// Name and definition with formula of a way to colour.
struct ColorText {
  QString name, definition;
};
ColorText text_of(CellColor color);
/// True if the way to colour distinguishes cells with these routers.
bool is_of(CellColor color, const std::vector<RouterLine>& routers);
/// The most useful colour: the exit, the computed parts, else the branch.
CellColor telling_color(const std::vector<RouterLine>& routers);
/// The number of routers that are exits.
int exits_of(const std::vector<RouterLine>& routers);

/// A cell as it is painted. It has a place, but not necessarily a text: a patch of an image has none.
struct Chip {
  int cell = 0;              ///< index into the line's lists
  QString text;              ///< empty: a square
  QString part;              ///< position and letter of a token that is a byte; else empty
  bool word = false;         ///< begins a word: a gap before it
  bool real = true;          ///< false: padding
  bool seen = true;          ///< false: no router got it, as padding that the plan does not compute
  int branch = -1;           ///< first kept choice of the router that colours; -1: none
  bool dropped = false;      ///< a choice of it was dropped
  double value = 0;          ///< in the unit of the colour
  float tone = -1;           ///< 0..1 on the scale; -1: the router did not see the cell
  bool faded = false;        ///< not of the chosen branch
  bool differs = false;      ///< the other run's router gave it another branch
  uint8_t sides = 15;        ///< PatchSide bits: sides where a patch borders on another colour
  std::vector<int> stripes;  ///< by router and choice: a branch, kStripeDropped or kStripeNone
};
inline constexpr int kStripeDropped = -1, kStripeNone = -2;

struct ShownLine {
  int64_t sequence = 0;
  QString title;  ///< number and label
  QString text;   ///< of the sequence, where inputs were recorded
  std::vector<Chip> chips;
  QImage picture;       ///< below the cells, which are then on it; null: none is kept, or they have no places on it
  bool placed = false;  ///< its cells have places on a picture, kept or not
  QString left_out;     ///< names what is missing; empty: nothing is
  int compared = 0, differing = 0;
};

/// A page, ready to be laid out.
struct ShownPage {
  std::vector<ShownLine> lines;
  int64_t first_sequence = 0;
  std::vector<RouterLine> routers;
  std::vector<ExitRole> exits;  ///< by router
  BranchKeys keys;
  /// The routers in their places, if all of them colour.
  std::vector<RouterPlace> places;
  int router = -1;          ///< index of the one that colours, -1: none of this page
  bool tokens = false;      ///< cells are tokens with recorded ids; else chips show their places
  bool numbers = false;     ///< tokens have no texts in this session: their ids are shown instead
  bool pictures = false;    ///< some line has one
  bool patches = false;     ///< on which cells are parts of it
  bool unbranched = false;  ///< some cell got no branch of the router that colours
  QSize shape;              ///< of the first of them, in its pixels
  double high = 1;          ///< what the upper end of the scale stands for
  int ends = 1;             ///< exits of the routers, and the end of the network
  CellOptions options;
};
/// `other`: the same sequences of another run, to mark differences; may be null. `high` > 0: the scale's upper end.
ShownPage show_page(const CellPage& page, const CellOptions& options, const CellPage* other = nullptr, double high = 0);

/// A piece for people: without the mark that begins a word, and with control characters made visible.
struct PieceText {
  QString text;
  bool word = false;
};
PieceText piece_text(const std::string& piece);

/// The figure of CellColor::work: kept choices of branches that compute something.
int work_of(const CellPage& page, const CellLine& line, size_t cell);

/// Place of a cell: "17", in a grid "2,5" (row, column). A sequence with one cell shows its label, or its number in the
/// run.
QString place_text(const CellLine& line, size_t cell);

/// HTML about one cell.
QString describe(const CellPage& page, const ShownPage& shown, size_t line, size_t chip);
/// The cells of the page, each with its branch at every router.
Table make_cells_table(const CellPage& page, const CellOptions& options);

enum class DictionaryOrder { count, lift };
/// Tokens with fewer cells say little about lift.
inline constexpr int64_t kLeastForLift = 5;
/// Entries in the order asked for; by lift: only those with at least kLeastForLift cells.
std::vector<BranchDictionary::Entry> ordered(const BranchDictionary& dictionary, DictionaryOrder order);
Table make_dictionary_table(const BranchDictionary& dictionary, DictionaryOrder order);

}  // namespace stormcell::views
