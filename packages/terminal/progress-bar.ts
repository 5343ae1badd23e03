import type { Output } from './output.ts';
import { redraw } from './printable.ts';

interface ProgressBar {
  update(doneBytes: number, rows: number): void;
  updateBytes(doneBytes: number, totalBytes?: number): void;
  end(): void;
}

const width = 30;
const redrawMs = 100;

/** Shows a bar on a terminal and nothing otherwise; `totalBytes` may be unknown, or `NaN`. */
export function createProgressBar({ stderr }: Output, totalBytes?: number): ProgressBar {
  if (stderr.isTTY !== true) return { update: () => undefined, updateBytes: () => undefined, end: () => undefined };
  const started = performance.now();
  let drawn = Number.NEGATIVE_INFINITY;
  const draw = (share: number | undefined, done: number, unit: string): void => {
    const now = performance.now();
    if (now - drawn < redrawMs) return;
    drawn = now;
    const perSecond = Math.round(done / Math.max(0.001, (now - started) / 1000));
    const bar =
      share === undefined
        ? ''
        : `[${'#'.repeat(Math.round(share * width)).padEnd(width, '.')}] ${Math.floor(share * 100)} %  `;
    stderr.write(`${redraw}${bar}${done} ${unit}  ${perSecond} ${unit}/s`);
  };
  return {
    update: (doneBytes, rows) => draw(shareOf(doneBytes, totalBytes), rows, 'rows'),
    updateBytes: (doneBytes, total = totalBytes) =>
      draw(shareOf(doneBytes, total), Math.round(doneBytes / 1_048_576), 'MiB'),
    end() {
      if (drawn > 0) stderr.write(redraw);
    },
  };
}

const shareOf = (done: number, total: number | undefined): number | undefined =>
  total === undefined || Number.isNaN(total) ? undefined : Math.min(1, done / Math.max(1, total));
