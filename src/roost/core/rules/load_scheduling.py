"""From the `scheduling` table of a rules file to how the queue is ordered. Part of
`roost.core.rules.load`; what the numbers do is the scheduler's affair.
"""

from __future__ import annotations

from roost.core.rules.model import Scheduling
from roost.core.rules.read import Table

MODES = ("fair", "throughput")


def scheduling_of(table: Table, base: Scheduling) -> Scheduling:
    """Every key stands for itself; those of throughput are read in either mode."""
    delay_s = table.span("delay", base.delay_s)
    margin_s = table.span("margin", base.margin_s)
    min_run_s = table.span("min_run", base.min_run_s)
    elastic_wait_s = table.span("elastic_wait", base.elastic_wait_s)
    found = Scheduling(
        mode=table.text("mode", base.mode, MODES),
        stretch=table.number("stretch", base.stretch, 0.0),
        width=table.number("width", base.width, 0.0),
        tail=table.number("tail", base.tail, 0.0),
        delay_s=base.delay_s if delay_s is None else delay_s,
        delay_factor=table.number("delay_factor", base.delay_factor, 0.0),
        margin_s=base.margin_s if margin_s is None else margin_s,
        min_run_s=base.min_run_s if min_run_s is None else min_run_s,
        elastic_wait_s=base.elastic_wait_s if elastic_wait_s is None else elastic_wait_s,
    )
    table.close()
    return found
