#!/usr/bin/python3 -I
"""A program with the command line, the states and the failures of NVIDIA's cuda-checkpoint.

It stands in for it where there is no GPU. The state of each process is a file beside this one,
states/PID: "running", "locked", "checkpointed" or "failed". A process uses CUDA when it has a file
named nvidia-uvm open, as every CUDA program does. Like the real one it works through a thread in
the process: on one that is frozen or stopped, it waits for ever. `behaviour.json` beside it says
what goes wrong: {"ACTION": "HOW"} or {"ACTION PID": "HOW"}, with HOW "slow", "hang", "late",
"busy", "fail" or "spoil"; {"nccl": ""} has processes wait for each other. Each call is written to
`calls`.
"""

import json
import os
import sys
import time

HERE = os.path.dirname(os.path.realpath(__file__))
OPERATING_SYSTEM, ILLEGAL_STATE, NOT_INITIALIZED, NOT_READY, UNKNOWN = 304, 401, 3, 600, 999
WORDS = {
    OPERATING_SYSTEM: "OS call failed or operation not supported on this OS",
    ILLEGAL_STATE: "the operation cannot be performed in the present state",
    NOT_INITIALIZED: "initialization error",
    NOT_READY: "device not ready",
    UNKNOWN: "unknown error",
}


def fail(code):
    print(f'Could not do it: "{WORDS[code]}"')
    sys.exit(code & 0xFF)


def hang():
    while True:
        time.sleep(3600)


def arguments(words):
    given = {}
    words = list(words)
    while words:
        word = words.pop(0)
        if word in ("--get-state", "--toggle"):
            given[word] = True
        elif word in ("--action", "--pid", "--timeout"):
            given[word] = words.pop(0)
        else:
            print("unknown option " + word)
            sys.exit(1)
    return given


def uses_cuda(pid):
    folder = f"/proc/{pid}/fd"
    try:
        links = [os.readlink(f"{folder}/{name}") for name in os.listdir(folder)]
    except OSError:
        return False
    return any(link.endswith("nvidia-uvm") for link in links)


def stands(pid):
    """Frozen or stopped: its CUDA thread answers nobody."""
    with open(f"/proc/{pid}/stat") as file:
        if file.read().rsplit(")", 1)[1].split()[0] in "Tt":
            return True
    with open(f"/proc/{pid}/cgroup") as file:
        for line in file:
            number, names, path = line.rstrip("\n").split(":", 2)
            if path == "/":
                continue
            if number == "0":
                places = [f"/sys/fs/cgroup{m}{path}/cgroup.events" for m in ("", "/unified")]
            elif "freezer" in names.split(","):
                places = [f"/sys/fs/cgroup/freezer{path}/freezer.state"]
            else:
                continue
            for place in places:
                if os.path.exists(place):
                    with open(place) as events:
                        text = events.read()
                    if "frozen 1" in text or "FROZEN" in text:
                        return True
    return False


def state_of(pid):
    try:
        with open(f"{HERE}/states/{pid}") as file:
            return file.read()
    except FileNotFoundError:
        return "running"


def become(pid, state):
    with open(f"{HERE}/states/{pid}", "w") as file:
        file.write(state)


def others_locked(pid):
    return any(
        int(name) != pid and state_of(int(name)) in ("locked", "checkpointed")
        for name in os.listdir(HERE + "/states")
    )


def main():
    given = arguments(sys.argv[1:])
    pid = int(given["--pid"])
    action = "get-state" if "--get-state" in given else given["--action"]
    with open(HERE + "/calls", "a") as file:
        line = {"action": action, "pid": pid, "env": dict(os.environ), "argv": sys.argv[1:]}
        line.update(uid=os.getuid(), cwd=os.getcwd(), stands=stands(pid))
        file.write(json.dumps(line) + "\n")
    with open(HERE + "/behaviour.json") as file:
        behaviour = json.load(file)
    how = behaviour.get(f"{action} {pid}", behaviour.get(action, ""))
    if not uses_cuda(pid):
        fail(NOT_INITIALIZED)
    if stands(pid) or how == "hang":
        hang()
    if "nccl" in behaviour:
        while others_locked(pid):
            time.sleep(0.05)
    if action == "get-state":
        print(state_of(pid))
        return
    need = {"lock": "running", "checkpoint": "locked", "restore": "checkpointed"}
    after = {"lock": "locked", "checkpoint": "checkpointed", "restore": "locked"}
    state = state_of(pid)
    if action == "unlock":
        if state != "locked":
            fail(ILLEGAL_STATE)
        if how == "fail":
            fail(OPERATING_SYSTEM)
        become(pid, "running")
        return
    if state != need[action]:
        fail(ILLEGAL_STATE)
    if how == "busy":  # the work that was submitted does not end in time
        time.sleep(int(given.get("--timeout", "3600000")) / 1000)
        fail(NOT_READY)
    if how == "fail":  # of restore: for good, as with the real one
        if action == "restore":
            become(pid, "failed")
        fail(OPERATING_SYSTEM)
    if how == "spoil":  # managed memory was found: "does not attempt to keep it in a good state"
        become(pid, "failed")
        fail(UNKNOWN)
    if how == "slow":
        time.sleep(1.5)
    if how == "late":  # it is done, and the answer does not come
        become(pid, after[action])
        hang()
    become(pid, after[action])


main()
