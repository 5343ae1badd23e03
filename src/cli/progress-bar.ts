import type { Output } from './output.ts';

/** Shows how far a long command is. */
export interface ProgressBar {
  update(doneBytes: number, rows: number): void;
  /** Takes the bar off the screen. */
  end(): void;
}

const width = 30;
const redrawMs = 100;

/** A bar on a terminal, nothing anywhere else; `totalBytes` may be unknown. */
export function createProgressBar({ stderr }: Output, totalBytes: number | undefined): ProgressBar {
  if (stderr.isTTY !== true) return { update: () => undefined, end: () => undefined };
  const started = performance.now();
  let drawn = Number.NEGATIVE_INFINITY;
  return {
    update(doneBytes, rows) {
      const now = performance.now();
      if (now - drawn < redrawMs) return;
      drawn = now;
      const perSecond = Math.round(rows / Math.max(0.001, (now - started) / 1000));
      const share = totalBytes === undefined ? undefined : Math.min(1, doneBytes / Math.max(1, totalBytes));
      const bar =
        share === undefined
          ? ''
          : `[${'#'.repeat(Math.round(share * width)).padEnd(width, '.')}] ${Math.floor(share * 100)} %  `;
      stderr.write(`\r\x1b[K${bar}${rows} rows  ${perSecond} rows/s`);
    },
    end() {
      if (drawn > 0) stderr.write('\r\x1b[K');
    },
  };
}
