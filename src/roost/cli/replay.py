"""`roost replay`: a trace of jobs run through the scheduler in simulated time, by these rules, by
others, or in the order of a textbook. Needs no daemon. Drawing is in `replay_shown`.
"""

from __future__ import annotations

import os
import random
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from roost.cli.failure import CommandError
from roost.cli.rules import mistakes_in, read_file
from roost.cli.values import UsageError
from roost.core.model import Gpu
from roost.core.replay.changes import Change, changes
from roost.core.replay.drive import Costs, Ran, StuckError
from roost.core.replay.drive import replay as drive
from roost.core.replay.estimates import Estimates, walltimes
from roost.core.replay.fit import Fitted, fit
from roost.core.replay.layout import layout
from roost.core.replay.report import Row, groups, row
from roost.core.replay.trace import Trace, TraceError
from roost.core.rules.model import Rules
from roost.core.scheduler.policy import BASELINES, Policy
from roost.core.text.catalogue import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from roost.cli.context import Context

RULES, AGAINST = "rules", "against"
SEEDS = 10
RESTART_S = 30.0
STUCK_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Contender:
    """What is replayed: a textbook order, or (without `policy`) what the rules say."""

    name: str
    policy: Policy | None
    rules: Rules


@dataclass(frozen=True, slots=True)
class Setting:
    """What every run has in common, as it was asked for or chosen."""

    path: str
    servers: str
    gpus: tuple[Gpu, ...]
    fitted: Fitted
    estimates: Estimates
    seeds: tuple[int | None, ...]
    costs: Costs

    @property
    def trace(self) -> Trace:
        return self.fitted.trace


@dataclass(slots=True)
class Run:
    """One policy with one seed. `by`: rows of each user, class, … where they were asked for."""

    policy: str
    seed: int | None
    row: Row
    by: dict[str, list[Row]] = field(default_factory=dict)
    ran: list[Ran] | None = None


def replay(context: Context) -> int:
    """0; 1 where the trace cannot be read or jobs can never start; 2 for wrong words."""
    if "events" in context.given.options:
        from roost.cli.replay_events import replay_events

        return replay_events(context)
    if not context.given.arguments:
        raise UsageError("missing_argument", command="replay", argument="TRACE")
    if "servers" not in context.given.options:
        raise UsageError("replay_no_servers")
    setting = setting_of(context)
    contenders = contenders_of(context, setting)
    asked = list(dict.fromkeys(context.option("by", [])))
    html = context.option("html")
    if html:
        asked += [key for key in ("class", "user", "group", "size") if key not in asked]
    runs = run_all(context, setting, contenders, asked, keep_first=bool(html))
    found = changes_of(setting, runs)
    if html:
        from roost.cli.replay_html import write_page

        write_page(context, html, setting, runs, found)
    shown = [key for key in asked if key in context.option("by", [])]
    if context.json:
        context.out_json(as_json(setting, runs, found, shown))
        return 0
    from roost.cli.replay_shown import show

    show(context, setting, runs, found, shown)
    return 0


def setting_of(context: Context) -> Setting:
    """Reads the trace and what was asked for. Raises CommandError, UsageError."""
    from roost.cli.replay_source import read

    option, path = context.option, str(context.given.arguments[0])
    try:
        gpus = layout(option("servers"))
    except TraceError as error:
        raise refusal(context, "", error) from None
    costs = Costs(option("restart_cost", RESTART_S), option("checkpoint", 0.0))
    try:
        fitted = fit(read(path, option("format")), len(gpus))
    except TraceError as error:
        raise refusal(context, path, error) from None
    told = any(job.estimate_s for job in fitted.trace.jobs)
    without = Estimates.EXACT if option("baseline") and not told else Estimates.TRACE
    estimates = Estimates(option("estimates", without))
    seeds: tuple[int | None, ...] = (None,)
    if estimates is Estimates.NOISY:
        seeds = tuple(range(1, option("seeds", SEEDS) + 1))
    return Setting(path, option("servers"), gpus, fitted, estimates, seeds, costs)


def refusal(context: Context, path: str, error: TraceError) -> CommandError:
    """A TraceError as a refusal in the person's language."""
    text = say(context.terminal.language, "replay." + error.code, **error.numbers)
    if not path:
        return CommandError("replay_said", text=text)
    return CommandError("replay_trace", path=path, text=text)


def contenders_of(context: Context, setting: Setting) -> list[Contender]:
    """The rules, unless only textbook orders were asked for; --against; the textbook orders."""
    option = context.option
    found: list[Contender] = []
    baselines = list(dict.fromkeys(option("baseline", [])))
    rules, against = option("rules"), option("against")
    if rules or against or not baselines:
        found.append(Contender(RULES, None, rules_of(context, rules)))
    if against:
        found.append(Contender(AGAINST, None, rules_of(context, against)))
    found += [Contender(name, BASELINES[name], Rules()) for name in baselines]
    if setting.fitted.shared:
        every = tuple(gpu.uuid for gpu in setting.gpus)
        found = [replace(one, rules=replace(one.rules, shared_gpus=every)) for one in found]
    return found


def rules_of(context: Context, path: str | None) -> Rules:
    """The rules of that file, or the defaults. Raises CommandError, the mistakes told before."""
    if path is None:
        return Rules()
    from roost.core.rules.load import load

    text = read_file(path)
    mistakes = mistakes_in(text, context.terminal.language)
    for mistake in mistakes:
        context.err(str(mistake["text"]))
    if mistakes:
        raise CommandError("rules_wrong", path=path, count=len(mistakes))
    return load(text)


def run_all(
    context: Context,
    setting: Setting,
    contenders: Sequence[Contender],
    asked: Sequence[str],
    keep_first: bool,
) -> list[Run]:
    """Every contender with every seed, in that order. Raises CommandError where jobs are stuck."""
    runs: list[Run] = []
    progress = Progress(context, len(setting.trace.jobs), len(contenders) * len(setting.seeds))
    compared = any(one.name == AGAINST for one in contenders)
    for contender in contenders:
        for seed in setting.seeds:
            chance = random.Random(seed or 0)  # noqa: S311 - drawn again by its seed, no secret
            given = walltimes(setting.trace, setting.estimates, chance)
            progress.begin(contender.name)
            began = time.perf_counter()
            try:
                ran = drive(
                    setting.trace, setting.gpus, given, contender.policy, contender.rules,
                    setting.costs, progress.told,
                )  # fmt: skip
            except StuckError as error:
                progress.end()
                raise stuck(context, setting, contender.name, error) from None
            took_s = max(time.perf_counter() - began, 1e-9)
            figures = row(setting.trace, ran, len(setting.gpus))
            figures["jobs_per_s"] = len(setting.trace.jobs) / took_s
            by = {key: groups(setting.trace, ran, key) for key in asked}
            kept = compared and contender.name in (RULES, AGAINST)
            kept = kept or (keep_first and seed == setting.seeds[0])
            runs.append(Run(contender.name, seed, figures, by, ran if kept else None))
    progress.end()
    return runs


def stuck(context: Context, setting: Setting, policy: str, error: StuckError) -> CommandError:
    names = ", ".join(error.jobs[:STUCK_SHOWN]) + (", …" if len(error.jobs) > STUCK_SHOWN else "")
    return refusal(
        context,
        setting.path,
        TraceError(
            "stuck", policy=policy, count=len(error.jobs), servers=setting.servers, jobs=names
        ),
    )


def changes_of(setting: Setting, runs: Sequence[Run]) -> list[Change] | None:
    """None without --against."""
    sides = [
        [run.ran for run in runs if run.policy == name and run.ran is not None]
        for name in (RULES, AGAINST)
    ]
    return changes(setting.trace, sides[0], sides[1]) if sides[1] else None


def as_json(
    setting: Setting, runs: Sequence[Run], found: Sequence[Change] | None, shown: Sequence[str]
) -> dict[str, object]:
    from dataclasses import asdict

    return {
        "runs": [
            {"policy": run.policy, "seed": run.seed, **run.row}
            | {f"by_{key}": run.by[key] for key in shown}
            for run in runs
        ],
        "trace": setting.path,
        "servers": setting.servers,
        "gpus": len(setting.gpus),
        "estimates": setting.estimates.value,
        "left_out": dict(setting.trace.left_out),
        "changes": None if found is None else [asdict(one) for one in found],
    }


class Progress:
    """A line on standard error that is written over, where that is a terminal."""

    def __init__(self, context: Context, jobs: int, runs: int) -> None:
        self._context, self._jobs, self._runs = context, jobs, runs
        self._run = 0
        self._policy = ""
        self._shown = os.isatty(2)

    def begin(self, policy: str) -> None:
        self._run += 1
        self._policy = policy
        self.told(0)

    def told(self, done: int) -> None:
        if self._shown:
            text = say(
                self._context.terminal.language, "replay.progress", policy=self._policy,
                run=self._run, runs=self._runs, done=f"{done:,}", jobs=f"{self._jobs:,}",
            )  # fmt: skip
            self._write(f"\r\x1b[K{text}")

    def end(self) -> None:
        if self._shown:
            self._write("\r\x1b[K")

    def _write(self, text: str) -> None:
        sys.stderr.buffer.write(self._context.terminal.encode(text))
        sys.stderr.buffer.flush()
