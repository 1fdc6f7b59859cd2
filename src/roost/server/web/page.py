"""The built page's files: index.html for every path that is no file, assets for ever, compressed.

Files are read from one folder and known by name, so that no path of a request ever reaches the
file system. A page that is built again while the server runs is taken up.
"""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import html
import mimetypes
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.responses import Response

import roost
from roost.core.text.catalogue import say

FOLDER = Path(roost.__file__).resolve().parent / "page"
INDEX = "index.html"
MOST_FILES = 2_000
MOST_BYTES = 64 * 1024 * 1024
SMALLEST_COMPRESSED = 1_000
PLAIN = re.compile(r"^(text/|image/svg|application/(json|javascript|manifest\+json|xml))")
FOREVER = "public, max-age=31536000, immutable"
_POLICIES = (
    "default-src 'self'",
    "script-src 'self'",
    # Components set styles of single elements; no style sheet can run anything.
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "font-src 'self' data:",
    "connect-src 'self'",
    "worker-src 'self' blob:",
    "object-src 'none'",
    "base-uri 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
)
POLICY = "; ".join(_POLICIES)
mimetypes.add_type("text/javascript", ".js")
mimetypes.add_type("text/javascript", ".mjs")
mimetypes.add_type("application/manifest+json", ".webmanifest")
mimetypes.add_type("font/woff2", ".woff2")


@dataclass(frozen=True, slots=True)
class File:
    """`small` is `data` compressed by gzip, None where that is not worth it."""

    stamp: tuple[int, int]
    kind: str
    data: bytes
    small: bytes | None
    tag: str


class Page:
    """`prefix` is the path before it, "" or "/roost"."""

    def __init__(self, prefix: str, folder: Path = FOLDER) -> None:
        self._prefix = prefix
        self._folder = folder
        self._files: dict[str, File] = {}

    async def answer(self, path: str, headers: dict[bytes, bytes], language: str) -> Response:
        """For a GET or HEAD of `path`, which begins after the prefix with "/"."""
        name = path.lstrip("/") or INDEX
        file = await asyncio.to_thread(self._find, name)
        if file is None and name.startswith("assets/"):
            text = say(language, "web.no_such_file", path=html.escape(path[:200]))
            return Response(
                text, 404, media_type="text/plain", headers={"Cache-Control": "no-store"}
            )
        if file is None:
            name = INDEX
            file = await asyncio.to_thread(self._find, name)
        if file is None:
            return self._not_built(language)
        return self._of(name, file, headers)

    def _of(self, name: str, file: File, headers: dict[bytes, bytes]) -> Response:
        said = {
            "Cache-Control": FOREVER if name.startswith("assets/") else "no-cache",
            "ETag": file.tag,
            "Vary": "Accept-Encoding",
        }
        if file.kind.startswith("text/html"):
            said["Content-Security-Policy"] = POLICY
        asked = headers.get(b"if-none-match", b"").decode("latin-1")
        if file.tag in (tag.strip().removeprefix("W/") for tag in asked.split(",")):
            return Response(status_code=304, headers=said)
        accepted = headers.get(b"accept-encoding", b"").decode("latin-1")
        data = file.data
        if file.small is not None and re.search(r"\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))", accepted):
            said["Content-Encoding"] = "gzip"
            data = file.small
        return Response(data, headers=said, media_type=file.kind)

    def _not_built(self, language: str) -> Response:
        title = say(language, "web.no_page_title")
        text = say(language, "web.no_page", prefix=self._prefix)
        body = (
            f'<!doctype html><html lang="{language}"><meta charset="utf-8">'
            f"<title>Roost</title><h1>{html.escape(title)}</h1><p>{html.escape(text)}</p></html>"
        )
        said = {"Cache-Control": "no-store", "Content-Security-Policy": POLICY}
        return Response(body, 404, headers=said, media_type="text/html")

    # -- files, in a thread ----------------------------------------------------------------------

    def _find(self, name: str) -> File | None:
        """The file as it is now. Blocks."""
        known = self._files.get(name)
        if known is not None and _stamp(self._folder / name) == known.stamp:
            return known
        listed = self._listed()
        path = listed.get(name)
        self._files = {one: file for one, file in self._files.items() if one in listed}
        stamp = _stamp(path) if path is not None else None
        if path is None or stamp is None or stamp[1] > MOST_BYTES:
            return None
        try:
            data = path.read_bytes()
        except OSError:
            return None  # it is just being built again
        if name == INDEX:
            data = self._based(data)
        kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
        small = None
        if PLAIN.match(kind) and len(data) >= SMALLEST_COMPRESSED:
            small = gzip.compress(data, 9, mtime=0)
        tag = f'"{hashlib.sha256(data).hexdigest()[:24]}"'
        made = File(stamp, kind, data, small, tag)
        self._files[name] = made
        return made

    def _listed(self) -> dict[str, Path]:
        """Every file of the page by its path from the folder; what is no plain file is none."""
        found: dict[str, Path] = {}
        for folder, folders, names in os.walk(self._folder):
            folders[:] = [one for one in folders if not one.startswith(".")]
            for name in names:
                path = Path(folder, name)
                if not name.startswith(".") and path.is_file() and not path.is_symlink():
                    found[path.relative_to(self._folder).as_posix()] = path
                if len(found) > MOST_FILES:
                    return found
        return found

    def _based(self, data: bytes) -> bytes:
        """index.html with the address that its links begin from."""
        base = f'<base href="{html.escape(self._prefix)}/">'.encode()
        plain = re.sub(rb"<base\b[^>]*>", b"", data, flags=re.IGNORECASE)
        return re.sub(
            rb"(<head\b[^>]*>)", lambda m: m[1] + base, plain, count=1, flags=re.IGNORECASE
        )


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        status = path.lstat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def plain_headers(scope: Any) -> dict[bytes, bytes]:
    """The headers of a request, the last of each."""
    return dict(scope["headers"])
