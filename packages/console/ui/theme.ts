import { effect } from '@preact/signals';
import { rememberedSignal } from './remembered-signal.ts';

export const themes = ['system', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

/** The chosen theme, remembered by the browser. */
export const theme = rememberedSignal<Theme>(
  'subreport-theme',
  (text) => themes.find((each) => each === text) ?? 'system',
  (value) => value,
);

effect(() => {
  const { dataset } = document.documentElement;
  if (theme.value === 'system') delete dataset.theme;
  else dataset.theme = theme.value;
});
