const format = new Intl.NumberFormat('en');

/** A whole number with thousands separated: 1,284. */
export const formatCount = (count: number): string => format.format(count);

const percent = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 1 });

/** A part of a whole, from 0 to 1: 35.2%. */
export const formatShare = (share: number): string => percent.format(share);

/** A number with its unit: "1 subscription", "1,284 subscriptions". */
export const countOf = (count: number, one: string, many: string): string =>
  `${formatCount(count)} ${count === 1 ? one : many}`;
