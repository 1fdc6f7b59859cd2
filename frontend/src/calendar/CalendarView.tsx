// Comes next.
export default function CalendarView(_: { job?: number; part?: string }) { return null; }
