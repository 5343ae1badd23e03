import type { ReportParameter } from './query.ts';

/** The filters of which a search takes a list: any of its values. */
export const listParameters = ['id', 'iccid', 'device-id'] as const satisfies readonly ReportParameter[];
export type ListParameter = (typeof listParameters)[number];

export const isListParameter = (name: string): name is ListParameter =>
  (listParameters as readonly string[]).includes(name);

/** Maximum values of a list. */
export const listedMax = 1_000;

/** The filters of a query that are lists, with the values of each. */
export type Lists = readonly (readonly [ListParameter, readonly string[]])[];

/**
 * The header with the values of each list that no record has, by their positions from 0, of which
 * consecutive ones are a range. A value that is listed twice has its first position.
 */
export const notFoundHeader = 'X-Not-Found';

/**
 * Formats the header.
 *
 * @example formatNotFound([['iccid', [2, 5, 6, 7]], ['id', []]]) // 'iccid=2,5-7&id='
 */
export const formatNotFound = (missing: readonly (readonly [ListParameter, readonly number[]])[]): string =>
  missing.map(([name, positions]) => `${name}=${formatRanges(positions)}`).join('&');

/** Formats ascending positions. */
function formatRanges(positions: readonly number[]): string {
  const ranges: string[] = [];
  for (let at = 0; at < positions.length; at += 1) {
    const first = positions[at] ?? 0;
    while (positions[at + 1] === (positions[at] ?? 0) + 1) at += 1;
    ranges.push(positions[at] === first ? `${first}` : `${first}-${positions[at]}`);
  }
  return ranges.join();
}
