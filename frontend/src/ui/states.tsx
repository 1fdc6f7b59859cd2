// What stands in a view's place while it loads, when there is nothing, and when it cannot be shown.
import { Button } from '@mantine/core';
import { Component, type ReactNode } from 'react';
import styles from './ui.module.css';
import { useWords } from './words';

export function Loading() {
  const { t } = useWords();
  return (
    <div className={styles.state} role="status">
      <span className={styles.shimmer} aria-hidden="true" />
      <span className={styles.shimmer} aria-hidden="true" />
      <span className={styles.shimmer} aria-hidden="true" />
      <span className={styles.hidden}>{t('state.loading')}</span>
    </div>
  );
}

export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className={styles.state}>
      <p className={styles.stateTitle}>{title}</p>
      {children && <div className={styles.stateMore}>{children}</div>}
    </div>
  );
}

export function Failed({ error, again }: { error: unknown; again?: () => void }) {
  const { t } = useWords();
  return (
    <div className={styles.state} role="alert">
      <p className={styles.stateTitle}>{t('state.error')}</p>
      <p className={styles.stateMore}>{error instanceof Error ? error.message : String(error)}</p>
      {again && <Button variant="default" size="xs" onClick={again}>{t('state.retry')}</Button>}
    </div>
  );
}

function Broken({ error }: { error: Error }) {
  const { t } = useWords();
  return (
    <div className={styles.state} role="alert">
      <p className={styles.stateTitle}>{t('state.broken')}</p>
      <p className={styles.stateMore}>{error.message}</p>
      <Button variant="default" size="xs" onClick={() => location.reload()}>{t('state.reload')}</Button>
    </div>
  );
}

/** A fault of one view leaves the rest of the page standing. */
export class Guard extends Component<{ children: ReactNode }, { error: Error | null }> {
  override state: { error: Error | null } = { error: null };

  static getDerivedStateFromError(error: Error): { error: Error } {
    return { error };
  }

  override render(): ReactNode {
    return this.state.error ? <Broken error={this.state.error} /> : this.props.children;
  }
}
