"""Attribution as the rows of `roost who`: the keys of the contract, in words of one language."""

from __future__ import annotations

from typing import Any

from roost.core.attribution.model import (
    Attribution,
    GpuAttribution,
    Holder,
    Kind,
    Phrase,
    RightCode,
)
from roost.core.text.catalogue import say

ROW_KEYS = (
    "gpu_index", "gpu_uuid", "pid", "user", "group", "kind", "container", "job", "booking",
    "memory_bytes", "command", "since", "idle_s", "right", "reason", "lawful", "start_ticks", "uid",
    "workers", "owner_evidence", "owner_sure", "sure", "sign", "remedy", "free", "candidates",
    "checks", "ignored",
)  # fmt: skip
"""The keys of every row."""


def text_of(said: Phrase, language: str = "en") -> str:
    """The sentence of a phrase."""
    return say(language, f"attribution.{said.code}", **dict(said.values))


def who_rows(attribution: Attribution, language: str = "en") -> list[dict[str, Any]]:
    """One row a holder, and one for each GPU's memory without one (`kind` "unattributed").

    Times are seconds since the epoch; the API writes them in the rules' time zone.
    """
    rows: list[dict[str, Any]] = []
    for gpu in attribution.gpus:
        rows += [_holder(holder, language) for holder in gpu.holders]
        if gpu.rest is not None:
            rows.append(_rest(gpu, language))
    return rows


def _holder(holder: Holder, language: str) -> dict[str, Any]:
    finding = holder.finding
    return {
        "gpu_index": holder.gpu_index,
        "gpu_uuid": holder.gpu_uuid,
        "pid": holder.pid,
        "user": holder.user,
        "group": holder.group,
        "kind": holder.kind.value,
        "container": holder.container,
        "job": holder.job,
        "booking": holder.booking,
        "memory_bytes": holder.memory_bytes,
        "command": holder.command,
        "since": holder.since,
        "idle_s": holder.idle_s,
        "right": text_of(holder.right.said, language),
        "reason": finding.reason.value if finding else None,
        "lawful": holder.right.lawful,
        "start_ticks": holder.start_ticks,
        "uid": holder.uid,
        "workers": [worker.pid for worker in holder.workers],
        "owner_evidence": text_of(holder.owner_evidence, language)
        if holder.owner_evidence
        else None,
        "owner_sure": holder.owner_sure.value,
        "sure": finding.sure.value if finding else None,
        "sign": text_of(finding.sign, language) if finding else None,
        "remedy": text_of(finding.remedy, language) if finding else None,
        "free": f"roost free {holder.gpu_index}",
        "candidates": [],
        "checks": [],
        "ignored": holder.right.code in (RightCode.IGNORED, RightCode.SYSTEM),
    }


def _rest(gpu: GpuAttribution, language: str) -> dict[str, Any]:
    rest = gpu.rest
    if rest is None:
        raise ValueError("a GPU without a rest has no row for it")
    finding = rest.finding
    return {
        "gpu_index": gpu.index,
        "gpu_uuid": gpu.uuid,
        "pid": None,
        "user": None,
        "group": None,
        "kind": Kind.UNATTRIBUTED.value,
        "container": None,
        "job": None,
        "booking": None,
        "memory_bytes": rest.memory_bytes,
        "command": text_of(Phrase(f"reason_{finding.reason}"), language),
        "since": None,
        "idle_s": None,
        "right": None,
        "reason": finding.reason.value,
        "lawful": None,
        "start_ticks": None,
        "uid": None,
        "workers": [],
        "owner_evidence": None,
        "owner_sure": None,
        "sure": finding.sure.value,
        "sign": text_of(finding.sign, language),
        "remedy": text_of(finding.remedy, language),
        "free": None,
        "candidates": [candidate.pid for candidate in rest.candidates],
        "checks": [
            {
                "reason": check.reason.value,
                "found": check.found,
                "result": text_of(check.result, language),
            }
            for check in rest.checks
        ],
        "ignored": False,
    }
