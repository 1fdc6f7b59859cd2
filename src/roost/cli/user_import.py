"""`roost user import`: a team's list of people, CSV or .xlsx, read here with the caller's own
rights; everything is checked before the first step.
"""

from __future__ import annotations

from roost.cli.sheet_file import read_pages
from roost.cli.user import settle, show_plan
from roost.core.accounts.sheet import read_rows
from roost.core.accounts.show import problem_dict
from roost.core.sheets.table import as_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from roost.cli.context import Context
    from roost.core.sheets.model import Page


def import_people(context: Context) -> int:
    pages = read_pages(context.given.arguments[0])
    people, heads, problems = read_rows(table_of(pages[0]))
    if problems:
        language = context.terminal.language
        said = [problem_dict(problem, language) for problem in problems]
        plan: dict[str, Any] = {"steps": [], "remarks": [], "problems": said, "plan": ""}
        if context.json:
            context.out_json({"plan": plan, "done": False, "steps": []})
        else:
            show_plan(context, plan, dict(heads))
        return 1
    rows = [
        {
            "name": one.name[:256],
            "full_name": one.full_name[:256],
            "group": one.group[:256],
            "keys": list(one.keys),
            "quota": one.quota[:256],
            "share": one.share[:256],
            "row": one.row,
        }
        for one in people
    ]
    if not rows:
        context.err(context.say("cli_account.nobody"))
        return 1
    return settle(context, {"action": "add", "people": rows}, dict(heads))


def table_of(page: Page) -> list[list[str]]:
    """Every row up to the last that holds something, as a person sees its cells."""
    rows = max((row for row, _ in page.cells), default=-1) + 1
    width = max((column for _, column in page.cells), default=-1) + 1
    table = [[""] * width for _ in range(rows)]
    for (row, column), cell in page.cells.items():
        table[row][column] = as_text(cell.value)
    return table
