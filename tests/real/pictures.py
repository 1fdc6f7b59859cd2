"""Takes the pictures of the page that stand in the documents: every view, in both languages, light
and dark, and on a phone. As root, in an environment for development:

    python -m tests.real.pictures docs/pictures/page

A lab's afternoon with simulated GPUs: real accounts, jobs, bookings and three weeks of a ledger.
The accounts are made for it and removed after; where one of them exists already nothing is done.
"""

from __future__ import annotations

import argparse
import base64
import os
import pwd
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from tests.real import rig
from tests.real.test_page import CHROMIUM, PASSWORD, ROOT, Look
from tests.real.test_page_team import seed
from tests.real.web_rig import free_port, set_password

ZONE = "Asia/Shanghai"
PEOPLE = {"alice": "vision", "bowen": "vision", "chen": "nlp", "dora": "nlp", "emil": "robotics"}
RULES = f"""\
time_zone = "{ZONE}"
operators = ["olga"]

[limits.per_user]
max_gpus = 6

[groups.vision]
members = ["alice", "bowen"]
share = 2

[groups.nlp]
members = ["chen", "dora"]
share = 2

[groups.robotics]
members = ["emil"]
"""
WIDE = {"viewport": {"width": 1366, "height": 800}}
PHONE = {"viewport": {"width": 390, "height": 844}, "is_mobile": True}
LANGUAGES = {"en": "en-GB", "zh": "zh-CN"}
SETTLE_S = 150  # the recent past that the sparklines draw
OPERATE = ("rules", "users", "drains", "audit", "health")


def local(days: int, hour: int) -> str:
    """An hour of a day, on the wall of the rules' zone."""
    at = datetime.now(ZoneInfo(ZONE)) + timedelta(days=days)
    return at.strftime(f"%Y-%m-%d {hour:02d}:00")


@contextmanager
def lab() -> Iterator[tuple[int, int]]:
    port = free_port()
    names = [*PEOPLE, "olga"]
    for name in names:
        with suppress(KeyError):
            pwd.getpwnam(name)
            sys.exit(f"an account {name} exists on this machine; pictures need it for themselves")
    words = ("--simulate", "8xH100", "--http", f"127.0.0.1:{port}", "--http-prefix", "/roost")
    with rig.accounts(*names, prefix="") as made:
        for account in made:
            set_password(account.name, PASSWORD)
        with rig.daemon(*words, rules=RULES) as roost:
            gpus = [gpu["uuid"] for gpu in roost.json("root", "status")["gpus"]]
            roost.stop()
            (path,) = roost.state.rglob("roost.db")
            seed(path, gpus, time.time(), PEOPLE)
            roost.start()
            waiting = afternoon(roost)
            time.sleep(SETTLE_S)
            yield waiting, port


def afternoon(roost: rig.Daemon) -> int:
    """Who runs, who waits, who has booked. The number of the last job, which waits."""
    for user, words in (
        ("alice", ("-g", "2", "--time", "6h", "--name", "segmentation")),
        ("chen", ("-g", "2", "--time", "20h", "--name", "pretrain-7b")),
        ("emil", ("-g", "1", "--time", "3h", "--name", "grasp-sim")),
        ("dora", ("-g", "1", "--time", "30m", "--name", "eval", "--class", "background")),
        ("bowen", ("-g", "4", "--time", "12h", "--name", "detector")),
        ("dora", ("-g", "4", "--time", "2h", "--name", "ablation")),
    ):
        waiting = roost.run(user, *words, "--", "sh", "-c", "echo epoch 1 loss 2.31; sleep 3000")
    for user, gpus, start, hours, purpose in (
        ("alice", 2, local(1, 9), "8h", "camera ready"),
        ("chen", 4, local(1, 20), "12h", "night run"),
        ("emil", 1, local(2, 10), "6h", "robot demo"),
        ("bowen", 2, local(2, 14), "4h", "rebuttal"),
        ("dora", 2, local(3, 9), "30h", "long eval"),
    ):
        words = ("-g", str(gpus), "--from", start, "--for", hours, "--purpose", purpose)
        roost.cli(user, "book", *words)
    roost.cli("olga", "book", "--maintenance", "--gpu", "7", "--from", local(2, 18), "--for", "3h",
              check=False)  # fmt: skip
    return waiting


def open_form(look: Look) -> None:
    look.page.get_by_role("button", name=_either("Book GPUs", "预约 GPU")).first.click()
    look.page.get_by_role("dialog").wait_for()


def submit_form(look: Look) -> None:
    look.page.get_by_role("button", name=_either("Submit a job", "提交作业")).click()
    look.page.get_by_role("dialog").wait_for()
    look.page.locator("[role=dialog] textarea").first.fill("python train.py --epochs 30")
    look.page.locator("[role=dialog] summary").click()
    look.page.locator("[role=dialog] textarea").nth(1).fill("WANDB_MODE=offline\nSEED=1")


def _either(*words: str) -> re.Pattern[str]:
    return re.compile("^(" + "|".join(words) + ")$")


VIEWS: dict[str, tuple[str, Callable[[Look], None] | None]] = {
    "now": ("", None),
    "gpu": ("gpus/0", None),
    "calendar": ("calendar", None),
    "book": (f"calendar/day/{local(1, 0)[:10]}", open_form),
    "queue": ("queue", None),
    "submit": ("queue", submit_form),
    "job": ("jobs/{running}", None),
    "why": ("jobs/{waiting}", None),
    "team": ("team", None),
    "me": ("me", None),
}


def shoot(look: Look, path: Path) -> None:
    """As WebP, a quarter of a PNG's size, which the driver's own call for pictures cannot make."""
    session = look.context.new_cdp_session(look.page)
    wanted = {"format": "webp", "quality": 85}
    path.write_bytes(base64.b64decode(session.send("Page.captureScreenshot", wanted)["data"]))
    session.detach()
    print(path.name, flush=True)


def take(look: Look, folder: Path, ending: str, user: str, waiting: int) -> None:
    look.page.goto("")
    look.page.wait_for_selector("input[name=user]")
    if user != "olga":
        shoot(look, folder / f"sign-in-{ending}.webp")
    look.sign_in(user)
    look.page.wait_for_selector("[data-gpu]")
    views = VIEWS if user != "olga" else {f"operate-{p}": (f"operate/{p}", None) for p in OPERATE}
    for name, (address, act) in views.items():
        look.page.goto(address.format(running=waiting - 5, waiting=waiting))
        look.page.wait_for_selector("main h1")
        look.page.wait_for_timeout(900)
        if act:
            act(look)
            look.page.wait_for_timeout(700)
        shoot(look, folder / f"{name}-{ending}.webp")


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("folder", type=Path)
    reader.add_argument("--language", choices=LANGUAGES, help="in this one alone")
    given = reader.parse_args()
    folder: Path = given.folder
    languages = {given.language: LANGUAGES[given.language]} if given.language else LANGUAGES
    if os.geteuid() != 0 or CHROMIUM is None:
        sys.exit("pictures need root (accounts of the machine) and chromium")
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run([sys.executable, ROOT / "hatch_build.py"], check=True)
    from playwright.sync_api import sync_playwright

    with lab() as (waiting, port), sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for short, locale in languages.items():
            looks: dict[str, dict[str, Any]] = {
                f"{short}-light": {**WIDE, "color_scheme": "light"},
                f"{short}-dark": {**WIDE, "color_scheme": "dark"},
                f"{short}-phone": PHONE,
            }
            for ending, options in looks.items():
                for user in ("alice", "olga"):
                    look = Look(browser, port, locale=locale, timezone_id=ZONE, **options)
                    take(look, folder, ending, user, waiting)
                    look.context.close()
        browser.close()


if __name__ == "__main__":
    main()
