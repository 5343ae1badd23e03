import { formatInstant } from '../contract/instant.ts';

/** Formats a time in UTC epoch seconds; `null` stays `null`. */
export const timeOf = (seconds: number | null): string | null => (seconds === null ? null : formatInstant(seconds));
