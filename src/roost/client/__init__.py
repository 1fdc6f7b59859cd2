"""Typed Python client of Roost's API: what the command line uses and scripts import.

    from roost.client import Client
    with Client() as roost:
        job = roost.submit({"command": ["python", "train.py"], "gpus": 1})["job"]

It is cheap to import on purpose: a command of the shell must not feel Python's start-up
(docs/design/003-command-line.md).
"""

from roost.client.api import Client
from roost.client.errors import AnswerLostError, NoDaemonError, NotAllowedError, RoostError
from roost.client.paths import default_socket

__all__ = [
    "AnswerLostError",
    "Client",
    "NoDaemonError",
    "NotAllowedError",
    "RoostError",
    "default_socket",
]
