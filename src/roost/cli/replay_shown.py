"""A replay for people: figures down, policies across, within the terminal's width; then tables of
persons, classes and sizes, and for whom other rules change what.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import median

from roost.cli import format as fmt
from roost.cli.replay import FIRST, OTHER, Run, Setting
from roost.cli.table import Cell, lines
from roost.cli.terminal import BOLD, pad, width
from roost.core.replay.changes import Change
from roost.core.replay.report import Row, spread
from roost.core.text.catalogue import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from roost.cli.context import Context

COLUMNS = 80
MOST_NAMED = 10
LABEL = 20


def span(value: float) -> str:
    """ "4d2h", "3h10m", "12m", "8.2s"."""
    return f"{value:.1f}s" if 0 < value < 10 and value != int(value) else fmt.span(value)


def part(value: float) -> str:
    return f"{100 * value:.1f}%"


def number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.2f}"


SHOWN: tuple[tuple[str, Callable[[float], str]], ...] = (
    ("mean_jct_s", span),
    ("median_jct_s", span),
    ("p95_jct_s", span),
    ("p99_jct_s", span),
    ("mean_queue_delay_s", span),
    ("median_queue_delay_s", span),
    ("p95_queue_delay_s", span),
    ("p99_queue_delay_s", span),
    ("max_queue_delay_s", span),
    ("mean_bounded_slowdown", number),
    ("utilisation_submit_window", part),
    ("utilisation", part),
    ("makespan_s", span),
    ("preemptions", number),
    ("lost_gpu_h", number),
    ("jain", lambda value: f"{value:.3f}"),
    ("jobs_per_s", number),
)


def shown_rows(rows: Mapping[str, Sequence[Row]]) -> Sequence[tuple[str, Callable[[float], str]]]:
    """The rows of the table of figures: how many jobs they are of too, where that differs."""
    counts = {own["jobs"] for each in rows.values() for own in each}
    return SHOWN if len(counts) < 2 else (("jobs", number), *SHOWN)


def show(
    context: Context,
    setting: Setting,
    runs: Sequence[Run],
    found: Sequence[Change] | None,
    asked: Sequence[str],
) -> None:
    out, language = context.out, context.terminal.language
    for line in preface(setting, language):
        out(line)
    out("")
    for line in figures(context, runs, found is not None):
        out(line)
    for key in asked:
        for policy in dict.fromkeys(run.policy for run in runs):
            out("")
            title = say(language, f"replay.by.{key}")
            name = policy_name(language, policy)
            out(say(language, "replay.by_policy", title=title, policy=name))
            for line in grouped(context, [run.by[key] for run in runs if run.policy == policy]):
                out(line)
    if found is not None:
        out("")
        for line in changed(context, found):
            out(line)
    if setting.history is not None:
        from roost.cli.rules_try_shown import bullets, not_run, unknown

        lost = not_run(language, setting, runs)
        for line in ["", *lost] if lost else []:
            out(line)
        out("")
        out(context.terminal.paint(say(language, "tried.unknown"), BOLD))
        for line in bullets(unknown(language, setting)):
            out(line)


def preface(setting: Setting, language: str) -> list[str]:
    """What was replayed on what, what was left out or assumed: a sentence a line."""
    trace, costs, fitted = setting.trace, setting.costs, setting.fitted
    told = [head(setting, language)]
    if trace.left_out and setting.history is None:
        parts = [
            say(language, f"replay.left_out.{code}", count=f"{count:,}")
            for code, count in trace.left_out
        ]
        told.append(say(language, "replay.left_out", what=say(language, "replay.and").join(parts)))
    for code, count in (("shared", fitted.shared), ("rounded", fitted.rounded)):
        if count:
            told.append(say(language, f"replay.{code}", count=f"{count:,}"))
    seeds = len(setting.seeds)
    told.append(say(language, f"replay.estimates.{setting.estimates.value}", seeds=seeds))
    restart = span(costs.restart_s) if costs.restart_s else "0s"
    if costs.checkpoint_s is None:
        told.append(say(language, "replay.costs.none", restart=restart))
    elif costs.checkpoint_s:
        every = span(costs.checkpoint_s)
        told.append(say(language, "replay.costs.every", restart=restart, every=every))
    else:
        told.append(say(language, "replay.costs.signal", restart=restart))
    if seeds > 1:
        told.append(say(language, "replay.seeds", seeds=seeds))
    return told


def head(setting: Setting, language: str) -> str:
    """How many jobs of when, on what."""
    history, jobs = setting.history, setting.trace.jobs
    gpus = counted(language, "gpus", setting.size)
    if history is None:
        window = span(max(job.submit_s for job in jobs))
        return say(
            language, "replay.head", jobs=counted(language, "jobs", len(jobs)),
            servers=setting.servers, gpus=gpus, window=window,
        )  # fmt: skip
    own = [job for job in jobs if job.counted]
    people = len({job.user for job in own})
    times = {name: at[:16].replace("T", " ") for name, at in
             (("start", history.start), ("end", history.end))}  # fmt: skip
    return say(
        language, "tried.head", jobs=counted(language, "jobs", len(own)), gpus=gpus,
        people=say(language, f"tried.people_{'1' if people == 1 else 'n'}", count=f"{people:,}"),
        servers=setting.servers, **times,
    )  # fmt: skip


def counted(language: str, what: str, count: int) -> str:
    """ "1 job", "3,079 jobs"; "1 GPU", "440 GPUs"."""
    return say(language, f"replay.{what}_{'1' if count == 1 else 'n'}", count=f"{count:,}")


def policy_name(language: str, policy: str) -> str:
    known = (*FIRST, *OTHER)
    return say(language, f"replay.{policy}_name") if policy in known else policy


def cell(values: tuple[float, float, float] | None, shown: Callable[[float], str]) -> str:
    """ "3h10m", with several seeds "3h10m (2h50m-4h)"; "–" where it is not known."""
    if values is None:
        return fmt.UNKNOWN
    least, middle, most = values
    if least == most:
        return shown(middle)
    return f"{shown(middle)} ({shown(least)}-{shown(most)})"


def difference(rows: dict[str, list[Row]], key: str) -> str:
    """The change from the rules to --against, in per cent of the former."""
    values = [
        next((spread(rows[name], key) for name in names if name in rows), None)
        for names in (FIRST, OTHER)
    ]
    if key == "jobs_per_s" or values[0] is None or values[1] is None:
        return ""
    before, after = values[0][1], values[1][1]
    if before == after:
        return "0%"
    return f"{100 * (after - before) / before:+.1f}%" if before else fmt.UNKNOWN


def figures(context: Context, runs: Sequence[Run], compared: bool) -> list[str]:
    """Figures down and policies across; what does not fit across goes below."""
    language = context.terminal.language
    rows: dict[str, list[Row]] = {}
    for run in runs:
        rows.setdefault(run.policy, []).append(run.row)
    shown = shown_rows(rows)
    columns: list[list[str]] = []
    for policy, own in rows.items():
        cells = [policy_name(language, policy)]
        columns.append(cells + [cell(spread(own, key), how) for key, how in shown])
        if policy in OTHER and compared:
            title = say(language, "replay.difference")
            columns.append([title, *(difference(rows, key) for key, _ in shown)])
    labels = ["", *(say(language, f"replay.row.{key}") for key, _ in shown)]
    label = max(LABEL, *(width(text) for text in labels))
    widths = [max(width(text) for text in column) for column in columns]
    told: list[str] = []
    while columns:
        take, used = 0, label
        while take < len(columns) and (not take or used + 2 + widths[take] <= COLUMNS):
            used += 2 + widths[take]
            take += 1
        if told:
            told.append("")
        for at, text in enumerate(labels):
            cells = [pad(columns[n][at], widths[n], right=True) for n in range(take)]
            line = "  ".join([pad(text, label), *cells]).rstrip()
            told.append(context.terminal.paint(line, BOLD) if at == 0 else line)
        columns, widths = columns[take:], widths[take:]
    return told


GROUPED: tuple[tuple[str, str, Callable[[float], str]], ...] = (
    ("jobs", "jobs", number),
    ("gpu_h", "gpu_h", number),
    ("mean_wait", "mean_queue_delay_s", span),
    ("p99_wait", "p99_queue_delay_s", span),
    ("max_wait", "max_queue_delay_s", span),
    ("mean_jct", "mean_jct_s", span),
    ("slowdown", "mean_bounded_slowdown", number),
    ("preempted", "jobs_preempted", number),
)


def grouped_rows(language: str, seeds: Sequence[Sequence[Row]]) -> tuple[list[list[str]], int]:
    """One row for each key, medians over the seeds; of many people the ten with the most GPU
    hours, and how many more there are."""
    keys = [str(each["key"]) for each in seeds[0]]
    middle: dict[str, dict[str, float]] = {}
    for at, key in enumerate(keys):
        middle[key] = {
            name: median(float(rows[at][name] or 0.0) for rows in seeds) for _, name, _ in GROUPED
        }
    left = 0
    if len(keys) > MOST_NAMED + 3:
        keys.sort(key=lambda key: -middle[key]["gpu_h"])
        left = len(keys) - MOST_NAMED
        keys = keys[:MOST_NAMED]
    nobody = say(language, "replay.nobody")
    rows = [[key or nobody, *(how(middle[key][name]) for _, name, how in GROUPED)] for key in keys]
    return rows, left


def grouped(context: Context, seeds: Sequence[Sequence[Row]]) -> list[str]:
    language = context.terminal.language
    head = ["", *(say(language, f"replay.column.{column}") for column, _, _ in GROUPED)]
    rows, left = grouped_rows(language, seeds)
    drawn = aligned(context, head, rows)
    if left:
        drawn.append(say(language, "replay.further", count=left))
    return drawn


def aligned(context: Context, head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """A table of names and of figures to the right, also in the last column."""
    last = max(width(row[-1]) for row in (head, *rows))
    filled: list[list[str | Cell]] = [
        [*row[:-1], pad(row[-1], last, right=True)] for row in (head, *rows)
    ]
    title = [each if isinstance(each, str) else each.text for each in filled[0]]
    return lines(context.terminal, title, filled[1:], right=range(1, len(head)), most=[16])


def changed_rows(language: str, found: Sequence[Change]) -> tuple[list[str], list[list[str]], int]:
    """Head, rows of the ten whom it touches most, how many more; no row: it touches nobody."""
    moved = [one for one in found if one.sooner or one.later]
    columns = ("jobs", "gpu_h", "before", "after", "sooner", "later")
    head = ["", *(say(language, f"replay.column.{column}") for column in columns)]
    nobody = say(language, "replay.nobody")
    rows = [
        [
            one.who or nobody, number(one.jobs), number(one.gpu_h), span(one.before_s),
            span(one.after_s), number(one.sooner), number(one.later),
        ]
        for one in moved[:MOST_NAMED]
    ]  # fmt: skip
    return head, rows, max(0, len(moved) - MOST_NAMED)


def changed(context: Context, found: Sequence[Change]) -> list[str]:
    """Who waits how long by either, whose jobs end sooner, whose later."""
    language = context.terminal.language
    head, rows, left = changed_rows(language, found)
    if not rows:
        return [say(language, "replay.no_changes")]
    drawn = [say(language, "replay.changes"), *aligned(context, head, rows)]
    if left:
        drawn.append(say(language, "replay.further", count=left))
    return drawn
