"""What is counted of the jobs of each user, group and class: those that hold or claim GPUs, and
those that wait. Knows the rules only for which groups lie above which; decides nothing.
"""

from __future__ import annotations

from roost.core.model import Job, PriorityClass
from roost.core.rules.model import Rules
from roost.core.scheduler.limits import Cell, Counts, Key, array_key, limit_keys

_Who = tuple[str, str, PriorityClass]


class Tallies:
    """`held` and `waiting` by limit key. Jobs of one user, group and class change the same cells,
    which are looked up once."""

    def __init__(self) -> None:
        self.held, self.waiting = Counts(), Counts()
        self._rules = Rules()
        self._keys: dict[_Who, tuple[Key, ...]] = {}
        self._cells: dict[_Who, tuple[tuple[Cell, ...], tuple[Cell, ...]]] = {}

    def begin(self, rules: Rules) -> None:
        """With nothing counted: a group may have another one above it now."""
        self._rules = rules
        self.held, self.waiting = Counts(), Counts()
        self._keys.clear()
        self._cells.clear()

    def keys_of(self, job: Job) -> tuple[Key, ...]:
        """What the job counts towards, by the groups of the rules in force."""
        found = self._keys_for((job.user, job.group, job.priority_class))
        return found if job.array_id is None else (*found, array_key(job.array_id))

    def _keys_for(self, who: _Who) -> tuple[Key, ...]:
        found = self._keys.get(who)
        if found is None:
            found = self._keys[who] = limit_keys(self._rules, *who)
        return found

    def hold(self, job: Job, units: int, jobs: int = 1) -> None:
        """So many millionths of a GPU more are held or claimed, by so many more jobs like it."""
        for cell in self._cells_of(job)[0]:
            cell.units += units
            cell.jobs += jobs
        if job.array_id is not None:
            self.held.change(array_key(job.array_id), units, jobs)

    def wait(self, job: Job, jobs: int = 1) -> None:
        """So many more jobs like it wait."""
        for cell in self._cells_of(job)[1]:
            cell.jobs += jobs
        if job.array_id is not None:
            self.waiting.change(array_key(job.array_id), 0, jobs)

    def _cells_of(self, job: Job) -> tuple[tuple[Cell, ...], tuple[Cell, ...]]:
        who = job.user, job.group, job.priority_class
        found = self._cells.get(who)
        if found is None:
            keys = self._keys_for(who)
            found = self._cells[who] = self.held.cells(keys), self.waiting.cells(keys)
        return found
