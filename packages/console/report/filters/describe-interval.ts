import { formatDuration, parseDuration } from '../../../contract/duration.ts';
import { formatDay, formatUtc } from '../../ui/format-date.ts';
import { dayAfter, dayFrom, dayUntil, millisecondsOf } from '../zone/day-bounds.ts';
import { filterStrings } from './filter-strings.ts';

const { interval: words, days, hours } = filterStrings;

/** One end of an interval: a whole day, or an instant with a word of its own. */
type Bound = { readonly day: string } | { readonly phrase: string } | undefined;

/** `created-from` (included) and `created-to` (excluded) in words. */
export function describeFromTo(from: string | undefined, to: string | undefined): string {
  return describe(
    from === undefined ? undefined : boundOf(dayFrom(from), words.from, from),
    to === undefined ? undefined : boundOf(dayUntil(to), words.before, to),
  );
}

/** `after` and `before`, both excluded, in words. */
export function describeAfterBefore(after: string | undefined, before: string | undefined): string {
  return describe(
    after === undefined ? undefined : boundOf(dayAfter(after), words.after, after),
    before === undefined ? undefined : boundOf(dayUntil(before), words.before, before),
  );
}

const boundOf = (day: string | undefined, phrase: (time: string) => string, instant: string): Bound =>
  day === undefined
    ? { phrase: phrase(formatUtc(new Date(millisecondsOf(instant)))) }
    : { day: formatDay(new Date(day)) };

function describe(start: Bound, end: Bound): string {
  if (start !== undefined && end !== undefined && 'day' in start && 'day' in end)
    return start.day === end.day ? words.on(start.day) : words.between(start.day, end.day);
  return [phraseOf(start, words.since), phraseOf(end, words.until)].filter((phrase) => phrase !== '').join(' ');
}

function phraseOf(bound: Bound, ofDay: (day: string) => string): string {
  if (bound === undefined) return '';
  return 'day' in bound ? ofDay(bound.day) : bound.phrase;
}

/** A valid duration of the API in words, `7 days`, `12 hours`; any other in ISO 8601. */
export function describeDuration(text: string): string {
  const seconds = parseDuration(text) ?? 0;
  if (seconds % 86_400 === 0) return days(seconds / 86_400);
  return seconds % 3600 === 0 ? hours(seconds / 3600) : formatDuration(seconds);
}
