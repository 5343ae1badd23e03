// Local time by Temporal, which shares no code with packages/contract/zone.ts.

interface ZonedDateTime {
  readonly epochMilliseconds: number;
  toPlainDate(): { toString(): string };
  toString(options: { readonly timeZoneName: 'never' }): string;
  getTimeZoneTransition(direction: 'next'): ZonedDateTime | null;
  toPlainDateTime(): { equals(other: PlainDateTime): boolean };
}

interface PlainDateTime {
  toZonedDateTime(zone: string, options: { readonly disambiguation: 'earlier' }): ZonedDateTime;
}

declare const Temporal: {
  readonly Instant: {
    from(text: string): { toZonedDateTimeISO(zone: string): ZonedDateTime };
    fromEpochMilliseconds(ms: number): { toZonedDateTimeISO(zone: string): ZonedDateTime };
  };
  readonly PlainDateTime: { from(text: string): PlainDateTime };
};

/** The date of an instant in milliseconds, such as `2024-05-01`. */
export const localDate = (ms: number, zone = 'UTC'): string =>
  Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(zone).toPlainDate().toString();

/** A date-time in local time with its offset, such as `2024-05-01T10:00:00+02:00`. */
export const localDateTime = (text: string, zone = 'UTC'): string =>
  Temporal.Instant.from(text).toZonedDateTimeISO(zone).toString({ timeZoneName: 'never' });

/**
 * The instant of a date or date-time in milliseconds: of two the first one, and of a time that is
 * skipped the end of the gap. `NaN` for anything else, such as a word.
 */
export function instantMs(text: string, zone = 'UTC'): number {
  if (/T.*(?:Z|[+-]\d{2}:\d{2})$/.test(text)) return Date.parse(text);
  if (!/^\d{4}-/.test(text)) return Number.NaN;
  const local = Temporal.PlainDateTime.from(text);
  const earlier = local.toZonedDateTime(zone, { disambiguation: 'earlier' });
  if (earlier.toPlainDateTime().equals(local)) return earlier.epochMilliseconds;
  return earlier.getTimeZoneTransition('next')?.epochMilliseconds ?? Number.NaN;
}
