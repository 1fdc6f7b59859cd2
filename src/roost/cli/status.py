"""`roost status`: a GPU on a line, in 80 columns: free, or whose, and until when."""

from __future__ import annotations

import os

from roost.cli import format as fmt
from roost.cli.table import Cell
from roost.cli.terminal import BOLD, GREEN, GREY, RED, YELLOW, Terminal, cut, pad, width

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from roost.cli.context import Context

    Say = Callable[..., str]

IDLE_SHOWN_S = 600
HOT_C = 85
WELL = ("ok", "", None)
WORKING = (None, "ok", "simulated")


def status(context: Context) -> int:
    pause = context.option("watch")
    ask: Callable[[], Any] = context.client().status
    while True:
        answer: Any = patient(context, ask) if pause else ask()
        if context.json:
            context.out_json(answer)
        else:
            clear = "\x1b[H\x1b[J" if pause and os.isatty(1) else ""
            context.out(clear + "\n".join(render(answer, context.terminal, context.say)))
        if not pause:
            return 0
        import time

        time.sleep(pause)


def patient(context: Context, ask: Callable[[], Any]) -> Any:
    """While it watches, a daemon that starts again is waited for."""
    from roost.cli.wait import patiently

    return patiently(context, ask)


def render(answer: Any, terminal: Terminal, say: Say) -> list[str]:
    """The whole view as lines."""
    gpus = answer.get("gpus") or []
    lines = [heading(answer, gpus, terminal, say)]
    state = answer.get("driver_state")
    remedy = answer.get("driver_remedy")
    if answer.get("reboot_needed") or state not in WORKING or (remedy and not gpus):
        lines += driver_trouble(answer, gpus, terminal, say)
    elif answer.get("simulated"):
        lines.append(terminal.paint(say("simulated"), YELLOW))
    if not gpus and state in WORKING:
        lines.append(say("no_gpus"))
    names = [short_name(str(gpu.get("name") or fmt.UNKNOWN)) for gpu in gpus]
    name_cells = min(16, max(map(width, names), default=0))
    memories = [memory(gpu) for gpu in gpus]
    memory_cells = max(map(len, memories), default=0)
    now = answer.get("time")
    heat_cells = width(terminal.plain("100°C"))
    for gpu, name, used in zip(gpus, names, memories, strict=True):
        left = [
            Cell(f"{gpu.get('index', fmt.UNKNOWN)!s:>2}"),
            Cell(pad(cut(name, name_cells), name_cells)),
            Cell(pad(terminal.plain(heat(gpu)), heat_cells, right=True), hot(gpu)),
            Cell(pad(fmt.number(gpu.get("utilisation_percent"), "%"), 4, right=True)),
            Cell(pad(fmt.number(gpu.get("power_w"), "W"), 4, right=True)),
            Cell(pad(used, memory_cells, right=True)),
        ]
        drawn = " ".join(cell.shown(terminal, str) for cell in left) + "  "
        plain = " ".join(terminal.plain(cell.text) for cell in left) + "  "
        room = 10_000 if terminal.columns is None else max(8, terminal.columns - width(plain))
        lines.append(drawn + fitted(holding(gpu, now, say), room, terminal))
    return lines


def driver_trouble(answer: Any, gpus: list[Any], terminal: Terminal, say: Say) -> list[str]:
    """What is wrong with the driver and what helps; where it is a reboot, whom that concerns."""
    from roost.cli.why import folded

    state, remedy = answer.get("driver_state") or fmt.UNKNOWN, answer.get("driver_remedy") or ""
    if not answer.get("reboot_needed"):
        text = say("driver_trouble", remedy=remedy) if remedy else say("driver_state", state=state)
        return [terminal.paint(line, RED) for line in folded(text, terminal.columns, "")]
    text = say("reboot_needed", remedy=remedy)
    shown = [terminal.paint(line, RED) for line in folded(text, terminal.columns, "")]
    holding: dict[tuple[str, str], list[str]] = {}
    for gpu in gpus:
        for holder in gpu.get("holders") or []:
            if holder.get("kind") != "unattributed":
                key = (str(holder.get("user") or say("nobody")), held_as(holder, say))
                holding.setdefault(key, []).append(str(gpu.get("index")))
    concerned = [
        say("concerned", user=user, what=what, gpus=", ".join(dict.fromkeys(indices)))
        for (user, what), indices in holding.items()
    ]
    last = say("reboot_concerns", who="; ".join(concerned)) if concerned else say("reboot_nobody")
    return shown + folded(last, terminal.columns, "")


def heading(answer: Any, gpus: list[Any], terminal: Terminal, say: Say) -> str:
    """The server, how many are free, the queue, the driver, the time: the first answer first."""
    free = sum(is_free(gpu) for gpu in gpus)
    count = sum(gpu.get("health") != "missing" for gpu in gpus)
    queue = answer.get("queue") or {}
    parts = [
        terminal.paint(
            say("free_of_1" if count == 1 else "free_of", free=free, count=count),
            GREEN if free else BOLD,
        ),
        say(
            "queue",
            running=queue.get("running", fmt.UNKNOWN),
            pending=queue.get("pending", fmt.UNKNOWN),
        ),
    ]
    if answer.get("driver_version"):
        parts.append(say("driver", version=answer["driver_version"]))
    parts.append(fmt.clock(answer.get("time"), answer.get("time")))
    server = terminal.paint(str(answer.get("server") or fmt.UNKNOWN), BOLD)
    return server + "  " + terminal.plain(" · ").join(parts)


def short_name(name: str) -> str:
    """Without the maker and the memory, which stands beside it: "A100-SXM4", "RTX 4090"."""
    for word in ("NVIDIA ", "GeForce ", "Tesla ", "Graphics Device"):
        name = name.removeprefix(word)
    head, dash, tail = name.rpartition("-")
    return head if dash and tail.upper().endswith("GB") else name


def memory(gpu: Any) -> str:
    return fmt.of_total(gpu.get("memory_used_bytes"), gpu.get("memory_total_bytes"))


def heat(gpu: Any) -> str:
    return fmt.number(gpu.get("temperature_c"), "°C")


def hot(gpu: Any) -> str:
    """Colour only when out of bounds."""
    heat = gpu.get("temperature_c")
    limit = gpu.get("temperature_slowdown_c") or HOT_C
    return RED if isinstance(heat, int | float) and heat >= limit - 3 else ""


def is_free(gpu: Any) -> bool:
    """Nobody holds it who counts or has booked it now, it is well, and jobs may start on it."""
    holders = any(not holder.get("ignored") for holder in gpu.get("holders") or [])
    taken = any(one["on"] and whole(one) for one in gpu.get("bookings") or [])
    return not holders and not taken and gpu.get("health") in WELL and not gpu.get("drained")


def whole(booking: Any) -> bool:
    """Of the whole GPU, not of its memory."""
    return bool(booking["maintenance"]) or booking["gpu_memory_bytes"] is None


def booked(gpu: Any, now: Any, say: Say) -> list[list[Cell]]:
    """Who has it booked now, unless that stands there as a holder; and the next, where "free until"
    does not say so."""
    found: list[list[Cell]] = []
    free, next_told = is_free(gpu), False
    held = {(holder.get("kind"), holder.get("booking")) for holder in gpu.get("holders") or []}
    for one in gpu.get("bookings") or []:
        if one["on"] and ("booking", one["booking"]) in held:
            continue
        if not one["on"] and next_told:
            continue
        next_told = next_told or not one["on"]
        code = "gpu_maintenance" if one["maintenance"] else "gpu_booked"
        at = one["end"] if one["on"] else one["start"]
        text = say(code + ("_until" if one["on"] else "_from"), at=fmt.clock(at, now))
        if not one["on"] and free and whole(one):
            continue
        if one["maintenance"]:
            found.append([Cell(text, YELLOW)])
        else:
            found.append([Cell(one["user"], person=one["user"]), Cell(" " + text)])
    return found


def holding(gpu: Any, now: Any, say: Say) -> list[list[Cell]]:
    """Who holds the GPU, each as cells; what needs a hand comes first."""
    found: list[list[Cell]] = []
    if gpu.get("health") not in WELL:
        text = say("health." + str(gpu["health"]).lower(), fallback=str(gpu["health"]))
        found.append([Cell(text, RED)])
    if gpu.get("drained"):
        reason = gpu.get("drain_reason")
        text = say("drained", reason=reason) if reason else say("drained_bare")
        found.append([Cell(text, YELLOW)])
    if is_free(gpu):
        until = gpu.get("free_until")
        then = next((one for one in gpu.get("bookings") or [] if whole(one)), None)
        code = "free_until_maintenance" if then and then["maintenance"] else "free_until"
        text = say(code, until=fmt.clock(until, now)) if until else say("free")
        found.append([Cell(text, GREEN)])
    seen: set[tuple[Any, ...]] = set()
    for holder in gpu.get("holders") or []:
        key = tuple(holder.get(name) for name in ("kind", "user", "job", "booking", "container"))
        if key in seen and holder.get("kind") != "unattributed":
            continue
        seen.add(key)
        found.append(one_holder(holder, now, say))
    return found + booked(gpu, now, say)


def one_holder(holder: Any, now: Any, say: Say) -> list[Cell]:
    """ "alice job 42, until 17:40", "bob python 3h, idle 2h", "unattributed 642 MiB"."""
    kind = holder.get("kind")
    if kind == "unattributed":
        text = say("unattributed", size=fmt.size(holder.get("memory_bytes")))
        reason = holder.get("reason_text") or holder.get("reason")
        return [Cell(text, GREY), Cell(f": {reason}" if reason else "")]
    name = str(holder.get("user") or say("nobody"))
    rest = " " + held_as(holder, say)
    until, started = holder.get("until"), holder.get("since")
    if until:
        rest += say("until", until=fmt.clock(until, now))
    elif (lasting := fmt.since(started, now)) is not None:
        rest += " " + fmt.span(lasting)
    idle = holder.get("idle_s")
    if isinstance(idle, int | float) and idle >= IDLE_SHOWN_S:
        rest += say("idle", span=fmt.span(idle))
    if holder.get("ignored"):
        return [Cell(say("ignored", user=name, what=rest), GREY)]
    return [Cell(name, person=name), Cell(rest)]


def held_as(holder: Any, say: Say) -> str:
    """ "job 42", "booking 7", the container, else the program."""
    kind = holder.get("kind")
    if kind == "job" and holder.get("job") is not None:
        return say("holder_job", job=holder["job"])
    if kind == "booking" and holder.get("booking") is not None:
        return say("holder_booking", booking=holder["booking"])
    return str(holder.get("container") or first_word(holder.get("command")) or kind or "")


def first_word(command: Any) -> str:
    words = str(command or "").split()
    return words[0].rpartition("/")[2] if words else ""


def fitted(holders: list[list[Cell]], room: int, terminal: Terminal) -> str:
    """As many holders as fit, then "+2"."""
    drawn, used = "", 0
    for at, cells in enumerate(holders):
        left = len(holders) - at
        separator = "; " if at else ""
        more = f" +{left}"
        text = "".join(terminal.plain(cell.text) for cell in cells)
        reserve = len(f" +{left - 1}") if left > 1 else 0
        if at and used + width(separator + text) + reserve > room:
            return drawn + cut(more, max(0, room - used), "")
        drawn += separator
        used += len(separator)
        for cell in cells:
            space = room - used - reserve
            if space <= 0:
                break
            shown = cut(terminal.plain(cell.text), space, terminal.plain("…"))
            used += width(shown)
            drawn += Cell(shown, cell.code, cell.person).shown(terminal, str)
    return drawn
