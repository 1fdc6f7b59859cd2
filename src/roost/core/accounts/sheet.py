"""A team's list of people, from a table with heads in English or Chinese. Pure.

It must not know what an account may be called; that is in `checks`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from roost.core.accounts.checks import shown
from roost.core.accounts.model import Asked, Problem

HEADS: Mapping[str, tuple[str, ...]] = {
    "name": (
        "name", "user", "username", "account", "login", "uid name", "user name", "login name",
        "账号", "帐号", "用户名", "用户", "账号名", "帐号名", "登录名", "账户", "帐户",
    ),
    "full_name": (
        "full name", "fullname", "real name", "realname", "person", "display name",
        "姓名", "全名", "真实姓名", "名字", "人员",
    ),
    "group": (
        "group", "groups", "lab", "team", "project",
        "组", "小组", "所属组", "分组", "课题组", "团队", "项目组", "项目",
    ),
    "key": (
        "key", "keys", "ssh key", "sshkey", "public key", "ssh public key", "pubkey",
        "公钥", "密钥", "ssh公钥", "ssh密钥", "ssh 公钥",
    ),
    "quota": (
        "quota", "disk", "disk quota", "diskquota", "disk limit", "storage",
        "配额", "磁盘配额", "磁盘", "硬盘配额", "空间", "存储配额",
    ),
    "share": ("share", "shares", "weight", "份额", "份额权重", "权重", "配比"),
}  # fmt: skip
MOST_ROWS = 1000
_WORDS = {word.replace(" ", ""): field for field, words in HEADS.items() for word in words}


def field_of(head: str) -> str | None:
    """What a column's head names: "User name", "姓名 (full name)", "SSH_key"."""
    plain = re.sub(r"[\s_*:：-]+", "", head.strip().lstrip("\ufeff").lower())
    outside = re.sub(r"[(（\[【].*?[)）\]】]", "", plain)
    inside = re.findall(r"[(（\[【](.*?)[)）\]】]", plain)
    for word in (plain, outside, *inside, *re.split(r"[/|]", outside)):
        if word in _WORDS:
            return _WORDS[word]
    return None


def read_rows(
    table: Sequence[Sequence[str]],
) -> tuple[list[Asked], Mapping[str, str], list[Problem]]:
    """The people, the head of each column by its field, and what is wrong with the heads.

    Rows are counted from 1, as a spreadsheet shows them; the first that holds something is the
    head, empty ones and those that begin with # are passed over.
    """
    fields: list[str | None] | None = None
    heads: dict[str, str] = {}
    people: list[Asked] = []
    problems: list[Problem] = []
    for number, cells in enumerate(table, 1):
        if not any(cell.strip() for cell in cells) or cells[0].lstrip().startswith("#"):
            continue
        if fields is None:
            fields = [field_of(cell) if cell.strip() else None for cell in cells]
            for field, cell in zip(fields, cells, strict=True):
                code = ""
                if field is None and cell.strip():
                    code = "head_unknown"
                elif field is not None and field in heads:
                    code = "head_twice"
                if code:
                    problems.append(Problem(code, "", "head", shown(cell), number))
                elif field is not None:
                    heads[field] = cell.strip()
            if "name" not in heads:
                problems.append(Problem("head_no_name", "", "head", "", number))
            continue
        people.append(_row(number, cells, fields, problems))
    if fields is None:
        problems.append(Problem("sheet_nothing", "", "head", "", 1))
    if len(people) > MOST_ROWS:
        count, most = str(len(people)), {"most": str(MOST_ROWS)}
        problems.append(Problem("sheet_long", "", "head", count, MOST_ROWS + 1, most))
    return people, heads, problems


def _row(
    number: int, cells: Sequence[str], fields: Sequence[str | None], problems: list[Problem]
) -> Asked:
    said = {field: cell for field, cell in zip(fields, cells, strict=False) if field}
    extra = [cell for cell in cells[len(fields) :] if cell.strip()]
    if extra:
        value = shown(extra[0])
        problems.append(Problem("cells_many", shown(said.get("name", "")), "row", value, number))
    key = said.get("key", "")
    return Asked(
        name=said.get("name", "").strip(),
        full_name=said.get("full_name", "").strip(),
        group=said.get("group", "").strip(),
        keys=(key.strip(" \t"),) if key.strip() else (),
        quota=said.get("quota", "").strip(),
        share=said.get("share", "").strip(),
        row=number,
    )
