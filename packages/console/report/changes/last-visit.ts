/** A position in the feed of changes, and when it was the newest one. */
export interface Position {
  readonly token: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** What the browser keeps between visits: positions in the feed, and no data of the report. */
export interface Visits {
  /** The end of the last visit: changes after it are new. Absent during the first one. */
  readonly last?: Position | undefined;
  /** The newest position that this visit has seen. */
  readonly current: Position;
}

/** A visit ends when nothing was read for this long; as long as a session may be idle. */
const visitGapMs = 30 * 60_000;

/** The visits as they are at a later time: the current one may have become the last one. */
export const visitsAt = (visits: Visits, now: number): Visits =>
  now - visits.current.at > visitGapMs ? { ...visits, last: visits.current } : visits;

/** The visits of someone who has seen everything until a position. */
export const visitsFrom = (position: Position): Visits => ({ last: position, current: position });

/** Keeps the visits of one client in this browser, if it allows storage. */
export class VisitStore {
  readonly #key: string;

  constructor(tenant: string, clientId: string) {
    this.#key = `subreport.visits.${JSON.stringify([tenant, clientId])}`;
  }

  /** `undefined` at the first visit, and if the stored text was altered. */
  read(): Visits | undefined {
    try {
      const value: unknown = JSON.parse(localStorage.getItem(this.#key) ?? 'null');
      return isVisits(value) ? value : undefined;
    } catch {
      return undefined;
    }
  }

  /** Does nothing if the browser does not allow storage: every visit is then the first one. */
  write(visits: Visits): void {
    try {
      localStorage.setItem(this.#key, JSON.stringify(visits));
    } catch {}
  }
}

const isVisits = (value: unknown): value is Visits =>
  isObject(value) && (value.last === undefined || isPosition(value.last)) && isPosition(value.current);

const isPosition = (value: unknown): value is Position =>
  isObject(value) && typeof value.token === 'string' && Number.isSafeInteger(value.at);

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;
