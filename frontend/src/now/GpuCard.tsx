// A GPU's card, in the order of what is asked: name, holder or free, memory, the last hour, heat and power.
import { Link } from 'wouter';
import { colourOf } from '../lib/colour';
import { duration } from '../lib/time';
import { celsius, gib, percent, UNKNOWN, watts } from '../lib/units';
import type { Said } from '../ui/words';
import { Mark } from '../ui/Person';
import ui from '../ui/ui.module.css';
import { useClock } from '../ui/When';
import { useWords } from '../ui/words';
import { lines, model, segments, type Card, type Holding } from './card';
import styles from './now.module.css';

const SHOWN = 2;

export function healthCode(health: string): Said {
  const known = ['ok', 'lost', 'reset_required', 'error', 'no_permission', 'missing', 'not_answering'];
  return (known.includes(health) ? `health.${health}` : 'health.unknown') as Said;
}

export function GpuCard({ card, recent }: { card: Card; recent: readonly (number | null)[] | undefined }) {
  const { t } = useWords();
  const { gpu } = card;
  const state = card.free ? 'free' : card.well ? (card.gpu.drained && !card.holdings.length ? 'drained' : 'held') : 'ill';
  return (
    <Link href={`/gpus/${gpu.index}`} className={`${styles.card} ${styles[state]} ${card.mine ? styles.mine : ''}`}
      data-gpu={gpu.index} data-state={state}>
      <div className={styles.cardHead}>
        <span className={styles.index}><span className={ui.hidden}>{`${t('word.gpu_word')} `}</span>{gpu.index}</span>
        <span className={styles.model} title={gpu.name}>{model(gpu.name)}</span>
        <Figures card={card} />
      </div>
      <Who card={card} />
      <Memory card={card} />
      <Hour card={card} recent={recent} />
    </Link>
  );
}

function Figures({ card }: { card: Card }) {
  const { t } = useWords();
  const { temperature_c: heat, temperature_slowdown_c: limit, power_w: power, power_limit_w: most } = card.gpu;
  const hot = heat !== null && limit !== null && heat >= limit - 3;
  return (
    <span className={styles.figures}>
      <span className={hot ? styles.hot : ''} title={hot ? t('card.hot', { temperature: celsius(heat), limit: celsius(limit) }) : t('word.temperature')}>
        {heat === null ? UNKNOWN : `${Math.round(heat)}°`}
      </span>
      <span title={most === null ? t('word.power') : `${t('word.power')}: ${watts(power)} / ${watts(most)}`}>{watts(power)}</span>
    </span>
  );
}

function Who({ card }: { card: Card }) {
  const { t } = useWords();
  const clock = useClock();
  const { gpu } = card;
  const counted = card.holdings.filter((each) => !each.ignored);
  return (
    <div className={styles.who}>
      {!card.well && <p className={styles.hand}>{gpu.health_text || t(healthCode(gpu.health))}</p>}
      {gpu.drained && (
        <p className={styles.drainedText} title={gpu.drain_reason ?? undefined}>
          {gpu.drain_reason ? t('card.drained_why', { reason: gpu.drain_reason }) : t('card.drained_plain')}
        </p>
      )}
      {card.free && (
        <p className={styles.freeText}>
          {card.freeUntil ? t('card.free_until', { time: clock(card.freeUntil) }) : t('card.free')}
        </p>
      )}
      {card.booked && <Booked one={card.booked} />}
      {counted.slice(0, SHOWN).map((each) => <Holder key={`${each.kind} ${each.job} ${each.user}`} each={each} />)}
      {card.next && !card.booked && (!card.free || card.next.maintenance) && <Booked one={card.next} />}
      {counted.length > SHOWN && <p className={styles.quiet}>{t('card.more', { count: counted.length - SHOWN })}</p>}
    </div>
  );
}

function Booked({ one }: { one: NonNullable<Card['booked']> }) {
  const { t } = useWords();
  const clock = useClock();
  const time = clock(one.on ? one.end : one.start);
  if (one.maintenance) return <p className={styles.drainedText}>{t(one.on ? 'card.maintenance' : 'card.maintenance_next', { time })}</p>;
  return (
    <p className={styles.quiet}>{t(one.on ? 'card.booked' : 'card.booked_next', { time, user: one.user })}</p>
  );
}

function Holder({ each }: { each: Holding }) {
  const { t, language } = useWords();
  const clock = useClock();
  const what = each.job !== null ? each.label : each.label || t(`kind.${each.kind}`);
  const when = [
    each.since ? t('word.since', { time: clock(each.since) }) : '',
    each.until ? t('word.until', { time: clock(each.until) }) : '',
  ].filter(Boolean).join(' · ');
  const idle = each.idle_s !== null && each.idle_s >= 600 ? t('card.idle', { time: duration(each.idle_s, language) }) : '';
  return (
    <div className={styles.holder}>
      <Mark user={each.user} />
      <span className={styles.holderText}>
        <span className={styles.holderName}>
          <b>{each.user ?? t('card.unattributed')}</b>
          <span className={styles.what} title={what}>{what}</span>
        </span>
        <span className={styles.when}>
          {when}
          {idle && <em className={styles.idle}>{idle}</em>}
          {!idle && each.lawful === false && each.job === null && <em className={styles.idle}>{t('card.without_right')}</em>}
        </span>
      </span>
    </div>
  );
}

function Memory({ card }: { card: Card }) {
  const { t } = useWords();
  const { gpu } = card;
  const used = gib(gpu.memory_used_bytes);
  const total = gib(gpu.memory_total_bytes);
  return (
    <div className={styles.memory} role="img" aria-label={t('card.memory', { used, total })}>
      <span className={styles.bar}>
        {segments(gpu).map((part) => (
          <span key={part.user ?? '?'} className={part.kind === 'unattributed' ? styles.hatched : ''}
            style={{
              width: `${Math.min(100, part.share * 100).toFixed(1)}%`,
              ...(part.user ? { backgroundColor: colourOf(part.user) } : {}),
            }} />
        ))}
      </span>
      <span className={styles.number}>{`${used} / ${total} GiB`}</span>
    </div>
  );
}

const WIDTH = 120;
const HEIGHT = 18;

function Hour({ card, recent }: { card: Card; recent: readonly (number | null)[] | undefined }) {
  const { t } = useWords();
  const now = percent(card.gpu.utilisation_percent);
  return (
    <div className={styles.hour} role="img" aria-label={t('card.utilisation', { now })}>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        <line x1="0" x2={WIDTH} y1={HEIGHT - 0.5} y2={HEIGHT - 0.5} className={styles.ground} />
        {lines(recent ?? [], WIDTH, HEIGHT - 2).map((points) => <polyline key={points} points={points} className={styles.line} />)}
      </svg>
      <span className={styles.number}>{now}</span>
    </div>
  );
}
