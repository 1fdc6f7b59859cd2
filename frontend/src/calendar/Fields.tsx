// The fields that booking and changing have in common: from when until when, and which GPUs.
import { Checkbox, NumberInput, TextInput } from '@mantine/core';
import ui from '../ui/ui.module.css';
import { useWords } from '../ui/words';
import type { Row } from './bars';
import styles from './calendar.module.css';
import type { Draft } from './draft';

type Set = (part: Partial<Draft>) => void;

/** `begun`: the start is what it is. */
export function TimeFields({ draft, set, begun = false }: { draft: Draft; set: Set; begun?: boolean }) {
  const { t } = useWords();
  return (
    <div className={styles.four}>
      <TextInput type="date" label={t('book.from_day')} value={draft.fromDay} disabled={begun} data-autofocus={!begun} onChange={(event) => set({ fromDay: event.currentTarget.value })} />
      <TextInput type="time" label={t('book.from_hour')} value={draft.fromHour} disabled={begun} onChange={(event) => set({ fromHour: event.currentTarget.value })} />
      <TextInput type="date" label={t('book.until_day')} value={draft.untilDay} onChange={(event) => set({ untilDay: event.currentTarget.value })} />
      <TextInput type="time" label={t('book.until_hour')} value={draft.untilHour} onChange={(event) => set({ untilHour: event.currentTarget.value })} />
    </div>
  );
}

export function WhichGpus({ draft, set, rows }: { draft: Draft; set: Set; rows: readonly Row[] }) {
  const { t } = useWords();
  return (
    <fieldset className={styles.which}>
      <legend className={ui.hidden}>{t('book.which')}</legend>
      {rows.map(({ gpu }) => (
        <Checkbox key={gpu.uuid} label={String(gpu.index)} aria-label={t('word.gpu', { index: gpu.index })} checked={draft.chosen.includes(gpu.uuid)}
          onChange={(event) => set({ chosen: event.currentTarget.checked ? [...draft.chosen, gpu.uuid] : draft.chosen.filter((each) => each !== gpu.uuid) })} />
      ))}
    </fieldset>
  );
}

export function HowMuch({ draft, set }: { draft: Draft; set: Set }) {
  const { t } = useWords();
  return (
    <NumberInput aria-label={t('bk.memory_gib')} placeholder={t('bk.memory_gib')} min={1} w={190} value={draft.memoryGib ?? ''}
      onChange={(value) => set({ memoryGib: Number(value) || null })} />
  );
}

export function HowMany({ draft, set, most }: { draft: Draft; set: Set; most: number }) {
  const { t } = useWords();
  return <NumberInput aria-label={t('book.count')} min={1} max={most} w={90} value={draft.count} onChange={(value) => set({ count: Number(value) || 1 })} />;
}
