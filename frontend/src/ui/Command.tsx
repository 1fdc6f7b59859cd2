// A command to type, with a button that copies it.
import { useState } from 'react';
import styles from './ui.module.css';
import { useWords } from './words';

export function Command({ text }: { text: string }) {
  const { t } = useWords();
  const [copied, setCopied] = useState(false);
  async function copy() {
    try {
      await navigator.clipboard.writeText(text);
      setCopied(true);
      setTimeout(() => setCopied(false), 1500);
    } catch {
      // Without HTTPS a browser may refuse; the words can still be marked by hand.
    }
  }
  return (
    <span className={styles.command}>
      <code>{text}</code>
      {'clipboard' in navigator && (
        <button type="button" className={styles.copy} onClick={() => void copy()}>
          {copied ? t('do.copied') : t('do.copy')}
        </button>
      )}
    </span>
  );
}
