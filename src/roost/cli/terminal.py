"""What the terminal can show: language, characters, colour, width; and writing to it.

Knows nothing of Roost's data. Everything is decided once, from the environment as the shell gave
it, before Python touched it (PEP 538 sets LC_CTYPE in a C locale, which says nothing of the
terminal).
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

TURNING = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
ASCII = {
    "–": "-",
    "—": "-",
    "…": "...",
    "·": "|",
    "°C": "C",
    "°": "",
    "→": "->",
    "█": "#",
    "▏": "|",
    "▒": "%",
    "×": "x",
    "≥": ">=",
    "±": "+-",
    "“": '"',
    "”": '"',
    "’": "'",
}
RESET = "\x1b[0m"
BOLD = "1"
DIM = "2"
RED = "1;31"
GREEN = "1;32"
YELLOW = "33"
GREY = "38;5;245"


class Terminal:
    """`unicode` False: only ASCII is written. `columns` is None where nothing is to be cut."""

    __slots__ = ("colour", "columns", "encoding", "language", "unicode")

    def __init__(
        self,
        language: str = "en",
        encoding: str = "utf-8",
        colour: bool = False,
        columns: int | None = 80,
    ) -> None:
        self.encoding = encoding
        self.unicode = encoding == "utf-8"
        self.language = language if encoding != "ascii" else "en"
        self.colour = colour
        self.columns = columns

    def paint(self, text: str, code: str) -> str:
        """The text in a colour (SGR parameters), or as it is where there is none."""
        return f"\x1b[{code}m{text}{RESET}" if self.colour and code and text else text

    def person(self, text: str, name: str) -> str:
        """The text in the person's own colour."""
        if not self.colour:
            return text
        from roost.core.colour import colour_of

        return self.paint(text, f"38;5;{colour_of(name)[1]}")

    def plain(self, text: str) -> str:
        """The text in characters that this terminal has; marks that turn the direction of writing
        are escaped, so that nobody's name or path reorders the line that it stands in."""
        if text.isascii():
            return text
        if not TURNING.isdisjoint(text):
            text = "".join(f"\\u{ord(c):04x}" if c in TURNING else c for c in text)
        if self.unicode:
            return text
        for character, instead in ASCII.items():
            text = text.replace(character, instead)
        return text.encode(self.encoding, "backslashreplace").decode(self.encoding)

    def encode(self, text: str) -> bytes:
        return self.plain(text).encode(self.encoding, "backslashreplace")


def of_environment(stream: int = 1) -> Terminal:
    """The terminal of this process; `stream` is the descriptor that will be written to."""
    env = os.environ
    is_tty = os.isatty(stream)
    columns: int | None = None
    if env.get("COLUMNS", "").isdigit() and int(env["COLUMNS"]) >= 20:
        columns = int(env["COLUMNS"])
    elif is_tty:
        try:
            columns = os.get_terminal_size(stream).columns or 80
        except OSError:
            columns = 80
    colour = (is_tty and env.get("TERM", "dumb") != "dumb") or bool(env.get("CLICOLOR_FORCE"))
    colour = colour and not env.get("NO_COLOR")
    languages = original_locale(env)
    encoding = encoding_of(languages[0], getattr(sys.stdout, "encoding", None) or "utf-8")
    return Terminal(language_of(languages[1]), encoding, colour, columns)


def original_locale(env: Mapping[str, str]) -> tuple[str, str]:
    """The locale's names for characters and for messages, "" for none, as the shell set them."""
    everything = env.get("LC_ALL", "")
    language = env.get("LANG", "")
    characters = env.get("LC_CTYPE", "")
    if characters == "C.UTF-8" and not everything and language in ("", "C", "POSIX"):
        characters = from_start("LC_CTYPE", characters)
    return everything or characters or language, everything or env.get(
        "LC_MESSAGES", ""
    ) or language


def language_of(locale: str) -> str:
    return "zh" if locale.lower().startswith("zh") else "en"


def encoding_of(locale: str, stdout: str) -> str:
    """The encoding to write: UTF-8 or the locale's own where it names one that Python agrees to,
    else ASCII, which is right everywhere."""
    _, _, charset = locale.partition(".")
    charset = charset.partition("@")[0].lower().replace("-", "").replace("_", "")
    if charset == "utf8":
        return "utf-8"
    agreed = stdout.lower().replace("-", "").replace("_", "")
    if charset and charset == agreed:
        return stdout
    return "ascii"


def from_start(name: str, default: str) -> str:
    """A variable as this program was started with it."""
    try:
        descriptor = os.open("/proc/self/environ", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return default
    try:
        block = b""
        while piece := os.read(descriptor, 1 << 20):
            block += piece
    except OSError:
        return default
    finally:
        os.close(descriptor)
    prefix = name.encode() + b"="
    for entry in block.split(b"\0"):
        if entry.startswith(prefix):
            return entry[len(prefix) :].decode("utf-8", "replace")
    return ""


def write(descriptor: int, data: bytes, must: bool = True) -> None:
    """All of it. A reader that has gone ends the program quietly, as SIGPIPE would; else OSError.

    Without `must`, what cannot be written is lost.
    """
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(descriptor, view) :]
        except InterruptedError:
            continue
        except BlockingIOError:
            import select

            select.select([], [descriptor], [])
        except OSError as error:
            if not must:
                return
            if isinstance(error, BrokenPipeError):
                os._exit(141)
            raise


def width(text: str) -> int:
    """Cells that the text takes in a terminal: East Asian wide ones two, combining ones none.

    Unicode Standard Annex 11; ambiguous characters count one.
    """
    if text.isascii():
        return len(text)
    from unicodedata import category, east_asian_width

    cells = 0
    for character in text:
        if category(character) in ("Mn", "Me", "Cf"):
            continue
        cells += 2 if east_asian_width(character) in "WF" else 1
    return cells


def cut(text: str, cells: int, end: str = "…") -> str:
    """The text in at most `cells` cells, with `end` where something was left out."""
    if width(text) <= cells:
        return text
    room = cells - width(end)
    if room < 0:
        return end[:cells]
    kept, used = [], 0
    for character in text:
        wide = width(character)
        if used + wide > room:
            break
        kept.append(character)
        used += wide
    return "".join(kept) + end


def pad(text: str, cells: int, right: bool = False) -> str:
    """The text filled with spaces to `cells`; `right` puts the text to the right."""
    space = " " * (cells - width(text))
    return space + text if right else text + space


# No line begins with these, as Chinese is set.
_CLOSING = "，。；：、）》”？！"


def wrap(text: str, cells: int, indent: str = "") -> list[str]:
    """Lines of at most `cells`, broken at spaces, and between wide characters where there is none;
    those after the first begin with `indent`."""
    if width(text) <= cells:
        return [text]
    lines, line = [], ""
    for word in (each + " " for each in text.split(" ")):
        rest = word
        while width(line + rest.rstrip()) > cells:
            at = len(rest)
            while at and width(line + rest[:at]) > cells:
                at -= 1
            fits = at
            while at and (rest[at] in _CLOSING or rest[at - 1 : at + 1].isascii()):
                at -= 1  # a word of letters, or a number, goes to the next line whole
            if not at and not line.strip():
                at = max(1, fits)
            lines.append((line + rest[:at]).rstrip())
            line, rest = indent, rest[at:]
        line += rest
    return [*lines, line.rstrip()]
