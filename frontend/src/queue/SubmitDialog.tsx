// Submitting from the page: command, folder, request; and the same as a command to learn from.
import { Alert, Button, Modal, NativeSelect, NumberInput, Textarea, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useRef, useState, type FormEvent } from 'react';
import { post } from '../api/client';
import type { Submission, Submitted } from '../api/types';
import { useMe } from '../app/session';
import { memory, seconds } from '../lib/units';
import { Command } from '../ui/Command';
import ui from '../ui/ui.module.css';
import { useWords } from '../ui/words';
import { typed, variables, type Draft } from './draft';
import styles from './queue.module.css';

/** What stands beside it then begins at one height. */
const BELOW: ('label' | 'input' | 'description' | 'error')[] = ['label', 'input', 'description', 'error'];

export function SubmitDialog({ close, done }: { close: () => void; done: (job: number) => void }) {
  const { t } = useWords();
  const me = useMe();
  const [draft, setDraft] = useState<Draft>({
    command: '', directory: me.user === 'root' ? '/root' : `/home/${me.user}`, gpus: 1, time: '', name: '', class: 'regular', reason: '',
    environment: '', memory: '', group: '',
  });
  const [missing, setMissing] = useState('');
  // Once for each dialog: sending it twice makes one job.
  const key = useRef(crypto.getRandomValues(new Uint32Array(4)).join('-'));
  const submit = useMutation({
    mutationFn: (given: Submission) => post<Submitted>('v1/jobs', given, { 'Idempotency-Key': key.current }),
    onSuccess: (made) => done(made.job),
  });
  const set = (part: Partial<Draft>) => setDraft((before) => ({ ...before, ...part }));
  const timeIsWrong = draft.time.trim() !== '' && seconds(draft.time) === null;
  const memoryIsWrong = draft.memory.trim() !== '' && memory(draft.memory) === null;
  const environment = variables(draft.environment);
  const groups = me.groups.filter((group) => group !== me.user);

  function send(event: FormEvent) {
    event.preventDefault();
    if (!draft.command.trim() || !draft.directory.startsWith('/')) {
      setMissing(t('submit.missing'));
      return;
    }
    if ('wrong' in environment) {
      setMissing(t('submit.environment_bad', { line: environment.wrong }));
      return;
    }
    setMissing('');
    if (timeIsWrong || memoryIsWrong) return;
    submit.mutate({
      command: ['/bin/sh', '-c', draft.command],
      name: draft.name.trim() || (draft.command.trim().split(/\s+/)[0]?.split('/').at(-1) ?? 'job'),
      directory: draft.directory,
      output: `${draft.directory.replace(/\/+$/, '')}/roost-%j.out`,
      ...(draft.memory.trim() ? { gpu_memory_bytes: memory(draft.memory) } : { gpus: draft.gpus }),
      walltime_s: draft.time.trim() ? seconds(draft.time) : null,
      class: draft.class,
      reason: draft.reason,
      environment: environment.found,
      group: draft.group || null,
    });
  }

  return (
    <Modal opened onClose={close} size="lg" title={<strong>{t('submit.title')}</strong>} closeButtonProps={{ 'aria-label': t('do.close') }}>
      <form className={styles.form} onSubmit={send}>
        <Textarea label={t('submit.command')} description={t('submit.command_how')} rows={3} value={draft.command} data-autofocus
          spellCheck={false} classNames={{ input: ui.mono ?? '' }} onChange={(event) => set({ command: event.currentTarget.value })} />
        <TextInput label={t('submit.directory')} value={draft.directory} spellCheck={false} onChange={(event) => set({ directory: event.currentTarget.value })} />
        <div className={styles.two}>
          <NumberInput label={t('submit.gpus')} min={0} value={draft.gpus} disabled={draft.memory.trim() !== ''} onChange={(value) => set({ gpus: Number(value) || 0 })} />
          <TextInput label={t('submit.time')} inputWrapperOrder={BELOW} description={t('submit.time_how')} value={draft.time} error={timeIsWrong && t('submit.time_bad')}
            onChange={(event) => set({ time: event.currentTarget.value })} />
          <TextInput label={t('submit.name')} value={draft.name} onChange={(event) => set({ name: event.currentTarget.value })} />
          <NativeSelect label={t('submit.class')} value={draft.class} onChange={(event) => set({ class: event.currentTarget.value as Draft['class'] })}
            data={[
              { value: 'urgent', label: t('class.urgent') },
              { value: 'regular', label: t('class.regular') },
              { value: 'background', label: t('class.background') },
            ]} />
        </div>
        {draft.class === 'urgent' && (
          <TextInput label={t('submit.reason')} value={draft.reason} onChange={(event) => set({ reason: event.currentTarget.value })} />
        )}
        <details className={styles.more}>
          <summary>{t('submit.more')}</summary>
          <Textarea label={t('submit.environment')} description={t('submit.environment_how')} rows={3} value={draft.environment}
            spellCheck={false} classNames={{ input: ui.mono ?? '' }} onChange={(event) => set({ environment: event.currentTarget.value })} />
          <div className={styles.two}>
            <TextInput label={t('submit.memory')} inputWrapperOrder={BELOW} description={t('submit.memory_how')} value={draft.memory}
              error={memoryIsWrong && t('submit.memory_bad')} onChange={(event) => set({ memory: event.currentTarget.value })} />
            {groups.length > 0 && (
              <NativeSelect label={t('submit.group')} value={draft.group} onChange={(event) => set({ group: event.currentTarget.value })}
                data={[{ value: '', label: t('submit.group_usual') }, ...groups.map((group) => ({ value: group, label: group }))]} />
            )}
          </div>
        </details>
        <p className={ui.quiet}>{t('submit.same')} <Command text={typed(draft)} /></p>
        {(missing || submit.error) && <Alert color="red" role="alert">{missing || submit.error?.message}</Alert>}
        <div className={styles.buttons}>
          <Button type="submit" loading={submit.isPending}>{t('submit.do')}</Button>
          <Button variant="default" onClick={close}>{t('do.close')}</Button>
        </div>
      </form>
    </Modal>
  );
}
