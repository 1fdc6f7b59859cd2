"""Every reason for a wait, each in a situation made by hand; what is seen and said stands in
gallery.txt. `python -m tests.core.scheduler.gallery` prints that anew.
"""

from __future__ import annotations

from tests.core.scheduler import gallery_room, gallery_rules
from tests.core.scheduler.gallery_made import SITUATIONS, codes_of, said

__all__ = ["SITUATIONS", "codes_of", "gallery_room", "gallery_rules", "told"]


def told(name: str) -> str:
    """Its part of gallery.txt: the name, the picture, the sentence in both languages."""
    world, number = SITUATIONS[name]()
    lines = [name, world.picture(), said(world, number, "en"), said(world, number, "zh")]
    return "\n    ".join(lines)


if __name__ == "__main__":
    print("\n\n".join(told(name) for name in SITUATIONS))
