// Why there is no room, whose it is, and what is free instead, each one click away.
import { Alert, Button } from '@mantine/core';
import { Problem } from '../api/client';
import ui from '../ui/ui.module.css';
import { useWords } from '../ui/words';
import styles from './calendar.module.css';
import { useTimes } from './times';

export interface Offer { kind: string; start: string; end: string; gpus: string[]; gpu_indices: number[] }
interface Clash { booking: number; user: string; gpu_indices: number[]; start: string; end: string; maintenance: boolean }

const listOf = <T,>(error: unknown, name: string): T[] =>
  error instanceof Problem && Array.isArray(error.more[name]) ? (error.more[name] as T[]) : [];

/** `fits`: leaves out, or makes fit, what could not be had of these. */
export function Refused({ error, take, fits = (offer) => offer, busy = false }: {
  error: Error; take?: (offer: Offer) => void; fits?: (offer: Offer) => Offer | null; busy?: boolean;
}) {
  const { t } = useWords();
  const times = useTimes();
  const range = (one: { start: string; end: string }) => times.range(Date.parse(one.start), Date.parse(one.end));
  const clashes = listOf<Clash>(error, 'conflicts');
  const offers = listOf<Offer>(error, 'alternatives').map(fits).filter((offer) => offer !== null);
  return (
    <>
      <Alert color="red" role="alert">
        {error instanceof Problem && error.status === 0 ? t('state.offline_first') : error.message}
        {clashes.length > 1 && (
          <ul className={styles.clashes}>
            {clashes.slice(0, 5).map((one) => (
              <li key={one.booking}>{t('move.clash', { booking: one.booking, user: one.user, gpus: one.gpu_indices.join(', '), ...range(one) })}</li>
            ))}
            {clashes.length > 5 && <li className={ui.quiet}>{t('move.more', { count: clashes.length - 5 })}</li>}
          </ul>
        )}
      </Alert>
      {take && offers.length > 0 && (
        <section className={styles.offers} aria-label={t('book.instead')}>
          <h2>{t('book.instead')}</h2>
          {offers.slice(0, 5).map((offer) => (
            <Button key={offer.kind + offer.start + offer.end + offer.gpus.join()} size="compact-sm" variant="default" data-offer={offer.kind}
              disabled={busy} onClick={() => take(offer)}>
              {t('book.offer', { gpus: offer.gpu_indices.join(', '), ...range(offer) })}
            </Button>
          ))}
        </section>
      )}
    </>
  );
}
