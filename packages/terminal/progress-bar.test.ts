import { describe, expect, test } from 'vitest';
import { createProgressBar } from './progress-bar.ts';

/** Clears the line. */
const cleared = '\r\x1b[K';

function terminal(isTTY: boolean) {
  const written: string[] = [];
  const stream = {
    isTTY,
    write: (text: string) => {
      written.push(text);
    },
  };
  return { written, output: { stdout: stream, stderr: stream } };
}

describe('a progress bar', () => {
  test('shows the share, the rows and their rate on a terminal, and clears itself', () => {
    const { written, output } = terminal(true);
    const bar = createProgressBar(output, 200);
    bar.update(50, 1_000);
    expect(written[0]?.replace(cleared, '')).toMatch(/^\[#{8}\.{22}\] 25 % {2}1000 rows {2}\d+ rows\/s$/);
    bar.end();
    expect(written.at(-1)).toBe(cleared);
  });

  test('is not redrawn more often than people can see', () => {
    const { written, output } = terminal(true);
    const bar = createProgressBar(output, 200);
    for (let bytes = 0; bytes < 200; bytes += 1) bar.update(bytes, bytes);
    expect(written.length).toBeLessThan(5);
  });

  test('without a known size shows rows alone', () => {
    const { written, output } = terminal(true);
    createProgressBar(output, undefined).update(50, 7);
    expect(written[0]?.replace(cleared, '')).toMatch(/^7 rows {2}\d+ rows\/s$/);
  });

  test('writes nothing if there is no terminal', () => {
    const { written, output } = terminal(false);
    const bar = createProgressBar(output, 200);
    bar.update(50, 7);
    bar.end();
    expect(written).toEqual([]);
  });
});
