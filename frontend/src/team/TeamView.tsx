// Comes next.
export default function TeamView(_: { job?: number; part?: string }) { return null; }
