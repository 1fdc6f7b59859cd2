"""The page's files as browsers ask for them: deep links, caching, compression, nothing outside."""

from __future__ import annotations

import asyncio
import gzip
import os
from pathlib import Path

import pytest
from starlette.responses import Response

from roost.server.web.page import Page

INDEX = '<!doctype html><html><head lang="x"><base href="/old/"><title>R</title></head></html>'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "page"
    (made / "assets").mkdir(parents=True)
    (made / "index.html").write_text(INDEX)
    (made / "assets/app-1a2b.js").write_text("let a = 1;\n" * 500)
    (made / "assets/logo.png").write_bytes(b"\x89PNG" * 500)
    (made / ".secret").write_text("no")
    (tmp_path / "outside.txt").write_text("no")
    os.symlink(tmp_path / "outside.txt", made / "link.txt")
    return made


def ask(folder: Path, path: str, prefix: str = "", **headers: str) -> Response:
    given = {k.replace("_", "-").encode(): v.encode() for k, v in headers.items()}
    return asyncio.run(Page(prefix, folder).answer(path, given, "en"))


@pytest.mark.parametrize("path", ["/", "/jobs/42", "/calendar", "/index.html", "/../outside.txt"])
def test_every_path_that_is_no_file_gets_the_index(folder: Path, path: str) -> None:
    answer = ask(folder, path, "/roost")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/html")
    assert answer.headers["cache-control"] == "no-cache"
    assert "script-src 'self';" in answer.headers["content-security-policy"]
    assert answer.body.count(b"<base") == 1
    assert b'<head lang="x"><base href="/roost/">' in answer.body


def test_assets_are_kept_for_ever_and_compressed(folder: Path) -> None:
    answer = ask(folder, "/assets/app-1a2b.js", accept_encoding="br, gzip")
    assert "immutable" in answer.headers["cache-control"]
    assert answer.headers["content-type"].startswith("text/javascript")
    assert answer.headers["content-encoding"] == "gzip"
    plain = ask(folder, "/assets/app-1a2b.js", accept_encoding="gzip;q=0")
    assert "content-encoding" not in plain.headers
    assert gzip.decompress(bytes(answer.body)) == plain.body
    picture = ask(folder, "/assets/logo.png", accept_encoding="gzip")
    assert "content-encoding" not in picture.headers


def test_what_the_browser_has_is_not_sent_again(folder: Path) -> None:
    tag = ask(folder, "/").headers["etag"]
    assert ask(folder, "/", if_none_match=tag).status_code == 304
    assert ask(folder, "/", if_none_match=f'"x", W/{tag}').status_code == 304
    assert ask(folder, "/", if_none_match='"x"').status_code == 200


@pytest.mark.parametrize("path", ["/.secret", "/link.txt", "/assets/../../outside.txt"])
def test_nothing_hidden_linked_or_outside_is_served(folder: Path, path: str) -> None:
    assert ask(folder, path).body != b"no"


def test_an_asset_that_is_gone_is_not_the_index(folder: Path) -> None:
    answer = ask(folder, "/assets/app-0000.js")
    assert (answer.status_code, answer.headers["cache-control"]) == (404, "no-store")


def test_a_page_that_is_built_again_is_taken_up(folder: Path) -> None:
    async def both() -> tuple[bytes, bytes]:
        page = Page("", folder)
        first = await page.answer("/", {}, "en")
        (folder / "index.html").write_text(INDEX.replace("<title>R", "<title>New"))
        second = await page.answer("/", {}, "en")
        return bytes(first.body), bytes(second.body)

    first, second = asyncio.run(both())
    assert b"<title>R" in first
    assert b"<title>New" in second


@pytest.mark.parametrize(("language", "word"), [("en", "no page"), ("zh", "没有网页")])
def test_without_a_built_page_it_says_so(tmp_path: Path, language: str, word: str) -> None:
    answer = asyncio.run(Page("/r", tmp_path / "none").answer("/jobs/1", {}, language))
    assert answer.status_code == 404
    text = bytes(answer.body).decode()
    assert word in text
    assert "/r/v1/" in text
