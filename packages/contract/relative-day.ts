/** Months of the periods in the words of `dayOf`. */
const periods = { month: 1, quarter: 3, year: 12 } as const;

const steps = { last: -1, this: 0, next: 1 } as const;

/** Days from today. */
const nearDays = { yesterday: -1, today: 0, tomorrow: 1 } as const;

/** The words that `dayOf` knows. A month, quarter or year is the day on which it begins. */
export const dayWords: readonly string[] = [
  ...Object.keys(nearDays),
  ...Object.keys(periods).flatMap((period) => Object.keys(steps).map((step) => `${step}-${period}`)),
];

/**
 * Returns the day that a word means, or the day itself; `undefined` for anything else. `today` is
 * the day in the time zone of the reader.
 *
 * @example
 * dayOf('last-month', '2026-11-26') // '2026-10-01'
 * dayOf('yesterday', '2026-11-26')  // '2026-11-25'
 * dayOf('2026-10-31', '2026-11-26') // '2026-10-31'
 */
export function dayOf(word: string, today: string): string | undefined {
  const [year = 0, month = 0, day = 0] = today.split('-').map(Number);
  if (Object.hasOwn(nearDays, word)) return text(year, month, day + nearDays[word as keyof typeof nearDays]);
  const [step = '', period = ''] = word.split('-');
  if (dayWords.includes(word)) {
    const months = periods[period as keyof typeof periods];
    const first = month - ((month - 1) % months);
    return text(year, first + months * steps[step as keyof typeof steps], 1);
  }
  if (!/^\d{4}-\d{2}-\d{2}$/.test(word)) return undefined;
  const [wordYear = 0, wordMonth = 0, wordDay = 0] = word.split('-').map(Number);
  return text(wordYear, wordMonth, wordDay) === word ? word : undefined; // 30 February is no day
}

/** Normalizes a month or day that does not exist. */
function text(year: number, month: number, day: number): string | undefined {
  const written = new Date(new Date(0).setUTCFullYear(year, month - 1, day)).toISOString();
  return /^\d{4}-/.test(written) ? written.slice(0, 10) : undefined; // a year of four digits
}
