"""`python -m benchmarks.shell`: what one command costs from the shell, beside Slurm's and gflow's.

Starts a Roost of its own on simulated GPUs; as root, with a test account. Slurm and gflow are
measured where they are installed and their daemons answer; `benchmarks.queue` starts them itself.
"""

from __future__ import annotations

import argparse
import os
import pwd
import shutil
import statistics
import subprocess
import sys
import time

from tests.real.rig import accounts, daemon, readable_python

TIMES = 60


def cost(words: list[str], env: dict[str, str], user: str, times: int) -> tuple[float, float, int]:
    """(median wall ms, median CPU ms, failures) of starting the program, seen by its parent."""
    entry = pwd.getpwnam(user)
    wall, cpu, failed = [], [], 0
    for _ in range(times):
        began = time.perf_counter()
        pid = os.fork()
        if pid == 0:
            null = os.open("/dev/null", os.O_RDWR)
            for descriptor in (0, 1, 2):
                os.dup2(null, descriptor)
            os.chdir(entry.pw_dir)
            os.initgroups(user, entry.pw_gid)
            os.setgid(entry.pw_gid)
            os.setuid(entry.pw_uid)
            os.execve(words[0], words, env)
        _, status, used = os.wait4(pid, 0)
        wall.append(time.perf_counter() - began)
        cpu.append(used.ru_utime + used.ru_stime)
        failed += status != 0
    return statistics.median(wall) * 1e3, statistics.median(cpu) * 1e3, failed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=TIMES)
    times = parser.parse_args().times
    python = readable_python()
    code = (
        "import compileall, roost; compileall.compile_dir(roost.__path__[0], quiet=1, force=True)"
    )
    subprocess.run([python, "-c", code], check=True)  # as pip does when it installs
    with accounts("shell", prefix="rbench-") as (person,), daemon() as running:
        program = running.state / "roost"  # what pip writes when it installs
        program.write_text(f"#!{python}\nfrom roost.cli.main import main\nmain()\n")
        program.chmod(0o755)
        start = [str(program)]
        env = {
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "HOME": str(person.home),
            "USER": person.name,
            "LANG": "C.UTF-8",
            "ROOST_SOCKET": str(running.socket),
        }
        rows = [
            ("python -c pass", [python, "-c", "pass"]),
            ("python, argparse", [python, "-c", "import argparse"]),
            ("python, http.client, json", [python, "-c", "import http.client, json"]),
            ("roost run", [*start, "run", "--hold", "--", "/bin/true"]),
            ("roost status", [*start, "status"]),
            ("roost jobs", [*start, "jobs", "--limit", "10"]),
            ("roost why", [*start, "why", "1"]),
        ]
        for name, words in (
            ("sbatch", ["sbatch", "--hold", "--wrap", "true"]),
            ("squeue", ["squeue"]),
            ("gbatch", ["gbatch", "--", "true"]),
            ("gqueue", ["gqueue"]),
        ):
            found = shutil.which(name)
            if found:
                rows.append((name, [found, *words[1:]]))
        print(f"{'':28} {'wall ms':>8} {'CPU ms':>8}")
        for name, words in rows:
            wall, cpu, failed = cost(words, env, person.name, times)
            if failed:
                print(f"{name:28} {'–':>8} {'–':>8}  failed {failed} of {times}")
            else:
                print(f"{name:28} {wall:8.1f} {cpu:8.1f}")


if __name__ == "__main__":
    sys.exit(main())
