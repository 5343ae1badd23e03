import { closeSync, openSync, readSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Static, TSchema } from 'typebox';
import { Compile } from 'typebox/schema';
import { LineCounter, type Node, parseDocument } from 'yaml';
import { didYouMean } from '../contract/suggest.ts';
import { Type } from '../contract/type.ts';
import { SyncError } from './error.ts';
import { Schedule } from './schedule.ts';

/** Most bytes of a file of syncs. */
const bytesMax = 262_144;

const text = (rule: string, example: string, pattern: string, description = rule) =>
  Type.String({ pattern, description, 'x-rule': rule, examples: [example] });

const path = (description: string, example: string) =>
  text('a path of 1 to 1024 characters', example, '^[^\\u0000-\\u001f]{1,1024}$', description);

const zone = text('an IANA time zone', 'Europe/Berlin', '^[A-Za-z0-9_+/-]{1,64}$', 'IANA time zone of the schedule');

const name = '[a-z_][a-z0-9_]{0,62}';

/** The keys of an entry that are options of `subreport sync`, with the same names. */
const flags = {
  profile: Type.Optional(
    text(
      '1 to 64 letters, digits, _ and -',
      'acme',
      '^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$',
      'The profile of subreport login; by default, SUBREPORT_PROFILE or the variables of the environment',
    ),
  ),
  to: text(
    'sqlite:FILE, postgres://USER@HOST/DATABASE, dir:PATH, s3://BUCKET/PREFIX, sftp://USER@HOST/PATH or webhook:URL',
    'postgres://reports@db.example.com/warehouse',
    '^(sqlite:|postgres(ql)?://|dir:|s3://|sftp://|webhook:)[^\\u0000-\\u001f]{1,2000}$',
    'The copy',
  ),
  table: Type.Optional(
    text(
      'a name of lower-case letters, digits and _, in PostgreSQL also with its schema',
      'mobile.subscriptions',
      `^(${name}\\.)?${name}$`,
      'The table of a database; by default, subscriptions',
    ),
  ),
  format: Type.Optional(
    Type.Enum(['csv', 'csv.gz', 'ndjson', 'ndjson.gz', 'parquet'], {
      description: 'The format of files; by default, csv',
      'x-rule': 'csv, csv.gz, ndjson, ndjson.gz or parquet',
      examples: ['parquet'],
    }),
  ),
  state: Type.Optional(path('The state of a webhook; by default, a file in the folder of the state', 'webhook.db')),
  'secret-file': Type.Optional(path('The file of the secret of S3, SFTP or a webhook', '/run/secrets/webhook')),
  'host-key': Type.Optional(
    text(
      'a fingerprint as ssh-keygen -lf prints it',
      `SHA256:${'a'.repeat(43)}`,
      '^SHA256:[A-Za-z0-9+/]{43}=?$',
      'The host key of an SFTP server',
    ),
  ),
  'known-hosts': Type.Optional(path('The host keys of SFTP servers; by default, ~/.ssh/known_hosts', 'known_hosts')),
  expiring: Type.Optional(
    text(
      'durations before the end, separated by commas',
      '7d,3d,1d',
      '^[0-9a-z,]{2,100}$',
      'For a webhook: tell of subscriptions that end within these durations',
    ),
  ),
};

const SyncEntry = Type.Object(
  {
    name: text(
      '1 to 64 lower-case letters, digits, _ and -, of no other entry',
      'warehouse',
      '^[a-z0-9][a-z0-9_-]{0,63}$',
      'The name of the entry, unique in the file',
    ),
    ...flags,
    'env-file': Type.Optional(
      path('A file with variables of the environment of this entry, such as PGPASSWORD', '/run/secrets/warehouse.env'),
    ),
    schedule: Type.Optional(
      text(
        'a cron line of five fields in quotation marks: minute, hour, day of the month, month and day of the week',
        '30 2 * * *',
        '^[^\\u0000-\\u001f]{9,200}$',
        'When to run: a cron line of five fields; without it, once at the start',
      ),
    ),
    zone: Type.Optional(zone),
    timeout: Type.Optional(
      text(
        '1 to 999 seconds, minutes or hours',
        '2h',
        '^[1-9]\\d{0,2}[smh]$',
        'How long a run may take: one that takes longer is stopped, and has failed; by default, 12h',
      ),
    ),
  },
  { additionalProperties: false, description: 'A copy of a report' },
);

/** The file of `subreport sync run FILE`: the source of its JSON schema. */
export const SyncFile = Type.Object(
  {
    entries: Type.Array(SyncEntry, { minItems: 1, maxItems: 100, description: 'The copies' }),
    zone: Type.Optional({ ...zone, description: 'IANA time zone of the schedules; by default, UTC' }),
    state: Type.Optional(
      path('Folder of the state, one file of SQLite for each entry; by default, FILE.state', '/var/lib/subreport-sync'),
    ),
    metrics: Type.Optional(
      path('File for the textfile collector of the Prometheus node_exporter', '/var/lib/node_exporter/subreport.prom'),
    ),
  },
  { additionalProperties: false, description: 'Copies of reports, and when to bring them in step' },
);

/** A checked entry. */
export type SyncEntry = Omit<Static<typeof SyncEntry>, 'schedule'> & { readonly schedule: Schedule | undefined };

/** A checked file. */
export interface SyncPlan {
  readonly entries: readonly SyncEntry[];
  readonly state: string | undefined;
  readonly metrics: string | undefined;
}

/** How long a run of an entry may take, in milliseconds; at most what a timer can wait, 24 days. */
export function timeoutMsOf({ timeout = '12h' }: Pick<SyncEntry, 'timeout'>): number {
  const seconds = { s: 1, m: 60, h: 3_600 }[timeout.slice(-1) as 's' | 'm' | 'h'];
  return Math.min(Number(timeout.slice(0, -1)) * seconds * 1_000, 2 ** 31 - 1);
}

/** The arguments of `subreport sync run` for an entry. */
export const flagsOf = (entry: SyncEntry, stateFolder: string): string[] =>
  (Object.keys(flags) as (keyof typeof flags)[]).flatMap((flag) => {
    const isWebhook = flag === 'state' && entry.to.startsWith('webhook:');
    const value = entry[flag] ?? (isWebhook ? join(stateFolder, `${entry.name}.webhook.db`) : undefined);
    return value === undefined ? [] : [`--${flag}`, value];
  });

/** Reads a file of syncs. Throws `SyncError` `DESTINATION_INVALID` with all of its mistakes. */
export function readSyncFile(file: string): SyncPlan {
  return new Reading(file).plan();
}

/** A mistake, and where it is. */
interface Mistake {
  readonly line: number;
  readonly message: string;
}

class Reading {
  readonly #file: string;
  readonly #lines = new LineCounter();
  readonly #document;
  readonly #mistakes: Mistake[] = [];

  constructor(file: string) {
    this.#file = basename(file);
    this.#document = parseDocument(readBounded(file), { lineCounter: this.#lines, prettyErrors: false });
  }

  plan(): SyncPlan {
    for (const { message, pos } of this.#document.errors)
      this.#mistakes.push({ line: this.#lines.linePos(pos[0]).line, message: `Cannot read the YAML: ${message}` });
    this.#throwMistakes();
    const content = this.#content();
    if (!isObject(content)) {
      this.#add([], '', 'Cannot use the file', "it must have a list 'entries', such as one in docs/sync.md", content);
      this.#throwMistakes();
    }
    const { entries, zone, state, metrics } = content as Static<typeof SyncFile>;
    this.#check(SyncFile, content as object, [], '', ['entries']);
    const plan = { entries: this.#entries(entries, zone), state, metrics };
    this.#throwMistakes();
    return plan;
  }

  #content(): unknown {
    try {
      return this.#document.toJS({ maxAliasCount: 0 });
    } catch (error) {
      this.#mistakes.push({ line: 1, message: `Cannot read the YAML: ${(error as Error).message}` });
      return this.#throwMistakes();
    }
  }

  #entries(entries: unknown, zone: string | undefined): SyncEntry[] {
    if (!Array.isArray(entries) || entries.length === 0 || entries.length > 100) {
      const example = "'entries: [{ name: warehouse, to: sqlite:copy.db }]'";
      this.#add(['entries'], '', 'Cannot use entries', `it must be a list of 1 to 100 entries, such as ${example}`);
      return [];
    }
    const names = new Set<unknown>();
    return entries.flatMap((entry, at) => {
      const where = ['entries', at];
      if (!isObject(entry)) {
        this.#add(where, '', 'Cannot use an entry', "it must be '- name: warehouse' with its keys below", entry);
        return [];
      }
      const given = entry as Record<string, unknown> & Static<typeof SyncEntry>;
      const of = typeof given.name === 'string' ? `entry '${given.name.slice(0, 64)}': ` : `entry ${at + 1}: `;
      this.#check(SyncEntry, given, where, of, []);
      if (names.has(given.name))
        this.#refuse([...where, 'name'], of, 'name', SyncEntry.properties.name as TSchema as RuledSchema, given.name);
      names.add(given.name);
      this.#refuseSecret(given, where, of);
      return [{ ...given, schedule: this.#schedule(given, zone, where, of) }];
    });
  }

  /** Adds a mistake for each key that is missing, unknown or wrong, except `others`. */
  #check(schema: typeof SyncEntry | typeof SyncFile, given: object, where: Where, of: string, others: string[]): void {
    const properties = schema.properties as unknown as Record<string, RuledSchema>;
    for (const [key, value] of Object.entries(given)) {
      const rule = properties[key];
      if (rule === undefined) this.#refuseKey(key, properties, where, of);
      else if (!others.includes(key) && !Compile(rule).Check(value))
        this.#refuse([...where, key], of, key, rule, value);
    }
    const { required = [] } = schema as { required?: readonly string[] };
    for (const key of required) {
      const { examples: [example] = ['entries'] } = properties[key] ?? {};
      if (!(key in given) && !others.includes(key))
        this.#add(
          where,
          of,
          `Cannot use the ${of === '' ? 'file' : 'entry'}`,
          `it must have ${key}, such as ${key}: ${quoted(example)}`,
        );
    }
  }

  #refuseKey(key: string, properties: object, where: Where, of: string): void {
    const known = Object.keys(properties);
    const isSecret = /secret|password|token|access.?key|credential/i.test(key);
    const rule = isSecret ? secretRule : `it must be one of ${known.join(', ')}${didYouMean(key, known)}`;
    this.#add([...where, key], of, `Cannot use the key '${key.slice(0, 64)}'`, rule);
  }

  #refuse(where: Where, of: string, key: string, { 'x-rule': rule, examples }: RuledSchema, value: unknown): void {
    this.#add(where, of, `Cannot use ${key}`, `it must be ${rule}, such as ${key}: ${quoted(examples[0])}`, value);
  }

  /** A password in a URL would be in every backup of the file, and in the list of processes. */
  #refuseSecret({ to }: Static<typeof SyncEntry>, where: Where, of: string): void {
    if (typeof to !== 'string' || !/:\/\/[^/@]*:[^/@]*@|[?&](password|secret|token)=/i.test(to)) return;
    this.#add([...where, 'to'], of, 'Cannot use to', secretRule);
  }

  #schedule(given: Static<typeof SyncEntry>, zoneOfFile: unknown, where: Where, of: string): Schedule | undefined {
    const { schedule, zone: own = zoneOfFile ?? 'UTC' } = given;
    const { properties } = SyncEntry as unknown as { properties: Record<'schedule' | 'zone', RuledSchema> };
    if (!isZone(own)) {
      const at = 'zone' in given ? [...where, 'zone'] : ['zone'];
      this.#refuse(at, 'zone' in given ? of : '', 'zone', properties.zone, own);
      return undefined;
    }
    if (typeof schedule !== 'string') return undefined;
    try {
      return new Schedule(schedule, own);
    } catch {
      this.#refuse([...where, 'schedule'], of, 'schedule', properties.schedule, schedule);
      return undefined;
    }
  }

  #add(where: Where, of: string, subject: string, rule: string, value?: unknown): void {
    const shown = value === undefined ? '' : `: current value is ${JSON.stringify(value)?.slice(0, 200)}`;
    this.#mistakes.push({ line: this.#lineOf(where), message: `${of}${subject}: ${rule}${shown}` });
  }

  /** The line of a value, or of the nearest that is there. */
  #lineOf(where: Where): number {
    for (let depth = where.length; depth > 0; depth -= 1) {
      const node = this.#document.getIn(where.slice(0, depth), true) as Node | undefined;
      if (node?.range) return this.#lines.linePos(node.range[0]).line;
    }
    return 1;
  }

  #throwMistakes(): void {
    if (this.#mistakes.length === 0) return;
    const unique = new Map(this.#mistakes.map((mistake) => [JSON.stringify(mistake), mistake]));
    const sorted = [...unique.values()].toSorted((a, b) => a.line - b.line);
    const lines = sorted.map(({ line, message }) => `${this.#file}:${line}: ${message}`);
    throw new SyncError('DESTINATION_INVALID', lines.join('\n'));
  }
}

type Where = readonly (string | number)[];

type RuledSchema = TSchema & { readonly 'x-rule': string; readonly examples: readonly [string] };

const secretRule =
  "a secret must not be in this file: put it into the profile of 'subreport login', the environment or the file of env-file, such as 'env-file: /run/secrets/warehouse.env' with PGPASSWORD";

/** A value as it is in YAML. */
const quoted = (value: string): string => (/[*,]/.test(value) ? `'${value}'` : value);

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function isZone(zone: unknown): zone is string {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone as string });
    return typeof zone === 'string';
  } catch {
    return false;
  }
}

function readBounded(file: string): string {
  const bytes = Buffer.alloc(bytesMax + 1);
  const descriptor = openSync(file, 'r');
  try {
    const length = readSync(descriptor, bytes, 0, bytes.length, 0);
    if (length <= bytesMax) return bytes.toString('utf8', 0, length);
  } finally {
    closeSync(descriptor);
  }
  throw new SyncError(
    'DESTINATION_INVALID',
    `Cannot use '${file}': it must have at most ${bytesMax.toLocaleString('en')} bytes; divide it into several files`,
  );
}
