"""What the observer asks of whoever knows containers; without an engine, nothing is known."""

from __future__ import annotations

from roost.core.observation import ContainerFacts, ProcessFacts


class Containers:
    """Knows containers; `machine.owner.ContainerDirectory` asks the engines."""

    def facts(
        self, container_id: str, processes: tuple[ProcessFacts, ...]
    ) -> ContainerFacts | None:
        """What is known now, without waiting; None for nothing yet."""
        return None

    def close(self) -> None:
        """Nothing to let go of."""
