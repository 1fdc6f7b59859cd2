"""Every form of cgroup path that engines, Slurm, systemd and Roost are known to write."""

from __future__ import annotations

import pytest

from roost.core.observation import Place
from roost.machine.place import (
    cgroup_shown,
    kernel_of,
    place_of_cgroup,
    place_of_process,
    tmux_of,
)

ID = "4f" * 32
POD = "1b2c3d4e-0000-4a5b-8c6d-0123456789ab"
POD_ = POD.replace("-", "_")


def docker(**more: object) -> Place:
    return Place(container_id=ID, container_engine="docker", **more)  # type: ignore[arg-type]


CASES: list[tuple[str, str, Place]] = [
    ("docker, cgroupfs", f"0::/docker/{ID}", docker()),
    ("docker, systemd", f"0::/system.slice/docker-{ID}.scope", docker()),
    ("docker inside docker: the outer one", f"0::/docker/{ID}/docker/{'ab' * 32}", docker()),
    ("docker v1", f"12:devices:/docker/{ID}\n1:name=systemd:/docker/{ID}", docker()),
    (
        "docker rootless",
        f"0::/user.slice/user-1000.slice/user@1000.service/user.slice/docker-{ID}.scope",
        docker(),
    ),
    (
        "podman, root",
        f"0::/machine.slice/libpod-{ID}.scope/container",
        Place(container_id=ID, container_engine="podman"),
    ),
    (
        "podman, rootless",
        "0::/user.slice/user-1000.slice/user@1000.service/user.slice/"
        f"user-libpod_pod.slice/libpod-{ID}.scope",
        Place(container_id=ID, container_engine="podman"),
    ),
    (
        "podman, cgroupfs",
        f"0::/libpod_parent/libpod-{ID}",
        Place(container_id=ID, container_engine="podman"),
    ),
    (
        "podman's monitor is not in the container",
        f"0::/machine.slice/libpod-conmon-{ID}.scope",
        Place(systemd_unit=f"libpod-conmon-{ID}.scope"),
    ),
    (
        "containerd, systemd",
        f"0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod{POD_}.slice/"
        f"cri-containerd-{ID}.scope",
        Place(container_id=ID, container_engine="containerd", pod=POD),
    ),
    (
        "containerd, under its service",
        f"0::/system.slice/containerd.service/kubepods-pod{POD_}.slice:cri-containerd:{ID}",
        Place(container_id=ID, container_engine="containerd", pod=POD),
    ),
    (
        "kubernetes, cgroupfs v1",
        f"11:memory:/kubepods/besteffort/pod{POD}/{ID}",
        Place(container_id=ID, container_engine="kubernetes", pod=POD),
    ),
    (
        "cri-o",
        f"0::/kubepods.slice/kubepods-pod{POD_}.slice/crio-{ID}.scope",
        Place(container_id=ID, container_engine="crio", pod=POD),
    ),
    (
        "nerdctl",
        f"0::/system.slice/nerdctl-{ID}.scope",
        Place(container_id=ID, container_engine="containerd"),
    ),
    (
        "lxc",
        "0::/lxc.payload.gpu box/init.scope",
        Place(container_id="gpu box", container_engine="lxc"),
    ),
    ("lxc, old", "4:memory:/lxc/web", Place(container_id="web", container_engine="lxc")),
    (
        "nspawn",
        "0::/machine.slice/systemd-nspawn@deb.service/payload",
        Place(container_id="deb", container_engine="nspawn"),
    ),
    (
        "a machine of libvirt",
        "0::/machine.slice/machine-qemu\\x2d1\\x2dvm.scope/libvirt/emulator",
        Place(container_id="qemu-1-vm", container_engine="libvirt"),
    ),
    (
        "Slurm v1",
        "8:devices:/slurm/uid_1000/job_4711/step_0/task_0",
        Place(slurm_job="4711"),
    ),
    (
        "Slurm v1, several daemons",
        "8:devices:/slurm_node3/uid_1000/job_4711/step_batch",
        Place(slurm_job="4711"),
    ),
    (
        "Slurm v2",
        "0::/system.slice/slurmstepd.scope/job_4711/step_0/user/task_0",
        Place(slurm_job="4711", systemd_unit="slurmstepd.scope"),
    ),
    (
        "Slurm v2, node name",
        "0::/system.slice/node3_slurmstepd.scope/job_4711/step_0",
        Place(slurm_job="4711", systemd_unit="node3_slurmstepd.scope"),
    ),
    (
        "Slurm 26.05, SLUID",
        "0::/system.slice/slurmstepd.scope/s5K1QW2E3R4T5Y/step_0/user",
        Place(slurm_job="s5K1QW2E3R4T5Y", systemd_unit="slurmstepd.scope"),
    ),
    (
        "Slurm, a form that is not known",
        "0::/system.slice/slurmstepd.scope/what-is-this/step_0",
        Place(slurm_job="?", systemd_unit="slurmstepd.scope"),
    ),
    (
        "Slurm's own",
        "0::/system.slice/slurmstepd.scope/system/x",
        Place(systemd_unit="slurmstepd.scope"),
    ),
    ("a service", "0::/system.slice/ssh.service", Place(systemd_unit="ssh.service")),
    (
        "a login session",
        "0::/user.slice/user-1000.slice/session-37.scope",
        Place(login_session="37"),
    ),
    (
        "a graphical session",
        "0::/user.slice/user-1000.slice/session-c2.scope",
        Place(login_session="c2"),
    ),
    (
        "a person's own unit",
        "0::/user.slice/user-1000.slice/user@1000.service/app.slice/jupyter.service",
        Place(systemd_unit="jupyter.service"),
    ),
    (
        "a Roost job",
        "0::/system.slice/roost-agent.service/roost/jobs/job_42.0",
        Place(systemd_unit="roost-agent.service", roost_job=42, roost_attempt=0),
    ),
    (
        "a Roost job's subgroup",
        "7:devices:/roost/job_42.3/inner",
        Place(roost_job=42, roost_attempt=3),
    ),
    (
        "a false Roost job in a container",
        f"0::/docker/{ID}/roost/job_42.0",
        docker(),
    ),
    (
        "a false Roost job in a person's own manager",
        "0::/user.slice/user-1000.slice/user@1000.service/roost/job_42.0",
        Place(systemd_unit="user@1000.service"),
    ),
    ("nothing", "0::/", Place()),
    ("no cgroups at all", "", Place()),
    ("from inside a namespace", "0::/../../x", Place()),
]


@pytest.mark.parametrize(("text", "place"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_the_path_tells_the_place(text: str, place: Place) -> None:
    assert place_of_cgroup(text.encode()) == place


def test_only_the_agent_s_own_cgroup_holds_roost_jobs_where_it_is_known() -> None:
    base = (b"/system.slice/roost-agent.service",)
    own = place_of_cgroup(b"0::/system.slice/roost-agent.service/roost/jobs/job_7.1/x", base)
    other = place_of_cgroup(b"0::/user.slice/evil.scope/roost/jobs/job_7.1", base)
    assert (own.roost_job, own.roost_attempt) == (7, 1)
    assert other.roost_job is None


def test_bytes_of_any_kind_do_no_harm() -> None:
    place = place_of_cgroup(b"0::/lxc.payload.\xff\x1b[31m\n1:x\n::::\n0")
    assert place.container_id == "\\xff\\x1b[31m"


def test_the_shown_cgroup_is_the_one_that_tells_most() -> None:
    assert cgroup_shown(b"5:devices:/a\n1:name=systemd:/b\n0::/c") == "/c"
    assert cgroup_shown(b"5:devices:/a\n1:name=systemd:/b\n0::/") == "/b"
    assert cgroup_shown(b"0::/") == "/"
    assert cgroup_shown(b"") is None


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (b"/tmp/tmux-1000/default,1234,0", "default:0"),
        (b"/run/a,b/work,1,12", "work:12"),
        (b"nonsense", None),
        (b"", None),
        (None, None),
    ],
)
def test_tmux(value: bytes | None, shown: str | None) -> None:
    assert tmux_of(value) == shown


def test_jupyter_kernels_are_known_by_their_connection_file() -> None:
    argv = ("python", "-m", "ipykernel_launcher", "-f", "/r/kernel-1f2e-33.json")
    assert kernel_of(argv) == "1f2e-33"
    assert kernel_of(("R", "--args", "kernel-1f2e.json")) is None
    assert kernel_of(("python", "train.py")) is None


def test_the_audit_session_counts_where_no_scope_does() -> None:
    assert place_of_process(Place(), (), None, 12).login_session == "12"
    assert place_of_process(Place(), (), None, 4294967295).login_session is None
    assert place_of_process(Place(login_session="3"), (), None, 12).login_session == "3"
