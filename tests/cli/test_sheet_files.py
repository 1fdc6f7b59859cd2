"""Spreadsheet files from everywhere, and hostile ones: read within limits, or refused with a
remedy."""

from __future__ import annotations

import io
import os
import re
import resource
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from openpyxl import Workbook, load_workbook

from roost.cli.sheet_csv import page
from roost.cli.sheet_file import MOST_BYTES, SheetError, read_pages
from roost.core.text.catalogue import say
from tests.core.sheets.book import lines, read, read_csv, refused, saved, workbook

HEAD = "姓名,卡号,开始时间,结束时间,用途\n"
ROW = "张三,0、1,2026/12/7 9:00,2026/12/7 18:00,消融实验\n"
EXPECTED = ["张三 0,1 12-07 09:00 12-07 18:00 消融实验"]


def refusal(path: Path) -> str:
    """What a person is told of a file, in English; the Chinese of it must be there too."""
    with pytest.raises(SheetError) as caught:
        read_pages(str(path))
    for language in ("zh", "en"):
        text = say(language, "cli_errors." + caught.value.code, **caught.value.numbers)
    return text.replace(str(path), "FILE")


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "gb18030", "gbk", "utf-16", "utf-16-le", "utf-16-be"]
)
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_csv_in_every_encoding_and_with_every_line_end(encoding: str, newline: str) -> None:
    data = (HEAD + ROW).replace("\n", newline).encode(encoding)
    assert lines(read_csv(data)) == EXPECTED


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
def test_csv_with_other_delimiters_and_commas_in_cells(delimiter: str) -> None:
    text = "Name;GPU;Start;End\nalice;0,1;2026-12-07 09:00;2026-12-07 18:00\nbob;2,3;7.12.;7.12.\n"
    assert lines(read_csv(text.replace(";", delimiter))) == [
        "alice 0,1 12-07 09:00 12-07 18:00",
        "bob 2,3 12-07 00:00 12-08 00:00",
    ]


def test_csv_with_line_breaks_in_quotes_counts_rows_as_a_spreadsheet_does() -> None:
    found = read_csv(
        'Name,GPU,Start,End,Purpose\nalice,0,2026-12-07,2026-12-07,"two\nlines"\n'
        '"bob",1,,,"he said ""soon"""\n'
    )
    assert lines(found) == ["alice 0 12-07 00:00 12-08 00:00 two lines"]
    assert refused(found) == ["row 3: no date"]


def test_csv_with_the_hint_of_a_delimiter() -> None:
    assert lines(read_csv("sep=;\r\nName;GPU;Date\r\nalice;0;2026-12-07\r\n")) == [
        "alice 0 12-07 00:00 12-08 00:00"
    ]


def test_saved_values_of_formulas_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    path.write_bytes(
        edited(
            saved(workbook([["Name", "GPU", "Start", "End"], ["alice", "0", 46363, 46364]])),
            "xl/worksheets/sheet1.xml",
            lambda text: text.replace("<v>46364</v>", "<f>C2+1</f><v>46364</v>"),
        )
    )
    assert lines(read(read_pages(str(path)))) == ["alice 0 12-07 00:00 12-09 00:00"]


def edited(data: bytes, part: str, change: Callable[[str], str], more: bytes = b"") -> bytes:
    """The workbook with one part changed; with `more` another part, xl/vbaProject.bin."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
        assert part in old.namelist()
        for name in old.namelist():
            text = old.read(name)
            if name == part:
                changed = change(text.decode())
                assert changed != text.decode()
                text = changed.encode()
            new.writestr(name, text, zipfile.ZIP_DEFLATED)
        if more:
            new.writestr("xl/vbaProject.bin", more)
    return out.getvalue()


def plain_book() -> bytes:
    return saved(workbook([["Name", "GPU", "Date"], ["alice", "0", "2026-12-07"]]))


STRINGS = "application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"
RELATION = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/sharedStrings"
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"


def shared_book(head: str = "") -> bytes:
    """As Excel writes it: texts in a part of their own; `head` stands before that part."""
    found: list[str] = []

    def number(match: re.Match[str]) -> str:
        found.append(match[1])
        return f' t="s"><v>{len(found) - 1}</v></c>'

    data = edited(
        plain_book(),
        "xl/worksheets/sheet1.xml",
        lambda text: re.sub(r' t="inlineStr"><is><t>([^<]*)</t></is></c>', number, text),
    )
    data = edited(
        data,
        "[Content_Types].xml",
        lambda t: t.replace(
            "</Types>",
            f'<Override PartName="/xl/sharedStrings.xml" ContentType="{STRINGS}"/></Types>',
        ),
    )
    data = edited(
        data,
        "xl/_rels/workbook.xml.rels",
        lambda t: t.replace(
            "</Relationships>",
            f'<Relationship Id="rId99" Type="{RELATION}" Target="sharedStrings.xml"/>'
            "</Relationships>",
        ),
    )
    out = io.BytesIO(data)
    with zipfile.ZipFile(out, "a") as archive:
        items = "".join(f"<si><t>{text}</t></si>" for text in found)
        archive.writestr("xl/sharedStrings.xml", f'{head}<sst xmlns="{MAIN}">{items}</sst>')
    return out.getvalue()


def test_texts_in_a_part_of_their_own_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    path.write_bytes(shared_book())
    assert lines(read(read_pages(str(path)))) == ["alice 0 12-07 00:00 12-08 00:00"]


def test_macros_links_and_formulas_that_call_programs_are_not_touched(tmp_path: Path) -> None:
    book = workbook(
        [
            ["Name", "GPU", "Date", "Note"],
            ["alice", "0", "2026-12-07", "=cmd|' /C calc'!A0"],
            ["bob", "1", "2026-12-07", "='[http://example.invalid/x.xlsx]S'!A1"],
        ]
    )
    path = tmp_path / "a.xlsm"
    path.write_bytes(
        edited(saved(book), "xl/workbook.xml", lambda t: t + "<!-- -->", more=b"\0macro" * 10)
    )
    found = read(read_pages(str(path)))
    assert lines(found) == []
    assert [line.split(";")[0] for line in refused(found)] == [
        "row 2: a formula whose value was not saved",
        "row 3: a formula whose value was not saved",
    ]
    assert lines(read_csv("Name,GPU,Date,Note\nalice,0,2026-12-07,=cmd|' /C calc'!A0\n")) == [
        "alice 0 12-07 00:00 12-08 00:00 =cmd|' /C calc'!A0"
    ]


def test_a_zip_bomb_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "bomb.xlsx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", "<workbook/>")
        with archive.open("xl/worksheets/sheet1.xml", "w", force_zip64=True) as part:
            for _ in range(200):
                part.write(b" " * (1 << 20))
    before, begun = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    assert refusal(path).startswith("FILE would unpack to more than 96 MiB")
    assert time.process_time() - begun < 1
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 << 10


def test_a_zip_bomb_that_lies_about_its_size_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bomb.xlsx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", "<workbook/>" + " " * (1 << 22))
    data = path.read_bytes().replace((len("<workbook/>") + (1 << 22)).to_bytes(4, "little"),
                                     (11).to_bytes(4, "little"))  # fmt: skip
    path.write_bytes(data)
    assert "no whole .xlsx file" in refusal(path)


BILLION = (
    '<!DOCTYPE lolz [<!ENTITY a "ha">'
    + "".join(f'<!ENTITY {chr(98 + n)} "{("&" + chr(97 + n) + ";") * 10}">' for n in range(9))
    + "]>"
)


@pytest.mark.parametrize(
    "head", [BILLION, '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>', "<!DOCTYPE x>"]
)
@pytest.mark.parametrize(
    "part", ["xl/worksheets/sheet1.xml", "xl/sharedStrings.xml", "xl/workbook.xml", "xl/styles.xml"]
)
def test_entities_are_never_expanded(tmp_path: Path, head: str, part: str) -> None:
    path = tmp_path / "a.xlsx"
    if part == "xl/sharedStrings.xml":
        path.write_bytes(shared_book(head))
    else:
        path.write_bytes(edited(plain_book(), part, lambda t: head + re.sub(r"<\?.*?\?>", "", t)))
    assert "declares a document type" in refusal(path)


def test_a_million_empty_rows_are_no_trouble(tmp_path: Path) -> None:
    empty = "".join(f'<row r="{n}"><c r="A{n}" s="0"/></row>' for n in range(3, 400_000))
    far = '<row r="1048576"><c r="XFD1048576" s="0"/></row>'
    path = tmp_path / "a.xlsx"
    path.write_bytes(
        edited(
            plain_book(),
            "xl/worksheets/sheet1.xml",
            lambda t: t.replace("</sheetData>", empty + far + "</sheetData>"),
        )
    )
    begun = time.process_time()
    assert lines(read(read_pages(str(path)))) == ["alice 0 12-07 00:00 12-08 00:00"]
    assert time.process_time() - begun < 8
    rows = "Name,GPU,Date\nalice,0,2026-12-07\n" + ",,\n" * 1_000_000
    assert lines(read_csv(rows)) == ["alice 0 12-07 00:00 12-08 00:00"]


def test_more_cells_than_a_calendar_has_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("Name,GPU,Date\n" + "alice,0,2026-12-07\n" * 20_001)
    assert refusal(path).startswith("FILE holds more than 50000 filled cells, or some beyond row")
    book = workbook([["Name", "GPU", "Date"]])
    sheet = book.active
    assert sheet is not None
    sheet["A20002"] = "alice"
    far = tmp_path / "far.xlsx"
    far.write_bytes(saved(book))
    assert "beyond row 20000" in refusal(far)


def test_merged_cells_over_the_whole_sheet_are_no_trouble(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    path.write_bytes(
        edited(
            plain_book(),
            "xl/worksheets/sheet1.xml",
            lambda t: t.replace(
                "</sheetData>",
                '</sheetData><mergeCells count="1"><mergeCell ref="A2:XFD1048576"/></mergeCells>',
            ),
        )
    )
    begun = time.process_time()
    read(read_pages(str(path)))
    assert time.process_time() - begun < 3


def test_a_file_of_100_megabytes_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    with path.open("wb") as file:
        file.truncate(100 << 20)
    assert refusal(path).startswith(f"FILE has more than {MOST_BYTES >> 20} MiB")


def test_what_is_no_spreadsheet_says_what_to_do(tmp_path: Path) -> None:
    old = tmp_path / "a.xls"
    old.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600))
    assert "save it as .xlsx" in refusal(old)
    empty = tmp_path / "a.csv"
    empty.write_bytes(b"\n\n")
    assert refusal(empty) == "FILE is empty"
    assert "name an .xlsx or .csv file" in refusal(tmp_path)
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    assert "name an .xlsx or .csv file" in refusal(fifo)
    picture = tmp_path / "a.png"
    picture.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 8)
    assert "neither .xlsx nor CSV" in refusal(picture)
    open_document = tmp_path / "a.ods"
    with zipfile.ZipFile(open_document, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
    assert "another spreadsheet program" in refusal(open_document)
    latin = tmp_path / "latin.csv"
    latin.write_bytes("Name,GPU\nJosé,0\nÉ\n".encode("latin-1") + b"\xff\xff\n")
    assert "save it as CSV UTF-8" in refusal(latin)
    with pytest.raises(FileNotFoundError):
        read_pages(str(tmp_path / "missing.csv"))


@pytest.mark.parametrize("keep", [0.2, 0.5, 0.9, 0.99])
def test_a_workbook_cut_off_is_refused(tmp_path: Path, keep: float) -> None:
    data = plain_book()
    path = tmp_path / "a.xlsx"
    path.write_bytes(data[: int(len(data) * keep)])
    assert "no whole .xlsx file" in refusal(path)


@pytest.mark.parametrize(
    ("part", "old", "new"),
    [
        ("xl/worksheets/sheet1.xml", 'r="A1"', 'r="ZZZZ1"'),
        ("xl/worksheets/sheet1.xml", "<sheetData>", "<sheetData><row/><c/>"),
        ("xl/worksheets/sheet1.xml", "</row>", "</wor>"),
        ("xl/worksheets/sheet1.xml", 'r="1"', 'r="-5"'),
        ("xl/workbook.xml", "sheetId", "sheedId"),
        ("xl/_rels/workbook.xml.rels", "worksheets/sheet1.xml", "worksheets/sheet9.xml"),
        ("xl/styles.xml", "<fonts", "<stnof"),
    ],
)
def test_a_damaged_workbook_is_refused_or_read_but_never_a_crash(
    tmp_path: Path, part: str, old: str, new: str
) -> None:
    path = tmp_path / "a.xlsx"
    path.write_bytes(edited(plain_book(), part, lambda text: text.replace(old, new, 1)))
    try:
        read_pages(str(path))
    except SheetError as error:
        told = say("en", "cli_errors." + error.code, **error.numbers)
    else:
        told = "read"
    assert told


def test_a_quote_that_is_never_closed_is_told() -> None:
    with pytest.raises(SheetError) as caught:
        page(b'Name,GPU\nalice,"' + b"x" * 200_000, "a.csv")
    assert caught.value.code == "sheet_csv"


def test_the_workbooks_of_these_tests_are_what_openpyxl_reads() -> None:
    assert isinstance(load_workbook(io.BytesIO(plain_book())), Workbook)
