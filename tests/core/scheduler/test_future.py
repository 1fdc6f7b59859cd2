"""What is foreseen happens, to the instant, when nobody else comes and jobs last as was thought;
and to ask changes nothing."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import HealthCheck, event, example, given, settings
from hypothesis import strategies as st

from roost.core.model import Booking, Gpu
from roost.core.scheduler.decisions import Wait
from roost.core.scheduler.events import BookingsChanged
from roost.core.scheduler.future import FARTHEST_S
from roost.core.text.forecast import render_unknown
from tests.core.scheduler.living import NEVER, EndsAt, LivingWorld
from tests.core.scheduler.pictures import IN_PLACE, gpus_of, servers_of

MACHINES: list[list[Gpu]] = [gpus_of(4), gpus_of(3, "pairs"), servers_of(2, 2)]
RULES = {
    "default": "",
    "no minimum": '[classes.background]\nmin_run = "0s"\n[classes.regular]\nmin_run = "0s"\n',
    "throughput": '[scheduling]\nmode = "throughput"\nmin_run = "2m"\nmargin = "0s"\n',
    "limits": "[limits.per_user]\nmax_gpus = 2\n[limits.background]\nmax_jobs = 2\n",
    "hours": "[periods]\nday = ['00:40-03:00']\n[limits.during.day.per_user]\nmax_gpus = 1\n",
    "windows": (
        "[windows.long]\njobs_over = '1h'\nopen = ['01:00-06:00', '08:00-14:00']\n"
        'at_close = "end"\nnotice = "10m"\n'
    ),
    "in place": IN_PLACE,
    "shares": "shared_gpus = [0]\n",
}


@dataclass(frozen=True)
class Coming:
    """One job: after how many minutes it comes, and which part of its walltime it needs."""

    user: str
    gpus: int
    which: str
    walltime: int | None
    used: int
    gap: int
    requeue: bool
    share: bool
    after: bool
    begin: int


COMING = st.builds(
    Coming,
    st.sampled_from(["alice", "bob", "li"]),
    st.integers(1, 4),
    st.sampled_from(["regular", "regular", "background", "urgent"]),
    st.sampled_from([10, 20, 30, 60, 120, 240, None]),
    st.integers(5, 100),
    st.sampled_from([0, 0, 0, 7, 45]),
    st.sampled_from([True, True, False]),
    st.sampled_from([False, False, True]),
    st.sampled_from([False, False, False, True]),
    st.sampled_from([0, 0, 0, 90]),
)
# (GPU, minutes from then on, minutes long, whose, for maintenance)
BOOKINGS = st.none() | st.tuples(
    st.integers(0, 2), st.integers(0, 300), st.integers(10, 200), st.sampled_from(["bob", "li"]),
    st.booleans(),
)  # fmt: skip
Booked = tuple[int, int, int, str, bool] | None
JOBS = st.lists(COMING, min_size=2, max_size=12)


def lived(
    machine: list[Gpu], rules: str, jobs: list[Coming], booked: Booked, ask_every: int = 1000
) -> LivingWorld:
    """A server some of whose jobs have come and gone: the moment at which is asked."""
    world = LivingWorld(gpus=machine, text=RULES[rules], cpus=6)
    if booked is not None:
        index, minutes, long, user, maintenance = booked
        begin = world.now + minutes * 60.0
        uuids = (machine[index].uuid,)
        booking = Booking(1, user, uuids, begin, begin + long * 60.0, maintenance)
        world.step(BookingsChanged(world.now, (booking,)))
    used: dict[int, float] = {}

    def ends_at(number: int, now: float) -> float:
        walltime_s = world.jobs[number].request.walltime_s
        return now + (7200.0 if walltime_s is None else walltime_s) * used[number]

    for coming in jobs:
        if coming.gap:
            world.live(world.now + coming.gap * 60.0, ends_at)
        used[len(world.jobs) + 1] = coming.used / 100
        number = len(world.jobs)
        world.submit(
            coming.user,
            1 if coming.share else min(coming.gpus, len(machine)),
            coming.which,
            time=None if coming.walltime is None else f"{coming.walltime}m",
            share="30G" if coming.share and rules == "shares" else None,
            requeue=coming.requeue,
            after=(number,) if coming.after and number and not world.states[number].ended else (),
            begin_at=world.now + coming.begin * 60.0 if coming.begin else None,
        )
        if (number + 1) % ask_every == 0:
            foreseen(world)
    world.live(world.now, ends_at)
    return world


def likely(world: LivingWorld) -> EndsAt:
    """By the habits of now, worked out by hand."""
    forecast = world.scheduler._state.forecast
    expected = {n: forecast.expected_s(job) for n, job in world.jobs.items()}

    def ends_at(number: int, now: float) -> float:
        whole_s, walltime_s = expected[number], world.jobs[number].request.walltime_s
        latest = NEVER if walltime_s is None else world.started_at[number] + walltime_s
        if whole_s is None:
            return max(now, latest)
        run_s = now - world.started_at[number]
        return min(max(now, latest), now + max(1.0, abs(whole_s - run_s)))

    return ends_at


def latest(world: LivingWorld) -> EndsAt:
    def ends_at(number: int, now: float) -> float:
        walltime_s = world.jobs[number].request.walltime_s
        return NEVER if walltime_s is None else max(now, world.started_at[number] + walltime_s)

    return ends_at


def foreseen(world: LivingWorld) -> dict[int, Wait]:
    return {number: world.scheduler.forecast(number) for number in world.waiting()}


def goes_on(world: LivingWorld, ends_at: EndsAt) -> dict[int, float]:
    """When the jobs that wait now then really start, with nobody new."""
    for number in world.held:
        since = world.parked.get(number)
        if since is None:
            world.ends_at[number] = ends_at(number, world.now)
        else:
            world.left_s[number] = ends_at(number, since) - since
    waiting = world.waiting()
    world.first_start.clear()
    world.live(world.now + FARTHEST_S, ends_at)
    return {n: world.first_start[n] for n in waiting if n in world.first_start}


# On two servers the start of the last job shows a way for the one before it.
ONE_SHOWS_THE_WAY = [
    Coming("li", 1, "urgent", 10, 5, 0, True, False, False, 0),
    Coming("li", 4, "regular", 120, 100, 0, False, True, False, 0),
    Coming("alice", 1, "background", 10, 100, 7, False, False, False, 0),
    Coming("alice", 2, "regular", 60, 5, 0, True, True, False, 0),
    Coming("alice", 2, "urgent", 60, 5, 0, True, False, False, 0),
    Coming("bob", 1, "regular", None, 50, 0, False, True, False, 0),
]
# bob's job starts by right just before his booking ends, and is told at once to go.
HARDLY_BEGUN = [
    *(Coming("alice", gpus, "regular", minutes, 5, 0, True, False, False, 0)
      for gpus, minutes in ((1, 10), (1, 10), (2, 20), (2, 120), *[(1, 10)] * 4, (2, 10))),
    Coming("alice", 2, "urgent", 10, 5, 0, True, False, False, 0),
    Coming("bob", 1, "regular", 240, 5, 0, True, False, False, 0),
    Coming("bob", 1, "background", 120, 5, 0, True, False, False, 0),
]  # fmt: skip
MANY = settings(max_examples=120, suppress_health_check=[HealthCheck.too_slow])


@MANY
@example(MACHINES[2], "default", ONE_SHOWS_THE_WAY, None)
@example(MACHINES[0], "hours", HARDLY_BEGUN, (0, 64, 197, "bob", False))
@given(st.sampled_from(MACHINES), st.sampled_from(sorted(RULES)), JOBS, BOOKINGS)
def test_each_job_starts_when_it_was_foreseen(
    machine: list[Gpu], rules: str, jobs: list[Coming], booked: Booked
) -> None:
    for which in ("likely", "latest"):
        world = lived(machine, rules, jobs, booked)
        future = world.scheduler.future()
        told = foreseen(world)
        event(f"{rules}: {min(3, len(told))} wait")
        runs = future._runs
        started = runs and (runs.likely if which == "likely" else runs.latest).started
        ends_at = likely(world) if which == "likely" else latest(world)
        assert goes_on(world, ends_at) == (started or {}), world.picture()


@MANY
@given(st.sampled_from(MACHINES), st.sampled_from(sorted(RULES)), JOBS, BOOKINGS)
def test_what_is_told_is_what_the_runs_say(
    machine: list[Gpu], rules: str, jobs: list[Coming], booked: Booked
) -> None:
    """The likely start is never after the latest; what cannot be said has a reason, in words."""
    world = lived(machine, rules, jobs, booked)
    for wait in foreseen(world).values():
        likely_at, latest_at = wait.forecast_start_at, wait.forecast_latest_at
        assert (wait.forecast_unknown is None) == (likely_at is not None and latest_at is not None)
        if wait.forecast_unknown is not None:
            assert render_unknown("en", wait.forecast_unknown)
            assert render_unknown("zh", wait.forecast_unknown)
            if wait.forecast_unknown.code == "open":
                open_ended = wait.forecast_unknown.blocking_jobs[0]
                assert world.jobs[open_ended].request.walltime_s is None
                assert open_ended in world.held
        if likely_at is not None and latest_at is not None:
            assert world.scheduler.now <= likely_at <= latest_at


@MANY
@given(st.sampled_from(MACHINES), st.sampled_from(sorted(RULES)), JOBS, BOOKINGS, st.integers(1, 3))
def test_to_ask_changes_nothing(
    machine: list[Gpu], rules: str, jobs: list[Coming], booked: Booked, every: int
) -> None:
    """One scheduler is asked after every so many jobs, the other never: they decide alike."""
    asked = lived(machine, rules, jobs, booked, ask_every=every)
    alone = lived(machine, rules, jobs, booked)
    assert asked.log == alone.log
    assert asked.scheduler.snapshot() == alone.scheduler.snapshot()
    before = asked.scheduler.snapshot()
    foreseen(asked)
    assert asked.scheduler.snapshot() == before
    for world in (asked, alone):
        goes_on(world, latest(world))
    assert asked.log == alone.log


@settings(max_examples=80)
@given(st.sampled_from(MACHINES), st.lists(st.tuples(st.integers(1, 4), st.integers(1, 12))))
def test_what_is_promised_is_what_is_foreseen(
    machine: list[Gpu], jobs: list[tuple[int, int]]
) -> None:
    """For whom room is kept: by the ends that are known, the run comes to the same instant."""
    world = LivingWorld(gpus=machine)
    for gpus, walltime in jobs:
        world.submit("alice", min(gpus, len(machine)), time=f"{walltime * 10}m")
    for number in world.waiting():
        promised = world.scheduler.explain(number).forecast_start_at
        told = world.scheduler.forecast(number)
        assert told.forecast_latest_at is not None
        if promised is not None:
            event("promised")
            assert told.forecast_latest_at == promised
