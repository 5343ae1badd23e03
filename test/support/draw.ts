import { randomInt } from 'node:crypto';
import { basename } from 'node:path';

/**
 * What a run takes of a matrix, such as cases and engines, which has more pairs than a run needs:
 * each row and each column, drawn by a seed. The whole matrix with `isWhole`.
 */
export function createDraw(seed: number, isWhole: boolean) {
  const isTaken = (row: number, rows: number, column: number, columns: number): boolean =>
    isWhole || (rows < columns ? (column + seed) % rows === row : (row + seed) % columns === column);
  return {
    /** One of the values, or all of them; `url` is that of the test file, because files differ. */
    drawOne<T>(values: readonly T[], url: string): readonly T[] {
      const own = [...basename(url)].reduce((sum, letter) => sum + letter.charCodeAt(0), 0);
      return values.filter((_value, at) => isWhole || at === (own + seed) % values.length);
    },
    /** One of `parts` of the values; at least one value. */
    drawPart<T>(values: readonly T[], parts: number): readonly T[] {
      const count = Math.min(parts, values.length);
      return values.filter((_value, at) => isWhole || at % count === seed % count);
    },
    /** Pairs that have each row and each column at least once. */
    drawPairs<Row, Column>(rows: readonly Row[], columns: readonly Column[]): readonly (readonly [Row, Column])[] {
      return rows.flatMap((row, at) =>
        columns
          .filter((_column, place) => isTaken(at, rows.length, place, columns.length))
          .map((column) => [row, column] as const),
      );
    },
  };
}

/** Whether this run takes everything. */
export const isWhole = process.env.ALL === '1';

// the processes of a run inherit the seed
process.env.DRAW ??= String(randomInt(2 ** 28));

const seed = Number(process.env.DRAW);

/** Whether this run takes the costliest tests: one of three runs does. */
export const isThorough = isWhole || seed % 3 === 0;

export const { drawOne, drawPairs, drawPart } = createDraw(seed, isWhole);
