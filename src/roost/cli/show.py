"""`roost show`: all that is known of a job, a fact on a line."""

from __future__ import annotations

from roost.cli import format as fmt
from roost.cli.terminal import BOLD, cut, pad, width

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from roost.cli.context import Context

LABEL_CELLS = 12
COMMAND_CELLS = 4096


def show(context: Context) -> int:
    found: list[Any] = [context.client().job(number) for number in context.given.arguments]
    if context.json:
        context.out_json({"jobs": found})
        return 0
    texts = []
    for job in found:
        title, facts = render(job, context.say)
        percent = share_of_compute(job)
        if percent is not None:
            mps = context.client().status().get("mps")
            facts.append(compute(percent, mps, context.say))
        rows = [context.terminal.paint(title, BOLD)]
        cells = max(LABEL_CELLS, *(width(label) for label, _ in facts))
        rows += [f"  {pad(label, cells)}  {text}" for label, text in facts]
        texts.append("\n".join(rows))
    context.out("\n\n".join(texts))
    return 0


def render(job: Any, say: Callable[..., str]) -> tuple[str, list[tuple[str, str]]]:
    """The title, and (label, text) of what is known; what is not is left out."""
    state = str(job.get("state"))
    title = say(
        "show_title", job=job.get("job"), name=job.get("name") or "", state=say("state." + state)
    )
    facts: list[tuple[str, str]] = []

    def add(label: str, text: Any) -> None:
        if text not in (None, "", fmt.UNKNOWN):
            facts.append((say("fact." + label), str(text)))

    request = job.get("request") or {}
    if state in ("PENDING", "SUSPENDED"):
        add("waits", job.get("wait"))
    add("ended", outcome(job, say))
    if not job.get("end_time"):
        add("note", job.get("text"))
    add("user", say("user_of_group", user=job.get("user"), group=job.get("group")))
    add("class", say("class." + str(job.get("class")), fallback=str(job.get("class"))))
    add("request", asked(request, say))
    add("gpus", ", ".join(map(str, job.get("gpus") or ())))
    for name in ("submit", "begin", "start", "end"):
        add(name, stamp(job.get(f"{name}_time")))
    add("ran", fmt.span(fmt.since(job.get("start_time"), job.get("end_time"))))
    add("suspended", fmt.span(job.get("suspended_s") or None))
    if job.get("array_id") is not None:
        add("array", f"{job['array_id']} [{job.get('array_index')}]")
    add("after", ", ".join(map(str, job.get("after") or ())))
    add("restarts", job.get("restarts") or "")
    gpu_s = job.get("gpu_s")
    if isinstance(gpu_s, int | float) and gpu_s:
        add("gpu_time", f"{gpu_s / 3600:.2f} GPU h")
    add("utilisation", fmt.number(job.get("mean_utilisation_percent"), "%"))
    energy = job.get("energy_j")
    if isinstance(energy, int | float) and energy:
        add("energy", f"{energy / 3.6e6:.3f} kWh")
    add("memory", fmt.size(job.get("peak_memory_bytes")))
    add("cpu", fmt.span(job.get("cpu_s")))
    add("env", job.get("env"))
    add("directory", job.get("directory"))
    add("output", job.get("output"))
    add("command", command(job.get("command")))
    source = job.get("source") or {}
    add("source", origin(source, say))
    return title, facts


def share_of_compute(job: Any) -> int | None:
    """In percent, of a job that is not over; None where it has none."""
    percent = (job.get("request") or {}).get("gpu_compute_percent")
    return None if job.get("end_time") else percent


def compute(percent: int, mps: bool | None, say: Callable[..., str]) -> tuple[str, str]:
    """What holds the job to its share of a GPU's compute. `mps` as the status has it."""
    code = "compute_unknown" if mps is None else "compute_mps" if mps else "compute_promised"
    return say("fact.compute"), say(code, percent=percent)


def outcome(job: Any, say: Callable[..., str]) -> str:
    from roost.cli.jobs import ending

    return ending(job, say) if job.get("end_time") else ""


def asked(request: Any, say: Callable[..., str]) -> str:
    parts = []
    if request.get("gpu_memory_bytes"):
        parts.append(say("asked_share", size=fmt.size(request["gpu_memory_bytes"])))
        percent = request.get("gpu_compute_percent")
        if percent is not None:
            parts.append(say("asked_compute", percent=percent))
    elif request.get("gpus") is not None:
        most = request.get("gpus_most")
        parts.append(
            say("asked_range", least=request["gpus"], most=most)
            if most
            else fmt.count(say, "gpu", request["gpus"])
        )
    if request.get("gpu_model"):
        parts.append(str(request["gpu_model"]))
    if request.get("cpus"):
        parts.append(fmt.count(say, "cpu", request["cpus"]))
    if request.get("memory_bytes"):
        parts.append(fmt.size(request["memory_bytes"]))
    if request.get("walltime_s"):
        parts.append(say("asked_time", span=fmt.span(request["walltime_s"])))
    return say("list").join(parts)


def stamp(iso: Any) -> str:
    """ "2026-12-02 17:40:05 +01:00"."""
    if not isinstance(iso, str) or len(iso) < 19:
        return ""
    zone = iso[19:]
    if zone.startswith("."):
        zone = zone.lstrip(".0123456789")
    return f"{iso[:10]} {iso[11:19]} {zone.replace('Z', 'UTC')}".rstrip()


def command(words: Any) -> str:
    if not isinstance(words, list):
        return cut(str(words or ""), COMMAND_CELLS)
    quoted = []
    room = COMMAND_CELLS
    for word in words:
        text = str(word)
        if not text or any(c in " \t'\"$&|;<>()*?#~`!{}[]" for c in text):
            text = "'" + text.replace("'", "'\\''") + "'"
        quoted.append(cut(text, max(1, room)))
        room -= len(quoted[-1]) + 1
        if room <= 0:
            break
    return " ".join(quoted)


def origin(source: Any, say: Callable[..., str]) -> str:
    """The file that runs, its commit, and whether it changed since the submission."""
    if not source.get("path"):
        return ""
    text = str(source["path"])
    if source.get("sha256"):
        text += f" sha256 {str(source['sha256'])[:12]}"
    if source.get("git_commit"):
        text += f", git {str(source['git_commit'])[:10]}"
        if source.get("git_dirty"):
            text += say("git_dirty")
    if source.get("changed"):
        text += say("source_changed")
    return text
