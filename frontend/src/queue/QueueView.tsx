// Comes next.
export default function QueueView(_: { job?: number; part?: string }) { return null; }
