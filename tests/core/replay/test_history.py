"""A team's own past as a trace: what work a job had, what takes part, what is left out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roost.core.model import EndReason, Gpu, Grant, PriorityClass, Request
from roost.core.replay.changes import changes
from roost.core.replay.drive import Costs, Ran, World, replay
from roost.core.replay.history import (
    Past,
    PastAttempt,
    PastJob,
    PastUse,
    charged,
    read_history,
    regrouped,
    used_before,
    used_in_month,
    work_of,
)
from roost.core.replay.trace import Trace, TraceError
from roost.core.rules.load import load
from roost.core.rules.model import Rules

FROM, UNTIL = 1_000_000.0, 1_100_000.0
GPUS = tuple(Gpu(f"g{n}", n, "A100", 80 << 30) for n in range(4))
BYTES = {gpu.uuid: gpu.memory_bytes for gpu in GPUS}
SAVES = Costs(restart_s=30.0, checkpoint_s=0.0)
HOUR = 3600.0


def job(
    number: int, submitted: float, *spans: tuple[float, float | None], user: str = "ann",
    gpus: int = 1, reasons: str = "", **more: object,
) -> PastJob:  # fmt: skip
    """Times in seconds after FROM; of each span its start and end, None for one that goes on.
    `reasons`: for each attempt but the last "p" preempted, "l" lost with the machine."""
    why = {"p": EndReason.PREEMPTED, "l": EndReason.LOST}
    attempts = tuple(
        PastAttempt(
            FROM + begin,
            None if end is None else FROM + end,
            why[reasons[n]] if n < len(reasons) else EndReason.EXITED,
        )
        for n, (begin, end) in enumerate(spans)
    )
    last = spans[-1][1] if spans else None
    fields: dict[str, object] = {
        "id": number, "user": user, "group": "default", "priority_class": PriorityClass.REGULAR,
        "request": Request(gpus=gpus), "submitted_at": FROM + submitted, "attempts": attempts,
        "ended_at": None if last is None else FROM + last, "state": "COMPLETED",
        "grants": tuple(Grant(f"g{n}") for n in range(gpus)),
    }  # fmt: skip
    return PastJob(**{**fields, **more})  # type: ignore[arg-type]


def past(*jobs: PastJob, costs: Costs = SAVES) -> Past:
    return read_history(jobs, FROM, UNTIL, BYTES, costs)


def by_id(trace: Trace) -> dict[str, object]:
    return {one.id: one for one in trace.jobs}


def run(trace: Trace, rules: Rules, gpus: int = 4) -> list[Ran]:
    given = [one.estimate_s for one in trace.jobs]
    return replay(trace, GPUS[:gpus], given, None, rules, SAVES, None, World())


# -- work --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("costs", "reasons", "work_s"),
    [
        (Costs(0.0, 0.0), "p", 1500.0),  # 1000 saved when asked to go, then 500
        (Costs(30.0, 0.0), "p", 1470.0),  # of the second start 30 s were no work
        (Costs(30.0, None), "p", 470.0),  # nothing is ever saved
        (Costs(0.0, 300.0), "p", 1400.0),  # 900 to the third checkpoint
        (Costs(0.0, 0.0), "l", 500.0),  # nobody asked it to save when the machine went
        (Costs(0.0, 300.0), "l", 1400.0),
    ],
)
def test_work_is_what_ran_less_what_was_done_twice(
    costs: Costs, reasons: str, work_s: float
) -> None:
    one = job(1, 0, (100, 1100), (2000, 2500), reasons=reasons)
    (found,) = past(one, costs=costs).trace.jobs
    assert found.duration_s == work_s


def test_an_attempt_that_never_started_is_no_work() -> None:
    refused = PastAttempt(None, FROM + 50, EndReason.LOST)
    one = job(1, 0)
    again = PastAttempt(FROM + 100, FROM + 160, EndReason.EXITED)
    found = past(job(1, 0, ended_at=FROM + 160, attempts=(refused, again))).trace.jobs[0]
    assert found.duration_s == 60.0
    assert work_of((refused,), FROM, UNTIL, SAVES) is None
    assert one.attempts == ()


@given(
    st.floats(10, 5000), st.floats(0, 60), st.sampled_from([0.0, 60.0, 600.0, None]),
    st.floats(50, 4000),
)  # fmt: skip
def test_what_a_replay_did_reads_back_as_the_work_that_it_was(
    work_s: float, restart_s: float, checkpoint_s: float | None, urgent_at: float
) -> None:
    """A background job that gives way to an urgent one, put on record as it was replayed."""
    costs = Costs(restart_s, checkpoint_s)
    trace = past(
        job(1, 0, (0, work_s), priority_class=PriorityClass.BACKGROUND),
        job(2, urgent_at, (urgent_at, urgent_at + 100), priority_class=PriorityClass.URGENT),
        costs=costs,
    ).trace
    rules = load("[classes.background]\nmin_run = '0s'\n[fair_share]\nweight = 0\n")
    first = replay(trace, GPUS[:1], [None, None], None, rules, costs)[0]
    spans = tuple((begin, over) for begin, over in first.held)
    again = job(1, 0, *spans, reasons="p" * (len(spans) - 1))
    assert past(again, costs=costs).trace.jobs[0].duration_s == pytest.approx(work_s, abs=1e-3)


# -- what was asked for ------------------------------------------------------------------------


def test_the_request_is_carried_over() -> None:
    shared = job(
        3, 20, (30, 60), array_id=3, array_limit=2, requeue=False,
        request=Request(0, 20 << 30, "A100", 4, 1 << 30, 600.0), grants=(Grant("g1", 20 << 30),),
        priority_class=PriorityClass.URGENT, group="cv", user="bo",
    )  # fmt: skip
    (one,) = past(shared).trace.jobs
    assert (one.user, one.group, one.priority_class) == ("bo", "cv", PriorityClass.URGENT)
    assert (one.gpus, one.gpu_memory_bytes, one.gpu_model) == (0.25, 20 << 30, "A100")
    assert (one.cpus, one.memory_bytes, one.estimate_s) == (4, 1 << 30, 600.0)
    assert (one.array_id, one.array_limit, one.requeue) == (3, 2, False)


def test_a_share_of_compute_is_carried_over_and_counts_where_it_is_the_larger_part() -> None:
    asked = Request(0, 20 << 30, gpu_compute_percent=40)
    shared = job(3, 20, (30, 60), request=asked, grants=(Grant("g1", 20 << 30),))
    (one,) = past(shared).trace.jobs
    assert (one.gpus, one.gpu_memory_bytes, one.gpu_compute_percent) == (0.4, 20 << 30, 40)
    trace = past(
        *(job(n, 0, (0, 60), request=Request(0, 5 << 30, gpu_compute_percent=60)) for n in (1, 2))
    ).trace
    first, second = replay(trace, GPUS[:1], [None, None], None, load("shared_gpus = [0]\n"))
    assert (first.first_at, second.first_at) == (0.0, 60.0), "not both at once"


def test_a_begin_time_counts_as_the_submission() -> None:
    found = past(job(1, 0, (0, 10)), job(2, 5, (600, 700), begin_at=FROM + 500))
    assert [one.submit_s for one in found.trace.jobs] == [0, 500]
    assert found.waited_s == 50, "100 s after its begin, and 0 s"


def test_waiting_for_another_job_is_not_waiting_for_a_gpu() -> None:
    found = past(job(1, 0, (0, 1000)), job(2, 0, (1000, 1100), after=(1, 77)))
    assert found.waited_s == 0
    assert found.trace.jobs[1].after == ("1",), "77 is not in the trace: it had ended before"
    second = run(found.trace, Rules())[1]
    assert (second.first_at, second.since_s(found.trace.jobs[1])) == (1000, 1000)


def test_the_clock_on_the_wall_holds_in_a_replay() -> None:
    """FROM is 1970-01-12 13:46:40 UTC: at 20:00 the window opens."""
    rules = load(
        "[periods]\nnight = ['20:00-08:00']\n[windows.long]\njobs_over = '1h'\nopen = ['night']\n"
    )
    trace = past(job(1, 0, (0, 2 * HOUR))).trace
    assert run(trace, rules)[0].first_at == 20 * HOUR - (13 * HOUR + 46 * 60 + 40)
    assert run(trace, Rules())[0].first_at == 0


# -- the edges ---------------------------------------------------------------------------------


def test_what_ran_at_the_beginning_holds_its_gpus_and_is_not_counted() -> None:
    found = past(
        job(1, -500, (-400, 300), gpus=4),
        job(2, 10, (300, 400)),
        job(3, -5000, (-4000, -10)),
    )
    one, two = found.trace.jobs
    assert (one.duration_s, one.counted, len(one.holds), one.started_s) == (300, False, 4, -400)
    assert found.cut_off == (("before", 1),)
    ran = run(found.trace, Rules())
    assert ran[0].held == [(0, 300)]
    assert ran[1].first_at == 300
    assert two.counted


def test_what_waited_at_the_beginning_is_submitted_then() -> None:
    found = past(job(1, -500, (50, 300)), job(2, 10, (300, 400)))
    assert [(one.submit_s, one.counted) for one in found.trace.jobs] == [(0, False), (10, True)]


def test_what_runs_at_the_end_takes_part_with_what_it_did() -> None:
    found = past(job(1, 99_000, (99_500, None), state="RUNNING"), job(2, 0, (0, 10)))
    last = found.trace.jobs[1]
    assert (last.duration_s, last.counted) == (500, False)
    assert found.cut_off == (("still_running", 1),)


def test_what_never_started_is_left_out_by_its_reason() -> None:
    found = past(
        job(1, 0, (0, 10)),
        job(2, 0, state="CANCELLED", ended_at=FROM + 50),
        job(3, 0, state="PENDING"),
        job(4, 0, state="FAILED", ended_at=FROM + 50),
    )
    assert found.trace.left_out == (
        ("cancelled_waiting", 1), ("never_ran", 1), ("still_waiting", 1),
    )  # fmt: skip


def test_a_past_without_a_job_that_counts_is_none() -> None:
    with pytest.raises(TraceError) as caught:
        past(job(1, -500, (-400, 300)))
    assert caught.value.code == "no_history"


# -- groups ------------------------------------------------------------------------------------


def test_everybody_is_charged_where_the_rules_that_are_tried_say() -> None:
    in_force = load("[groups.a]\nmembers = ['ann', 'bo']\n[groups.b]\nmembers = ['ann']\n")
    new = load("[groups.vision]\nmembers = ['@v']\n[groups.b]\nmembers = ['ann']\n")
    trace = past(
        job(1, 0, (0, 10), group="a"),
        job(2, 0, (0, 10), group="b"),  # named: not her usual one
        job(3, 0, (0, 10), group="a", user="bo"),
        job(4, 0, (0, 10), group="gone", user="cy"),
    ).trace
    people = {"ann": ("v",), "bo": (), "cy": ()}
    moved = regrouped(trace, charged(in_force, new, people))
    assert [one.group for one in moved.jobs] == ["vision", "b", "default", "default"]
    ran = replay(
        moved, GPUS, [None] * 4, None, new, SAVES, None, World(linux_groups=people),
    )  # fmt: skip
    assert [[each.code for each in one.refused] for one in ran] == [[], [], [], []]


def test_what_was_used_before_counts_for_fair_share_as_it_decays() -> None:
    """ann held 8 GPU hours one half-life ago, bo none: bo's job, submitted last, comes first."""
    day = 86400.0
    used = [PastUse("ann", "default", FROM - 7 * day, 8 * HOUR), PastUse("cy", "x", FROM, 60.0)]
    stays = charged(Rules(), Rules(), {"ann": ()})
    users, groups = used_before(used, FROM, 7 * day, stays)
    assert users == (("ann", 4 * HOUR), ("cy", 60.0))
    assert groups == (("default", 4 * HOUR), ("x", 60.0)), "nobody told of cy's groups"
    trace = past(
        job(1, 0, (0, 50), user="cy"), job(2, 1, (50, 90)), job(3, 2, (90, 99), user="bo")
    ).trace
    none: list[float | None] = [None] * 3
    starts = [
        [one.first_at for one in replay(trace, GPUS[:1], none, None, Rules(), SAVES, None, world)]
        for world in (World(), World(used_by_user=users, used_by_group=groups))
    ]
    assert starts == [[0, 50, 90], [0, 59, 50]]


def test_what_was_used_this_month_counts_for_budgets_from_the_first_of_the_month_on() -> None:
    """FROM is the 12th of January 1970 in UTC; in Tokyo the month began nine hours earlier."""
    urgent = PriorityClass.URGENT
    used = [
        PastUse("ann", "default", 3 * HOUR, 4 * HOUR, urgent),
        PastUse("ann", "default", -HOUR, 8 * HOUR, urgent),
        PastUse("bo", "default", 5 * HOUR, HOUR),
    ]
    rules = load("[classes.urgent]\nbudget = '6h'\n")
    month = used_in_month(used, FROM, rules)
    assert month == ((PriorityClass.REGULAR, "bo", HOUR), (urgent, "ann", 4 * HOUR))
    east = load("time_zone = 'Asia/Tokyo'\n")
    assert (urgent, "ann", 12 * HOUR) in used_in_month(used, FROM, east)

    asks = Request(1, walltime_s=3 * HOUR)
    trace = past(job(1, 0, (0, HOUR), request=asks, priority_class=urgent)).trace
    given = [3 * HOUR]
    (free,) = replay(trace, GPUS, given, None, rules, SAVES, None, World())
    (spent,) = replay(trace, GPUS, given, None, rules, SAVES, None, World(used_this_month=month))
    assert free.first_at == 0
    assert spent.first_at == pytest.approx(31 * 86400 - FROM), "on the first of February"


# -- the law -----------------------------------------------------------------------------------


@st.composite
def calm(draw: st.DrawFn) -> list[PastJob]:
    """Histories whose jobs never waited: at every instant there was room."""
    free = [0.0] * len(GPUS)
    now, jobs = 0.0, []
    for number in range(1, draw(st.integers(1, 12)) + 1):
        now += draw(st.integers(0, 2000))
        room = sum(at <= now for at in free)
        if not room:
            now, room = min(free), 1
        gpus, span = draw(st.integers(1, room)), draw(st.integers(1, 5000))
        free.sort()
        free = [now + span] * gpus + free[gpus:]
        walltime_s = draw(st.sampled_from([None, span + 1.0, 3.0 * span]))
        jobs.append(
            job(
                number, now, (now, now + span), gpus=gpus, user=draw(st.sampled_from("abc")),
                priority_class=draw(st.sampled_from(list(PriorityClass))),
                request=Request(gpus, walltime_s=walltime_s),
            )
        )  # fmt: skip
    return jobs


@given(calm())
def test_the_same_rules_change_nothing_for_anybody_and_nobody_waits(jobs: list[PastJob]) -> None:
    found = past(*jobs)
    assert found.waited_s == 0
    trace = regrouped(found.trace, charged(Rules(), Rules(), {}))
    before, after = run(trace, Rules()), run(trace, Rules())
    for one in changes(trace, [before], [after]):
        assert (one.before_s, one.after_s) == (0, 0)
        assert one.before_jct_s == one.after_jct_s
        assert not one.touched
        assert one.verdict == "same"


# -- refused, never started --------------------------------------------------------------------


def test_what_other_rules_refuse_is_named_with_the_rule_and_counts_against_them() -> None:
    jobs = [job(1, 0, (0, 100), gpus=2), job(2, 10, (10, 50)), job(3, 20, (20, 60), user="bo")]
    trace = past(*jobs).trace
    new = load("[limits.users.ann]\nmax_gpus = 1\n")
    before, after = run(trace, Rules()), run(trace, new)
    assert [[(p.code, p.rule) for p in one.refused] for one in after] == [
        [("max_gpus_user", "limits.users.ann.max_gpus")], [], [],
    ]  # fmt: skip
    ann, bo = changes(trace, [before], [after])
    assert (ann.who, ann.jobs, ann.refused, ann.verdict) == ("ann", 1, 1, "worse")
    assert ann.gone_gpu_h == pytest.approx(200 / HOUR)
    assert (bo.refused, bo.verdict) == (0, "same")
    (back,) = [one for one in changes(trace, [after], [before]) if one.who == "ann"]
    assert (back.admitted, back.refused, back.jobs) == (1, 0, 1)


def test_an_array_is_refused_as_a_whole() -> None:
    trace = past(*(job(n, 0, (0, 10), array_id=1) for n in range(1, 5))).trace
    ran = run(trace, load("max_array = 3\n"))
    assert [[p.code for p in one.refused] for one in ran] == [["array_many"]] * 4


def test_what_can_never_start_is_told_with_its_reason_and_the_replay_ends() -> None:
    """The night is eight hours, the job asks for nine and would be ended at the close."""
    rules = load(
        "[periods]\nnight = ['22:00-06:00']\n"
        "[windows.long]\njobs_over = '4h'\nopen = ['night']\nat_close = 'end'\n"
    )
    asks = Request(1, walltime_s=9 * HOUR)
    jobs = [job(1, 0, (0, 100), request=asks), job(2, 5, (105, 200), after=(1,)), job(3, 6, (6, 9))]
    trace = past(*jobs).trace
    first, second, third = run(trace, rules)
    assert not first.done
    assert first.waits is not None
    assert first.waits.reasons[0].rule.startswith("windows.long")
    assert not second.done
    assert third.done
    (change,) = changes(trace, [run(trace, Rules())], [[first, second, third]])
    assert (change.never, change.refused, change.jobs) == (2, 0, 1)


def test_a_queue_that_is_full_refuses_as_it_would_have() -> None:
    jobs = [job(n, n, (n, n + 1000), gpus=4) for n in range(1, 6)]
    ran = run(past(*jobs).trace, load("[limits.per_user]\nmax_queued = 2\n"))
    assert [bool(one.refused) for one in ran] == [False, False, False, True, True]
