// Comes next.
export default function OperateView(_: { job?: number; part?: string }) { return null; }
