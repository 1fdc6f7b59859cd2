"""JSON text to values and back, through the interpreter's C functions where it has them.

`import json` costs 10 ms for its regular expressions and classes, more than all else that a command
does. CPython's `_json` holds the same scanner and encoder; any other interpreter takes `json`.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

try:
    import _json

    class _Context:
        """What `json.JSONDecoder` gives the C scanner."""

        strict = True
        object_hook = None
        object_pairs_hook = None
        parse_float = float
        parse_int = int
        parse_constant = staticmethod(
            {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}.__getitem__
        )
        memo: dict[str, str] = {}  # noqa: RUF012

    _c: Any = _json
    _scan: Any = _c.make_scanner(_Context())
    _encode: Any = _c.make_encoder(
        None, None, _c.encode_basestring_ascii, None, ":", ",", False, False, False
    )
    _encode({"a": [1, None, 1.5]}, 0)
except (ImportError, AttributeError, TypeError):  # another interpreter, or a later CPython
    _scan = _encode = None

_SPACE = " \t\n\r"


def loads(text: str) -> Any:
    """The value of one JSON document. Raises ValueError for anything else."""
    if _scan is None:
        import json

        return json.loads(text)
    text = text.strip(_SPACE)
    try:
        value, end = _scan(text, 0)
    except StopIteration:
        raise ValueError("not a JSON document") from None
    if end != len(text):
        raise ValueError("text after the JSON document")
    return value


def dumps(value: Any) -> str:
    """Compact JSON in ASCII. Raises ValueError for NaN, TypeError for what JSON does not know."""
    if _encode is None or not isinstance(value, dict | list):
        import json

        return json.dumps(value, separators=(",", ":"), allow_nan=False)
    return "".join(_encode(value, 0))
