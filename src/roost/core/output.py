"""Where a job's output goes: the patterns of `--output`, as Slurm writes them. Pure."""

from __future__ import annotations


def output_path(
    pattern: bytes, *, job: int, array_id: int | None, array_index: int | None, name: str, user: str
) -> bytes:
    """The path with %j job, %A array (the job's own number outside of one), %a index (0), %x name,
    %u user filled in; %% is a percent sign, anything else stays as it is written.

    A slash in the name becomes "_": a name chooses a file, never a folder.

    >>> output_path(b"o-%A_%a.%x", job=7, array_id=5, array_index=2, name="a/b", user="u")
    b'o-5_2.a_b'
    """
    known = {
        b"j": str(job),
        b"A": str(job if array_id is None else array_id),
        b"a": str(array_index or 0),
        b"x": name.replace("/", "_"),
        b"u": user,
        b"%": "%",
    }
    first, *pieces = pattern.split(b"%")
    path = [first]
    at = 0
    while at < len(pieces):
        piece = pieces[at]
        if not piece and at + 1 < len(pieces):  # "%%": an empty piece between two signs
            path += [b"%", pieces[at + 1]]
            at += 2
            continue
        value = known.get(piece[:1])
        path.append(b"%" + piece if value is None else value.encode() + piece[1:])
        at += 1
    return b"".join(path)
