"""What is going to run, as a person knows it: the file, its hash, its git commit (code that
is edited while its job waits). Reads .git by itself, within bounds; starts no program.

`git_dirty` compares the file with what git last recorded for it in its index (gitformat-index).
"""

from __future__ import annotations

import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MAX_SOURCE_BYTES = 32 << 20
MAX_INDEX_BYTES = 64 << 20
MAX_LEVELS = 64
_INTERPRETERS = (b"python", b"bash", b"sh", b"perl", b"Rscript", b"julia", b"ruby", b"node")
_HEX = frozenset(b"0123456789abcdef")


def of_command(argv: list[bytes], directory: bytes, program: bytes) -> dict[str, Any] | None:
    """The source of a command: the file given to an interpreter, else the program itself.

    `program` is the path that argv[0] was found at. None where there is none that can be read.
    """
    name = os.path.basename(program)
    if name.startswith(
        (b"python", b"bash", b"sh", b"perl", b"Rscript", b"julia", b"ruby", b"node")
    ):
        for word in argv[1:]:
            if word in (b"-c", b"-m", b"-e"):
                return None
            if not word.startswith(b"-"):
                return of_file(os.path.join(directory, word))
        return None
    for word in argv[1:]:  # torchrun train.py, accelerate launch train.py, env A=B ./run
        if word.endswith((b".py", b".sh", b".R", b".jl", b".ipynb")):
            found = of_file(os.path.join(directory, word))
            if found is not None:
                return found
    return of_file(program)


def of_file(path: bytes, content: bytes | None = None) -> dict[str, Any] | None:
    """{"path", "sha256", "git_commit", "git_dirty"}; None for what is no readable regular file, or
    too large to hash while somebody waits."""
    path = os.path.normpath(path)
    if content is None:
        content = read_regular(path, MAX_SOURCE_BYTES)
    if content is None:
        return None
    source: dict[str, Any] = {
        "path": path.decode("utf-8", "backslashreplace"),
        "sha256": _sha256(content),
    }
    source.update(git_of(path, content))
    return source


def read_regular(path: bytes, limit: int) -> bytes | None:
    """The content of a regular file of at most `limit` bytes; None for anything else."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_size > limit:
            return None
        pieces = []
        left = limit + 1
        while left > 0 and (piece := os.read(descriptor, min(left, 1 << 20))):
            pieces.append(piece)
            left -= len(piece)
        return b"".join(pieces) if left > 0 else None
    except OSError:
        return None
    finally:
        os.close(descriptor)


def git_of(path: bytes, content: bytes) -> dict[str, Any]:
    """{"git_commit", "git_dirty"} of a file in a work tree, {} outside of one.

    `git_dirty` None: the index could not be read (split, version 4, SHA-256).
    """
    path = os.path.realpath(path)
    tree = os.path.dirname(path)
    for _ in range(MAX_LEVELS):
        git = os.path.join(tree, b".git")
        if os.path.lexists(git):
            break
        parent = os.path.dirname(tree)
        if parent == tree:
            return {}
        tree = parent
    else:
        return {}
    if not os.path.isdir(git):  # a linked work tree or submodule: "gitdir: PATH"
        pointer = read_regular(git, 4096)
        if pointer is None or not pointer.startswith(b"gitdir: "):
            return {}
        git = os.path.join(tree, pointer[8:].strip())
    commit = _commit(git)
    if commit is None:
        return {}
    return {"git_commit": commit, "git_dirty": _dirty(git, os.path.relpath(path, tree), content)}


def _commit(git: bytes) -> str | None:
    common = git
    pointer = read_regular(os.path.join(git, b"commondir"), 4096)
    if pointer is not None:
        common = os.path.join(git, pointer.strip())
    head = read_regular(os.path.join(git, b"HEAD"), 4096)
    for _ in range(5):
        if head is None:
            return None
        head = head.strip()
        if not head.startswith(b"ref: "):
            break
        name = head[5:].strip()
        if b".." in name or name.startswith(b"/"):
            return None
        head = read_regular(os.path.join(git, name), 4096)
        if head is None:
            head = read_regular(os.path.join(common, name), 4096)
        if head is None:
            head = _packed(common, name)
    return (
        head.decode("ascii") if head and len(head) in (40, 64) and _HEX.issuperset(head) else None
    )


def _packed(common: bytes, name: bytes) -> bytes | None:
    packed = read_regular(os.path.join(common, b"packed-refs"), MAX_INDEX_BYTES)
    if packed is None:
        return None
    at = packed.find(b" " + name + b"\n")
    return packed[at - 40 : at] if at >= 40 else None


def _dirty(git: bytes, relative: bytes, content: bytes) -> bool | None:
    index = read_regular(os.path.join(git, b"index"), MAX_INDEX_BYTES)
    if index is None or index[:4] != b"DIRC" or index[4:8] not in (b"\0\0\0\2", b"\0\0\0\3"):
        return None
    if index.find(b"link", max(0, len(index) - 4096)) >= 0:  # split index: entries are elsewhere
        return None
    length = min(len(relative), 0xFFF)
    at = -1
    while (at := index.find(relative + b"\0", at + 1)) >= 0:
        for extended in (0, 2):  # version 3 may have two more bytes of flags
            flags = index[at - extended - 2 : at - extended]
            if at < 74 + extended or (int.from_bytes(flags, "big") & 0xFFF) != length:
                continue
            if index[4:8] == b"\0\0\0\3" and bool(flags[0] & 0x40) != bool(extended):
                continue
            recorded = index[at - extended - 22 : at - extended - 2]
            return recorded != _blob(content)
    return True  # git does not know the file


def _blob(content: bytes) -> bytes:
    blob = b"blob %d\0" % len(content) + content
    digest: bytes = _hash("sha1", ("_sha1",))(blob, usedforsecurity=False).digest()
    return digest


def _sha256(content: bytes) -> str:
    return str(_hash("sha256", ("_sha2", "_sha256"))(content).hexdigest())


def _hash(name: str, modules: tuple[str, ...]) -> Any:
    """The interpreter's own C module, which is loaded at once; hashlib where it has none."""
    for module in (*modules, "hashlib"):
        try:
            return getattr(__import__(module), name)
        except ImportError:
            continue
    raise AssertionError("hashlib is always there")
