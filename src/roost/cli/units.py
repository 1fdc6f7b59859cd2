"""The files that `roost install` writes, as text: systemd units, account, folders. Pure.

The agent is root and outlives nothing but itself: KillMode=process, and jobs live in the delegated
cgroup of roost-jobs.service, so that restarting agent or server ends no job. The server has no
rights at all (systemd.exec(5); `systemd-analyze security roost-server`).
"""

from __future__ import annotations

UNITS = ("roost-jobs.service", "roost-agent.service", "roost-server.service")
STATE = "/var/lib/roost"
RUNTIME = "/run/roost"
SOCKET = f"{RUNTIME}/roost.sock"
RULES = "/etc/roost/rules.toml"
PAM_FOLDER = "/etc/pam.d"
PAM = f"{PAM_FOLDER}/roost"
HEAD = "# Written by `roost install`; changes go to {name}.d/*.conf (systemctl edit).\n"

SYSUSERS = f'u roost - "Roost server" {STATE} -\n'
TMPFILES = f"d {STATE} 1775 root roost -\nd {RUNTIME} 1775 root roost -\n"


# What stands in the folder tells the family of the system; none of them: PAM's `login` is used.
PAM_SERVICES = {
    "common-auth": "auth required pam_nologin.so\n@include common-auth\n@include common-account\n",
    "system-auth": (
        "auth required pam_nologin.so\nauth substack system-auth\n"
        "account required pam_nologin.so\naccount include system-auth\n"
    ),
}
PAM_HEAD = "# Written by `roost install` for signing in to the page; yours to change.\n"


def unit(name: str, python: str) -> str:
    """The text of one of UNITS; `python` is the interpreter that has Roost."""
    body = {
        "roost-jobs.service": _JOBS,
        "roost-agent.service": _AGENT,
        "roost-server.service": _SERVER,
    }[name]
    program = f"{_quoted(python)} -m roost"
    return HEAD.format(name=name) + body.replace("@ROOST@", program)


def _quoted(path: str) -> str:
    """A path as a word of ExecStart= (systemd.service(5), Command lines)."""
    escaped = path.replace("%", "%%").replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"' if escaped != path or " " in path else path


_JOBS = """[Unit]
Description=Roost: where the jobs of people live
Documentation=man:systemd.resource-control(5)

[Service]
Type=exec
# The keeper moves into a group of its own: a cgroup that gives controllers on holds no process.
ExecStart=/bin/sh -c 'for d in /sys/fs/cgroup /sys/fs/cgroup/*; do \\
  g=$$d/system.slice/roost-jobs.service; [ -w $$g/cgroup.procs ] && mkdir -p $$g/keeper \\
  && echo $$$$ > $$g/keeper/cgroup.procs; done 2>/dev/null; exec sleep infinity'
Delegate=yes
TasksMax=infinity
Restart=always
OOMPolicy=continue
# Jobs outlive the keeper: neither its end nor stopping this unit ends one.
KillMode=process
OOMScoreAdjust=-1000

[Install]
WantedBy=multi-user.target
"""

_AGENT = f"""[Unit]
Description=Roost agent: sees who uses the GPUs, runs people's jobs as themselves
Wants=roost-jobs.service
After=roost-jobs.service systemd-user-sessions.service remote-fs.target nvidia-persistenced.service
StartLimitIntervalSec=0

[Service]
Type=notify
ExecStart=@ROOST@ agent --state {STATE} --socket {SOCKET}
Restart=always
RestartSec=1
KillMode=process
Delegate=yes
TasksMax=infinity
LimitNOFILE=1048576
OOMScoreAdjust=-900
OOMPolicy=continue

[Install]
WantedBy=multi-user.target
"""

_SERVER = f"""[Unit]
Description=Roost server: rules, queue and API, without rights
Wants=roost-agent.service
After=roost-agent.service network.target
StartLimitIntervalSec=0

[Service]
Type=exec
User=roost
Group=roost
ExecStart=@ROOST@ server --state {STATE} --socket {SOCKET} --rules {RULES}
Restart=always
RestartSec=1
UMask=0077
NoNewPrivileges=yes
CapabilityBoundingSet=
AmbientCapabilities=
ProtectSystem=strict
ReadWritePaths={STATE} {RUNTIME}
ProtectHome=yes
PrivateTmp=yes
PrivateDevices=yes
ProtectKernelTunables=yes
ProtectKernelModules=yes
ProtectKernelLogs=yes
ProtectControlGroups=yes
ProtectClock=yes
ProtectHostname=yes
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallFilter=~@privileged
SystemCallErrorNumber=EPERM
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
OOMScoreAdjust=-500

[Install]
WantedBy=multi-user.target
"""
