"""A replay as one page: figures, charts, tables, and for whom what changes. No script, nothing
loaded from elsewhere; readable in a light and a dark room, printed, and without colours.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from roost.cli import replay_shown as shown
from roost.cli import rules_try_shown as told
from roost.cli.replay import OTHER, Run, Setting
from roost.cli.replay_charts import chart, legend, log_scale
from roost.core.replay.changes import Change
from roost.core.replay.curves import completions, held, waits
from roost.core.replay.report import Row, spread
from roost.core.text.catalogue import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from roost.cli.context import Context
    from roost.cli.rules_try import Tried

MOST_ROWS = 40
TICKS_S = (1.0, 10.0, 60.0, 600.0, 3600.0, 6 * 3600.0, 86400.0, 7 * 86400.0, 30 * 86400.0)
STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --paper: #fff; --soft: #59636e; --rule: #d4d9df;
  --c0: #0b57a4; --c1: #a04000; --c2: #1a7f37; --c3: #8250df; --c4: #9a0e5f; --c5: #006b75;
  --c6: #6a5300; --c7: #4d4d4d; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ed; --paper: #14171b; --soft: #a3adb8;
  --rule: #3a424b; --c0: #79b8ff; --c1: #ffab70; --c2: #7ee294; --c3: #c9a6ff; --c4: #ff9bd0;
  --c5: #6fd9e3; --c6: #e0c35c; --c7: #c4c4c4; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 76rem; padding: 1rem; color: var(--ink); background: var(--paper);
  font: 16px/1.5 system-ui, "Noto Sans", "Noto Sans CJK SC", "PingFang SC", sans-serif; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
p { color: var(--soft); margin: .2rem 0; max-width: 65ch; }
.charts { display: grid; gap: 1.5rem; max-width: 74rem;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 22rem), 1fr)); }
figure { margin: 0; max-width: 36rem; } figcaption { font-weight: 600; }
figure svg { width: 100%; height: auto; display: block; }
svg text { fill: var(--soft); font-size: 13px; } .grid { stroke: var(--rule); fill: none; }
.line { fill: none; stroke-width: 2.2; }
.c0 { stroke: var(--c0); } .c1 { stroke: var(--c1); } .c2 { stroke: var(--c2); }
.c3 { stroke: var(--c3); } .c4 { stroke: var(--c4); } .c5 { stroke: var(--c5); }
.c6 { stroke: var(--c6); } .c7 { stroke: var(--c7); }
.legend { display: flex; flex-wrap: wrap; gap: .3rem 1.2rem; list-style: none; padding: 0; }
.legend svg { margin-right: .4rem; vertical-align: middle; }
p.said { color: var(--ink); max-width: 80ch; } ul { max-width: 80ch; padding-left: 1.2rem; }
.wide { overflow-x: auto; margin: .3rem 0 1rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding: .4rem 0; }
th, td { padding: .25rem .7rem; border-bottom: 1px solid var(--rule); text-align: right;
  white-space: nowrap; }
th[scope=row], tr > :first-child { text-align: left; font-weight: 500; padding-left: 0;
  position: sticky; left: 0; background: var(--paper); }
th.sub { padding-left: 1.2rem; }
tbody th[scope=rowgroup] { font-weight: 600; padding-top: .9rem; }
@media (max-width: 40rem) { body { font-size: 15px; padding: .8rem; }
  th, td { padding: .2rem .4rem; } table { font-size: .875rem; } }
@media print { body { max-width: none; } .wide { overflow: visible; } }
"""


def write_page(
    context: Context,
    path: str,
    setting: Setting,
    runs: Sequence[Run],
    found: Sequence[Change] | None,
) -> None:
    """Writes the page to that file. Raises OSError."""
    write(path, page(context.terminal.language, setting, runs, found))


def write_tried(context: Context, path: str, tried: Tried) -> None:
    """The same of what was tried on the team's own history. Raises OSError."""
    write(path, tried_page(context.terminal.language, tried))


def write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def page(
    language: str, setting: Setting, runs: Sequence[Run], found: Sequence[Change] | None
) -> str:
    history = setting.history
    if history is None:
        name = setting.path.rpartition("/")[2]
        title = say(language, "replay.page.title", trace=name, servers=setting.servers)
    else:
        title = say(language, "tried.page.replay", server=history.server)
    body = paragraphs(shown.preface(setting, language))
    body += section(language, "replay.page.figures", figures(language, runs, found is not None))
    if found is not None:
        body += section(language, "replay.page.changes", changed(language, found))
    body += details(language, setting, runs)
    if history is not None:
        body += caveats(language, setting)
    return document(language, title, body)


def tried_page(language: str, tried: Tried) -> str:
    """Who is better off and who worse comes first, then the figures behind it."""
    setting, runs = tried.setting, tried.runs
    file = tried.path.rpartition("/")[2]
    title = say(language, "tried.page.title", path=file, server=setting.servers)
    body = paragraphs(told.opening(language, tried))
    body += section(language, "tried.page.who", *paragraphs(told.verdicts(language, tried), "said"))
    body.append(people(language, tried))
    gone = told.gone_lines(language, tried)
    if gone:
        body += section(language, "tried.page.gone")
    for text, items in gone:
        body += [*paragraphs([text], "said"), listed(items)]
    body += section(language, "replay.page.figures", figures(language, runs, True))
    body += details(language, setting, runs)
    body += caveats(language, setting)
    return document(language, title, body)


def people(language: str, tried: Tried) -> str:
    """What changes for all, by class, by person and by group."""
    if not tried.whole.touched:
        return ""
    head, rows, _ = told.change_rows(language, [tried.whole])
    groups: list[tuple[str, Sequence[Sequence[str]]]] = [("", rows)]
    for key in told.KEYS_SHOWN:
        _, rows, left = told.change_rows(language, tried.by[key], MOST_ROWS)
        if left:
            rows.append([say(language, "tried.further", count=left), *[""] * (len(head) - 1)])
        groups.append((say(language, f"replay.by.{key}"), rows))
    parts = [tables("", head, groups)]
    parts += paragraphs([say(language, "tried.legend")])
    by = {key: told.lost_rows(language, tried.by[key]) for key in told.KEYS_SHOWN}
    head, rows = told.lost_rows(language, [tried.whole])
    if rows:
        lost = [(say(language, f"replay.by.{key}"), by[key][1]) for key in told.KEYS_SHOWN]
        parts.append(tables("", head, [("", rows), *(each for each in lost if each[1])]))
    return "\n".join(parts)


def caveats(language: str, setting: Setting) -> list[str]:
    return section(language, "tried.unknown", listed(told.unknown(language, setting)))


def details(language: str, setting: Setting, runs: Sequence[Run]) -> list[str]:
    """The charts, and the figures of each class, user, group and size."""
    policies = list(dict.fromkeys(run.policy for run in runs))
    body = section(language, "replay.page.charts", charts(language, setting, runs))
    for key in ("class", "user", "group", "size"):
        groups = [[run.by.get(key, []) for run in runs if run.policy == p] for p in policies]
        if all(len(rows) < 2 for rows in groups[0]) and (key != "class" or not groups[0][0]):
            continue  # one group alone says what the figures above say
        body += section(language, f"replay.by.{key}")
        for policy, rows in zip(policies, groups, strict=True):
            body.append(grouped(language, shown.policy_name(language, policy), rows))
    return body


def section(language: str, title: str, *parts: str) -> list[str]:
    return [f"<h2>{escape(say(language, title))}</h2>", *parts]


def paragraphs(lines: Sequence[str], kind: str = "") -> list[str]:
    attribute = f' class="{kind}"' if kind else ""
    return [f"<p{attribute}>{escape(line)}</p>" for line in lines]


def listed(items: Sequence[str]) -> str:
    return f"<ul>{''.join(f'<li>{escape(item)}</li>' for item in items)}</ul>" if items else ""


def document(language: str, title: str, body: Sequence[str]) -> str:
    tag = "zh-CN" if language == "zh" else "en"
    return (
        f'<!DOCTYPE html>\n<html lang="{tag}">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\';'
        " style-src 'unsafe-inline'\">\n"
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n"
        + "\n".join([f"<h1>{escape(title)}</h1>", *body])
        + "\n</main>\n</body>\n</html>\n"
    )


def table(caption: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The first column names the row; a name that begins with a space belongs to the row above."""
    return tables(caption, head, [("", rows)])


def tables(
    caption: str, head: Sequence[str], groups: Sequence[tuple[str, Sequence[Sequence[str]]]]
) -> str:
    """Groups of rows under one head, each with its title."""
    label = escape(caption or head[0] or " · ".join(text for text in head if text))
    parts = [f'<div class="wide" role="group" tabindex="0" aria-label="{label}"><table>']
    if caption:
        parts.append(f"<caption>{escape(caption)}</caption>")
    others = "".join(
        f'<th scope="col">{escape(text)}</th>' if text else "<td></td>" for text in head[1:]
    )
    first = "<td></td>" if not head[0] else f'<th scope="col">{escape(head[0])}</th>'
    parts.append(f"<thead><tr>{first}{others}</tr></thead>")
    for title, rows in groups:
        parts.append("<tbody>")
        if title:
            parts.append(
                f'<tr><th scope="rowgroup">{escape(title)}</th>'
                f'<td colspan="{len(head) - 1}"></td></tr>'
            )
        for row in rows:
            cells = "".join(f"<td>{escape(text)}</td>" for text in row[1:])
            sub = ' class="sub"' if row[0].startswith(" ") else ""
            parts.append(f'<tr><th scope="row"{sub}>{escape(row[0].strip())}</th>{cells}</tr>')
        parts.append("</tbody>")
    parts.append("</table></div>")
    return "".join(parts)


def figures(language: str, runs: Sequence[Run], compared: bool) -> str:
    rows: dict[str, list[Row]] = {}
    for run in runs:
        rows.setdefault(run.policy, []).append(run.row)
    head = [""]
    for policy in rows:
        head.append(shown.policy_name(language, policy))
        if policy in OTHER and compared:
            head.append(say(language, "replay.difference"))
    lines = []
    for key, how in shown.shown_rows(rows):
        line = [say(language, f"replay.row.{key}")]
        for policy, own in rows.items():
            line.append(shown.cell(spread(own, key), how))
            if policy in OTHER and compared:
                line.append(shown.difference(rows, key))
        lines.append(line)
    return table("", head, lines)


def charts(language: str, setting: Setting, runs: Sequence[Run]) -> str:
    """Of the first seed of each policy."""
    firsts = [run for run in runs if run.seed == setting.seeds[0] and run.ran is not None]
    names = [shown.policy_name(language, run.policy) for run in firsts]
    own = [run.ran for run in firsts if run.ran is not None]
    until = max((one.end_at for ran in own for one in ran), default=0.0)
    drawn = []
    for code, curve in (("waits", waits), ("completions", completions)):
        lines = [curve(setting.trace, ran) for ran in own]
        longest = max((x for line in lines for x, _ in line), default=1.0)
        last = next((at for at in TICKS_S if at >= longest), TICKS_S[-1])
        ticks = [(log_scale(at), shown.span(at)) for at in TICKS_S if at <= last]
        scaled = [[(log_scale(x), part) for x, part in line] for line in lines]
        drawn.append((code, scaled, ticks))
    days = [(at * until / 4, shown.span(at * until / 4)) for at in range(5)]
    drawn.append(("held", [held(ran, setting.size, until) for ran in own], days))
    parts = []
    for code, points, ticks in drawn:
        title = say(language, f"replay.page.{code}")
        axis = say(language, f"replay.page.{code}_axis")
        parts.append(
            f"<figure><figcaption>{escape(title)}</figcaption>"
            f"{chart(title, points, ticks, axis)}</figure>"
        )
    note = ""
    if len(setting.seeds) > 1:
        note = f"<p>{escape(say(language, 'replay.page.first_seed'))}</p>"
    return f'{note}{legend(names)}<div class="charts">{"".join(parts)}</div>'


def grouped(language: str, policy: str, seeds: Sequence[Sequence[Row]]) -> str:
    rows, left = shown.grouped_rows(language, seeds)
    head = ["", *(say(language, f"replay.column.{column}") for column, _, _ in shown.GROUPED)]
    if left:
        rows.append([say(language, "replay.further", count=left), *[""] * len(shown.GROUPED)])
    return table(policy, head, rows)


def changed(language: str, found: Sequence[Change]) -> str:
    head, rows, left = shown.changed_rows(language, found)
    if not rows:
        return f"<p>{escape(say(language, 'replay.no_changes'))}</p>"
    if left:
        rows.append([say(language, "replay.further", count=left), *[""] * (len(head) - 1)])
    about = paragraphs([say(language, "replay.changes").rstrip(":：")])
    return "\n".join([*about, table("", head, rows)])
