"""Routes of the machine: who calls, its GPUs, who holds them, draining, freeing, the driver."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request, Response

from roost import __version__
from roost.core.attribution.free import FreePlan, free_plan
from roost.core.attribution.model import Attribution
from roost.core.attribution.show import text_of
from roost.core.model import JobState
from roost.core.observation import DriverReading, DriverState, Observation
from roost.core.text.agent import say_limit
from roost.core.text.catalogue import say
from roost.server.api.access_models import Stranger
from roost.server.api.booked import Booked, free_until
from roost.server.api.context import Call, Caller, answer, call_of, operators_only
from roost.server.api.holders import command_for, holder_rows
from roost.server.api.models import (
    DoneOut,
    DrainedOut,
    DrainIn,
    FreeIn,
    FreeOut,
    FreePlanOut,
    Ping,
)
from roost.server.api.render import iso
from roost.server.api.rights import role_of
from roost.server.api.shown import StatusOut, WhoOut
from roost.server.freeing import free_item
from roost.server.intents import Drain, Note
from roost.server.refusal import RefusalError
from roost.server.web.access import PREFIX, SIGNED, audit_by
from roost.wire.messages import FreeProcesses, FreeResult, ReleaseDriver, Scan

router = APIRouter(prefix="/v1", tags=["machine"])
GpuName = Annotated[str, Path(max_length=100, description="A GPU's index or UUID")]
SCAN_S = 60.0
SLACK_S = 30.0
_booked = Booked()


@router.get("/ping", response_model=Ping | Stranger)
async def ping(request: Request) -> Response:
    """The daemon's version and server, and who is calling. Who is not signed in is told how to."""
    if PREFIX in request.scope and SIGNED not in request.scope:
        oidc = request.app.state.context.board.rules.rules.oidc
        if oidc is None:
            return answer({"signed_in": False, "sign_in": ["password"]})
        ways = ["password", "oidc"]
        return answer({"signed_in": False, "sign_in": ways, "oidc_name": oidc.name})
    call = await call_of(request)
    host = call.context.board.host
    return answer(
        {
            "roost": __version__,
            "server": host.server if host else "",
            "user": call.person.name,
            "uid": call.person.uid,
            "operator": call.person.operator,
            "simulated": host.simulated if host else False,
            "time_zone": call.context.time_zone,
            "agent": call.context.board.connected,
            "groups": sorted(call.person.groups),
            "role": role_of(call.person).word,
            "signed_in": True,
        }
    )


def seen(call: Call) -> tuple[Observation, Attribution]:
    """The last look. Raises RefusalError 503 where there was none yet."""
    board = call.context.board
    if board.observation is None or board.attribution is None:
        raise RefusalError(503, "problem.no_observation" if board.connected else
                           "problem.agent_away")  # fmt: skip
    return board.observation, board.attribution


def status_json(call: Call) -> dict[str, Any]:
    """The answer of /v1/status. Without an observation yet: no GPUs, and why."""
    board, zone = call.context.board, call.context.time_zone
    observation, attribution, host = board.observation, board.attribution, board.host
    live = board.live()
    rows = holder_rows(call, attribution) if attribution is not None else []
    held: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        held.setdefault(row["gpu_uuid"], []).append(row)
    driver = observation.driver if observation is not None else None
    state = driver.state.value if driver is not None else DriverState.NOT_ANSWERING.value
    if not board.connected:
        state = "agent_away"
    known = {gpu.uuid: gpu for gpu in observation.gpus} if observation is not None else {}
    booked = _booked.rows(board.bookings, board.gpus, call.context.clock(), zone)
    return {
        "server": host.server if host else "",
        "driver_version": driver.driver_version if driver else None,
        "gpus": [
            {
                "index": gpu.index,
                "uuid": gpu.uuid,
                "name": gpu.name,
                "memory_total_bytes": gpu.memory_total_bytes,
                "memory_used_bytes": gpu.memory_used_bytes,
                "memory_reserved_bytes": gpu.memory_reserved_bytes,
                "utilisation_percent": gpu.utilisation_percent,
                "memory_utilisation_percent": gpu.memory_utilisation_percent,
                "temperature_c": gpu.temperature_c,
                "temperature_slowdown_c": gpu.temperature_slowdown_c,
                "power_w": gpu.power_w,
                "power_limit_w": gpu.power_limit_w,
                "sm_clock_mhz": gpu.sm_clock_mhz,
                "fan_percent": gpu.fan_percent,
                "mig_mode": gpu.mig_mode,
                "health": gpu.state.value,
                "health_text": gpu.state_detail or None,
                "drained": gpu.uuid in board.drained,
                "drain_reason": board.drained.get(gpu.uuid),
                "holders": held.get(gpu.uuid, ()),
                "bookings": booked.get(gpu.uuid, []),
                "free_until": free_until(booked.get(gpu.uuid, [])),
            }
            for gpu in known.values()
        ],
        "driver_state": state,
        "driver_remedy": _remedy(call, driver.remedy_code if driver else None, board.connected),
        "reboot_needed": board.connected and driver is not None and _needs_reboot(driver),
        "mps": observation.mps if observation is not None and board.connected else None,
        "simulated": host.simulated if host else False,
        "limits": [say_limit(call.language, limit) for limit in host.limits] if host else [],
        "time": iso(call.context.clock(), zone),
        "observed_time": iso(observation.taken_at, zone) if observation else None,
        "agent": board.connected,
        "trouble": board.trouble or None,
        "queue": {
            "pending": sum(job.state is JobState.PENDING for job in live),
            "running": sum(job.state is not JobState.PENDING for job in live),
        },
    }


def _needs_reboot(driver: DriverReading) -> bool:
    """Whether the driver was updated under what runs: nothing new can use a GPU until the kernel
    modules are reloaded, which needs every holder to end, or the machine is rebooted."""
    mismatch = driver.state is DriverState.VERSION_MISMATCH
    return mismatch or driver.remedy_code == "update_pending"


def _remedy(call: Call, code: str | None, connected: bool) -> str | None:
    if not connected:
        return say(call.language, "problem.agent_away")
    if code is None:
        return None
    try:
        return say(call.language, code if "." in code else f"driver.{code}")
    except (KeyError, ImportError, IndexError):
        return code.replace("_", " ")


@router.get("/status", response_model=StatusOut)
async def status(call: Caller) -> Response:
    """Every GPU with its readings and holders."""
    return answer(status_json(call))


def who_json(
    call: Call, attribution: Attribution, gpu_uuid: str | None = None, user: str | None = None
) -> dict[str, Any]:
    """The answer of /v1/who; `gpu_uuid` and `user` narrow it."""
    rows = [
        row
        for row in holder_rows(call, attribution)
        if (gpu_uuid is None or row["gpu_uuid"] == gpu_uuid)
        and (user is None or row["user"] == user)
    ]
    return {
        "holders": rows,
        "unattributed": [
            {
                "gpu_index": row["gpu_index"],
                "gpu_uuid": row["gpu_uuid"],
                "memory_bytes": row["memory_bytes"],
                "reason": row["reason"],
                "text": row["reason_text"],
                "sign": row["sign"],
                "remedy": row["remedy"],
                "sure": row["sure"],
                "candidates": row["candidates"],
            }
            for row in rows
            if row["kind"] == "unattributed"
        ],
        "checks": [
            {
                "gpu_index": row["gpu_index"],
                "reason": check["reason"],
                "found": check["found"],
                "text": check["result"],
            }
            for row in rows
            for check in row["checks"]
        ],
        "time": iso(attribution.taken_at, call.context.time_zone),
    }


@router.get("/who", response_model=WhoOut)
async def who(
    call: Caller,
    gpu: Annotated[str | None, Query(max_length=100)] = None,
    user: Annotated[str | None, Query(max_length=200)] = None,
    scan: Annotated[bool, Query(description="Search every process first")] = False,
) -> Response:
    """Who holds every GPU, since when, by what right; and what nobody is known to hold."""
    context = call.context
    if scan:
        await context.asked(context.engine.ask(Scan(request=0)), SCAN_S)
        # The answer is also an observation: it is taken in before this note is.
        await context.intend(Note(audit_by(call.person, "scan")))
    _, attribution = seen(call)
    uuid = gpu_uuid(call, gpu) if gpu is not None else None
    found = who_json(call, attribution, uuid, user)
    await context.somebody(user, bool(found["holders"]))
    return answer(found)


def gpu_uuid(call: Call, name: str) -> str:
    """The UUID of a GPU by index or UUID, also of one that only the inventory knows."""
    board = call.context.board
    known = {gpu.uuid: gpu.index for gpu in board.gpus.values()}
    if board.observation is not None:
        known.update({gpu.uuid: gpu.index for gpu in board.observation.gpus})
    for uuid, index in known.items():
        if name == uuid or (name.isascii() and name.isdigit() and len(name) < 9
                            and int(name) == index):  # fmt: skip
            return uuid
    names = ", ".join(str(index) for index in sorted(known.values())) or "–"
    raise RefusalError(404, "problem.no_gpu", {"gpu": name}, gpu=name, gpus=names)


@router.post("/gpus/{gpu}/drain", response_model=DrainedOut)
async def drain(gpu: GpuName, call: Caller, given: DrainIn | None = None) -> Response:
    """Start nothing new on this GPU; what runs goes on. Operators only."""
    operators_only(call)
    reason = given.reason if given is not None else ""
    uuid = gpu_uuid(call, gpu)
    await call.context.intend(Drain(call.person, uuid, True, _clean(reason)))
    return answer({"done": True, "gpu_uuid": uuid})


@router.post("/gpus/{gpu}/undrain", response_model=DrainedOut)
async def undrain(gpu: GpuName, call: Caller) -> Response:
    """Use this GPU again. Operators only."""
    operators_only(call)
    uuid = gpu_uuid(call, gpu)
    await call.context.intend(Drain(call.person, uuid, False))
    return answer({"done": True, "gpu_uuid": uuid})


def _clean(text: str) -> str:
    return "".join(c if c.isprintable() else " " for c in text).strip()


def _plan(call: Call, gpu: str, user: str | None) -> tuple[FreePlan, Attribution]:
    observation, attribution = seen(call)
    uuid = gpu_uuid(call, gpu)
    try:
        plan = free_plan(
            observation, attribution, uuid, call.person.name, call.person.operator, user
        )
    except KeyError:
        raise RefusalError(404, "problem.no_gpu", {"gpu": gpu}, gpu=gpu, gpus="–") from None
    return plan, attribution


@router.get("/gpus/{gpu}/free-plan", response_model=FreePlanOut)
async def plan(
    gpu: GpuName, call: Caller, user: Annotated[str | None, Query(max_length=200)] = None
) -> Response:
    """What `free` would end, and why each belongs to that GPU. Nothing is ended."""
    found, attribution = _plan(call, gpu, user)
    await call.context.somebody(user, bool(found.processes or found.jobs))
    zone = call.context.time_zone
    since = {
        (h.pid, h.start_ticks): h.since for g in attribution.gpus for h in g.holders
    }  # the same process may hold several GPUs since different times; any will do for showing
    return answer(
        {
            "gpu_index": found.gpu_index,
            "gpu_uuid": found.gpu_uuid,
            "items": [
                {
                    "pid": p.pid,
                    "start_ticks": p.start_ticks,
                    "uid": p.uid,
                    "user": p.user,
                    "command": p.command,
                    "memory_bytes": p.memory_bytes,
                    "since": iso(since.get((p.pid, p.start_ticks)), zone),
                    "evidence": "; ".join(text_of(e, call.language) for e in p.evidence),
                    "also_gpus": p.also_gpus,
                    "container": p.container,
                    "allowed": True,
                }
                for p in found.processes
            ],
            "jobs": [{"job": job.job, "user": job.user, "pids": job.pids} for job in found.jobs],
            "others": [
                {
                    "pid": other.pid,
                    "start_ticks": other.start_ticks,
                    "user": other.user,
                    "command": command_for(call, other.uid, other.command),
                    "text": text_of(other.why, call.language),
                }
                for other in found.left
            ],
            "time": iso(call.context.clock(), zone),
        }
    )


@router.post("/gpus/{gpu}/free", response_model=FreeOut)
async def free(gpu: GpuName, given: FreeIn, call: Caller) -> Response:
    """End exactly these processes of a plan: SIGTERM, grace, SIGKILL; then look at the memory."""
    context, person = call.context, call.person
    found, attribution = _plan(call, gpu, None)
    known = {(p.pid, p.start_ticks): p for p in found.processes}
    others = {(h.pid, h.start_ticks): h.user or "?" for g in attribution.gpus for h in g.holders}
    items = []
    for item in given.items:
        key = (item.pid, item.start_ticks)
        process = known.get(key)
        if process is None:
            if key in others and not person.operator and others[key] != person.name:
                raise RefusalError(
                    403, "problem.not_yours", {"pid": item.pid}, pid=item.pid, user=others[key]
                )
            raise RefusalError(
                409, "problem.not_in_plan", {"pid": item.pid}, pid=item.pid,
                start_ticks=item.start_ticks, gpu=found.gpu_index,
            )  # fmt: skip
        items.append(free_item(found.gpu_uuid, process))
    request = FreeProcesses(
        items=tuple(items),
        grace_s=given.grace_s,
        only_uid=None if person.operator else person.uid,
        request=0,
    )
    result = await context.asked(context.engine.ask(request), given.grace_s + SLACK_S)
    if not isinstance(result, FreeResult):
        raise RefusalError(502, "problem.agent_refused", text="it gave no result")
    for process_end in result.processes:
        process = known[process_end.pid, process_end.start_ticks]
        said = audit_by(
            person, "free", subject=f"gpu {found.gpu_uuid} pid {process_end.pid}",
            whom=process.user or "", outcome=process_end.outcome,
            detail=_clean(f"{process.command}: {process_end.text}".rstrip(": "))[:1000],
        )  # fmt: skip
        await context.intend(Note(said))
    return answer(
        {
            "processes": [
                {
                    "pid": p.pid,
                    "start_ticks": p.start_ticks,
                    "outcome": p.outcome,
                    "text": p.text,
                    "user": known[p.pid, p.start_ticks].user,
                }
                for p in result.processes
            ],
            "memory_before_bytes": result.memory_before_bytes,
            "memory_after_bytes": result.memory_after_bytes,
        }
    )


@router.post("/driver/release", response_model=DoneOut)
async def driver_release(call: Caller) -> Response:
    """Let go of the driver, so that a GPU can be reset or MIG changed. Operators only."""
    return await _drive(call, False)


@router.post("/driver/hold", response_model=DoneOut)
async def driver_hold(call: Caller) -> Response:
    """Take the driver up again. Operators only."""
    return await _drive(call, True)


async def _drive(call: Call, hold: bool) -> Response:
    operators_only(call)
    context, person = call.context, call.person
    await context.asked(context.engine.ask(ReleaseDriver(hold=hold, request=0)), SLACK_S)
    action = "driver hold" if hold else "driver release"
    await context.intend(Note(audit_by(person, action)))
    return answer({"done": True})
