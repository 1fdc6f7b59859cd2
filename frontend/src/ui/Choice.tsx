// One of a few: Mantine's segmented control with a name for those who do not see it.
import { SegmentedControl } from '@mantine/core';

export function Choice<T extends string>({ label, value, options, onChange }: {
  label: string;
  value: T;
  options: readonly { value: T; label: string }[];
  onChange: (value: T) => void;
}) {
  return (
    <SegmentedControl size="xs" aria-label={label} value={value} data={[...options]}
      onChange={(chosen) => onChange(chosen as T)} />
  );
}
