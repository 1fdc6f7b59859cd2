"""What every command is called with: the words given, the terminal, the way to the daemon."""

from __future__ import annotations

from roost.cli.terminal import Terminal, write
from roost.core.text.catalogue import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from roost.cli.parse import Parsed
    from roost.client.api import Client

PATIENCE_S = 3.0


class Context:
    """One call of one command. `client()` connects on first use."""

    __slots__ = ("_client", "command", "given", "terminal")

    def __init__(self, command: str, given: Parsed, terminal: Terminal) -> None:
        self.command = command
        self.given = given
        self.terminal = terminal
        self._client: Client | None = None

    def option(self, key: str, default: Any = None) -> Any:
        return self.given.options.get(key, default)

    @property
    def json(self) -> bool:
        return "json" in self.given.options

    def client(self) -> Client:
        if self._client is None:
            from roost.client.api import Client

            self._client = Client(
                self.option("socket"), language=self.terminal.language, patience_s=PATIENCE_S
            )
        return self._client

    def say(self, message: str, **numbers: object) -> str:
        """The sentence `area.code` of the `cli` areas, or `code` of the area `cli`, in the person's
        language; `fallback` where there is none (a word that a newer daemon may use)."""
        fallback = numbers.pop("fallback", None)
        if not message.startswith("cli_"):
            message = "cli." + message
        try:
            return say(self.terminal.language, message, **numbers)
        except KeyError:
            if fallback is None:
                raise
            return str(fallback)

    def out(self, text: str) -> None:
        """Writes lines to standard output."""
        write(1, self.terminal.encode(text + "\n"))

    def err(self, text: str) -> None:
        """Writes lines to standard error. Where that cannot be written (a log on a full disk, a
        reader that has gone) they are lost: there is no other place to say so, and a daemon must
        not end for it."""
        write(2, self.terminal.encode(text + "\n"), must=False)

    def note(self, message: str, **numbers: object) -> None:
        """One line to standard error, with the command's name."""
        self.err(f"roost {self.command}: {self.say(message, **numbers)}")

    def out_json(self, value: Any) -> None:
        """One JSON document on a line, in ASCII: the same in every locale."""
        from roost.client.jsontext import dumps

        write(1, dumps(value).encode("ascii") + b"\n")
