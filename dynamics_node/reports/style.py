"""Define the style sheet of the pages: for screens, light and dark, and for A4 paper."""

STYLE = """
:root { color-scheme: light dark;
  --paper: #ffffff; --ink: #1c2530; --soft: #5b6774; --rule: #d5dbe1; --tint: #f3f5f7;
  --one: #1f5fa8; --two: #c2571a; --three: #3b7d4f; --bad: #b3261e; --warn: #8a6100;
  --mass: #c2571a; --body: #1f5fa8; }
@media (prefers-color-scheme: dark) { :root {
  --paper: #14181d; --ink: #e3e8ed; --soft: #9aa6b2; --rule: #38424d; --tint: #1d232a;
  --one: #7db2ee; --two: #f0a070; --three: #86c79a; --bad: #ff8a80; --warn: #e5c06a;
  --mass: #f0a070; --body: #7db2ee; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2rem 1.5rem 4rem; max-width: 62rem; background: var(--paper);
  color: var(--ink); font: 15px/1.5 system-ui, "Segoe UI", "Helvetica Neue", Arial, sans-serif; }
h1 { font-size: 1.7rem; font-weight: 600; line-height: 1.2; margin: 0 0 .25rem; }
h2 { font-size: 1.15rem; font-weight: 600; margin: 2.4rem 0 .5rem; padding-bottom: .25rem;
  border-bottom: 1px solid var(--rule); break-after: avoid; }
h1, h2, td, th, dd, li, p { overflow-wrap: break-word; }
p { margin: .4rem 0 .8rem; max-width: 48rem; }
.about { color: var(--soft); margin: 0 0 1.2rem; }
dl.facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(12rem, 1fr)); gap: .6rem;
  margin: 1rem 0; }
dl.facts div { background: var(--tint); border-radius: 6px; padding: .55rem .8rem;
  break-inside: avoid; }
dl.facts dt { color: var(--soft); font-size: .8rem; }
dl.facts dd { margin: 0; font-size: 1.1rem; font-weight: 600;
  font-variant-numeric: tabular-nums; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .87rem; margin: .5rem 0 1rem; }
caption { text-align: left; color: var(--soft); padding: 0 0 .3rem; }
th { text-align: left; font-weight: 600; vertical-align: bottom;
  border-bottom: 1px solid var(--soft); }
th, td { padding: .2rem .9rem .2rem 0; }
td { border-bottom: 1px solid var(--rule); }
th:last-child, td:last-child { padding-right: 0; }
th small { display: block; font-weight: 400; color: var(--soft); }
td.number, th.number { text-align: right; white-space: nowrap;
  font-variant-numeric: tabular-nums; }
tr { break-inside: avoid; }
thead { display: table-header-group; }
.bad { color: var(--bad); font-weight: 600; }
.warn { color: var(--warn); font-weight: 600; }
.soft { color: var(--soft); }
figure { margin: .5rem 0 1rem; break-inside: avoid; }
figcaption { color: var(--soft); font-size: .85rem; max-width: 48rem; }
.grid { display: grid; grid-template-columns: repeat(auto-fill, minmax(19rem, 1fr)); gap: .8rem; }
.grid figure { margin: 0; }
svg { display: block; width: 100%; height: auto; overflow: visible;
  font: 11px system-ui, "Segoe UI", "Helvetica Neue", Arial, sans-serif; }
svg text { fill: var(--ink); }
svg .soft { fill: var(--soft); }
svg .bad { fill: var(--bad); }
svg .strong { font-weight: 600; }
svg .axis { stroke: var(--soft); fill: none; stroke-width: 1; }
svg .raster { stroke: var(--rule); fill: none; stroke-width: .7; }
svg .limit { stroke: var(--bad); fill: none; stroke-width: 1.1; stroke-dasharray: 5 3; }
svg .event { stroke: var(--bad); fill: none; stroke-width: 1.1; }
svg .one, svg .two, svg .three { fill: none; stroke-width: 1.4; stroke-linejoin: round; }
svg .one { stroke: var(--one); } svg .two { stroke: var(--two); }
svg .three { stroke: var(--three); }
svg .track { fill: var(--tint); stroke: var(--rule); stroke-width: .7; }
svg .bar { fill: var(--one); } svg .bar.over { fill: var(--bad); }
svg .dot { fill: var(--one); } svg .dot.two { fill: var(--paper); stroke: var(--two); }
svg .whisker { stroke: var(--one); stroke-width: 1.2; fill: none; }
svg .ellipsoid { fill: var(--body); fill-opacity: .13; stroke: var(--body); stroke-width: .8; }
svg .bone { stroke: var(--soft); stroke-width: 1.6; fill: none; stroke-linecap: round; }
svg .mass { fill: var(--mass); }
svg .loop { stroke: var(--three); fill: none; stroke-width: 1.2; stroke-dasharray: 4 3; }
svg .joint { fill: var(--paper); stroke: var(--one); stroke-width: 1.4; }
@page { size: A4; margin: 16mm 15mm; }
@media print {
  :root { color-scheme: light; --paper: #ffffff; --ink: #000000; --soft: #444444;
    --rule: #bbbbbb; --tint: #f4f4f4; --one: #1f5fa8; --two: #b84a10; --three: #2d6b40;
    --bad: #a01912; --warn: #6d4d00; --mass: #b84a10; --body: #1f5fa8; }
  body { max-width: none; padding: 0; font-size: 10pt; }
  .grid { grid-template-columns: repeat(2, 1fr); }
  .scroll { overflow: visible; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
"""
