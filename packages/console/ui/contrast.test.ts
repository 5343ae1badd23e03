import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

const css = readFileSync(new URL('./tokens.css', import.meta.url), 'utf8');

type Rgb = readonly [number, number, number];

/** Linear sRGB of an OKLCH colour, clipped to what screens show. */
function toRgb(lightness: number, chroma: number, hue: number): Rgb {
  const [a, b] = [chroma * Math.cos((hue * Math.PI) / 180), chroma * Math.sin((hue * Math.PI) / 180)];
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const clip = (value: number): number => Math.min(1, Math.max(0, value));
  return [
    clip(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
    clip(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
    clip(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s),
  ];
}

const luminance = ([r, g, b]: Rgb): number => 0.2126 * r + 0.7152 * g + 0.0722 * b;

/** The contrast of two colours (WCAG 2.2). */
function contrast(first: Rgb, second: Rgb): number {
  const [dark = 0, light = 0] = [luminance(first), luminance(second)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

/** The colours of a rule by name, in the light theme (0) or in the dark one (1). */
function readColours(rule: string, theme: 0 | 1): Map<string, Rgb> {
  const colours = rule.matchAll(/--([\w-]+): light-dark\(oklch\(([^)]+)\), oklch\(([^)]+)\)\);/g);
  return new Map(
    [...colours].map(([, name = '', ...values]) => {
      const [lightness = '', chroma = '', hue = ''] = (values[theme] ?? '').split(' ');
      return [name, toRgb(Number.parseFloat(lightness) / 100, Number(chroma), Number(hue))];
    }),
  );
}

const [, base = '', operator = ''] = css.split(/:root(?:\[data-console="operator"\])? \{/);
const consoles = { report: base, operator: base + operator };
const cases = Object.entries(consoles).flatMap(([name, rules]) =>
  (['light', 'dark'] as const).map((theme, index) => ({ name, theme, colours: readColours(rules, index as 0 | 1) })),
);

const backgrounds = ['background', 'surface', 'raised', 'hover'];
const statuses = ['active', 'pending', 'depleted', 'expired', 'unknown'];
const pairs: readonly (readonly [colour: string, background: string, least: number])[] = [
  ...backgrounds.flatMap((background) => [
    ...['text', 'text-soft', 'accent', 'danger', ...statuses.map((status) => `${status}-text`)].map(
      (text) => [text, background, 4.5] as const,
    ),
    ...['line-strong', ...statuses.map((status) => `${status}-mark`)].map((mark) => [mark, background, 3] as const),
  ]),
  ['on-accent', 'accent', 4.5],
  ['on-accent', 'accent-hover', 4.5],
  ['accent', 'accent-soft', 4.5],
  ['text', 'accent-soft', 4.5],
  ['text', 'danger-soft', 4.5],
  ['text-soft', 'danger-soft', 4.5],
  ['danger', 'danger-soft', 4.5],
  ['warning', 'warning-soft', 4.5],
];

describe.each(cases)('the colours of the $name console in the $theme theme', ({ colours }) => {
  test.each(pairs)('%s on %s has a contrast of at least %d', (colour, background, least) => {
    const [first, second] = [colours.get(colour), colours.get(background)];
    if (first === undefined || second === undefined) throw new Error(`tokens.css lacks ${colour} or ${background}`);
    expect(contrast(first, second)).toBeGreaterThanOrEqual(least);
  });
});
