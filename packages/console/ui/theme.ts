import { effect, signal } from '@preact/signals';

export const themes = ['system', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

const key = 'subreport-theme';

function remembered(): Theme {
  try {
    const value = localStorage.getItem(key);
    return themes.find((theme) => theme === value) ?? 'system';
  } catch {
    return 'system'; // storage is blocked
  }
}

/** The chosen theme, remembered by the browser. */
export const theme = signal<Theme>(remembered());

effect(() => {
  const { dataset } = document.documentElement;
  if (theme.value === 'system') delete dataset.theme;
  else dataset.theme = theme.value;
  try {
    localStorage.setItem(key, theme.value);
  } catch {
    // storage is blocked: the choice lasts until the page is closed
  }
});
