"""Every reason for which a submission is refused, each in a situation with a name; what is said
stands in gallery_refused.txt. `python -m tests.core.scheduler.gallery_refused` prints that anew.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from roost.core.scheduler.events import InventoryChanged
from roost.core.scheduler.submission import Problem
from roost.core.text.submit import problem_text
from tests.core.scheduler.pictures import World

GROUPS = "[groups.cv]\nmembers = ['alice']\n[groups.nlp]\n"
SHARED = "shared_gpus = [1]\n" + GROUPS
URGENT = GROUPS + "[classes.urgent]\nbudget = '10h'\n"


@dataclass(frozen=True, slots=True)
class Asked:
    """A server of two GPUs under these rules, what was queued before, and the request of alice."""

    text: str = GROUPS
    request: dict[str, Any] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)
    before: Callable[[World], object] = lambda world: None
    most: int | None = None
    count: int = 2

    def problems(self) -> list[Problem]:
        world = World(self.count, self.text)
        self.before(world)
        job = world.job("alice", **{"group": "cv", **self.request})
        job = replace(job, request=replace(job.request, gpus_most=self.most))
        return world.scheduler.check_submission(job, **self.facts)


def three_jobs(world: World) -> None:
    for _ in range(3):
        world.submit("alice", 2, group="cv")


def no_gpus(world: World) -> None:
    world.gpus = {}
    world.step(InventoryChanged(world.now, (), world.cpus, world.memory_bytes))


SITUATIONS: dict[str, Asked] = {
    "ten GPUs of a server of two": Asked(request={"gpus": 10}),
    "no GPU at all": Asked(request={"gpus": 0}),
    "minus one GPU": Asked(request={"gpus": -1}),
    "eight to two GPUs": Asked(request={"gpus": 8}, most=2),
    "a GPU of a server without any": Asked(before=no_gpus),
    "three of a model of which there are two": Asked(request={"gpus": 3, "model": "A100"}),
    "a model that is not here": Asked(request={"model": "H200"}),
    "minus one CPU core": Asked(request={"cpus": -1}),
    "more CPU cores than there are": Asked(request={"cpus": 999}),
    "no memory": Asked(request={"memory": "0"}),
    "more memory than there is": Asked(request={"memory": "3T"}),
    "a share of nothing": Asked(SHARED, {"share": "0"}),
    "a share where no GPU is shared": Asked(request={"share": "10G"}),
    "a share of a model that is not shared": Asked(SHARED, {"share": "10G", "model": "L4"}),
    "a share larger than the largest shared GPU": Asked(SHARED, {"share": "81G"}),
    "compute without memory of the GPU": Asked(SHARED, {"compute": 30}),
    "more compute than a GPU has": Asked(SHARED, {"share": "10G", "compute": 101}),
    "a share of some to many GPUs": Asked(SHARED, {"share": "10G"}, most=4),
    "no time": Asked(request={"time": "0"}),
    "to follow a job that is not there": Asked(
        request={"after": (3,)}, facts={"known_jobs": frozenset({1})}
    ),
    "an array of nothing": Asked(facts={"array_size": 0}),
    "an array of ten thousand and one": Asked(facts={"array_size": 10_001}),
    "an array of which none may run": Asked(request={"array_limit": 0}),
    "a group that is not there": Asked(request={"group": "xx"}),
    "a group of others": Asked(request={"group": "nlp"}),
    "urgent without saying how long": Asked(URGENT, {"which": "urgent"}),
    "urgent for longer than a month's budget": Asked(URGENT, {"which": "urgent", "time": "11h"}),
    "urgent compute for longer than a month's budget": Asked(
        SHARED + "[classes.urgent]\nbudget = '10h'\n",
        {"which": "urgent", "share": "1G", "compute": 50, "time": "21h"},
    ),
    "more GPUs than a class may hold": Asked(
        GROUPS + "[limits.regular]\nmax_gpus = 1\n", {"gpus": 2}
    ),
    "more GPUs than a person may hold": Asked(
        GROUPS + "[limits.users.alice]\nmax_gpus = 1\n", {"gpus": 2}
    ),
    "longer than a class may run": Asked(
        GROUPS + "[limits.regular]\nmax_walltime = '2h'\n", {"time": "3h"}
    ),
    "longer than a person may run": Asked(
        GROUPS + "[limits.per_user]\nmax_walltime = '2h'\n", {"time": "3h"}
    ),
    "no length where one must be said": Asked(GROUPS + "[limits.regular]\nmax_walltime = '2h'\n"),
    "a class that may run nothing": Asked(GROUPS + "[limits.regular]\nmax_jobs = 0\n"),
    "a person who may run nothing": Asked(GROUPS + "[limits.users.alice]\nmax_jobs = 0\n"),
    "a class of which two wait already": Asked(
        GROUPS + "[limits.regular]\nmax_queued = 2\n", before=three_jobs
    ),
    "a person of whom two jobs wait already": Asked(
        GROUPS + "[limits.per_user]\nmax_queued = 2\n", before=three_jobs
    ),
    "several things wrong at once": Asked(request={"gpus": 0, "cpus": 999, "time": "0"}),
}


def told(name: str) -> str:
    """Its part of the text: the name, and each sentence in both languages."""
    sentences = [
        problem_text(language, problem)
        for problem in SITUATIONS[name].problems()
        for language in ("en", "zh")
    ]
    return "\n    ".join([name, *sentences])


if __name__ == "__main__":
    print("\n\n".join(told(name) for name in SITUATIONS))
