const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** The day of an instant, or a day, in UTC: `12 Mar 2026`. */
export function shortDate(instant: string): string {
  const date = new Date(instant);
  return `${date.getUTCDate()} ${months[date.getUTCMonth()]} ${date.getUTCFullYear()}`;
}

/** An instant to the second in UTC: `12 Mar 2026, 08:30:00 UTC`; with its fraction, if any. */
export function longTime(instant: string): string {
  const [, time = ''] = new Date(instant)
    .toISOString()
    .replace(/(?:\.000)?Z$/, '')
    .split('T');
  return `${shortDate(instant)}, ${time} UTC`;
}
