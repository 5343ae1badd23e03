import { spawn } from 'node:child_process';
import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { openDestination } from '../../src/sync/open-destination.ts';
import { runSync, type Source } from '../../src/sync/run-sync.ts';
import { sha256 } from './changing-report.ts';

const target = fileURLToPath(new URL('./singer_target.py', import.meta.url));

/** How a run of a tap ended. */
export interface TapRun {
  readonly messages: readonly Record<string, unknown>[];
  /** The run's error, or that of the output that was cut off. */
  readonly error: (Error & { readonly code?: string }) | undefined;
}

/** Runs a sync to a stream; the output ends after `charactersMax`, as if the process was killed. */
export async function runTap(
  source: Source,
  options: { to: string; state: string; activateVersion?: boolean; reload?: boolean },
  charactersMax = Number.POSITIVE_INFINITY,
  between: () => Promise<unknown> = async () => undefined,
): Promise<TapRun & { readonly text: string }> {
  let text = '';
  const write = async (part: string): Promise<void> => {
    if (text.length + part.length > charactersMax) {
      text += part.slice(0, charactersMax - text.length);
      throw Object.assign(new Error('killed'), { code: 'KILLED' });
    }
    text += part;
    await between();
  };
  const run = openDestination({ table: '', ...options }, write).then((destination) => runSync(source, destination));
  const error = await run.then(
    () => undefined,
    (failure: Error) => failure,
  );
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  const messages = whole
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
  return { messages, error, text: whole };
}

/** The Singer target with its table and the file of its last state, in one process for all runs. */
export class SingerTarget {
  readonly state: string;
  readonly #process;
  readonly #lines;

  constructor(folder: string, name: string) {
    this.state = join(folder, `${name}.json`);
    const table = join(folder, `${name}.db`);
    this.#process = spawn('python3', [target, table], { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#lines = createInterface({ input: this.#process.stdout })[Symbol.asyncIterator]();
  }

  /** Reads the messages of a run; if it is lost, those after the last state are not kept. */
  async read({ text }: { readonly text: string }, isLost: boolean): Promise<void> {
    const states = await this.#ask(text + (isLost ? 'LOSE' : 'END'));
    appendFileSync(this.state, states.map((state) => `${state}\n`).join(''));
  }

  async empty(): Promise<void> {
    writeFileSync(this.state, '');
    await this.#ask('EMPTY');
  }

  /** SHA-256 of the lines of the export, in its order. */
  async digest(): Promise<string> {
    return digestOf(await this.#ask('PRINT'));
  }

  close(): void {
    this.#process.stdin.end();
  }

  /** What the process prints until it is done. */
  async #ask(input: string): Promise<string[]> {
    this.#process.stdin.write(`${input}\n`);
    const printed: string[] = [];
    for (;;) {
      const { value } = await this.#lines.next();
      if (value === undefined) throw new Error('the Singer target has ended');
      if (value === 'DONE') return printed;
      printed.push(value);
    }
  }
}

/** Keeps the records of Airbyte's messages as a destination does: the latest cursor of each id. */
export class AirbyteTarget {
  readonly state: string;
  readonly #records = new Map<string, { cursor: number; line: string | undefined }>();

  constructor(folder: string, name: string) {
    this.state = join(folder, `${name}.json`);
    writeFileSync(this.state, '[]');
  }

  read({ messages }: TapRun, isLost: boolean): void {
    const last = messages.findLastIndex(({ type }) => type === 'STATE');
    for (const message of isLost ? messages.slice(0, last + 1) : messages) {
      if (message.type === 'STATE') writeFileSync(this.state, JSON.stringify([message.state]));
      if (message.type !== 'RECORD') continue;
      const { data } = message.record as { data: Record<string, unknown> & { id: string } };
      const { _ab_cdc_cursor: cursor, _ab_cdc_deleted_at: deletedAt, ...record } = data;
      const before = this.#records.get(data.id)?.cursor ?? 0;
      const line = deletedAt === null ? JSON.stringify(record) : undefined;
      if (Number(cursor) >= before) this.#records.set(data.id, { cursor: Number(cursor), line });
    }
  }

  empty(): void {
    writeFileSync(this.state, '[]');
    this.#records.clear();
  }

  close(): void {}

  digest(): string {
    return digestOf([...this.#records.values()].flatMap(({ line }) => line ?? []));
  }
}

/** SHA-256 of the lines of records in the order of the export. */
function digestOf(lines: readonly string[]): string {
  const keyOf = (line: string): [string, string] => {
    const { createdDate, id } = JSON.parse(line);
    return [createdDate, id];
  };
  const before = ([a, b]: [string, string], [c, d]: [string, string]): number =>
    a === c ? Buffer.compare(Buffer.from(b), Buffer.from(d)) : Date.parse(a) - Date.parse(c);
  const sorted = lines.map((line) => ({ line, key: keyOf(line) })).sort((one, other) => before(one.key, other.key));
  return sha256(sorted.map(({ line }) => `${line}\n`).join(''));
}
