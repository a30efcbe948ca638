#include <array>

#include "core/report/html.h"
#include "core/report/palette.h"

namespace stormcell::report {
namespace {

// One ramp for both themes, even in perceived lightness: small loads are close to the paper, large ones far from it.
constexpr std::array<const char*, kScaleSteps> kRamp = {"#f3f1c7", "#c8e0a0", "#8cd08d", "#38be8f", "#00a697",
                                                        "#008a9a", "#006b8f", "#154d77", "#1f3361"};
constexpr size_t kFirstUnderWhite = 6;
// Branches and exits: hues far apart for the three kinds of colour blindness, lightness alternates. Seen on both
// papers.
constexpr std::array<const char*, kBranchColours> kColours = {"#3a7bcb", "#df9b44", "#007c59", "#dfa8e1",
                                                              "#bd4334", "#73d3f1", "#6f4797", "#93c35e"};

std::string ramp(bool dark) {
  std::string css;
  for (int i = 0; i < kScaleSteps; ++i) {
    const size_t step = dark ? kScaleSteps - 1 - i : i;
    css += "--q" + std::to_string(i) + ":" + kRamp[step] + ";--on" + std::to_string(i) + ":" +
           (step >= kFirstUnderWhite ? "#fff" : "#000") + ";";
  }
  return css;
}

const std::string kLight =
    "color-scheme:light;--paper:#fcfcfa;--card:#fff;--ink:#1a212b;--soft:#525d6b;--line:#d9dde2;--grid:#e8ebee;"
    "--first:#0a5c99;--second:#a04a00;--good:#1b6b3a;--bad:#a3261f;";
const std::string kDark =
    "color-scheme:dark;--paper:#13171c;--card:#1a1f26;--ink:#e7eaee;--soft:#a5afbb;--line:#353d47;--grid:#262d36;"
    "--first:#6fb7f2;--second:#f0a765;--good:#7cd49b;--bad:#ff9a8f;";

const char* const kRules = R"(
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);
  font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","Liberation Sans",sans-serif;
  -webkit-text-size-adjust:100%;font-variant-numeric:tabular-nums}
main,footer{max-width:60rem;margin:0 auto;padding:0 1.5rem}
header{padding:3rem 0 .5rem}
.kicker{margin:0;color:var(--soft);font-size:.9rem;letter-spacing:.02em}
h1{margin:.2rem 0 .6rem;font-size:2.1rem;line-height:1.2;font-weight:650;letter-spacing:-.015em;text-wrap:balance;overflow-wrap:anywhere}
.lead{margin:0 0 1.6rem;font-size:1.12rem;max-width:46rem;overflow-wrap:anywhere}
.good{color:var(--good)} .bad{color:var(--bad)}
.tiles{display:flex;flex-wrap:wrap;gap:1px;margin:0 0 1rem;padding:0;background:var(--line);
  border:1px solid var(--line);border-radius:.6rem;overflow:hidden}
.tiles div{flex:1 1 8.5rem;background:var(--card);padding:.9rem 1rem}
.tiles dt{color:var(--soft);font-size:.84rem} .tiles dd{margin:.1rem 0 0;font-size:1.45rem;font-weight:600;line-height:1.25}
.tiles dd small{display:block;color:var(--soft);font-size:.8rem;font-weight:400}
section{padding:1.9rem 0 .4rem;border-top:1px solid var(--line);margin-top:1.6rem}
h2{margin:0 0 .5rem;font-size:1.3rem;font-weight:640;letter-spacing:-.01em}
h3{margin:1.5rem 0 .3rem;font-size:1rem;font-weight:620;overflow-wrap:anywhere}
p{margin:.4rem 0 .8rem;max-width:46rem;overflow-wrap:anywhere} .note{color:var(--soft);font-size:.92rem}
code{font:.92em ui-monospace,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace}
figure{margin:1rem 0 .6rem} svg{display:block;max-width:100%;height:auto;overflow:visible}
figcaption{margin-top:.5rem;font-size:.88rem;max-width:46rem} .source{color:var(--soft)}
svg text{font-family:inherit;font-size:12px;fill:var(--ink)} svg .soft{fill:var(--soft)} svg .mid{text-anchor:middle}
  svg .mark{fill:var(--bad);font-weight:600}
  svg .end{text-anchor:end}
.axis{stroke:var(--grid);stroke-width:1} .one{stroke:var(--soft);stroke-width:1.5}
.first{stroke:var(--first);fill:var(--first)} .second{stroke:var(--second);fill:var(--card)}
.whisker{stroke-width:2} .dot{stroke-width:2}
.bar{fill:var(--first)} .bar2{fill:var(--second)} .bound{fill:none;stroke:var(--ink);stroke-width:1.5} .block{fill:var(--soft)}
.way{fill:none;stroke:var(--soft);stroke-opacity:.6} .tint{fill-opacity:.16} .pictures image{image-rendering:pixelated}
.pictures,.legend{display:flex;flex-wrap:wrap;gap:.5rem;list-style:none;margin:.3rem 0 .7rem;padding:0;font-size:.8rem}
.pictures li{text-align:center;color:var(--soft)} .pictures svg{margin:0 auto} .pictures span{display:block}
.legend li{white-space:nowrap;margin-right:.6rem} .legend svg{display:inline-block;vertical-align:-.1rem}
.cross{stroke:var(--bad);stroke-width:2.5;fill:none} .under-cross{stroke:var(--paper);stroke-width:6;stroke-linecap:round;fill:none}
.band{fill:var(--first);fill-opacity:.18} .curve{fill:none;stroke:var(--first);stroke-width:2} .ran{fill:var(--card);stroke:var(--ink);stroke-width:2}
.flow{fill-opacity:.5} .zero{fill:var(--card);stroke:var(--line)} .gap{fill:var(--line)} .grey{filter:grayscale(1)}
details{margin:.3rem 0 .5rem;font-size:.9rem} summary{cursor:pointer;color:var(--first);padding:.2rem 0}
summary:focus-visible,.scroll:focus-visible{outline:2px solid var(--first);outline-offset:2px;border-radius:3px}
.scroll{overflow-x:auto} table{border-collapse:collapse;font-size:.88rem;margin:.4rem 0}
caption{text-align:left;color:var(--soft);padding:.2rem 0 .4rem} th,td{padding:.28rem .7rem .28rem 0;border-bottom:1px solid var(--line);
  text-align:left;vertical-align:top;font-weight:400} thead th{color:var(--soft);font-weight:600} .n{text-align:right;white-space:nowrap}
td.n,th.n{padding-left:.7rem;padding-right:0} .settings td{overflow-wrap:anywhere}
footer{margin-top:2.5rem;padding-top:1rem;padding-bottom:3rem;border-top:1px solid var(--line);color:var(--soft);font-size:.84rem}
footer p{max-width:none}
@media (max-width:34rem){main,footer{padding-left:1rem;padding-right:1rem} h1{font-size:1.6rem} header{padding-top:1.6rem}}
@media (max-width:34rem){figure{overflow-x:auto} figure>svg{max-width:none}}
.part>summary{color:var(--ink)} .part>summary h2{display:inline} section:has(>.part){padding:.7rem 0 .1rem;margin-top:.4rem}
@page{size:A4;margin:16mm 15mm}
@media print{:root{--paper:#fff}body{font-size:10.5pt} main,footer{max-width:none;padding:0} header{padding-top:0} section{margin-top:1rem;padding-top:1rem}
  figure,tr,.tiles{break-inside:avoid} h2,h3{break-after:avoid} summary{list-style:none} .scroll{overflow:visible}
  svg,.tiles{print-color-adjust:exact;-webkit-print-color-adjust:exact} details:not(.long)::details-content{content-visibility:visible;display:block}
  table{font-size:8pt} .n{white-space:normal} td,th{overflow-wrap:break-word;padding-right:.35rem}
  td.n,th.n{padding-left:.35rem} .tiles dd{font-size:1.2rem} h1{font-size:1.7rem}}
)";

}  // namespace

std::string page_style() {
  const std::string light = kLight + ramp(false), dark = kDark + ramp(true);
  std::string steps;
  for (int i = 0; i < kScaleSteps; ++i) {
    const std::string n = std::to_string(i);
    steps += ".q" + n + "{fill:var(--q" + n + ")}svg text.on" + n + "{fill:var(--on" + n + ")}";
  }
  for (size_t i = 0; i < kColours.size(); ++i) steps += ".c" + std::to_string(i) + "{fill:" + kColours[i] + "}";
  return ":root{" + light + "}\n@media screen and (prefers-color-scheme:dark){:root:not([data-theme=\"light\"]){" +
         dark + "}}\n@media screen{:root[data-theme=\"dark\"]{" + dark + "}}" + kRules + steps + "\n";
}

}  // namespace stormcell::report
