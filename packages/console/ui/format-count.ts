const format = new Intl.NumberFormat('en');

/** A whole number with thousands separated: 1,284. */
export const formatCount = (count: number): string => format.format(count);

const percent = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 1 });

/** The least share that is not written as 0%. */
const shareMin = 0.0005;

/** A part of a whole, from 0 to 1: 35.2%. Only nothing is 0%, and only the whole is 100%. */
export function formatShare(share: number): string {
  if (share > 0 && share < shareMin) return '<0.1%';
  return share < 1 && share >= 1 - shareMin ? '>99.9%' : percent.format(share);
}

/** A number with its unit: "1 subscription", "1,284 subscriptions". */
export const countOf = (count: number, one: string, many: string): string =>
  `${formatCount(count)} ${count === 1 ? one : many}`;
