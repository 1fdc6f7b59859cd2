"""The top-level keys of each command's --json, which are stable: docs/cli.md lists them, tests hold
the commands to them. What lies below is in docs/api.md.
"""

from __future__ import annotations

STATUS = "server driver_version gpus driver_state driver_remedy simulated time queue"
IMPORTED = "timezone year notes bookings rejected clashes where names sheets imported"
MADE = "token user name scopes made_time used_time expires_time secret"
CHOSEN = (
    "language quiet quiet_now digest_hour time_zone topics chosen channels services webhooks unread"
)
RULES = "version time user text rules problem mistakes settings"
TRIED = (
    "file version keys server gpus from to jobs waited_s all classes users groups refused never"
    " neither left_out cut_off runs unknown"
)
AUDIT = "server time whose root checks findings unseen undoable outcomes"
DATA = (
    "name owner licence state detail path manifest bytes all_bytes files pickled sha256 made_time"
    " used_time"
)
USER_CHANGED = ("plan", "done", "steps")
SHAPES: dict[str, tuple[str, ...]] = {
    "status": tuple(STATUS.split()),
    "who": ("holders", "unattributed", "checks", "time"),
    "run": ("job", "state", "notes"),
    "jobs": ("jobs",),
    "show": ("jobs",),
    "why": (
        "job",
        "state",
        "reasons",
        "forecast_start",
        "forecast_latest",
        "forecast_unknown",
        "startable_now",
    ),
    "wait": ("jobs",),
    "cancel": ("jobs",),
    "hold": ("jobs",),
    "release": ("jobs",),
    "requeue": ("jobs",),
    "free": ("plan", "processes", "memory_before_bytes", "memory_after_bytes"),
    "drain": ("done", "gpu_uuid"),
    "undrain": ("done", "gpu_uuid"),
    "env create": ("environment",),
    "env list": ("environments",),
    "env show": ("environment", "packages"),
    "env lock": ("environment", "lock"),
    "env clone": ("environment",),
    "env share": ("shared",),
    "env remove": ("removed",),
    "env doctor": ("environment", "driver_version", "findings"),
    "notify show": tuple(CHOSEN.split()),
    "notify set": tuple(CHOSEN.split()),
    "notify add": ("channel", "kind", "name", "address", "allowed", "trouble", "wanted"),
    "notify remove": ("removed",),
    "notify test": ("sent", "problem"),
    "notify list": ("notices", "unread"),
    "motd": ("booking", "running", "waiting", "maintenance", "unread"),
    "driver release": ("done",),
    "driver hold": ("done",),
    "usage": ("usage", "gaps"),
    "audit": tuple(AUDIT.split()),
    "audit log": ("audit",),
    "user add": USER_CHANGED,
    "user list": ("accounts", "archives", "quota"),
    "user show": ("account", "archives"),
    "user disable": USER_CHANGED,
    "user enable": USER_CHANGED,
    "user remove": USER_CHANGED,
    "user restore": USER_CHANGED,
    "user import": USER_CHANGED,
    "token create": tuple(MADE.split()),
    "token list": ("tokens",),
    "token revoke": ("revoked",),
    "book": ("bookings",),
    "bookings": ("bookings",),
    "book cancel": ("bookings",),
    "book end": ("bookings",),
    "book extend": ("bookings",),
    "book move": ("bookings",),
    "book give": ("bookings",),
    "book swap": ("swapped", "bookings"),
    "book import": tuple(IMPORTED.split()),
    "book export": ("file", "bookings"),
    "book feed": ("feed", "user", "of", "target", "made_time", "used_time", "path"),
    "data add": tuple(DATA.split()),
    "data list": ("data", "path"),
    "data show": tuple(DATA.split()),
    "data link": ("link", "path"),
    "data verify": ("name", "good", "wrong"),
    "data remove": tuple(DATA.split()),
    "rules show": tuple(RULES.split()),
    "rules diff": ("old", "new", "changes"),
    "rules history": ("history",),
    "rules check": ("file", "ok", "mistakes"),
    "rules try": tuple(TRIED.split()),
    "replay": (
        *("runs", "trace", "from", "to", "servers", "gpus", "estimates", "left_out", "changes"),
    ),
    "version": ("roost", "daemon"),
}
"""`run --array` has "jobs" too, the numbers of its elements."""
