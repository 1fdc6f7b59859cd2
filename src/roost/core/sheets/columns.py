"""What the head of a column means, in English and Chinese: whose, which GPUs, from when to when."""

from __future__ import annotations

import re

from roost.core.sheets.plain import folded

FIELDS: dict[str, tuple[str, ...]] = {
    "user": (
        "name", "names", "who", "user", "users", "username", "userid", "person", "owner",
        "member", "account", "student", "bookedby", "reservedby", "requestedby", "requester",
        "applicant", "booker", "login", "yourname", "fullname", "使用人", "用户", "用户名",
        "姓名", "名字", "人员", "预约人", "申请人", "登记人", "使用者", "账号", "帐号", "账户",
        "同学", "谁", "谁用", "使用人员", "使用人姓名", "学生", "负责人", "占用人", "预订人",
        "借用人",
    ),
    "gpus": (
        "gpu", "gpus", "gpuid", "gpuids", "gpuindex", "gpuindices", "gpunumber", "gpunumbers",
        "gpuno", "card", "cards", "device", "devices", "whichgpu", "whichgpus", "gpuslot",
        "gpu卡号", "卡号", "卡", "显卡", "显卡号", "显卡编号", "gpu编号", "使用卡", "使用卡号",
        "gpu卡", "哪张卡", "哪些卡", "gpu号", "使用gpu", "预约gpu", "设备", "资源", "卡序号",
    ),
    "count": (
        "gpucount", "numberofgpus", "numgpus", "ngpus", "ngpu", "#gpus", "#ofgpus", "noofgpus",
        "howmany", "howmanygpus", "count", "gpusneeded", "gpu数", "gpu数量", "卡数", "数量",
        "张数", "卡数量", "需要卡数", "使用卡数", "几张卡", "显卡数量",
    ),
    "start": (
        "start", "starts", "starttime", "startdate", "startdatetime", "from", "begin", "begins",
        "begintime", "since", "start(local)", "开始", "开始时间", "起始时间", "起始", "起",
        "开始日期", "起始日期", "起始日", "自", "从", "使用开始时间", "预约开始时间",
        "开始使用时间", "起时间",
    ),
    "end": (
        "end", "ends", "endtime", "enddate", "enddatetime", "to", "until", "till", "finish",
        "finishes", "stop", "结束", "结束时间", "截止", "截止时间", "终止时间", "终止", "止",
        "至", "到", "结束日期", "截止日期", "归还时间", "释放时间", "使用结束时间",
        "预约结束时间", "预计结束时间", "止时间",
    ),
    "date": (
        "date", "dates", "day", "days", "when", "日期", "日子", "哪天", "使用日期", "预约日期",
        "哪一天", "日", "天",
    ),
    "time": (
        "time", "times", "period", "slot", "timeslot", "timeslots", "shift", "timespan",
        "timerange", "时间", "时段", "时间段", "使用时间", "预约时间", "班次", "起止时间",
        "使用时段", "预约时段", "时间范围", "起止", "hours(from-to)", "timeofday",
    ),
    "duration": (
        "duration", "length", "howlong", "hours", "hrs", "时长", "使用时长", "小时", "小时数",
        "多久", "预约时长", "时长(小时)",
    ),
    "server": (
        "server", "servers", "host", "hostname", "machine", "node", "box", "服务器", "机器",
        "主机", "节点", "服务器名", "服务器名称", "机器名", "机器号", "节点名", "主机名",
        "服务器编号",
    ),
    "purpose": (
        "purpose", "whatfor", "for", "reason", "project", "task", "description", "job",
        "experiment", "use", "usage", "why", "what", "用途", "项目", "任务", "实验", "事由",
        "目的", "说明", "使用目的", "内容", "用来做什么", "预约事由", "实验内容", "项目名称",
        "任务说明", "干什么",
    ),
    "note": (
        "note", "notes", "remark", "remarks", "comment", "comments", "memo", "备注", "注",
        "备注说明", "附注", "其他",
    ),
    "status": ("status", "state", "cancelled", "canceled", "状态", "是否取消", "预约状态"),
}  # fmt: skip
_WORDS = {word: name for name, words in FIELDS.items() for word in words}
_CANCELLED = {
    "cancelled", "canceled", "cancel", "deleted", "rejected", "denied", "withdrawn", "x", "取消",
    "已取消", "作废", "撤销", "已撤销", "删除", "拒绝", "未通过",
}  # fmt: skip


def field_of(head: str) -> str | None:
    """The field that a column's head names. Both languages may stand there, and units in brackets:
    "开始时间 (start)", "Name / 姓名"."""
    text = folded(head).replace("*", "")
    whole = _bare(text)
    if whole in _WORDS:
        return _WORDS[whole]
    outside = re.sub(r"[(\[（【].*?[)\]）】]", " ", text)
    inside = re.findall(r"[(\[（【](.*?)[)\]）】]", text)
    pieces = [outside, *re.split(r"[/|:\n]", outside), *inside]
    pieces += [re.sub(r"[^\u3400-\u9fff]", "", outside), re.sub(r"[\u3400-\u9fff]", "", outside)]
    for piece in pieces:
        word = _bare(piece)
        if word in _WORDS:
            return _WORDS[word]
    return None


def _bare(text: str) -> str:
    return re.sub(r"[\s_.:：?？!-]+", "", text)


def is_cancelled(text: str) -> bool:
    return _bare(folded(text)) in _CANCELLED
