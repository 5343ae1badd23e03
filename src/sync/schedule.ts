import { Cron } from 'croner';

/** How far the clocks of a zone are turned back at most, in milliseconds. */
const turnedBackMax = 3 * 3_600_000;

/**
 * A cron line of five fields in an IANA time zone. A local time that does not exist is the moment
 * at which the clocks are turned forward; one that exists twice is its first instant. With `*` for
 * the hour, the line means every hour that passes, so both of them.
 */
export class Schedule {
  readonly #cron: Cron;
  readonly #zone: string;
  /** Whether the line is compared with the local time, as if it were in UTC. */
  readonly #isLocal: boolean;

  /** Throws `RangeError` or `TypeError` unless the line has a next instant, and the zone exists. */
  constructor(line: string, zone: string) {
    const fields = line.trim().split(/\s+/);
    if (fields.length !== 5) throw new RangeError('five fields');
    this.#zone = new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone;
    this.#isLocal = fields[1] !== '*';
    this.#cron = new Cron(fields.join(' '), { timezone: this.#isLocal ? 'UTC' : zone, paused: true });
    if (this.#cron.nextRun() === null) throw new RangeError('no instant');
  }

  /** The latest instant that is not after `now`; `undefined` if there is none. */
  latest(now: Date): Date | undefined {
    let from = new Date((this.#isLocal ? this.#localOf(now) + turnedBackMax : now.getTime()) + 1_000);
    for (;;) {
      const [found] = this.#cron.previousRuns(1, from);
      if (found === undefined) return undefined;
      const instant = this.#instantOf(found);
      if (instant <= now) return instant;
      from = found;
    }
  }

  /** The first instant after `now`. */
  next(now: Date): Date {
    let from = this.#isLocal ? new Date(this.#localOf(now) - turnedBackMax) : now;
    for (;;) {
      const found = this.#cron.nextRun(from);
      if (found === null) throw new RangeError('Cannot continue the schedule: it must have a next instant');
      const instant = this.#instantOf(found);
      if (instant > now) return instant;
      from = found;
    }
  }

  /** The local time of an instant, as if it were in UTC. */
  #localOf(now: Date): number {
    const local = Temporal.Instant.fromEpochMilliseconds(now.getTime()).toZonedDateTimeISO(this.#zone);
    return local.toPlainDateTime().toZonedDateTime('UTC').epochMilliseconds;
  }

  #instantOf(found: Date): Date {
    if (!this.#isLocal) return found;
    const local = Temporal.Instant.fromEpochMilliseconds(found.getTime()).toZonedDateTimeISO('UTC').toPlainDateTime();
    const zoned = local.toZonedDateTime(this.#zone, { disambiguation: 'earlier' });
    const exists = zoned.toPlainDateTime().equals(local);
    // otherwise it is before the clocks are turned forward
    const instant = exists ? zoned : (zoned.getTimeZoneTransition('next') ?? zoned);
    return new Date(instant.epochMilliseconds);
  }
}
