"""What is said of holders, rights, and memory without an owner: 22 reasons with sign and remedy.

`reason_*` names it, `sign_*` says what was seen, `remedy_*` what frees the memory, `check_*` what a
check that did not apply has shown.
"""

from __future__ import annotations

MESSAGES: dict[str, tuple[str, str]] = {
    # -- the reasons by name
    "reason_driver_reserved": ("kept by the driver itself", "驱动自身保留"),
    "reason_context_overhead": ("overhead of the driver", "驱动开销"),
    "reason_graphics": ("desktop or display", "桌面或显示输出"),
    "reason_other_pid_namespace": (
        "process in another pid namespace",
        "进程位于其他 PID 命名空间",
    ),
    "reason_container": ("process in a container", "容器内的进程"),
    "reason_worker_of_dead_parent": (
        "worker whose parent is dead",
        "父进程已退出的残留子进程",
    ),
    "reason_zombie_leader": (
        "main thread ended, other threads live",
        "主线程已退出，其余线程仍在运行",
    ),
    "reason_zombie_parent_not_reaping": (
        "ended process not reaped by its parent",
        "已结束的进程未被父进程回收",
    ),
    "reason_uninterruptible": ("hangs in the kernel", "进程卡在内核中（D 状态）"),
    "reason_stopped": ("stopped or frozen", "进程已暂停或被冻结"),
    "reason_mps_server": ("MPS server", "MPS 服务进程"),
    "reason_cuda_ipc": ("memory shared by CUDA IPC", "通过 CUDA IPC 共享的显存"),
    "reason_uvm_managed": ("managed memory (UVM)", "统一内存（UVM）"),
    "reason_no_context_client": (
        "has the GPU open without computing on it",
        "打开了 GPU 但没有创建上下文",
    ),
    "reason_fd_in_flight": (
        "open file under way in a socket",
        "文件描述符滞留在套接字队列中",
    ),
    "reason_kernel_holder": ("held by a part of the driver", "被驱动组件占用"),
    "reason_checkpointed": ("suspended by a checkpoint", "已被检查点挂起"),
    "reason_just_exiting": ("just being given back", "刚退出，显存正在释放"),
    "reason_gpu_as_numa_node": (
        "GPU memory serves as system memory",
        "显存被用作系统内存（NUMA 节点）",
    ),
    "reason_passed_to_vm": ("given to a virtual machine", "已直通给虚拟机"),
    "reason_ecc_scrub": ("memory check at start (ECC)", "启动时的 ECC 显存检查"),
    "reason_unexplained": ("unexplained", "原因不明"),
    # -- what was seen
    "sign_reserved_unknown": (
        "the driver does not tell its reserve apart from memory used, and no process is here",
        "驱动没有单独报告保留显存，且 GPU 上没有进程",
    ),
    "sign_overhead": (
        "as much as {contexts} contexts take beside what processes are charged",
        "相当于 {contexts} 个上下文在进程显存之外的正常开销",
    ),
    "sign_baseline": (
        "as much as this GPU uses with nobody on it",
        "与该 GPU 空闲时的基线用量相当",
    ),
    "sign_display": (
        "a display or a graphics process is on this GPU",
        "该 GPU 上有显示输出或图形进程",
    ),
    "sign_graphics": (
        "pid {pid} draws on this GPU and computes nothing",
        "进程 {pid} 只在该 GPU 上做图形绘制",
    ),
    "sign_own_namespace": (
        "Roost's agent does not run in the machine's own pid namespace, and the driver hides "
        "processes outside of it",
        "Roost agent 不在主机的 PID 命名空间中，驱动不会报告命名空间外的进程",
    ),
    "sign_namespace_pid": (
        "the driver says pid {pid}, which is how pid {heir} is called inside its container",
        "驱动报告的 PID {pid} 是进程 {heir} 在其容器内的编号",
    ),
    "sign_container": (
        "pid {pid} in a container holds this GPU, and the driver does not name it",
        "容器内的进程 {pid} 持有该 GPU，但驱动没有列出它",
    ),
    "sign_dead_parent": (
        "pid {pid} ({name} of {user}) is dead; its worker {heir} still has GPU {gpu} open",
        "进程 {pid}（{user} 的 {name}）已退出，其子进程 {heir} 仍打开着 GPU {gpu}",
    ),
    "sign_dead_unknown": (
        "the driver names pid {pid}, which does not exist; pid {heir} has GPU {gpu} open without "
        "being named",
        "驱动报告的进程 {pid} 已不存在，而未被列出的进程 {heir} 打开着 GPU {gpu}",
    ),
    "sign_reused_pid": (
        "pid {pid} in the driver's list is dead, its number now belongs to a process of {other} "
        "that has nothing to do with it; pid {heir} has GPU {gpu} open",
        "驱动列表中的进程 {pid} 已退出，该编号现属于 {other} 的无关进程；"
        "实际打开 GPU {gpu} 的是进程 {heir}",
    ),
    "sign_zombie_parent": (
        "pid {pid} has ended and is not reaped; its worker {heir} still has GPU {gpu} open",
        "进程 {pid} 已结束但未被回收，其子进程 {heir} 仍打开着 GPU {gpu}",
    ),
    "sign_unnamed_holder": (
        "pid {pid} has this GPU open, the driver does not name it, and memory is without an owner",
        "进程 {pid} 打开着该 GPU 但未被驱动列出，同时有显存无人认领",
    ),
    "sign_many_candidates": (
        "{count} processes of several people have this GPU open without being named, pid {pid} "
        "among them",
        "有 {count} 个属于不同用户的进程（包括 {pid}）打开着该 GPU，但都未被驱动列出",
    ),
    "sign_zombie_leader": (
        "the main thread of pid {pid} has ended (it shows as defunct), {threads} threads are left",
        "进程 {pid} 的主线程已退出（显示为 defunct），仍剩 {threads} 个线程",
    ),
    "sign_not_reaped": (
        "pid {pid} has ended, its parent {parent} has not reaped it",
        "进程 {pid} 已结束，父进程 {parent} 尚未回收它",
    ),
    "sign_uninterruptible": (
        "pid {pid} waits in the kernel and cannot be ended (in {wchan})",
        "进程 {pid} 在内核中等待，无法结束（位于 {wchan}）",
    ),
    "sign_stopped": ("pid {pid} is stopped (SIGSTOP)", "进程 {pid} 已暂停（SIGSTOP）"),
    "sign_frozen": ("the cgroup of pid {pid} is frozen", "进程 {pid} 所在的 cgroup 已被冻结"),
    "sign_mps_server": (
        "pid {pid} is an MPS server: it holds the memory of its clients",
        "进程 {pid} 是 MPS 服务进程，替其客户端持有显存",
    ),
    "sign_cuda_ipc": (
        "the processes' figures add up to {overlap} bytes more than is used: they share memory",
        "各进程显存之和比实际用量多 {overlap} 字节，说明它们共享显存",
    ),
    "sign_ipc_importer": (
        "a process of the same family is dead and pid {pid} may still have its memory mapped",
        "同组的一个进程已退出，进程 {pid} 可能仍映射着它的显存",
    ),
    "sign_uvm": (
        "pid {pid} uses managed memory, which the driver charges to nobody",
        "进程 {pid} 使用统一内存，驱动不会把它计入任何进程",
    ),
    "sign_no_context_client": (
        "pid {pid} has the device open but no memory on it",
        "进程 {pid} 打开了设备，但没有占用显存",
    ),
    "sign_fd_in_flight": (
        "{count} open files wait unreceived in a socket of pid {pid}; such a file keeps GPU memory",
        "进程 {pid} 的套接字中有 {count} 个未接收的文件描述符，它们会使显存一直被占用",
    ),
    "sign_kernel_holder": (
        "{name} (pid {pid}) is a part of the driver",
        "{name}（进程 {pid}）属于驱动组件",
    ),
    "sign_checkpointed": (
        "pid {pid} gave its GPU memory back and grew by {grown} bytes of host memory",
        "进程 {pid} 释放了显存，同时主机内存增加了 {grown} 字节",
    ),
    "sign_shrinking": ("it has shrunk within the last seconds", "最近几秒内正在减少"),
    "sign_just_ended": (
        "a process on this GPU ended {seconds} s ago",
        "{seconds} 秒前该 GPU 上有进程退出",
    ),
    "sign_numa": (
        "the memory of this GPU is a NUMA node of the machine",
        "该 GPU 的显存是本机的一个 NUMA 节点",
    ),
    "sign_vm": (
        "the GPU is bound to vfio-pci, the driver of virtual machines",
        "该 GPU 已绑定到 vfio-pci（虚拟机直通驱动）",
    ),
    "sign_scrub": (
        "{percent} % utilisation without any process",
        "没有任何进程，但利用率为 {percent} %",
    ),
    "sign_unexplained": (
        "{bytes} bytes that no process, file or rule accounts for",
        "有 {bytes} 字节显存找不到对应的进程、文件或规则",
    ),
    # -- what frees it
    "remedy_driver_reserved": (
        "Nothing to do: it is the driver's own and nobody is charged for it.",
        "无需处理：这是驱动自身的保留显存，不计入任何人。",
    ),
    "remedy_context_overhead": (
        "Nothing to do: it goes with the processes; the base stays while the driver is loaded.",
        "无需处理：随进程退出而释放；基线部分在驱动加载期间一直存在。",
    ),
    "remedy_graphics": (
        "Log out of the desktop, or `systemctl isolate multi-user.target` to do without one.",
        "注销桌面会话，或执行 `systemctl isolate multi-user.target` 关闭图形界面。",
    ),
    "remedy_other_pid_namespace": (
        "Run Roost's agent on the machine itself, not in a container; then `roost who` names it.",
        "请在主机上（而非容器内）运行 Roost agent，之后 `roost who` 会给出占用者。",
    ),
    "remedy_container": (
        "`roost free {gpu}`, or stop the container by its id.",
        "执行 `roost free {gpu}`，或按容器 ID 停止该容器。",
    ),
    "remedy_worker_of_dead_parent": (
        "`roost free {gpu}` ends the workers that are left (first pid {pid}) and checks that the "
        "memory comes back.",
        "执行 `roost free {gpu}` 结束残留的子进程（首个为 {pid}），并确认显存已归还。",
    ),
    "remedy_zombie_leader": (
        "`roost free {gpu}`: SIGKILL to pid {pid} ends the threads that are left.",
        "执行 `roost free {gpu}`：向进程 {pid} 发送 SIGKILL 即可结束剩余线程。",
    ),
    "remedy_zombie_parent_not_reaping": (
        "End or restart the parent, pid {pid}: only it can reap the process.",
        "结束或重启父进程 {pid}：只有它能回收该进程。",
    ),
    "remedy_uninterruptible": (
        "It cannot be ended: bring back the file server it waits for; else drain and reset the "
        "GPU; reboot as the last step.",
        "无法直接结束：先恢复它等待的文件服务器；否则清空作业后重置 GPU；最后才考虑重启。",
    ),
    "remedy_stopped": (
        "Let it go on (`kill -CONT {pid}`, or thaw its cgroup), or `roost free {gpu}`.",
        "恢复运行（`kill -CONT {pid}` 或解冻其 cgroup），或执行 `roost free {gpu}`。",
    ),
    "remedy_mps_server": (
        "End its clients first, then the server (`echo quit | nvidia-cuda-mps-control`).",
        "先结束其客户端，再停止服务（`echo quit | nvidia-cuda-mps-control`）。",
    ),
    "remedy_cuda_ipc": (
        "It goes when the last process that shares it ends.",
        "最后一个共享它的进程退出后即释放。",
    ),
    "remedy_uvm_managed": ("It goes with pid {pid}.", "进程 {pid} 退出后即释放。"),
    "remedy_no_context_client": (
        "Usually harmless; it keeps the GPU from being reset until pid {pid} ends.",
        "通常无害；但在进程 {pid} 退出之前无法重置该 GPU。",
    ),
    "remedy_fd_in_flight": (
        "Restart the program behind pid {pid}, or the unit that stores the descriptor.",
        "重启进程 {pid} 对应的程序，或保存该描述符的系统服务。",
    ),
    "remedy_kernel_holder": (
        "Nothing to do: it is meant to be there.",
        "无需处理：属于正常情况。",
    ),
    "remedy_checkpointed": (
        "Resume it (`cuda-checkpoint --toggle --pid {pid}`) when the GPU is free.",
        "GPU 空闲后恢复它（`cuda-checkpoint --toggle --pid {pid}`）。",
    ),
    "remedy_just_exiting": (
        "Wait some seconds: the driver is giving it back.",
        "稍等几秒：驱动正在归还显存。",
    ),
    "remedy_gpu_as_numa_node": (
        "The kernel takes its pages back when it needs to; drop caches to hurry it.",
        "内核会在需要时回收这些页面；也可清理页缓存加速回收。",
    ),
    "remedy_passed_to_vm": (
        "Stop the virtual machine, then bind the GPU to the nvidia driver again.",
        "停止虚拟机，再把 GPU 重新绑定到 nvidia 驱动。",
    ),
    "remedy_ecc_scrub": ("Wait: it ends by itself.", "请稍候：会自行结束。"),
    "remedy_unexplained": (
        "In this order, each harder on others than the one before: reset GPU {gpu} "
        "(`nvidia-smi -r -i {gpu}`; nobody may use it, with NVSwitch none of the board), reload "
        "the driver (ends every GPU process here), reboot (ends everything).",
        "按影响从小到大依次尝试：重置 GPU {gpu}（`nvidia-smi -r -i {gpu}`；需无人使用，"
        "有 NVSwitch 时整块基板都需空闲）、重新加载驱动（会结束本机全部 GPU 进程）、"
        "重启服务器（会结束一切）。",
    ),
    # -- what a check that did not apply has shown
    "check_driver_reserved": ("the driver's reserve is not in it", "不含驱动保留部分"),
    "check_context_overhead": (
        "it is more than the driver takes for itself",
        "超出驱动自身的正常开销",
    ),
    "check_graphics": ("no display, no graphics process", "没有显示输出或图形进程"),
    "check_other_pid_namespace": (
        "the agent sees every pid namespace",
        "agent 可以看到所有 PID 命名空间",
    ),
    "check_container": (
        "no container holds it without being named",
        "没有未列出的容器占用该 GPU",
    ),
    "check_worker_of_dead_parent": (
        "no process has the device open or mapped without being named",
        "没有未被列出却打开或映射该设备的进程",
    ),
    "check_zombie_leader": (
        "no process with a dead main thread holds it",
        "没有主线程已退出的进程占用它",
    ),
    "check_zombie_parent_not_reaping": (
        "no unreaped process is named",
        "驱动列表中没有未回收的进程",
    ),
    "check_uninterruptible": (
        "no process concerned hangs in the kernel",
        "没有相关进程卡在内核中",
    ),
    "check_stopped": ("no process concerned is stopped", "没有相关进程处于暂停状态"),
    "check_mps_server": ("no MPS server is on it", "该 GPU 上没有 MPS 服务"),
    "check_cuda_ipc": (
        "no living process shared memory with a dead one",
        "没有与已退出进程共享显存的进程",
    ),
    "check_uvm_managed": (
        "no process on it uses managed memory",
        "没有使用统一内存的进程",
    ),
    "check_no_context_client": (
        "who has it open is listed as a holder",
        "打开它的进程均已列为占用者",
    ),
    "check_fd_in_flight": (
        "no open file is under way in a socket; look also for units with a descriptor store "
        "(`systemctl show -p NFileDescriptorStore`)",
        "套接字中没有滞留的文件描述符；还应检查保存描述符的系统服务"
        "（`systemctl show -p NFileDescriptorStore`）",
    ),
    "check_kernel_holder": (
        "the driver's own modules cannot be seen from here (peer memory, console): `lsmod`",
        "此处看不到驱动内核模块的占用（peermem、控制台）：请查看 `lsmod`",
    ),
    "check_checkpointed": (
        "a suspended process leaves no GPU memory",
        "被挂起的进程不会占用显存",
    ),
    "check_just_exiting": (
        "nobody ended in the last seconds, and it does not shrink",
        "最近几秒内没有进程退出，用量也没有减少",
    ),
    "check_gpu_as_numa_node": (
        "its memory is no NUMA node of the machine",
        "显存不是本机的 NUMA 节点",
    ),
    "check_passed_to_vm": ("it is not given to a virtual machine", "未直通给虚拟机"),
    "check_ecc_scrub": ("it is not busy by itself", "GPU 并未自行忙碌"),
    # -- rights
    "right_job": ("job {job}", "作业 {job}"),
    "right_booking": ("booking {booking}", "预约 {booking}"),
    "right_beside_job": ("beside job {job} of the same person", "与本人的作业 {job} 同用一卡"),
    "right_ignored": ("ignored by the rules", "按规则忽略"),
    "right_system": ("part of the driver", "驱动组件"),
    "right_open_only": ("only has it open", "仅打开设备，未使用"),
    "right_not_granted": (
        "no right: job {job} was not given GPU {gpu}",
        "无权使用：作业 {job} 未被分配 GPU {gpu}",
    ),
    "right_ended_job": (
        "no right: job {job} holds no GPU any more",
        "无权使用：作业 {job} 已不再持有 GPU",
    ),
    "right_none": ("no right: hand-started", "无权使用：手动启动"),
    "right_none_container": (
        "no right: container started by hand",
        "无权使用：手动启动的容器",
    ),
    "right_none_slurm": (
        "no right: Slurm job {job}, not known to Roost",
        "无权使用：Slurm 作业 {job} 不归 Roost 管理",
    ),
    # -- persons
    "owner_login": (
        "{user} logged in and started pid {pid} as another account",
        "{user} 登录后以其他账号启动了进程 {pid}",
    ),
    "owner_container": ("{evidence}", "{evidence}"),
    # -- how sure
    "sure_certain": ("certain", "确定"),
    "sure_likely": ("likely", "很可能"),
    "sure_possible": ("possible", "可能"),
    # -- what belongs to a plan of `roost free`
    "free_fd": ("has /dev/nvidia{minor} open", "打开着 /dev/nvidia{minor}"),
    "free_map": ("has /dev/nvidia{minor} mapped", "映射着 /dev/nvidia{minor}"),
    "free_task_fd": (
        "a thread of it has /dev/nvidia{minor} open",
        "其线程打开着 /dev/nvidia{minor}",
    ),
    "free_list": ("the driver lists it on GPU {gpu}", "驱动在 GPU {gpu} 上列出了它"),
    "free_also": ("it holds GPU {gpus} too, which end with it", "它还占用 GPU {gpus}，会一并结束"),
    "free_not_yours": (
        "belongs to {user}: only {user} or an operator may end it",
        "属于 {user}：只有 {user} 或管理员可以结束",
    ),
    "free_open_only": (
        "only has GPU {gpu} open and no memory on it: it is left alone",
        "仅打开了 GPU {gpu}，没有占用显存：不予处理",
    ),
    "free_not_proved": (
        "nothing proves that it holds GPU {gpu}: it is left alone",
        "没有证据表明它占用 GPU {gpu}：不予处理",
    ),
    "free_system": (
        "is a part of the driver or of the system: it is left alone",
        "属于驱动或系统组件：不予处理",
    ),
    "free_container_main": (
        "is the main process of container {container}: the container is stopped",
        "是容器 {container} 的主进程：将停止该容器",
    ),
}
