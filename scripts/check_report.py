"""Reads pytest's JUnit report: fails where a test of the real thing was skipped, or none ran.

On a developer's machine a missing program is a reason to skip; where everything is installed on
purpose, a skip means that something is not tested any more.
"""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ET
from pathlib import Path

REAL = "tests.real"


def place(case: ET.Element) -> str:
    """The test's dotted name; a module skipped as a whole stands in `name` alone."""
    return f"{case.get('classname', '')}.{case.get('name', '')}".lstrip(".")


def main(path: str) -> int:
    if not Path(path).exists():
        print(f"{path} is not there: pytest did not get as far as running tests")
        return 1
    cases = list(ET.parse(path).getroot().iter("testcase"))
    skipped = [case for case in cases if case.find("skipped") is not None]
    expected = [case for case in skipped if case.find("skipped[@type='pytest.xfail']") is not None]
    real = [case for case in skipped if case not in expected and place(case).startswith(REAL)]
    for case in real:
        reason = case.find("skipped")
        told = reason.get("message", "") if reason is not None else ""
        print(f"skipped, but must run here: {place(case)}: {told}")
    if len(cases) == len(skipped):
        print("no test ran")
        return 1
    return 1 if real else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
