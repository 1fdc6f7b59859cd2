// Mantine's theme: one accent colour, calm corners, the system's own letters.
import { createTheme, type MantineColorSchemeManager } from '@mantine/core';

export const theme = createTheme({
  primaryColor: 'blue',
  primaryShade: { light: 8, dark: 5 },
  defaultRadius: 6,
  autoContrast: true,
  respectReducedMotion: true,
  fontFamily: 'system-ui, -apple-system, "Segoe UI", "Noto Sans", "PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", sans-serif',
  fontFamilyMonospace: 'ui-monospace, "SF Mono", Menlo, Consolas, "Noto Sans Mono", "Noto Sans Mono CJK SC", monospace',
  components: {
    // Locking the scroll would write a style element, which the content security policy refuses.
    Modal: { defaultProps: { lockScroll: false, centered: true, transitionProps: { duration: 100 } } },
    Drawer: { defaultProps: { lockScroll: false, transitionProps: { duration: 100 } } },
    Tooltip: { defaultProps: { openDelay: 300, withArrow: true } },
  },
});

type Scheme = 'light' | 'dark';

/** Keeps the choice in this browser; without one, the system's own wish, as early.js has it. */
export function schemes(): MantineColorSchemeManager {
  return {
    get: () => (document.documentElement.getAttribute('data-mantine-color-scheme') as Scheme | null) ?? 'light',
    set: (value) => {
      try {
        localStorage.setItem('roost.scheme', value);
      } catch {
        // Storage is refused: the choice holds until the page is left.
      }
    },
    subscribe: () => undefined,
    unsubscribe: () => undefined,
    clear: () => undefined,
  };
}
