/** Parses `Retry-After` to milliseconds: a number of seconds, or a date (RFC 9110 §10.2.3). */
export function readRetryAfter(value: string | null | undefined): number | undefined {
  // `Date.parse` takes -5 for a date
  const [date = ''] = /^[a-z].*:.*/i.exec(value ?? '') ?? [];
  const ms = /^\d+$/.test(value ?? '') ? Number(value) * 1000 : Date.parse(date) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(ms, 0);
}
