"""What the audit says of the machine itself: what was found, what can happen, what to do."""

from __future__ import annotations

from roost.core.text.audit_people import Three

FOUND: dict[str, Three] = {
    "gpu_open": (
        ("Every account can open {paths} ({mode}).", "任何账号都能打开 {paths}（{mode}）。"),
        (
            "Whoever is logged in can use a GPU without a job or a booking (rules: {enforcement}).",
            "任何登录者无需作业或预约即可使用 GPU（规则：{enforcement}）。",
        ),
        (
            "/etc/modprobe.d: options nvidia NVreg_ModifyDeviceFiles=0 NVreg_DeviceFileMode=0660,"
            ' with enforcement = "strict" in the rules',
            "/etc/modprobe.d：options nvidia NVreg_ModifyDeviceFiles=0 NVreg_DeviceFileMode=0660，"
            '并在规则中设 enforcement = "strict"',
        ),
    ),
    "gpu_reset": (
        (
            "The driver resets the modes of GPU device files to {mode}.",
            "驱动会把 GPU 设备文件权限重置为 {mode}。",
        ),
        (
            "Anybody's nvidia-smi opens closed device files again (NVreg_ModifyDeviceFiles is 1).",
            "任何人运行 nvidia-smi 都会重新开放设备文件（NVreg_ModifyDeviceFiles 为 1）。",
        ),
        (
            "/etc/modprobe.d: options nvidia NVreg_ModifyDeviceFiles=0 NVreg_DeviceFileMode=0660",
            "/etc/modprobe.d：options nvidia NVreg_ModifyDeviceFiles=0 NVreg_DeviceFileMode=0660",
        ),
    ),
    "gpu_profiling": (
        (
            "Every account may read the GPUs' performance counters.",
            "任何账号都可读取 GPU 性能计数器。",
        ),
        (
            "On a shared GPU they tell something of what others compute.",
            "在共享 GPU 上，计数器会泄露他人计算的部分信息。",
        ),
        (
            "/etc/modprobe.d: options nvidia NVreg_RestrictProfilingToAdminUsers=1",
            "/etc/modprobe.d：options nvidia NVreg_RestrictProfilingToAdminUsers=1",
        ),
    ),
    "mig_open": (
        (
            "Others than root may change MIG: {path} ({mode}).",
            "root 以外的人可更改 MIG：{path}（{mode}）。",
        ),
        ("They can take instances away under others' work.", "可在他人工作时撤掉实例。"),
        ("chmod {after} {word}", "chmod {after} {word}"),
    ),
    "toolkit_envvar": (
        ("{path} lets an image choose its GPUs ({key}).", "{path} 允许镜像自行选择 GPU（{key}）。"),
        (
            "An image with NVIDIA_VISIBLE_DEVICES=all, as CUDA's own are, gets every GPU, past"
            " every rule.",
            "带有 NVIDIA_VISIBLE_DEVICES=all 的镜像（CUDA 官方镜像即是）会绕过规则得到全部 GPU。",
        ),
        (
            "nvidia-ctk config --in-place --set {key}=false   (docker run then takes GPUs by"
            " --device nvidia.com/gpu=…; where `--gpus` stops working, use that)",
            "nvidia-ctk config --in-place --set {key}=false   （此后 docker run 用 --device"
            " nvidia.com/gpu=… 指定 GPU；若 `--gpus` 失效请改用它）",
        ),
    ),
    "toolkit_mounts": (
        (
            "{path} lets whoever starts a container choose its GPUs by mounts ({key}).",
            "{path} 允许启动容器者通过挂载选择 GPU（{key}）。",
        ),
        ("Whoever may mount a folder gets any GPU.", "能挂载目录者即可得到任何 GPU。"),
        (
            "nvidia-ctk config --in-place --set {key}=false",
            "nvidia-ctk config --in-place --set {key}=false",
        ),
    ),
    "toolkit_unread": (
        ("{path} cannot be read: {trouble}.", "无法读取 {path}：{trouble}。"),
        ("Which GPUs an image can choose is not known.", "无法得知镜像能选择哪些 GPU。"),
        ("nvidia-ctk config", "nvidia-ctk config"),
    ),
    "socket_open": (
        ("Everybody may use {path} ({mode}).", "任何人都可使用 {path}（{mode}）。"),
        ("That makes every account root.", "等于让所有账号成为 root。"),
        ("chmod {after} {word}", "chmod {after} {word}"),
    ),
    "socket_group": (
        ("The group {group} may use {path} ({mode}).", "{group} 组可使用 {path}（{mode}）。"),
        ("Each member of {group} is root by it.", "{group} 组每个成员都等同 root。"),
        ("chgrp root {word}", "chgrp root {word}"),
    ),
    "engine_tcp": (
        (
            "Docker listens on {address} without asking who calls.",
            "Docker 监听 {address}，且不验证来访者。",
        ),
        ("Whoever reaches that address is root here.", "能访问该地址者即为本机 root。"),
        (
            "Take it out of /etc/docker/daemon.json and dockerd's options, or set tlsverify.",
            "从 /etc/docker/daemon.json 和 dockerd 参数中去掉，或启用 tlsverify。",
        ),
    ),
    "engine_runtime": (
        ("Docker's default runtime is nvidia.", "Docker 默认运行时为 nvidia。"),
        (
            "Every container whose image asks for GPUs gets them, without --gpus.",
            "任何声明需要 GPU 的镜像无需 --gpus 即可得到 GPU。",
        ),
        (
            'Take "default-runtime" out of /etc/docker/daemon.json; systemctl restart docker ends'
            " containers unless live-restore is set.",
            '从 /etc/docker/daemon.json 去掉 "default-runtime"；未启用 live-restore 时重启 docker'
            " 会结束容器。",
        ),
    ),
    "proc_open": (
        (
            "Every account sees everybody's processes and command lines (/proc has no hidepid).",
            "任何账号都能看到所有人的进程和命令行（/proc 未设 hidepid）。",
        ),
        (
            "File names, hosts and secrets in command lines are public while they run.",
            "命令行中的文件名、主机名和密钥在运行期间公开。",
        ),
        (
            "mount -o remount,hidepid=invisible /proc   (and in fstab; root's services, Roost's"
            " agent too, still see all; polkit and monitors may need gid=)",
            "mount -o remount,hidepid=invisible /proc   （并写入 fstab；root 的服务和 Roost 的"
            " agent 仍可见全部；polkit 和监控可能需要 gid=）",
        ),
    ),
    "sshd_empty": (
        ("sshd lets accounts without a password in.", "sshd 允许空密码账号登录。"),
        ("Whoever knows such a name is in.", "知道账号名即可登录。"),
        ("PermitEmptyPasswords no", "PermitEmptyPasswords no"),
    ),
    "sshd_root": (
        ("sshd lets root in by password.", "sshd 允许 root 用密码登录。"),
        (
            "The one name that everybody knows can be guessed at without end.",
            "人人皆知的账号名可被无限次猜密码。",
        ),
        (
            "PermitRootLogin prohibit-password   (keys still work)",
            "PermitRootLogin prohibit-password   （密钥仍可用）",
        ),
    ),
    "sshd_strict": (
        ("sshd does not look at the modes of homes and keys.", "sshd 不检查主目录和密钥的权限。"),
        (
            "authorized_keys that others may write are believed.",
            "他人可写的 authorized_keys 也会被采信。",
        ),
        ("StrictModes yes", "StrictModes yes"),
    ),
    "sshd_password": (
        ("sshd lets people in by password.", "sshd 允许密码登录。"),
        (
            "A weak password of one person opens the machine to guessing.",
            "任何人的弱密码都可能被猜中。",
        ),
        (
            "PasswordAuthentication no   (once everybody has a key)",
            "PasswordAuthentication no   （待人人都有密钥后）",
        ),
    ),
    "sshd_x11": (
        ("sshd forwards X11.", "sshd 允许 X11 转发。"),
        (
            "A program here can watch the screen of who logs in with -X.",
            "本机程序可窥视用 -X 登录者的屏幕。",
        ),
        ("X11Forwarding no", "X11Forwarding no"),
    ),
    "updates_driver_apt": (
        (
            "unattended-upgrades may update the driver: {driver}.",
            "unattended-upgrades 可能自动更新驱动：{driver}。",
        ),
        (
            "After it no new program can use a GPU until the modules are reloaded or the machine"
            " reboots.",
            "更新后须重新加载模块或重启，新程序才能使用 GPU。",
        ),
        ("apt-mark hold {driver_words}", "apt-mark hold {driver_words}"),
    ),
    "updates_driver_dnf": (
        ("dnf-automatic may update the driver.", "dnf-automatic 可能自动更新驱动。"),
        (
            "After it no new program can use a GPU until the modules are reloaded or the machine"
            " reboots.",
            "更新后须重新加载模块或重启，新程序才能使用 GPU。",
        ),
        (
            "/etc/dnf/automatic.conf, [base]: excludepkgs = *nvidia*, kernel*",
            "/etc/dnf/automatic.conf 的 [base]：excludepkgs = *nvidia*, kernel*",
        ),
    ),
    "updates_reboot": (
        (
            "{manager} reboots this machine by itself after updates.",
            "{manager} 更新后会自动重启本机。",
        ),
        ("Every job that runs then is lost.", "届时运行的作业全部丢失。"),
        (
            'Unattended-Upgrade::Automatic-Reboot "false"; (dnf-automatic: reboot = never)',
            'Unattended-Upgrade::Automatic-Reboot "false";（dnf-automatic：reboot = never）',
        ),
    ),
    "updates_kernel": (
        (
            "{manager} may install a new kernel by itself: {kernel}.",
            "{manager} 可能自动安装新内核：{kernel}。",
        ),
        (
            "The next reboot comes up without GPUs where no driver module was built for it.",
            "若未为新内核构建驱动模块，下次重启后 GPU 不可用。",
        ),
        (
            "apt-mark hold {kernel_words}, or DKMS for the driver",
            "apt-mark hold {kernel_words}，或用 DKMS 安装驱动",
        ),
    ),
    "dump_suid": (
        (
            "Programs that hold root's rights write core dumps that others can read.",
            "带 root 权限的程序会写出他人可读的核心转储。",
        ),
        ("Such a dump can hold passwords and keys.", "其中可能含有密码和密钥。"),
        ("sysctl -w fs.suid_dumpable=2", "sysctl -w fs.suid_dumpable=2"),
    ),
    "dump_folder": (
        (
            "Core dumps go to {path}, which everybody may write ({mode}).",
            "核心转储写到人人可写的 {path}（{mode}）。",
        ),
        ("What a program had in memory lies in a shared folder.", "程序内存内容会落在共享目录中。"),
        ("sysctl -w kernel.core_pattern=core", "sysctl -w kernel.core_pattern=core"),
    ),
    "ptrace_open": (
        (
            "A program may look into every other one of the same account (ptrace_scope is 0).",
            "程序可窥视同一账号的其他程序（ptrace_scope 为 0）。",
        ),
        (
            "One bad package reads what that person's other programs hold. Debuggers and MPI's"
            " cross-memory copies need it.",
            "一个恶意包即可读取该用户其他程序的内存；但调试器和 MPI 跨进程拷贝需要它。",
        ),
        ("sysctl -w kernel.yama.ptrace_scope=1", "sysctl -w kernel.yama.ptrace_scope=1"),
    ),
    "leak_dmesg": (
        ("Every account can read the kernel's log.", "任何账号都可读取内核日志。"),
        ("It tells addresses and others' failures.", "其中有内核地址和他人程序的故障信息。"),
        ("sysctl -w kernel.dmesg_restrict=1", "sysctl -w kernel.dmesg_restrict=1"),
    ),
    "leak_perf": (
        (
            "Every account may measure the whole machine (perf_event_paranoid is {value}).",
            "任何账号都可测量整机（perf_event_paranoid 为 {value}）。",
        ),
        ("What others compute can be told from it in part.", "可由此推断他人计算的部分信息。"),
        ("sysctl -w kernel.perf_event_paranoid=2", "sysctl -w kernel.perf_event_paranoid=2"),
    ),
    "tmp_loose": (
        ("{path} has no sticky bit ({mode}).", "{path} 没有粘滞位（{mode}）。"),
        (
            "Everybody can delete and replace everybody's temporary files.",
            "任何人都可删除或替换他人的临时文件。",
        ),
        ("chmod +t {word}", "chmod +t {word}"),
    ),
    "nfs_root": (
        (
            "{path} is exported to {client} with no_root_squash.",
            "{path} 以 no_root_squash 导出给 {client}。",
        ),
        (
            "Root of any such machine is root on these files.",
            "对方机器的 root 对这些文件也是 root。",
        ),
        (
            "root_squash in /etc/exports, then exportfs -ra",
            "在 /etc/exports 中改为 root_squash，然后 exportfs -ra",
        ),
    ),
    "own_secret": (
        (
            "Others can read a secret of Roost's: {path} ({mode}).",
            "他人可读取 Roost 的密钥：{path}（{mode}）。",
        ),
        ("Whoever has it can act in Roost's name.", "得到者可冒充 Roost。"),
        (
            "chmod 0600 {word}   (0640 with the group roost)",
            "chmod 0600 {word}   （或 0640，组为 roost）",
        ),
    ),
    "own_writable": (
        (
            "Others can change a file of Roost's: {path} ({mode}).",
            "他人可更改 Roost 的文件：{path}（{mode}）。",
        ),
        (
            "Whoever writes there changes what Roost decides or runs.",
            "能写入者可左右 Roost 的决定或所运行的内容。",
        ),
        ("chmod go-w {word}", "chmod go-w {word}"),
    ),
}
