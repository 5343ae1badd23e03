import type { Tone } from './chart-data.ts';

const tones: readonly Tone[] = ['active', 'pending', 'depleted', 'expired', 'unknown', 'accent'];

/** Lines over the colour of a tone, in a square of 6 by 6, so that series differ without colour. */
const lines: { readonly [Key in Tone]: string } = {
  active: '',
  accent: '',
  pending: 'M1.5 1.5h1v1h-1zM4.5 4.5h1v1h-1z',
  depleted: 'M-1.5 1.5l3-3M0 6l6-6M4.5 7.5l3-3',
  expired: 'M0 3.5h6',
  unknown: 'M-1.5 4.5l3 3M0 0l6 6M4.5 -1.5l3 3',
};

/** The patterns of the tones. One element in the document serves all charts and legends. */
export const Patterns = () => (
  <svg class="chart-patterns" width="0" height="0" aria-hidden="true">
    <defs>
      {tones.map((tone) => (
        <pattern key={tone} id={patternOf(tone)} patternUnits="userSpaceOnUse" width="6" height="6" data-tone={tone}>
          <rect width="6" height="6" class="chart-colour" />
          <path d={lines[tone]} class="chart-pattern" />
        </pattern>
      ))}
    </defs>
  </svg>
);

const patternOf = (tone: Tone): string => `chart-${tone}`;

/** The fill of a mark. */
export const fillOf = (tone: Tone): string => `url(#${patternOf(tone)})`;
