const format = new Intl.NumberFormat('en');

/** A whole number with thousands separated: 1,284. */
export const formatCount = (count: number): string => format.format(count);

/** A number with its unit: "1 subscription", "1,284 subscriptions". */
export const countOf = (count: number, one: string, many: string): string =>
  `${formatCount(count)} ${count === 1 ? one : many}`;
