// A person: their one colour with initials, and the name. Nobody is grey, unattributed is hatched.
import { colourOf, initials } from '../lib/colour';
import styles from './ui.module.css';
import { useWords } from './words';

export function Mark({ user, size = 'm' }: { user: string | null; size?: 's' | 'm' }) {
  return (
    <span className={`${styles.mark} ${size === 's' ? styles.markSmall : ''} ${user ? '' : styles.hatched}`}
      style={user ? { backgroundColor: colourOf(user) } : undefined} aria-hidden="true">
      {user ? initials(user) : '?'}
    </span>
  );
}

export function Person({ user }: { user: string | null }) {
  const { t } = useWords();
  return (
    <span className={styles.person}>
      <Mark user={user} />
      <span className={styles.personName}>{user ?? t('word.nobody')}</span>
    </span>
  );
}
