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
  missing.map(([name, positions]) => `${name}=${formatPositions(positions)}`).join('&');

/** Formats ascending positions: as ranges or, if these are long, as a number with these bits. */
function formatPositions(positions: readonly number[]): string {
  const lasts = positions.filter((at, index) => positions[index + 1] !== at + 1);
  const firsts = positions.filter((at, index) => positions[index - 1] !== at - 1);
  const ranges = firsts.map((first, index) => (first === lasts[index] ? first : `${first}-${lasts[index]}`)).join();
  if (ranges.length <= listedMax / 4) return ranges; // the hexadecimal digits of a whole list
  return `0x${positions.reduce((bits, at) => bits | (1n << BigInt(at)), 0n).toString(16)}`;
}
