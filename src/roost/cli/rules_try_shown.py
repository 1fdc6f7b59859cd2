"""What new rules would change, for people: who is better off and who worse, by how much; what could
not run any more; and what a replay cannot know. Text only, also for the page.
"""

from __future__ import annotations

from collections.abc import Sequence

from roost.cli.replay import FIRST, Run, Setting
from roost.cli.replay_shown import COLUMNS, aligned, number, policy_name, preface, span
from roost.cli.rules_try import Gone, Tried
from roost.cli.terminal import BOLD, wrap
from roost.core.replay.changes import NOTICED_S, Change
from roost.core.text.catalogue import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from roost.cli.context import Context

MOST_NAMED = 10
MOST_NUMBERS = 6
KEYS_SHOWN = ("class", "user", "group")
IN_SENTENCE = 5
# In the order in which they are said; what is left out has its reason from the reader of histories.
ALWAYS = ("people", "hand", "rules", "usage")
EDGES = ("before", "still_running")
LEFT_OUT = ("cancelled_waiting", "still_waiting", "never_ran", "too_large")


def lines(context: Context, tried: Tried) -> list[str]:
    """Everything, a line each, within 80 columns where words do not force more."""
    language = context.terminal.language
    told = [line for each in opening(language, tried) for line in wrap(each, COLUMNS)]
    told.append("")
    told += [line for each in verdicts(language, tried) for line in wrap(each, COLUMNS, "  ")]
    if tried.whole.touched:
        told += ["", *tables(context, tried)]
    for title, items in gone_lines(language, tried):
        told += ["", context.terminal.paint(title, BOLD), *bullets(items)]
    title = say(language, "tried.unknown")
    told += ["", context.terminal.paint(title, BOLD)]
    told += bullets(unknown(language, tried.setting))
    return told


def bullets(items: Sequence[str]) -> list[str]:
    return [line for item in items for line in wrap(f"- {item}", COLUMNS, "  ")]


def opening(language: str, tried: Tried) -> list[str]:
    """What was replayed, by which rules, with what assumed, and how true it is to what happened."""
    setting = tried.setting
    history = setting.history
    assert history is not None
    first, *assumed = preface(setting, language)
    keys = say(language, f"tried.keys_{'1' if tried.keys == 1 else 'n'}", count=tried.keys)
    code = "compared" if tried.keys else "compared_same"
    compared = say(language, f"tried.{code}", version=history.version, path=tried.path, keys=keys)
    return [first, compared, *assumed, really(language, setting, tried.runs)]


def really(language: str, setting: Setting, runs: Sequence[Run]) -> str:
    """How long the jobs waited in truth, beside what the replay of the rules in force says."""
    history = setting.history
    assert history is not None
    row = next(run.row for run in runs if run.policy in FIRST)
    return say(
        language, "tried.really", truth=span(history.past.waited_s),
        replayed=span(float(row["mean_queue_delay_s"] or 0.0)),
    )  # fmt: skip


def verdicts(language: str, tried: Tried) -> list[str]:
    """Who is better off, who worse, who neither, with numbers: a sentence each."""
    if not tried.whole.touched:
        return [say(language, "tried.nothing")]
    told = []
    for verdict in ("better", "worse", "same"):
        own = [
            one for one in tried.by["user"] if one.verdict == verdict and (one.jobs or one.touched)
        ]
        if not own:
            continue
        named = [person(language, one) for one in own[:IN_SENTENCE]]
        if len(own) > IN_SENTENCE:
            named.append(say(language, "tried.more_people", count=len(own) - IN_SENTENCE))
        who = say(language, "tried.list").join(named)
        told.append(say(language, f"tried.{verdict}", who=who))
    return told


def person(language: str, one: Change) -> str:
    """The name, and the number behind the verdict."""
    who = one.who or say(language, "replay.nobody")
    what = [
        say(language, f"tried.{code}_{'1' if count == 1 else 'n'}", count=count)
        for code, count in (("refused", one.refused), ("never", one.never))
        if count
    ]
    if one.verdict == "same":
        return who
    moved_s = one.after_s - one.before_s
    if abs(moved_s) >= NOTICED_S:
        code = ("others_" if what else "") + ("waits_less" if moved_s < 0 else "waits_more")
        what.append(say(language, f"tried.{code}", span=span(abs(moved_s))))
    return say(language, "tried.with", who=who, what=say(language, "tried.list").join(what))


def arrow(language: str, before: str, after: str) -> str:
    return before if before == after else say(language, "tried.arrow", before=before, after=after)


def change_rows(
    language: str, rows: Sequence[Change], most: int = MOST_NAMED
) -> tuple[list[str], list[list[str]], int]:
    """Head, a row for each of the first `most`, and how many more there are."""
    shown = [one for one in rows if one.jobs or one.touched]
    columns = ("jobs", "gpu_h", "waiting", "completion", "sooner", "later", "verdict")
    head = ["", *(say(language, f"tried.column.{column}") for column in columns)]
    told = [
        [
            name(language, one), number(one.jobs), number(one.gpu_h),
            arrow(language, span(one.before_s), span(one.after_s)),
            arrow(language, span(one.before_jct_s), span(one.after_jct_s)),
            number(one.sooner), number(one.later), say(language, f"tried.verdict.{one.verdict}"),
        ]
        for one in shown[:most]
    ]  # fmt: skip
    return head, told, max(0, len(shown) - most)


def lost_rows(language: str, rows: Sequence[Change]) -> tuple[list[str], list[list[str]]]:
    """Head and a row for each that is preempted, or loses jobs, by either."""
    columns = ("preempted", "lost", "refused", "never")
    head = ["", *(say(language, f"tried.column.{column}") for column in columns)]
    told = [
        [
            name(language, one),
            arrow(language, number(one.before_preemptions), number(one.after_preemptions)),
            arrow(language, number(one.before_lost_gpu_h), number(one.after_lost_gpu_h)),
            number(one.refused), number(one.never),
        ]
        for one in rows
        if one.before_preemptions or one.after_preemptions or one.refused or one.never
    ]  # fmt: skip
    return head, told


def name(language: str, one: Change) -> str:
    return one.who or say(language, "tried.all")


def tables(context: Context, tried: Tried) -> list[str]:
    """All, the classes and the people in one table; below it what was preempted and refused."""
    language = context.terminal.language
    everybody = sorted(tried.by["user"], key=lambda one: not one.touched)
    head, whole, _ = change_rows(language, [tried.whole])
    classes = change_rows(language, tried.by["class"])[1]
    _, people, left = change_rows(language, everybody)
    drawn = aligned(context, head, [*whole, *classes, *people])
    parts = [drawn[:2], drawn[2 : 2 + len(classes)], drawn[2 + len(classes) :]]
    told = [line for part in parts for line in (*part, "")]
    if left:
        told[-1:] = [say(language, "tried.further", count=left), ""]
    told += wrap(say(language, "tried.legend"), COLUMNS)
    head, rows = lost_rows(language, [tried.whole, *tried.by["class"], *everybody[:MOST_NAMED]])
    if rows:
        told += ["", *aligned(context, head, rows)]
    return told


def not_run(language: str, setting: Setting, runs: Sequence[Run]) -> list[str]:
    """Of a replay of the history: how many jobs each policy refuses or never starts, and which."""
    told = []
    for run in runs:
        pairs = zip(setting.trace.jobs, run.ran or (), strict=True)
        gone = [int(job.id) for job, one in pairs if job.counted and not one.done]
        if gone:
            told.append(
                say(
                    language, "tried.not_run", policy=policy_name(language, run.policy),
                    count=len(gone), jobs=numbers(language, gone),
                )
            )  # fmt: skip
    return told


def gone_lines(language: str, tried: Tried) -> list[tuple[str, list[str]]]:
    """(title, items) of what is refused and what never starts, the jobs of one rule together."""
    found = []
    for code, jobs in (("refused", tried.refused), ("never", tried.never)):
        if jobs:
            found.append((say(language, f"tried.{code}"), together(language, jobs)))
    if tried.whole.admitted:
        text = say(language, "tried.admitted", count=tried.whole.admitted)
        found.append((text, []))
    if tried.neither:
        jobs_text = numbers(language, tried.neither)
        count = len(tried.neither)
        found.append((say(language, "tried.neither", count=count, jobs=jobs_text), []))
    return found


def together(language: str, jobs: Sequence[Gone]) -> list[str]:
    """An item for each rule: whose jobs, and why the first of them."""
    alike: dict[tuple[str, str], list[Gone]] = {}
    for one in jobs:
        alike.setdefault((one.rule, one.code), []).append(one)
    told = []
    for own in list(alike.values())[:MOST_NAMED]:
        by_user: dict[str, list[int]] = {}
        for one in own:
            by_user.setdefault(one.user, []).append(one.job)
        whose = say(language, "tried.semicolon").join(
            say(language, "tried.jobs_of", user=user, jobs=numbers(language, theirs))
            for user, theirs in by_user.items()
        )
        code, first = "one_why" if len(own) == 1 else "jobs_why", own[0]
        told.append(
            say(
                language, f"tried.{code}", count=len(own), job=first.job, user=first.user,
                why=first.text or say(language, "tried.no_reason"), whose=whose,
            )
        )  # fmt: skip
    return told


def numbers(language: str, jobs: Sequence[int]) -> str:
    """ "40, 108, 319 and 12 more"."""
    shown = say(language, "tried.list").join(str(each) for each in jobs[:MOST_NUMBERS])
    left = len(jobs) - MOST_NUMBERS
    return say(language, "tried.and_more", jobs=shown, count=left) if left > 0 else shown


def unknown(language: str, setting: Setting) -> list[str]:
    """What a replay of a history cannot know, with how many jobs each edge cuts off."""
    history = setting.history
    assert history is not None
    told = [say(language, f"tried.unknown.{code}") for code in ALWAYS]
    counts = {**dict(history.past.cut_off), **dict(setting.trace.left_out)}
    told += [
        say(language, f"tried.unknown.{code}", count=f"{counts[code]:,}")
        for code in (*EDGES, *LEFT_OUT)
        if counts.get(code)
    ]
    return told
