"""The two bases of all messages: what goes to an agent, and what comes from one."""

from __future__ import annotations

import msgspec


class ToAgent(msgspec.Struct, frozen=True, tag_field="op", omit_defaults=True):
    """Base of what the server asks. `request` is echoed in the answer; 0 wants none."""


class ToServer(msgspec.Struct, frozen=True, tag_field="op", omit_defaults=True):
    """Base of what the agent says."""
