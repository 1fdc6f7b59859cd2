"""Groups that a person may charge, and who is an operator."""

from __future__ import annotations

from roost.core.rules.load import load
from roost.core.rules.model import Rules
from roost.core.rules.who import group_of, groups_of, is_operator, known_group, may_charge

RULES = load(
    """
    operators = ["olga", "@wheel"]
    [groups.cv]
    members = ["alice", "@vision"]
    [groups.nlp]
    members = ["alice", "bob"]
    """
)


def test_the_first_group_that_lists_a_person_is_charged() -> None:
    assert group_of(RULES, "alice", ()) == "cv"
    assert groups_of(RULES, "alice", ()) == ("cv", "nlp")
    assert group_of(RULES, "bob", ()) == "nlp"


def test_a_linux_group_counts_by_its_name_with_an_at_sign() -> None:
    assert group_of(RULES, "carol", ("users", "vision")) == "cv"
    assert group_of(RULES, "vision", ()) == "default"


def test_who_is_listed_nowhere_charges_the_default_group_alone() -> None:
    assert groups_of(RULES, "dave", ("users",)) == ("default",)
    assert may_charge(RULES, "dave", (), "default")
    assert not may_charge(RULES, "dave", (), "cv")
    assert not may_charge(RULES, "alice", (), "default")


def test_known_groups_are_those_of_the_file_and_the_default() -> None:
    assert [known_group(RULES, g) for g in ("cv", "default", "x")] == [True, True, False]


def test_operators_are_root_the_named_and_members_of_named_linux_groups() -> None:
    assert is_operator(RULES, "root", ())
    assert is_operator(RULES, "olga", ())
    assert is_operator(RULES, "eve", ("wheel",))
    assert not is_operator(RULES, "wheel", ())
    assert not is_operator(RULES, "alice", ("vision",))
    assert is_operator(Rules(), "bob", ("sudo",))
