"""Who holds every GPU, by what right, and why memory is held by nobody. Pure: no I/O, no clock."""

from roost.core.attribution.attribute import EMPTY, attribute
from roost.core.attribution.free import FreePlan, free_plan
from roost.core.attribution.model import (
    Allocation,
    Attribution,
    GpuAttribution,
    Holder,
    Kind,
    Known,
    Memory,
    Reason,
    RightCode,
    Sure,
)
from roost.core.attribution.show import text_of, who_rows

__all__ = [
    "EMPTY",
    "Allocation",
    "Attribution",
    "FreePlan",
    "GpuAttribution",
    "Holder",
    "Kind",
    "Known",
    "Memory",
    "Reason",
    "RightCode",
    "Sure",
    "attribute",
    "free_plan",
    "text_of",
    "who_rows",
]
