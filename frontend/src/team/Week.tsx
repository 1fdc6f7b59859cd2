// The heat map of the week: a table of weekday by hour, in the rules' zone, whose cells carry their
// numbers; the deeper, the more of the GPU time was held.
import type { Team } from '../api/types';
import { hours, percent } from '../lib/units';
import ui from '../ui/ui.module.css';
import { useWords } from '../ui/words';
import { heldPart } from './figures';
import styles from './team.module.css';

// 1 January 2024 was a Monday.
const weekday = (day: number, language: string) =>
  new Intl.DateTimeFormat(language === 'zh' ? 'zh-CN' : 'en-GB', { weekday: 'short', timeZone: 'UTC' }).format(Date.UTC(2024, 0, 1 + day));
const HOURS = Array.from({ length: 24 }, (_, hour) => hour);
const DAYS = [0, 1, 2, 3, 4, 5, 6];

export function Week({ team }: { team: Team }) {
  const { t, language } = useWords();
  const cells = new Map(team.heat.map((cell) => [`${cell.weekday} ${cell.hour}`, cell]));
  return (
    <>
      <p className={styles.note}>{t('team.week_note', { zone: team.time_zone })}</p>
      <div className={ui.scroll} tabIndex={0} role="region" aria-label={t('team.week')}>
        <table className={styles.week}>
          <thead><tr>
            <td />
            {HOURS.map((hour) => <th key={hour} scope="col">{hour}</th>)}
          </tr></thead>
          <tbody>{DAYS.map((day) => (
            <tr key={day}>
              <th scope="row">{weekday(day, language)}</th>
              {HOURS.map((hour) => {
                const cell = cells.get(`${day} ${hour}`);
                const part = cell ? heldPart(cell) : null;
                const values = { day: weekday(day, language), hour, percent: percent(part === null ? null : part * 100), held: hours(cell?.held_s ?? 0) };
                return (
                  <td key={hour} data-cell={`${day}-${hour}`} data-held={cell?.held_s ?? 0} title={t(part === null ? 'team.week_gap' : 'team.week_cell', values)}
                    className={part === null ? ui.hatched : undefined}
                    style={part === null ? undefined : { backgroundColor: `color-mix(in srgb, var(--heat) ${Math.round(part * 70)}%, var(--surface))` }}>
                    {part === null ? <span className={ui.hidden}>{t('team.week_gap', values)}</span> : Math.round(part * 100)}
                  </td>
                );
              })}
            </tr>
          ))}</tbody>
        </table>
      </div>
    </>
  );
}
