"""Small packages made on the spot: wheels in a folder, or behind a local index that counts what it
is asked; and a conda package with its channel. No test needs a registry."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
import random
import tarfile
import threading
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


def wheel(
    folder: Path,
    name: str,
    version: str,
    files: Mapping[str, bytes] | None = None,
    requires: tuple[str, ...] = (),
    tag: str = "py3-none-any",
    scripts: Mapping[str, str] | None = None,
) -> Path:
    """A wheel whose module says its version. `scripts`: command -> "module:function"."""
    module = name.replace("-", "_")
    info = f"{module}-{version}.dist-info"
    inside = {f"{module}/__init__.py": f"__version__ = {version!r}\n".encode(), **(files or {})}
    metadata = [f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}"]
    metadata += [f"Requires-Dist: {each}" for each in requires]
    inside[f"{info}/METADATA"] = ("\n".join(metadata) + "\n").encode()
    inside[f"{info}/WHEEL"] = (
        f"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: {tag}\n".encode()
    )
    if scripts:
        lines = "".join(f"{command} = {entry}\n" for command, entry in scripts.items())
        inside[f"{info}/entry_points.txt"] = ("[console_scripts]\n" + lines).encode()
    record = ""
    for path, data in inside.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += f"{path},sha256={digest},{len(data)}\n"
    inside[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    target = folder / f"{module}-{version}-{tag}.whl"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as file:
        for path, data in inside.items():
            file.writestr(path, data)
    return target


def framework(folder: Path, version: str, megabytes: int = 0) -> Path:
    """A package as a framework is made: many modules, one large library, a command."""
    chance = random.Random(version)
    files = {
        f"smallframe/part{n}.py": b"# " + chance.randbytes(1500).hex().encode() + b"\n"
        for n in range(100)
    }
    files["smallframe/lib/libsmall.so"] = chance.randbytes(megabytes * 2**20)
    files["smallframe/main.py"] = (
        b"import smallframe\ndef main():\n    print('command', smallframe.__version__)\n"
    )
    return wheel(
        folder, "smallframe", version, files, scripts={"smallframe": "smallframe.main:main"}
    )


class Index:
    """`asked`: the paths that were asked for."""

    def __init__(self, folder: Path) -> None:
        self.asked: list[str] = []
        index = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                index.asked.append(self.path)
                parts = [part for part in self.path.split("/") if part]
                data = b""
                if len(parts) == 2 and parts[0] == "simple":
                    found = sorted(folder.glob(f"{parts[1].replace('-', '_')}-*.whl"))
                    links = "".join(
                        f'<a href="/files/{each.name}#sha256='
                        f'{hashlib.sha256(each.read_bytes()).hexdigest()}">{each.name}</a>\n'
                        for each in found
                    )
                    data = f"<!DOCTYPE html><html><body>{links}</body></html>".encode()
                elif len(parts) == 2 and parts[0] == "files" and "/" not in parts[1]:
                    data = (folder / parts[1]).read_bytes()
                self.send_response(200 if data else 404)
                self.send_header("Content-Length", str(len(data)))
                kind = "text/html" if parts[:1] == ["simple"] else "application/octet-stream"
                self.send_header("Content-Type", kind)
                self.end_headers()
                if self.command == "GET":
                    self.wfile.write(data)

            do_HEAD = do_GET  # noqa: N815

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}/simple"


@contextmanager
def index(folder: Path) -> Iterator[Index]:
    made = Index(folder)
    thread = threading.Thread(target=made.server.serve_forever, daemon=True)
    thread.start()
    try:
        yield made
    finally:
        made.server.shutdown()
        made.server.server_close()
        thread.join()


def conda_channel(folder: Path, name: str, version: str, files: Mapping[str, bytes]) -> str:
    """A channel of one noarch package; its address."""
    noarch = folder / "noarch"
    noarch.mkdir(parents=True, exist_ok=True)
    (folder / "linux-64").mkdir(exist_ok=True)
    (folder / "linux-64" / "repodata.json").write_text(
        json.dumps({"info": {"subdir": "linux-64"}, "packages": {}, "packages.conda": {}})
    )
    about = {
        "name": name, "version": version, "build": "0", "build_number": 0, "depends": [],
        "subdir": "noarch", "noarch": "generic", "arch": None, "platform": None,
    }  # fmt: skip
    paths = {
        "paths_version": 1,
        "paths": [
            {
                "_path": path, "path_type": "hardlink", "size_in_bytes": len(data),
                "sha256": hashlib.sha256(data).hexdigest(),
            }
            for path, data in files.items()
        ],
    }  # fmt: skip
    inside = {
        **files,
        "info/index.json": json.dumps(about).encode(),
        "info/paths.json": json.dumps(paths).encode(),
        "info/files": "".join(path + "\n" for path in files).encode(),
    }
    target = noarch / f"{name}-{version}-0.tar.bz2"
    with tarfile.open(target, "w:bz2") as archive:
        for path, data in inside.items():
            entry = tarfile.TarInfo(path)
            entry.size = len(data)
            entry.mode = 0o755 if path.startswith("bin/") else 0o644
            archive.addfile(entry, io.BytesIO(data))
    data = target.read_bytes()
    record = {
        **about,
        "md5": hashlib.md5(data).hexdigest(),
        "sha256": hashlib.sha256(data).hexdigest(),
        "size": len(data),
    }
    known = noarch / "repodata.json"
    listed = json.loads(known.read_text())["packages"] if known.exists() else {}
    listed[target.name] = record
    known.write_text(
        json.dumps({"info": {"subdir": "noarch"}, "packages": listed, "packages.conda": {}})
    )
    os.chmod(folder, 0o755)
    return folder.as_uri()
