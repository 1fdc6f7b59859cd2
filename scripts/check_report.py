"""Reads pytest's JUnit report: fails where a test skipped that could have run here, or none ran.

That is every test of the real thing, and every one that says that something is not installed.

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


def reason(case: ET.Element) -> str:
    skipped = case.find("skipped")
    return "" if skipped is None else skipped.get("message", "")


def must_run(case: ET.Element) -> bool:
    if case.find("skipped[@type='pytest.xfail']") is not None:
        return False
    return place(case).startswith(REAL) or "installed" in reason(case)


def main(path: str) -> int:
    if not Path(path).exists():
        print(f"{path} is not there: pytest did not get as far as running tests")
        return 1
    cases = list(ET.parse(path).getroot().iter("testcase"))
    skipped = [case for case in cases if case.find("skipped") is not None]
    missed = [case for case in skipped if must_run(case)]
    for case in missed:
        print(f"skipped, but must run here: {place(case)}: {reason(case)}")
    if len(cases) == len(skipped):
        print("no test ran")
        return 1
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
