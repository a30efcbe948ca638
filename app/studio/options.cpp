#include "app/studio/options.h"

#include <QCommandLineParser>
#include <cstdio>
#include <cstdlib>

#include "core/base/error.h"
#include "core/base/nearest_words.h"
#include "core/manual/bash_completion.h"
#include "core/manual/manual_page.h"
#include "views/registry.h"

namespace stormcell::studio {
namespace {

const QString kPurpose = "shows where a model's data goes, makes the model faster, and compares";
const QString kOpened = "a .storm file (S.storm#3 is its run 3), a model or a trace";

/// The options, by what they are.
struct Known {
  QStringList views;
  QCommandLineOption view, file{"o", "The picture, .png or .svg; .csv writes the view's figures.", "FILE"},
      size{"size", "Its size (1600x1000).", "WxH", "1600x1000"}, theme{"theme", "light, dark, or system.", "THEME"},
      scale{"scale", "Pixels a unit, 1 to 4 (1).", "N", "1"},
      set{"set", "With --export: a control of the view, as \"Metric=Load\"; may be given several times.", "NAME=VALUE"},
      batches{"batches", "With --export: batches FIRST:END of the run.", "FIRST:END"},
      phase{"phase", "With --export: forward, prefill, decode.", "PHASE"},
      label{"label", "With --export: sequences with this label.", "LABEL"},
      router{"router", "With --export: the chosen router.", "NAME"},
      branch{"branch", "With --export: the chosen branch.", "N"},
      cell{"cell", "With --export: the cell to follow.", "SEQUENCE:POSITION"},
      window{"window", "With --export: the whole window with the panel What if beside the view; .png only."},
      other{"compare-with", "With --export: a session to compare with, S.storm#3 for its run 3; for diff also a trace.",
            "SESSION"},
      fresh{"fresh", "Do not open what was open last."},
      list{"views", "Write the names of the views, one a line, and leave."},
      manual{"manual", "Write the manual page and leave: stormcell-studio --manual | man -l -"},
      completion{"completion", "Write completion for bash and leave: source <(stormcell-studio --completion)"};

  Known()
      : views(names()),
        view("export",
             "Write a picture of VIEW without a window and leave. One of: " + views.join(", ") +
                 "; or model, the page of a model that is named instead of a session.",
             "VIEW") {}
  static QStringList names() {
    QStringList list;
    for (const views::ViewEntry& entry : views::all_views()) list << entry.id;
    return list;
  }
  QList<QCommandLineOption> all() const {
    return {view,   file,   size, theme,  scale, set,   batches, phase,  label,
            router, branch, cell, window, other, fresh, list,    manual, completion};
  }
  /// As values for the manual page and completion. Qt adds the options for help and the version by itself.
  CommandEntry entry() const {
    CommandEntry entry{"stormcell-studio", "[OPTION...] [SESSION | MODEL | TRACE]", kPurpose.toStdString()};
    entry.arguments.push_back({.value = "SESSION", .help = kOpened.toStdString(), .files = true});
    for (const QCommandLineOption& option : all()) {
      OptionEntry row{.value = option.valueName().toStdString(), .help = option.description().toStdString()};
      for (const QString& name : option.names())
        row.names.push_back((name.size() > 1 ? "--" : "-") + name.toStdString());
      row.files = row.value == "FILE" || row.value == "SESSION";
      if (row.value == "THEME") row.words = {"light", "dark", "system"};
      if (row.value == "PHASE") row.words = {"forward", "prefill", "decode"};
      if (row.value == "VIEW") {
        for (const QString& view : views) row.words.push_back(view.toStdString());
        row.words.emplace_back("model");
      }
      entry.options.push_back(std::move(row));
    }
    entry.options.push_back({.names = {"-h", "--help"}, .help = "Displays help on command line options."});
    entry.options.push_back({.names = {"-v", "--version"}, .help = "Displays version information."});
    return entry;
  }
};

std::string manual_page(const CommandEntry& entry) {
  const ManualSection examples{
      "EXAMPLES",
      "",
      {{"stormcell-studio run.storm", "opens a session"},
       {"stormcell-studio --export heatmap -o heatmap.png run.storm", "writes a picture, without a display"}}};
  return manual_text({entry.name, "Stormcell " STORMCELL_VERSION, entry.name, entry, {examples}, {"stormcell"}});
}

std::string completion_of(const CommandEntry& entry) { return bash_completion(entry); }

[[noreturn]] void refuse(const char* option, const QString& what, const std::string& advice) {
  bad_input(option, what.toStdString(), advice);
}

/// Parses a whole number of 0 or more.
std::optional<qlonglong> number(const QString& text) {
  bool is_number = false;
  const qlonglong value = text.toLongLong(&is_number);
  return is_number && value >= 0 ? std::optional(value) : std::nullopt;
}

QList<ControlState> parse_controls(const QStringList& words) {
  QList<ControlState> controls;
  for (const QString& word : words) {
    const qsizetype at = word.indexOf('=');
    if (at <= 0) refuse("--set", QString("'%1' sets nothing").arg(word), "write NAME=VALUE, as \"Metric=Load\"");
    controls.append({word.left(at), word.mid(at + 1)});
  }
  return controls;
}

void parse_batches(const QString& text, views::Selection& selection) {
  const QStringList ends = text.split(':');
  const auto first = number(ends[0]), end = ends.value(1).isEmpty() ? std::optional<qlonglong>(-1) : number(ends[1]);
  if (!first || !end || ends.size() != 2 || (*end >= 0 && *end <= *first))
    refuse("--batches", QString("'%1' is not a range").arg(text), "write FIRST:END, as 0:16");
  selection.first_batch = *first, selection.end_batch = *end;
}

CellPlace parse_cell(const QString& text) {
  const QStringList place = text.split(':');
  const auto sequence = number(place[0]), position = place.size() > 1 ? number(place[1]) : std::optional<qlonglong>(0);
  if (!sequence || !position || place.size() > 2)
    refuse("--cell", QString("'%1' is not a cell").arg(text), "write SEQUENCE:POSITION, as 3:2");
  return {*sequence, static_cast<int32_t>(*position)};
}

QSize parse_size(const QString& text) {
  constexpr int kLeast = 100, kMost = 16384;
  const QStringList sides = text.split('x');
  const QSize size(sides.value(0).toInt(), sides.value(1).toInt());
  if (sides.size() != 2 || size.width() < kLeast || size.height() < kLeast || size.width() > kMost ||
      size.height() > kMost)
    refuse("--size", QString("'%1' is not a size").arg(text), "write width x height, 100x100 to 16384x16384");
  return size;
}

views::Selection parse_selection(const QCommandLineParser& parser, const Known& known) {
  views::Selection s;
  s.phase = parser.value(known.phase), s.label = parser.value(known.label), s.router = parser.value(known.router);
  if (parser.isSet(known.batches)) parse_batches(parser.value(known.batches), s);
  if (parser.isSet(known.branch)) {
    const auto branch = number(parser.value(known.branch));
    if (!branch)
      refuse("--branch", QString("'%1' is not a branch").arg(parser.value(known.branch)), "a number from 0 on");
    s.branch = static_cast<int>(*branch);
  }
  if (parser.isSet(known.cell)) s.cell = parse_cell(parser.value(known.cell));
  return s;
}

ExportRequest parse_picture(const QCommandLineParser& parser, const Known& known, const QStringList& sessions) {
  ExportRequest request;
  request.view = parser.value(known.view), request.file = parser.value(known.file);
  request.session = sessions.value(0), request.other = parser.value(known.other);
  request.controls = parse_controls(parser.values(known.set));
  request.selection = parse_selection(parser, known);
  request.window = parser.isSet(known.window);
  request.size = parse_size(parser.value(known.size));
  request.scale = parser.value(known.scale).toDouble();
  if (!(request.scale >= 1 && request.scale <= 4))
    refuse("--scale", QString("'%1' is not a scale").arg(parser.value(known.scale)), "1 to 4");
  if (request.file.isEmpty()) bad_input("-o", "missing", "name the picture to write, as heatmap.png");
  return request;
}

}  // namespace

Options parse_options(const QStringList& arguments, bool headless) {
  QCommandLineParser parser;
  parser.setApplicationDescription("Stormcell Studio: see where a model's data goes, make it faster, compare.");
  parser.addHelpOption();
  parser.addVersionOption();
  parser.addPositionalArgument("session", kOpened);
  const Known known;
  parser.addOptions(known.all());
  if (!parser.parse(arguments)) bad_input({}, parser.errorText().toStdString());
  if (parser.isSet("help")) parser.showHelp(0);
  if (parser.isSet("version")) parser.showVersion();
  if (parser.isSet(known.list)) {
    std::puts(qPrintable(known.views.join('\n')));
    std::exit(EXIT_SUCCESS);
  }
  for (const auto& [asked, text] : {std::pair{&known.manual, &manual_page}, {&known.completion, &completion_of}})
    if (parser.isSet(*asked)) {
      std::fputs(text(known.entry()).c_str(), stdout);
      std::exit(EXIT_SUCCESS);
    }
  Options options;
  options.sessions = parser.positionalArguments();
  options.theme = parser.value(known.theme);
  options.fresh = parser.isSet(known.fresh);
  if (!options.theme.isEmpty() && !QStringList{"light", "dark", "system"}.contains(options.theme))
    refuse("--theme", QString("no theme '%1'").arg(options.theme),
           advice_on_word(options.theme.toStdString(), {"light", "dark", "system"}));
  if (headless) options.picture = parse_picture(parser, known, options.sessions);
  if (headless ? options.sessions.size() != 1 : options.sessions.size() > 1)
    bad_input({}, "SESSION: name one session or model");
  return options;
}

}  // namespace stormcell::studio
