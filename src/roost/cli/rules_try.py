"""`roost rules try NEW.toml`: the team's own history by the rules in force and by new ones, and for
whom what changes. Reckons; how it is told is in `rules_try_shown`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, tzinfo
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from roost.cli import replay as replays
from roost.cli.replay import FIRST, IN_FORCE, NEW, OTHER, Run, Setting
from roost.cli.rules import read_file, wrong
from roost.core.replay.changes import Change
from roost.core.replay.drive import Ran
from roost.core.replay.trace import TraceJob
from roost.core.rules.changes import changes as changed_keys
from roost.core.rules.load import load
from roost.core.rules.model import Rules
from roost.core.text.catalogue import say
from roost.core.text.submit import problem_text
from roost.core.text.wait import render_reason

TYPE_CHECKING = False
if TYPE_CHECKING:
    from roost.cli.context import Context

KEYS = ("class", "user", "group")


@dataclass(frozen=True, slots=True)
class Gone:
    """A job that is refused by rules (`code` of the `submit` catalogue, with the rule behind it) or
    never starts (`code` of the `wait` catalogue); `text` says it in the person's language."""

    job: int
    user: str
    code: str
    rule: str
    text: str


@dataclass(frozen=True, slots=True)
class Tried:
    """`whole`: of all jobs. `refused`, `never`: what the new rules alone keep from running;
    `neither`: jobs that run by neither. `keys`: how many keys of the rules differ."""

    path: str
    keys: int
    setting: Setting
    runs: Sequence[Run]
    whole: Change
    by: dict[str, list[Change]]
    refused: list[Gone]
    never: list[Gone]
    neither: list[int]


def try_rules(context: Context) -> int:
    """0; 1 where the rules have mistakes (told as `rules check` tells them) or nothing ran; 2, 3, 4
    as every command."""
    path = str(context.given.arguments[0])
    text = read_file(path)
    if wrong(context, path, text):
        return 1
    setting = replays.history_of(context)
    html = context.option("html")
    tried = reckoned(context, path, setting, load(text), asked=KEYS if html else ())
    if html:
        from roost.cli.replay_html import write_tried

        write_tried(context, html, tried)
    if context.json:
        context.out_json(as_json(context.terminal.language, tried))
        return 0
    from roost.cli.rules_try_shown import lines

    for line in lines(context, tried):
        context.out(line)
    return 0


def reckoned(
    context: Context, path: str, setting: Setting, new: Rules, asked: Sequence[str]
) -> Tried:
    """Replays by both rules and compares. Raises CommandError."""
    history = setting.history
    assert history is not None
    contenders = [
        replays.contender(setting, IN_FORCE, history.rules),
        replays.contender(setting, NEW, new),
    ]
    runs = replays.run_all(context, setting, contenders, asked, keep_first=True)
    found = {key: replays.changes_of(setting, runs, key) or [] for key in ("all", *KEYS)}
    language, zone = context.terminal.language, zone_of(history.rules.time_zone)
    old, own = (next(run.ran for run in runs if run.policy in names) for names in (FIRST, OTHER))
    assert old is not None
    assert own is not None
    refused: list[Gone] = []
    never: list[Gone] = []
    neither: list[int] = []
    for job, before, after in zip(setting.trace.jobs, old, own, strict=True):
        if not job.counted or after.done:
            continue
        if not before.done:
            neither.append(int(job.id))
            continue
        (refused if after.refused else never).append(gone(language, zone, job, after))
    keys = len(changed_keys(history.rules, new))
    whole = found.pop("all")[0]
    return Tried(path, keys, setting, runs, whole, found, refused, never, neither)


def gone(language: str, zone: tzinfo, job: TraceJob, ran: Ran) -> Gone:
    """Why it is refused, or never starts."""

    def clock(at: float) -> str:
        return f"{datetime.fromtimestamp(at, zone):%Y-%m-%d %H:%M}"

    if ran.refused:
        first = ran.refused[0]
        text = "; ".join(problem_text(language, each) for each in ran.refused)
        return Gone(int(job.id), job.user, first.code, first.rule, text)
    reasons = () if ran.waits is None else ran.waits.reasons
    if not reasons:
        code = "dependency_missing" if job.after else ""
        text = say(language, "tried.after") if job.after else ""
        return Gone(int(job.id), job.user, code, "", text)
    text = render_reason(language, reasons[0], clock)
    return Gone(int(job.id), job.user, reasons[0].code, reasons[0].rule, text)


def zone_of(name: str) -> tzinfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return UTC


def as_json(language: str, tried: Tried) -> dict[str, Any]:
    from roost.cli.rules_try_shown import unknown

    history = tried.setting.history
    assert history is not None
    return {
        "file": tried.path,
        "version": history.version,
        "keys": tried.keys,
        "server": tried.setting.servers,
        "gpus": tried.setting.size,
        "from": history.start,
        "to": history.end,
        "jobs": sum(job.counted for job in tried.setting.trace.jobs),
        "waited_s": history.past.waited_s,
        "all": change_json(tried.whole),
        "classes": [change_json(one) for one in tried.by["class"]],
        "users": [change_json(one) for one in tried.by["user"]],
        "groups": [change_json(one) for one in tried.by["group"]],
        "refused": [asdict(one) for one in tried.refused],
        "never": [asdict(one) for one in tried.never],
        "neither": tried.neither,
        "left_out": dict(tried.setting.trace.left_out),
        "cut_off": dict(history.past.cut_off),
        "runs": [{"policy": run.policy, **run.row} for run in tried.runs],
        "unknown": unknown(language, tried.setting),
    }


def change_json(one: Change) -> dict[str, Any]:
    return {**asdict(one), "verdict": one.verdict}
