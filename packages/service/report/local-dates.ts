import { formatInstant, isWithinYears, parseInstant } from '../../contract/instant.ts';
import { formatOffset, minuteOffset } from '../../contract/local-text.ts';
import type { Zone } from '../../contract/zone.ts';
import { isDigit } from './record-layout.ts';

// Dates of records in local time, from their stored bytes: "2024-05-01T08:00:00Z" with its quotes.
// The offsets of a day are looked up once, as a report has few days and many records.

/** The bytes of a date with its quotes. */
export const quotedBytes = 22;

/** A part of a day in UTC with one offset, which is in seconds. */
interface DayPart {
  readonly offset: number;
  /** Its end as `+02:00`. */
  readonly suffix: string;
}

/** A day in UTC: its offset until a second of the day, and from then on. */
interface LocalDay {
  readonly changeAt: number;
  readonly before: DayPart;
  readonly after: DayPart;
  /** The days before and after it; absent where the year would not have four digits. */
  readonly previous: string | undefined;
  readonly next: string | undefined;
}

const daySeconds = 86_400;

/** About 1 MB; reports of more days look some of them up again. */
const daysMax = 4_096;

/** Writes dates in the local time of a zone, as `formatInstantIn` does. */
export class LocalDates {
  readonly #zone: Zone;
  /** The days by their digits as a number, such as 20240501. */
  readonly #days = new Map<number, LocalDay>();

  constructor(zone: Zone) {
    this.#zone = zone;
  }

  /**
   * Writes the date that is at `from` in quotes to `to`, without quotes. Returns the number of
   * bytes, or 0 if it is not a date as an import writes it.
   */
  write(source: Buffer, from: number, target: Buffer, to: number): number {
    if (!isDate(source, from)) return 0;
    const digits = (two(source, from + 1) * 100 + two(source, from + 3)) * 10_000;
    const day = this.#dayOf(digits + two(source, from + 6) * 100 + two(source, from + 9));
    const [hour, minute, second] = [two(source, from + 12), two(source, from + 15), two(source, from + 18)];
    if (day === undefined || hour > 23 || minute > 59 || second > 59) return 0;
    const seconds = hour * 3_600 + minute * 60 + second;
    const { offset, suffix } = seconds < day.changeAt ? day.before : day.after;
    const local = seconds + offset;
    const days = Math.floor(local / daySeconds);
    const date = days === 0 ? '' : days < 0 ? day.previous : day.next;
    for (let at = 0; at < utcBytes; at += 1) target[to + at] = source[from + 1 + at] ?? 0;
    if (date === undefined) return utcBytes;
    writeText(target, to, date);
    writeTime(target, to + timeAt, local - days * daySeconds);
    writeText(target, to + utcBytes - 1, suffix);
    return utcBytes - 1 + suffix.length;
  }

  #dayOf(digits: number): LocalDay | undefined {
    const known = this.#days.get(digits);
    if (known !== undefined) return known;
    const [year, month, date] = [Math.floor(digits / 10_000), Math.floor(digits / 100) % 100, digits % 100];
    const text = [String(year).padStart(4, '0'), ...[month, date].map((part) => String(part).padStart(2, '0'))];
    const start = parseInstant(`${text.join('-')}T00:00:00Z`)?.seconds;
    if (start === undefined) return undefined;
    const day = this.#readDay(start);
    if (this.#days.size >= daysMax) this.#days.clear();
    this.#days.set(digits, day);
    return day;
  }

  #readDay(start: number): LocalDay {
    const last = start + daySeconds - 1;
    const partAt = (seconds: number): DayPart => {
      const offset = minuteOffset(this.#zone.offsetAt(seconds));
      return { offset, suffix: formatOffset(offset) };
    };
    const dateAt = (seconds: number): string | undefined =>
      isWithinYears(seconds) ? formatInstant(seconds).slice(0, timeAt - 1) : undefined;
    return {
      changeAt: (this.#zone.changeBetween(start, last) ?? last + 1) - start,
      before: partAt(start),
      after: partAt(last),
      previous: dateAt(start - daySeconds),
      next: dateAt(start + daySeconds),
    };
  }
}

const [utcBytes, timeAt] = [quotedBytes - 2, 11];

/** Where a date has which marks; all other bytes are digits. */
const pattern = '"0000-00-00T00:00:00Z"';
const isMark = (at: number): boolean => pattern[at] !== '0';
const positions = Array.from({ length: quotedBytes }, (_, at) => at);
const digitsAt = Uint8Array.from(positions.filter((at) => !isMark(at)));
const marksAt = Uint8Array.from(positions.filter(isMark));
const marks = Buffer.from(pattern);

function isDate(source: Buffer, from: number): boolean {
  for (const at of marksAt) if (source[from + at] !== marks[at]) return false;
  for (const at of digitsAt) if (!isDigit(source[from + at])) return false;
  return true;
}

/** The number of two digits. */
const two = (source: Buffer, at: number): number => ((source[at] ?? 0) - zero) * 10 + (source[at + 1] ?? 0) - zero;

/** Writes hours, minutes and seconds; the marks between them are there. */
function writeTime(target: Buffer, to: number, seconds: number): void {
  writeTwo(target, to, Math.floor(seconds / 3_600));
  writeTwo(target, to + 3, Math.floor(seconds / 60) % 60);
  writeTwo(target, to + 6, seconds % 60);
}

function writeTwo(target: Buffer, to: number, number: number): void {
  const tens = Math.floor(number / 10);
  target[to] = zero + tens;
  target[to + 1] = zero + number - 10 * tens;
}

function writeText(target: Buffer, to: number, text: string): void {
  for (let at = 0; at < text.length; at += 1) target[to + at] = text.charCodeAt(at);
}

const zero = 48;
