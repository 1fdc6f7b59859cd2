"""What each group is owed, level by level."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roost.core.rules.model import GroupRules
from roost.core.rules.shares import portions

TREE = {
    "lab": GroupRules(share=3.0),
    "vision": GroupRules(share=2.0, parent="lab"),
    "speech": GroupRules(share=1.0, parent="lab"),
    "guests": GroupRules(share=1.0),
}


@pytest.mark.parametrize(
    ("live", "owed"),
    [
        ([], {}),
        (["guests"], {"guests": 1.0}),
        (["guests", "nobody-knows"], {"guests": 0.5, "nobody-knows": 0.5}),
        (["vision", "guests"], {"vision": 0.75, "guests": 0.25}),
        (["vision", "speech", "guests"], {"vision": 0.5, "speech": 0.25, "guests": 0.25}),
        (["lab", "guests"], {"lab": 0.75, "guests": 0.25}),
        (["lab", "vision", "guests"], {"lab": 0.25, "vision": 0.5, "guests": 0.25}),
    ],
)
def test_a_parents_part_is_divided_among_its_children_that_ask(
    live: list[str], owed: dict[str, float]
) -> None:
    assert portions(TREE, live) == pytest.approx(owed)


names = [f"g{n}" for n in range(8)]


@st.composite
def trees(draw: st.DrawFn) -> dict[str, GroupRules]:
    """Parents come before their children, so there is no cycle."""
    return {
        name: GroupRules(
            share=draw(st.floats(0.01, 100)),
            parent=draw(st.none() | st.sampled_from(names[:n])) if n else None,
        )
        for n, name in enumerate(names)
    }


@given(trees(), st.sets(st.sampled_from(names), min_size=1))
def test_all_is_given_out_to_those_who_ask_and_to_nobody_else(
    groups: dict[str, GroupRules], live: set[str]
) -> None:
    found = portions(groups, live)
    assert set(found) == live
    assert sum(found.values()) == pytest.approx(1.0)
    assert all(part > 0 for part in found.values())


@given(trees(), st.sets(st.sampled_from(names), min_size=2), st.data())
def test_a_higher_share_is_never_owed_less(
    groups: dict[str, GroupRules], live: set[str], data: st.DataObject
) -> None:
    name = data.draw(st.sampled_from(sorted(live)))
    raised = GroupRules(share=groups[name].share * 2, parent=groups[name].parent)
    more = portions({**groups, name: raised}, live)
    assert more[name] >= portions(groups, live)[name] * (1 - 1e-9)
