"""Every command and option as data: parser, help, completions and docs/cli.md all read this table.

What a command does stands in its own module, loaded when it is called; its help in
`core/text/cli_help.py` under "COMMAND" and "COMMAND.--option".
"""

from __future__ import annotations

from roost.cli.command import Argument, Command, Option

CLASSES = ("urgent", "regular", "background")
ENDED = ("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "OUT_OF_MEMORY", "NODE_FAIL")
STATES = ("PENDING", "STARTING", "RUNNING", "PREEMPTING", "SUSPENDED", "COMPLETING", *ENDED)
SCOPES = ("read", "jobs", "bookings", "operate")
SHELLS = ("bash", "zsh", "fish")
CHECKS = (
    "homes", "ssh-keys", "root-groups", "sudo", "gpu-devices", "container-toolkit",
    "container-engine", "shared-folders", "command-secrets", "processes-visible", "sshd",
    "driver-updates", "core-dumps", "ptrace", "kernel-leaks", "tmp", "nfs-exports", "roost-files",
)  # fmt: skip
BASELINES = ("fifo", "easy", "conservative", "sjf", "srtf", "srsf")

SOCKET = Option("--socket", "PATH")
HELP = Option("-h --help")
JSON = Option("--json")
USER = Option("-u --user", "USER", "user")
GROUP = Option("--group", "GROUP")
COMMON = (SOCKET, HELP)

_JOBS = (Argument("JOB", "+", "jobs"),)
_JOB = (Argument("JOB", "1", "job"),)
_BOOKING = Argument("BOOKING", "1", "job")
_BOOKINGS = (Argument("BOOKING", "+", "jobs"),)
_GPU = Argument("GPU", "1", "gpu")
_ROOT = Option("--root", "DIR", "path")
_DRY_RUN = Option("--dry-run")
_PLANNED = (_DRY_RUN, Option("-y --yes"), JSON)
_PERSON = (Argument("USER", "1", "user"),)
_PEOPLE = (Argument("USER", "+", "user"),)

_SERVED = (
    Option("--state", "DIR", "path"),
    Option("--rules", "FILE", "path"),
    Option("--database", "URL"),
    Option("--record", "FILE", "path"),
    Option("--http", "HOST:PORT"),
    Option("--http-prefix", "PATH"),
    Option("--http-name", "NAME", repeat=True),
    Option("--tls-cert", "FILE", "path"),
    Option("--tls-key", "FILE", "path"),
    Option("--trusted-proxy", "ADDRESS", repeat=True),
)

RUN_OPTIONS = (
    Option("-g --gpus", "N[..M]", "gpus"),
    Option("--gpu-mem", "SIZE", "size"),
    Option("--gpu-compute", "PERCENT", "percent"),
    Option("--gpu-model", "MODEL"),
    Option("--class", "CLASS", choices=CLASSES),
    Option("-t --time", "TIME", "duration"),
    Option("-c --cpus", "N", "count"),
    Option("-m --mem", "SIZE", "size"),
    Option("-n --name", "NAME"),
    Option("--reason", "TEXT"),
    GROUP,
    Option("-a --array", "RANGE", "array"),
    Option("--after", "JOB", "jobs", repeat=True),
    Option("-b --begin", "WHEN"),
    Option("--hold"),
    Option("-C --chdir", "DIR", "path"),
    Option("--env-file", "FILE", "path", repeat=True),
    Option("--env", "ENV"),
    Option("--no-env-check"),
    Option("--signal", "SIGNAL[@SECONDS]", "signal"),
    Option("-o --output", "PATTERN", "path"),
    Option("--no-requeue"),
    Option("-w --wait"),
    Option("-f --follow"),
    Option("--pty"),
    JSON,
)

COMMANDS: dict[str, Command] = {
    "status": Command(
        "status:status", options=(Option("-w --watch", "SECONDS", "optional_seconds"), JSON)
    ),
    "who": Command(
        "who:who", options=(Option("-g --gpu", "GPU", "gpu"), USER, Option("--scan"), JSON)
    ),
    "top": Command("top:top", options=(USER,)),
    "run": Command("run:run", (Argument("COMMAND", "+"),), RUN_OPTIONS, stops=True),
    "jobs": Command(
        "jobs:jobs",
        options=(
            USER,
            Option("--mine"),
            Option("-a --all"),
            Option("-s --state", "STATE", "states", STATES, repeat=True),
            Option("-n --limit", "N", "count"),
            JSON,
        ),
    ),
    "show": Command("show:show", _JOBS, (JSON,)),
    "why": Command("why:why", _JOB, (JSON,)),
    "logs": Command("logs:logs", _JOB, (Option("-f --follow"), Option("-n --lines", "N", "whole"))),
    "cancel": Command("control:cancel", _JOBS, (JSON,)),
    "hold": Command("control:hold", _JOBS, (JSON,)),
    "release": Command("control:release", _JOBS, (JSON,)),
    "requeue": Command("control:requeue", _JOBS, (JSON,)),
    "wait": Command("wait:wait", _JOBS, (Option("--timeout", "TIME", "duration"), JSON)),
    "free": Command(
        "free:free",
        (_GPU,),
        (USER, Option("--grace", "TIME", "duration"), Option("-y --yes"), JSON),
    ),
    "drain": Command("control:drain", (_GPU,), (Option("--reason", "TEXT"), JSON)),
    "undrain": Command("control:undrain", (_GPU,), (JSON,)),
    "book": Command(
        "book:book",
        (),
        (
            Option("-g --gpus", "N", "count"),
            Option("--gpu", "GPU", "gpu", repeat=True),
            Option("--gpu-mem", "SIZE", "size"),
            Option("--from", "WHEN"),
            Option("--until", "WHEN"),
            Option("--for", "TIME", "duration"),
            Option("--purpose", "TEXT"),
            Option("--public"),
            Option("--maintenance"),
            Option("--repeat", "RRULE"),
            Option("--except", "DATE", repeat=True),
            Option("--skip"),
            USER,
            GROUP,
            Option("--wait"),
            _DRY_RUN,
            JSON,
        ),
    ),
    "book cancel": Command("book:cancel", _BOOKINGS, (Option("--series"), JSON)),
    "book end": Command("book:cancel", _BOOKINGS, (JSON,)),
    "book extend": Command(
        "book_change:extend",
        (_BOOKING,),
        (Option("--by", "TIME", "duration"), Option("--until", "WHEN"), JSON),
    ),
    "book move": Command(
        "book_change:move",
        (_BOOKING,),
        (
            Option("--from", "WHEN"),
            Option("--until", "WHEN"),
            Option("--for", "TIME", "duration"),
            Option("-g --gpus", "N", "count"),
            Option("--gpu", "GPU", "gpu", repeat=True),
            Option("--purpose", "TEXT"),
            _DRY_RUN,
            JSON,
        ),
    ),
    "book give": Command("book_change:give", (_BOOKING, Argument("USER", "1", "user")), (JSON,)),
    "book swap": Command("book_change:swap", (_BOOKING, Argument("OTHER", "1", "job")), (JSON,)),
    "bookings": Command("book:bookings", (Argument("BOOKING", "*", "jobs"),), (USER, JSON)),
    "book import": Command(
        "book_import:import_sheet",
        (Argument("FILE", "1", "path"),),
        (
            _DRY_RUN,
            Option("--server", "SERVER"),
            Option("--year", "YEAR", "year"),
            Option("--dates", "ORDER", choices=("mdy", "dmy")),
            Option("-y --yes"),
            Option("--skip-conflicts"),
            JSON,
        ),
    ),
    "book export": Command(
        "book_export:export",
        (Argument("FILE", "1", "path"),),
        (Option("--from", "WHEN"), Option("--to", "WHEN"), JSON),
    ),
    "book feed": Command(
        "book_feed:feed",
        options=(
            Option("--gpu", "GPU", "gpu"),
            Option("--group", "GROUP"),
            Option("--all"),
            Option("--list"),
            Option("--revoke", "FEED"),
            JSON,
        ),
    ),
    "env create": Command(
        "env:create",
        (Argument("NAME"), Argument("REQUIREMENT", "*")),
        (
            Option("-r --from", "FILE", "path"),
            Option("--python", "PYTHON"),
            Option("--conda"),
            Option("-c --channel", "CHANNEL", repeat=True),
            JSON,
        ),
    ),
    "env list": Command("env_shown:listed", options=(JSON,)),
    "env show": Command("env_shown:show", (Argument("ENV"),), (JSON,)),
    "env lock": Command(
        "env:lock", (Argument("ENV"),), (Option("-o --output", "FILE", "path"), JSON)
    ),
    "env clone": Command("env:clone", (Argument("ENV"), Argument("NEW")), (JSON,)),
    "env share": Command("env_share:share", (Argument("NAME"),), (Option("--stop"), JSON)),
    "env remove": Command("env:remove", (Argument("NAME", "+"),), (Option("-y --yes"), JSON)),
    "env doctor": Command("env_shown:doctor", (Argument("ENV"),), (JSON,)),
    "data add": Command(
        "data:add",
        (Argument("PATH", "1", "path"),),
        (Option("--name", "NAME"), Option("--licence", "TEXT"), JSON),
    ),
    "data list": Command("data:listed", options=(JSON,)),
    "data show": Command("data:show", (Argument("NAME"),), (JSON,)),
    "data link": Command("data:link", (Argument("NAME"), Argument("DIR", "?", "path")), (JSON,)),
    "data verify": Command("data:verify", (Argument("NAME"),), (JSON,)),
    "data remove": Command("data:remove", (Argument("NAME"),), (Option("-y --yes"), JSON)),
    "rules check": Command("rules:check", (Argument("FILE", "?", "path"),), (JSON,)),
    "rules show": Command(
        "rules_shown:show", (Argument("VERSION", "?", "count"),), (Option("--text"), JSON)
    ),
    "rules diff": Command("rules_shown:diff", (Argument("FILE", "*", "path"),), (JSON,)),
    "rules history": Command(
        "rules_shown:history", options=(Option("-n --limit", "N", "count"), JSON)
    ),
    "rules try": Command(
        "rules_try:try_rules",
        (Argument("NEW", "1", "path"),),
        (
            Option("--since", "TIME"),
            Option("--restart-cost", "TIME", "cost"),
            Option("--checkpoint", "MODEL", "checkpoint"),
            Option("--html", "FILE", "path"),
            JSON,
        ),
    ),
    "replay": Command(
        "replay:replay",
        (Argument("TRACE", "?", "path"),),
        (
            Option("--since", "TIME"),
            Option("-s --servers", "NxGPUS"),
            Option("--rules", "FILE", "path"),
            Option("--against", "FILE", "path"),
            Option("-b --baseline", "ORDER", choices=BASELINES, repeat=True),
            Option("-e --estimates", "KIND", choices=("exact", "trace", "noisy")),
            Option("--seeds", "N", "count"),
            Option("--restart-cost", "TIME", "cost"),
            Option("--checkpoint", "MODEL", "checkpoint"),
            Option("--by", "KEY", choices=("user", "group", "class", "size"), repeat=True),
            Option("--format", "FORMAT", choices=("csv", "swf", "sacct")),
            Option("--html", "FILE", "path"),
            Option("--events", "FILE", "path"),
            JSON,
        ),
    ),
    "usage": Command(
        "usage:usage", options=(Option("--from", "WHEN"), Option("--to", "WHEN"), USER, JSON)
    ),
    "audit": Command(
        "audit:audit",
        (Argument("CHECK", "*"),),
        (
            Option("--check", "CHECK", choices=CHECKS, repeat=True),
            Option("--fix"),
            Option("--undo"),
            Option("-y --yes"),
            JSON,
        ),
    ),
    "audit log": Command("usage:audit_log", options=(Option("-n --limit", "N", "count"), JSON)),
    "user add": Command(
        "user:add",
        (Argument("NAME"),),
        (
            Option("--full-name", "NAME"),
            GROUP,
            Option("--ssh-key", "FILE", "path", repeat=True),
            Option("--disk-quota", "SIZE"),
            Option("--share", "N"),
            *_PLANNED,
        ),
    ),
    "user list": Command("user:listed", options=(JSON,)),
    "user show": Command("user:show", _PERSON, (JSON,)),
    "user disable": Command("user:leave", _PEOPLE, (Option("--end-jobs"), *_PLANNED)),
    "user enable": Command("user:leave", _PEOPLE, _PLANNED),
    "user remove": Command("user:leave", _PEOPLE, (Option("--end-jobs"), *_PLANNED)),
    "user restore": Command("user:leave", _PEOPLE, _PLANNED),
    "user import": Command("user_import:import_people", (Argument("FILE", "1", "path"),), _PLANNED),
    "token create": Command(
        "token:create",
        options=(
            Option("--name", "NAME"),
            Option("-s --scope", "SCOPE", choices=SCOPES, repeat=True),
            Option("--expires", "TIME", "duration"),
            JSON,
        ),
    ),
    "token list": Command("token:listed", options=(JSON,)),
    "token revoke": Command("token:revoke", (Argument("TOKEN", "+"),), (JSON,)),
    "notify show": Command("notify:show", options=(JSON,)),
    "notify set": Command(
        "notify:change",
        options=(
            Option("-t --topic", "TOPIC", repeat=True),
            Option("--as", "HOW", choices=("now", "digest", "off")),
            Option("-c --channel", "CHANNEL"),
            Option("--quiet", "HOURS"),
            Option("--digest-hour", "HOUR", "whole"),
            Option("--language", "LANGUAGE", choices=("en", "zh")),
            JSON,
        ),
    ),
    "notify add": Command("notify:add", options=(Option("--name", "NAME"), JSON)),
    "notify remove": Command("notify:remove", (Argument("CHANNEL", "+"),), (JSON,)),
    "notify test": Command("notify:test", (Argument("CHANNEL"),), (JSON,)),
    "notify list": Command("notify:listed", options=(Option("-n --limit", "N", "count"), JSON)),
    "motd": Command("motd:motd", options=(JSON,)),
    "driver release": Command("control:driver_release", options=(JSON,)),
    "driver hold": Command("control:driver_hold", options=(JSON,)),
    "serve": Command(
        "serve:serve",
        options=(
            Option("--simulate", "NxMODEL"),
            Option("--auto-simulate"),
            *_SERVED,
        ),
    ),
    "install": Command("install:install", options=(_DRY_RUN, _ROOT)),
    "uninstall": Command("install:uninstall", options=(_DRY_RUN, _ROOT, Option("--purge"))),
    "completions": Command("complete:completions", (Argument("SHELL", "1", "shell"),)),
    "version": Command("version:version", options=(JSON,)),
    "help": Command("help:help_command", (Argument("COMMAND", "*"),)),
    "agent": Command("serve:agent", (Argument("ARGUMENT", "*"),), raw=True),
    "server": Command("serve:server", options=_SERVED),
}
for _name, _command in COMMANDS.items():
    _command.name = _name

GROUPS = (
    ("see", ("status", "who", "top")),
    (
        "queue",
        ("run", "jobs", "show", "why", "logs", "wait", "cancel", "hold", "release", "requeue"),
    ),
    (
        "book",
        (
            *("book", "bookings", "book extend", "book move", "book end", "book cancel"),
            *("book give", "book swap", "book import", "book export", "book feed"),
        ),
    ),
    (
        "environments",
        (
            *("env create", "env list", "env show", "env lock", "env clone", "env share"),
            *("env remove", "env doctor"),
        ),
    ),
    (
        "notices",
        (
            *("notify show", "notify set", "notify add", "notify remove", "notify test"),
            *("notify list", "motd"),
        ),
    ),
    ("data", ("data add", "data list", "data show", *("data link", "data verify", "data remove"))),
    ("reach", ("token create", "token list", "token revoke")),
    (
        "operate",
        (
            *("free", "drain", "undrain", "driver release", "driver hold"),
            *("usage", "audit", "audit log"),
        ),
    ),
    (
        "people",
        (
            *("user add", "user import", "user list", "user show", "user disable"),
            *("user enable", "user remove", "user restore"),
        ),
    ),
    (
        "set_up",
        (
            *("serve", "rules check", "rules show", "rules diff", "rules history", "rules try"),
            *("replay", "install", "uninstall", "completions"),
        ),
    ),
    ("about", ("version", "help")),
)
