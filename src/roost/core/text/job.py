"""What is said of a job's course and end."""

MESSAGES = {
    "record_lost": (
        "the agent has no record of this attempt any more: its end is not known",
        "agent 已没有这次运行的记录，无法得知其结束情况",
    ),
    "stray_warned": (
        "it uses GPU {gpu}, which it was not given: use CUDA_VISIBLE_DEVICES as Roost sets it",
        "该作业使用了未分配给它的 GPU {gpu}：请使用 Roost 设置的 CUDA_VISIBLE_DEVICES",
    ),
    "stray_stopped": (
        "stopped because it used GPU {gpu}, which it was not given (rules: stray_gpu_use)",
        "因使用未分配的 GPU {gpu} 而被停止（规则：stray_gpu_use）",
    ),
    "preempted": (
        "preempted by job {job}; it did not ask to be queued again",
        "被作业 {job} 抢占；该作业未要求重新排队",
    ),
}
