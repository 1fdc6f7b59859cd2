// Light or dark, English or Chinese: two small switches, each keeps its choice in this browser.
import { useMantineColorScheme } from '@mantine/core';
import { speak } from '../text';
import { useWords } from '../ui/words';
import styles from './app.module.css';

export function Appearance() {
  const { t, language } = useWords();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const other = language === 'zh' ? 'en' : 'zh';
  const dark = colorScheme === 'dark';
  return (
    <div className={styles.appearance}>
      <button type="button" className={styles.quietButton} lang={other === 'zh' ? 'zh-CN' : 'en'} onClick={() => speak(other)}>
        {t('app.other_language')}
      </button>
      <button type="button" className={styles.quietButton} onClick={() => setColorScheme(dark ? 'light' : 'dark')}>
        {dark ? t('app.light') : t('app.dark')}
      </button>
    </div>
  );
}
