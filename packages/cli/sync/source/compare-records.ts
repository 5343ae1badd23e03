import { recordFields, valueAt } from '../../../contract/record-fields.ts';
import { printable } from '../../../terminal/printable.ts';

/** Most differences that are named. */
const namedMax = 20;

/** Most records of each side that are kept until the other side has one with their id. */
const heldMax = 1_000;

/** A copy beside its report. */
export interface Comparison {
  readonly copyRows: number;
  readonly reportRows: number;
  /**
   * Records that are not equal, or not at the same place. One whose `createdDate` differs counts as
   * two if there are very many.
   */
  readonly differences: number;
  /** The first of them, each as a sentence: its id, and what both sides have. */
  readonly named: readonly string[];
}

/** Batches of lines of the NDJSON export. */
type Lines = AsyncIterable<readonly string[]>;

/**
 * Compares two sides in one pass, in memory that does not grow with them: both are in the order of
 * the report, so the one with the smaller key has a record that the other lacks.
 *
 * @param names the names of the fields in the copy, in the order of `recordFields`
 */
export async function compareRecords(
  copyLines: Lines,
  reportLines: Lines,
  names: readonly string[],
): Promise<Comparison> {
  const [copy, report] = [new Side(copyLines), new Side(reportLines)];
  const found = new Differences(names);
  try {
    for (;;) {
      const [hasOwn, hasTheirs] = [await copy.fill(), await report.fill()];
      if (!hasOwn && !hasTheirs) break;
      copy.skipEqual(report);
      if (hasOwn && hasTheirs && (!copy.hasLine || !report.hasLine)) continue;
      const order = hasOwn && hasTheirs ? compareKeys(copy.record, report.record) : hasOwn ? -1 : 1;
      if (hasOwn && copy.isRepeated) found.addRepeated(copy.take());
      else if (order === 0) found.addChanged(copy.take(), report.take());
      else if (order < 0) found.addToCopy(copy.take());
      else found.addToReport(report.take());
    }
  } finally {
    await Promise.all([copy.end(), report.end()]);
  }
  return { copyRows: copy.count, reportRows: report.count, ...found.summary() };
}

interface SideRecord {
  readonly line: string;
  /** Its values in the order of `recordFields`; none if the line is no record. */
  readonly values: readonly unknown[] | undefined;
}

function recordOf(line: string): SideRecord {
  try {
    const record: object = JSON.parse(line);
    return { line, values: recordFields.map((field) => valueAt(record, field)) };
  } catch {
    return { line, values: undefined };
  }
}

/** Reads one side record by record. */
class Side {
  readonly #batches: AsyncIterator<readonly string[]>;
  #lines: readonly string[] = [];
  #at = 0;
  #previousLine: string | undefined;
  count = 0;

  constructor(batches: Lines) {
    this.#batches = batches[Symbol.asyncIterator]();
  }

  /** Reads until there is a record. Returns whether there is one. */
  async fill(): Promise<boolean> {
    while (!this.hasLine) {
      const { done, value } = await this.#batches.next();
      if (done === true) return false;
      [this.#lines, this.#at] = [value, 0];
    }
    return true;
  }

  get hasLine(): boolean {
    return this.#at < this.#lines.length;
  }

  get record(): SideRecord {
    return recordOf(this.#line);
  }

  /** Skips the records that another side has next too. */
  skipEqual(other: Side): void {
    while (this.hasLine && other.hasLine && this.#line === other.#line) {
      this.#skip();
      other.#skip();
    }
  }

  /** Whether the line equals that of the previous record. */
  get isRepeated(): boolean {
    return this.#line === this.#previousLine;
  }

  take(): SideRecord {
    const { record } = this;
    this.#skip();
    return record;
  }

  async end(): Promise<void> {
    await this.#batches.return?.();
  }

  get #line(): string {
    return this.#lines[this.#at] ?? '';
  }

  #skip(): void {
    this.#previousLine = this.#line;
    this.#at += 1;
    this.count += 1;
  }
}

const [idIndex, createdIndex] = ['id', 'createdDate'].map((name) =>
  recordFields.findIndex((field) => field.name === name),
) as [number, number];

const textAt = (values: readonly unknown[] | undefined, index: number): string => String(values?.[index] ?? '');

const idOf = ({ line, values }: SideRecord): string => textAt(values, idIndex) || line;

/** Compares the places of two records. Without values, a record is before all others. */
function compareKeys({ values: a }: SideRecord, { values: b }: SideRecord): number {
  for (const index of [createdIndex, idIndex]) {
    const [left, right] = [textAt(a, index), textAt(b, index)];
    if (left !== right) return left < right ? -1 : 1;
  }
  return 0;
}

/** Counts and names differences. A record that has moved is found by its id. */
class Differences {
  readonly #names: readonly string[];
  readonly #onlyCopy = new Map<string, SideRecord>();
  readonly #onlyReport = new Map<string, SideRecord>();
  readonly #changed: string[] = [];
  #changedCount = 0;
  #notHeld = 0;

  constructor(names: readonly string[]) {
    this.#names = names;
  }

  addChanged(copy: SideRecord, report: SideRecord): void {
    this.#change(() => this.#describe(copy, report));
  }

  addRepeated(record: SideRecord): void {
    this.#change(() => `${shownId(record)}: twice in the copy`);
  }

  addToCopy(record: SideRecord): void {
    const other = this.#hold(record, this.#onlyCopy, this.#onlyReport);
    if (other !== undefined) this.addChanged(record, other);
  }

  addToReport(record: SideRecord): void {
    const other = this.#hold(record, this.#onlyReport, this.#onlyCopy);
    if (other !== undefined) this.addChanged(other, record);
  }

  /** Returns the record of the other side with the same id; without one, keeps this one. */
  #hold(record: SideRecord, own: Map<string, SideRecord>, others: Map<string, SideRecord>): SideRecord | undefined {
    const id = idOf(record);
    const other = others.get(id);
    if (other !== undefined) others.delete(id);
    else if (own.size < heldMax && !own.has(id)) own.set(id, record);
    else this.#notHeld += 1;
    return other;
  }

  #change(describe: () => string): void {
    this.#changedCount += 1;
    if (this.#changed.length < namedMax) this.#changed.push(describe());
  }

  summary(): { readonly differences: number; readonly named: readonly string[] } {
    const named = [
      ...this.#changed,
      ...[...this.#onlyCopy.values()].map((record) => `${shownId(record)}: in the copy, not in the report`),
      ...[...this.#onlyReport.values()].map((record) => `${shownId(record)}: in the report, not in the copy`),
    ];
    const differences = this.#changedCount + this.#onlyCopy.size + this.#onlyReport.size + this.#notHeld;
    return { differences, named: named.slice(0, namedMax) };
  }

  #describe(copy: SideRecord, report: SideRecord): string {
    if (copy.line === report.line) return `${shownId(report)}: not at its place in the order of the report`;
    const { values: own = [] } = copy;
    const { values: theirs = [] } = report;
    const fields = this.#names.flatMap((name, index) =>
      Object.is(own[index] ?? null, theirs[index] ?? null)
        ? []
        : [`${name} ${shown(own[index])}, report ${shown(theirs[index])}`],
    );
    // values may be equal although the lines are not: other members, another notation
    const all = fields.length > 0 ? fields : [`${shown(copy.line)}, report ${shown(report.line)}`];
    return `${shownId(report)}: ${all.join('; ')}`;
  }
}

const shownId = (record: SideRecord): string =>
  record.values === undefined ? `no record ${shown(record.line)}` : cut(idOf(record));

/** A value in a sentence, on one line and without control characters. */
function shown(value: unknown): string {
  if (value === undefined || value === null) return 'absent';
  return typeof value === 'string' ? `'${cut(value)}'` : cut(JSON.stringify(value));
}

const cut = (text: string): string => printable(text.length > 200 ? `${text.slice(0, 200)}…` : text);
