"""What every shape of the API is built on: `In` for what is asked, `Out` for what is answered.

Knows no route and no field of any of them.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class In(BaseModel):
    """What a caller sends: an unknown member is refused, never overlooked."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Out(BaseModel):
    """Documents an answer; members may be added later."""
