"""`roost replay`: a trace of jobs, or the team's own history, run through the scheduler in
simulated time, by these rules, by others, or in a textbook's order. Drawing is in `replay_shown`.
"""

from __future__ import annotations

import os
import random
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from roost.cli.failure import CommandError
from roost.cli.replay_history import SINCE, History, elsewhere, empty, fetch, usable
from roost.cli.rules import mistakes_in, read_file
from roost.cli.values import UsageError
from roost.core.model import Gpu
from roost.core.replay.changes import Change, changes
from roost.core.replay.drive import Costs, Ran, StuckError, World
from roost.core.replay.drive import replay as drive
from roost.core.replay.estimates import Estimates, walltimes
from roost.core.replay.fit import Fitted, fit
from roost.core.replay.history import regrouped
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
# Of the team's own history: the rules in force, and those that are tried.
IN_FORCE, NEW = "in_force", "new"
FIRST, OTHER = (RULES, IN_FORCE), (AGAINST, NEW)
SEEDS = 10
RESTART_S = 30.0
STUCK_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Contender:
    """What is replayed: a textbook order, or (without `policy`) what the rules say. `trace`: that
    of the setting, with everybody in the group that these rules charge; `world`: what a history
    knows besides."""

    name: str
    policy: Policy | None
    rules: Rules
    trace: Trace | None = None
    world: World | None = None


@dataclass(frozen=True, slots=True)
class Setting:
    """What every run has in common, as it was asked for or chosen. `history`: where the trace is
    the team's own; `own_servers`: it is replayed on the GPUs that it ran on."""

    path: str
    servers: str
    gpus: tuple[Gpu, ...]
    fitted: Fitted
    estimates: Estimates
    seeds: tuple[int | None, ...]
    costs: Costs
    history: History | None = None
    own_servers: bool = False

    @property
    def trace(self) -> Trace:
        return self.fitted.trace

    @property
    def size(self) -> int:
        """How many GPUs there are to give."""
        return usable(self.gpus)


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
    if "since" in context.given.options:
        if context.given.arguments:
            raise UsageError("either_or", one="TRACE", other="--since")
        setting = history_of(context)
    else:
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
    costs = costs_of(context)
    try:
        fitted = fit(read(path, option("format")), len(gpus))
    except TraceError as error:
        raise refusal(context, path, error) from None
    estimates, seeds = estimates_of(context, fitted)
    return Setting(path, option("servers"), gpus, fitted, estimates, seeds, costs)


def costs_of(context: Context) -> Costs:
    return Costs(context.option("restart_cost", RESTART_S), context.option("checkpoint", 0.0))


def estimates_of(context: Context, fitted: Fitted) -> tuple[Estimates, tuple[int | None, ...]]:
    """Which walltimes the scheduler is told, and the seeds that they are drawn with."""
    option = context.option
    told = any(job.estimate_s for job in fitted.trace.jobs)
    without = Estimates.EXACT if option("baseline") and not told else Estimates.TRACE
    estimates = Estimates(option("estimates", without))
    seeds: tuple[int | None, ...] = (None,)
    if estimates is Estimates.NOISY:
        seeds = tuple(range(1, option("seeds", SEEDS) + 1))
    return estimates, seeds


def history_of(context: Context) -> Setting:
    """The team's own history, on its own GPUs or on those of --servers. Raises CommandError,
    UsageError, RoostError."""
    since, costs = context.option("since", SINCE), costs_of(context)
    servers = context.option("servers")
    try:
        gpus = layout(servers) if servers else ()
    except TraceError as error:
        raise refusal(context, "", error) from None
    try:
        history = fetch(context, since, costs)
        trace = elsewhere(history.past.trace) if servers else history.past.trace
        gpus = gpus or history.gpus
        if not gpus:
            raise CommandError("no_gpus_seen")
        fitted = fit(trace, usable(gpus))
        if not any(job.counted for job in fitted.trace.jobs):
            raise TraceError("no_history")
    except TraceError as error:
        raise empty(context, since, error) from None
    estimates, seeds = estimates_of(context, fitted)
    name = servers or history.server
    return Setting("", name, gpus, fitted, estimates, seeds, costs, history, not servers)


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
    rules, against, history = option("rules"), option("against"), setting.history
    if history is not None and not rules and (against or not baselines):
        found.append(contender(setting, IN_FORCE, history.rules))
    elif rules or against or not baselines:
        found.append(contender(setting, RULES, rules_of(context, rules)))
    if against:
        found.append(contender(setting, AGAINST, rules_of(context, against)))
    textbook = Rules() if history is None else only_whose(history.rules)
    found += [contender(setting, name, textbook, BASELINES[name]) for name in baselines]
    if setting.fitted.shared:
        every = tuple(gpu.uuid for gpu in setting.gpus)
        found = [replace(one, rules=replace(one.rules, shared_gpus=every)) for one in found]
    return found


def contender(setting: Setting, name: str, rules: Rules, policy: Policy | None = None) -> Contender:
    """Jobs of the team's own history are charged by the rules that are replayed."""
    history = setting.history
    if history is None:
        return Contender(name, policy, rules)
    trace = regrouped(setting.trace, history.charged(rules))
    return Contender(name, policy, rules, trace, history.world(rules, setting.own_servers))


def only_whose(rules: Rules) -> Rules:
    """Of these rules who belongs where and which GPUs are shared; all else as by default."""
    return Rules(
        groups=rules.groups, default_group=rules.default_group, shared_gpus=rules.shared_gpus,
        max_array=rules.max_array,
    )  # fmt: skip


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
    compared = any(one.name in OTHER for one in contenders)
    for contender in contenders:
        trace = contender.trace or setting.trace
        for seed in setting.seeds:
            chance = random.Random(seed or 0)  # noqa: S311 - drawn again by its seed, no secret
            given = walltimes(trace, setting.estimates, chance)
            progress.begin(contender.name)
            began = time.perf_counter()
            try:
                ran = drive(
                    trace, setting.gpus, given, contender.policy, contender.rules,
                    setting.costs, progress.told, contender.world,
                )  # fmt: skip
            except StuckError as error:
                progress.end()
                raise stuck(context, setting, contender.name, error) from None
            took_s = max(time.perf_counter() - began, 1e-9)
            figures = row(trace, ran, setting.size)
            figures["jobs_per_s"] = len(trace.jobs) / took_s
            by = {key: groups(trace, ran, key) for key in asked}
            kept = compared and contender.name in (*FIRST, *OTHER)
            kept = kept or setting.history is not None
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


def changes_of(
    setting: Setting, runs: Sequence[Run], key: str | None = None
) -> list[Change] | None:
    """By that key of `changes`; None where no other rules were asked for."""
    sides = [
        [run.ran for run in runs if run.policy in names and run.ran is not None]
        for names in (FIRST, OTHER)
    ]
    return changes(setting.trace, sides[0], sides[1], key) if sides[1] else None


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
        "trace": setting.path or None,
        "from": None if setting.history is None else setting.history.start,
        "to": None if setting.history is None else setting.history.end,
        "servers": setting.servers,
        "gpus": setting.size,
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
