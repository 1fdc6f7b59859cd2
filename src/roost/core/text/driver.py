"""What is said of the GPU driver and of a card that does not work, each with its remedy.

Codes are the values of DriverState, `gpu_` and GpuState, and what else a DriverReading may name as
its `remedy_code`. No sentence needs a number; the reading's `detail` says what exactly was seen.
"""

from __future__ import annotations

MESSAGES: dict[str, tuple[str, str]] = {
    "ok": (
        "The driver answers.",
        "驱动工作正常。",
    ),
    "simulated": (
        "The GPUs are simulated: no card is behind them.",
        "当前为模拟 GPU，没有真实显卡。",
    ),
    "no_library": (
        "No NVIDIA library (libnvidia-ml.so.1) is installed. On a machine with NVIDIA GPUs "
        "install the driver; without GPUs run `roost serve --simulate 8xA100`.",
        "未安装 NVIDIA 库（libnvidia-ml.so.1）。有 NVIDIA GPU 的机器请安装驱动；没有 GPU 的机器"
        "可运行 `roost serve --simulate 8xA100`。",
    ),
    "not_loaded": (
        "The NVIDIA kernel driver is not loaded. Load it with `modprobe nvidia`; if that fails,"
        " see `dmesg` and whether the driver was built for the running kernel. Roost tries "
        "again by itself.",
        "NVIDIA 内核驱动未加载。请运行 `modprobe nvidia`；若失败，请查看 `dmesg`，并确认驱动与"
        "当前内核匹配。Roost 会自动重试。",
    ),
    "version_mismatch": (
        "The NVIDIA library and the loaded kernel driver are of different versions: the driver "
        "was updated while it was in use. Jobs that run go on, new ones cannot use a GPU. "
        "Reload the kernel modules once no process holds a GPU, or reboot.",
        "NVIDIA 库与已加载的内核驱动版本不一致：驱动在使用中被更新。正在运行的作业不受影响，新"
        "作业无法使用 GPU。请在没有进程占用 GPU 时重新加载内核模块，或重启机器。",
    ),
    "update_pending": (
        "The NVIDIA library on disk was replaced by another version than the running driver: "
        "what runs goes on, but every newly started GPU program will fail until the kernel "
        "modules are reloaded or the machine is rebooted.",
        "磁盘上的 NVIDIA 库已被替换，与正在运行的驱动版本不同：运行中的程序不受影响，但新启动的"
        " GPU 程序都会失败，直到重新加载内核模块或重启机器。",
    ),
    "reloading": (
        "The driver is being reloaded; Roost takes it up again by itself.",
        "驱动正在重新加载；完成后 Roost 会自动恢复。",
    ),
    "starting": (
        "The driver is being initialised; without nvidia-persistenced this takes seconds for "
        "each card.",
        "正在初始化驱动；若未启用 nvidia-persistenced，每张卡需要数秒。",
    ),
    "not_answering": (
        "The driver does not answer. What runs goes on, nothing new is started on these GPUs; "
        "Roost keeps trying. See `dmesg` for Xid messages; if it stays, drain the server and "
        "reboot.",
        "驱动没有响应。运行中的作业不受影响，但不会在这些 GPU 上启动新作业；Roost 会持续重试。"
        "请查看 `dmesg` 中的 Xid 信息；若一直如此，请清空作业后重启服务器。",
    ),
    "unkillable": (
        "A call into the driver hangs in the kernel and cannot be ended. Roost waits for it "
        "and starts no second one. See `dmesg`; if it stays, only a reboot helps.",
        "对驱动的一次调用卡在内核中，无法终止。Roost 会等待它返回，不会再启动第二个。请查看 "
        "`dmesg`；若一直如此，只能重启机器。",
    ),
    "released": (
        "Roost has let go of the driver so that a GPU can be reset or MIG changed; nothing is "
        "measured until it takes it up again.",
        "Roost 已释放驱动，以便重置 GPU 或更改 MIG；重新使用驱动之前没有读数。",
    ),
    "error": (
        "The driver gives an error that Roost does not know a remedy for. Compare with "
        "`nvidia-smi` and see `dmesg`.",
        "驱动返回了未知错误。请与 `nvidia-smi` 的结果对照，并查看 `dmesg`。",
    ),
    "gpu_ok": (
        "in order",
        "正常",
    ),
    "gpu_lost": (
        "The GPU has fallen off the bus. Its jobs are lost; the other GPUs go on. Reset it "
        "with `nvidia-smi -r -i GPU`, else reboot; if it happens again, have the card, its "
        "power and its slot checked.",
        "GPU 已从总线上掉线。其上的作业已丢失，其他 GPU 不受影响。请用 `nvidia-smi -r -i GPU` "
        "重置，否则重启；若再次发生，请检查显卡、供电和插槽。",
    ),
    "gpu_reset_required": (
        "The GPU needs a reset. Drain it, end what holds it, then `nvidia-smi -r -i GPU`, or "
        "reboot where it says so.",
        "GPU 需要重置。请先停用（roost drain）并结束占用它的进程，再运行 `nvidia-smi -r -i GPU`；"
        "若提示需要，请重启机器。",
    ),
    "gpu_not_answering": (
        "The GPU does not answer; the others go on. Roost tries it again from time to time. "
        "See `dmesg` for Xid messages.",
        "该 GPU 没有响应，其他 GPU 不受影响。Roost 会不时重试。请查看 `dmesg` 中的 Xid 信息。",
    ),
    "gpu_no_permission": (
        "Roost may not open this GPU: its device file or a device cgroup refuses it. Run the "
        "agent as root outside of containers.",
        "Roost 无权打开该 GPU：设备文件或设备 cgroup 拒绝访问。请在容器外以 root 运行 agent。",
    ),
    "gpu_missing": (
        "The GPU was here before and is not listed any more. See `lspci` and `dmesg`; if it "
        "was taken out, restart Roost to forget it.",
        "该 GPU 之前存在，现在已不在列表中。请查看 `lspci` 和 `dmesg`；若已拆除，重启 Roost 即"
        "可移除记录。",
    ),
    "gpu_error": (
        "A reading of the GPU gives an error; what else it says is shown. See `dmesg` for Xid "
        "messages.",
        "读取该 GPU 时出错，其余读数照常显示。请查看 `dmesg` 中的 Xid 信息。",
    ),
}
