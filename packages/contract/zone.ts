import type { FormPair } from './form.ts';
import { type Fault, shorten } from './problem.ts';
import { fitsText, ruleOf } from './schema.ts';
import { didYouMean } from './suggest.ts';
import { Type } from './type.ts';

/** A parameter `zone` with what it applies to. */
export const zoneOf = (description: string) =>
  Type.String({
    pattern: '^[A-Za-z][A-Za-z0-9_+-]{0,31}(?:/[A-Za-z0-9_+-]{1,32}){0,2}$',
    maxLength: 64,
    description,
    'x-rule': 'the name of an IANA time zone',
    examples: ['Europe/Berlin'],
  });

/** The parameter `zone` of a report. */
export const zoneParameter = zoneOf(
  'The time zone of days and months (UTC if absent), and of dates without an offset, such as 2024-05-01, which are accepted only with zone',
);

/** The zone in an answer that has days or months. */
export const answeredZone = Type.Optional(
  Type.String({
    ...zoneParameter,
    description: 'The time zone of the days and months, if the query has one; otherwise UTC',
  }),
);

/** A time zone, whose offsets are those of the platform. */
export interface Zone {
  readonly name: string;
  /** The seconds that local time is ahead of UTC at an instant in UTC epoch seconds. */
  offsetAt(seconds: number): number;
  /**
   * The first instant after `from` and up to `to`, at most three days later, with another offset.
   */
  changeBetween(from: number, to: number): number | undefined;
}

/** Returns a zone by its IANA name, in any letter case; `undefined` for any other. */
export function findZone(name: string): Zone | undefined {
  const known = zones.get(name);
  if (known !== undefined) return known;
  const zone = openZone(name);
  if (zone === undefined) return undefined;
  const [oldest] = zones.keys();
  if (zones.size >= zonesMax && oldest !== undefined) zones.delete(oldest);
  zones.set(name, zone);
  return zone;
}

/**
 * Reads the parameter `zone`, if it is given. Adds a fault for an unknown zone, and returns UTC
 * instead, so that dates are no faults as well.
 */
export function takeZone(pairs: readonly FormPair[], faults: Fault[]): Zone | undefined {
  const name = pairs.find((pair) => pair.name === 'zone')?.value;
  if (name === undefined) return undefined;
  const zone = fitsText(zoneParameter, name) ? findZone(name) : undefined;
  if (zone !== undefined) return zone;
  const rule = ruleOf(zoneParameter) + didYouMean(name, Intl.supportedValuesOf('timeZone'));
  faults.push({ parameter: 'zone', value: shorten(name), rule });
  return findZone('UTC');
}

const zonesMax = 16;
const zones = new Map<string, Zone>();

const daySeconds = 86_400;

/**
 * An offset changes at most once within this time: the shortest time between two changes is 3.9
 * days (Freetown, 1939).
 */
const blockSeconds = 3 * daySeconds;

/** Blocks that a zone keeps: those of 400 years by month, or of 130 years by day. */
const blocksMax = 16_384;

/** Local time is the mean time of a place before 1800, and repeats every 400 years from 2100 on. */
const firstSeconds = -5_364_662_400;
const repeatedSeconds = 4_102_444_800;
const cycleSeconds = 146_097 * daySeconds;

/** Maps an instant to one that has the same offset, within 1800 to 2500. */
function fold(seconds: number): number {
  if (seconds < repeatedSeconds) return Math.max(seconds, firstSeconds);
  return repeatedSeconds + ((seconds - repeatedSeconds) % cycleSeconds);
}

function openZone(name: string): Zone | undefined {
  const read = offsetReader(name);
  if (read === undefined) return undefined;
  /** The offset at the start of each block that was read, and the changes within blocks. */
  const starts = new Map<number, number>();
  const changes = new Map<number, number>();
  const offsetAtStart = (start: number): number => {
    const offset = starts.get(start) ?? read(start);
    if (starts.size >= blocksMax) starts.clear();
    starts.set(start, offset);
    return offset;
  };
  const offsetAt = (seconds: number): number => {
    const folded = fold(seconds);
    const start = Math.floor(folded / blockSeconds) * blockSeconds;
    const [offset, next] = [offsetAtStart(start), offsetAtStart(start + blockSeconds)];
    if (offset === next) return offset;
    const at = changes.get(start) ?? firstOther(read, start, start + blockSeconds);
    if (changes.size >= blocksMax) changes.clear();
    changes.set(start, at);
    return folded >= at ? next : offset;
  };
  return {
    name,
    offsetAt,
    changeBetween(from, to) {
      const offset = offsetAt(from);
      if (offsetAt(to) === offset) return undefined;
      return firstOther(offsetAt, from, to);
    },
  };
}

/** The first instant after `from` with another offset, if that of `to` is another one. */
function firstOther(offsetAt: (seconds: number) => number, from: number, to: number): number {
  const offset = offsetAt(from);
  let [before, at] = [from, to];
  while (at - before > 1) {
    const middle = Math.floor((before + at) / 2);
    if (offsetAt(middle) === offset) before = middle;
    else at = middle;
  }
  return at;
}

/** Returns a function that reads an offset from the platform, which takes some 2 µs. */
function offsetReader(name: string): ((seconds: number) => number) | undefined {
  try {
    const format = new Intl.DateTimeFormat('en-US', {
      timeZone: name,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
    return (seconds) => {
      const [month = 0, day, year = 0, hour, minute, second] = (format.format(seconds * 1000).match(/\d+/g) ?? []).map(
        Number,
      );
      return Date.UTC(year, month - 1, day, hour, minute, second) / 1000 - seconds;
    };
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
