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
        <pattern key={tone} id={patternOf(tone)} patternUnits="userSpaceOnUse" width="6" height="6">
          <rect width="6" height="6" class="chart-colour" data-tone={tone} />
          <path d={lines[tone]} class="chart-pattern" />
        </pattern>
      ))}
      <pattern id={unfinishedPattern} patternUnits="userSpaceOnUse" width="5" height="5">
        <path d="M-1 1l2-2M0 5l5-5M4 6l2-2" class="chart-unfinished" />
      </pattern>
    </defs>
  </svg>
);

const patternOf = (tone: Tone): string => `chart-${tone}`;
const unfinishedPattern = 'chart-unfinished';

/** Hatches what is above it: the period of the column is not over. */
export const unfinishedFill = `url(#${unfinishedPattern})`;

/**
 * The look of a mark: a flat colour on screens. On paper and in forced colours it has a pattern,
 * because several tones may get the same colour there.
 */
export const markOf = (tone: Tone) =>
  ({ class: 'chart-mark mark', 'data-tone': tone, fill: `url(#${patternOf(tone)})` }) as const;
