// Comes next.
export default function MeView(_: { job?: number; part?: string }) { return null; }
