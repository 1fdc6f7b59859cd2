"""Counting the values of a JSON text without taking it apart."""

import json

from roost.server.api.body import MAX_PARTS, parts_of


def test_commas_in_strings_are_no_values() -> None:
    assert parts_of(json.dumps({"script": ',[{"\\' * MAX_PARTS}).encode()) <= 3


def test_many_values_are_counted() -> None:
    assert parts_of(b"[" + b"[]," * MAX_PARTS + b"[]]") > MAX_PARTS
    assert parts_of(json.dumps({"command": ["x"] * 100_000}).encode()) <= MAX_PARTS
