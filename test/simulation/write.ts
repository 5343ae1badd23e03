import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { stringify } from 'csv-stringify/sync';
import { recordColumns } from '../../packages/contract/csv.ts';
import { makeVersions } from './domain.ts';
import { Difference, Interrupted } from './failure.ts';
import type { WriteStep } from './history.ts';
import type { Change, State, Version } from './model.ts';
import { guarded } from './read.ts';
import type { Session } from './session.ts';
import type { OurProcess, System } from './system.ts';

/** The change that a step makes. */
export function changeOf(step: WriteStep): Change {
  const known = changes.get(step) ?? makeChange(step);
  changes.set(step, known);
  return known;
}

/** A change has up to 30,000 versions. */
const changes = new WeakMap<WriteStep, Change>();

function makeChange({ kind, seed, rows, ids: idKind }: WriteStep): Change {
  const versions = makeVersions(seed, rows, idKind);
  if (kind === 'delete') return { kind, versions: [], ids: [...new Set(versions.map(({ record }) => record.id))] };
  if (kind === 'replace') return { kind, versions: lastOfEach(versions), ids: [] };
  return { kind, versions, ids: [] };
}

/** Keeps the last version of each id. */
const lastOfEach = (versions: readonly Version[]): Version[] => [
  ...new Map(versions.map((version) => [version.record.id, version])).values(),
];

/** A running write. */
export interface Writing {
  /**
   * Resolves to `true` if the write was acknowledged, `false` if it was aborted. Throws
   * `Difference` if it failed for no reason.
   */
  readonly done: Promise<boolean>;
  /** Aborts the write. */
  kill(): void;
}

/** Begins a write into a tenant that has the records of `before`. */
export function beginWrite(
  system: System,
  session: Session,
  step: WriteStep,
  { before, service, file }: { before: State; service: 0 | 1; file: string },
): Writing {
  const removed = countRemoved(before, changeOf(step));
  return step.via === 'command'
    ? runCommand(system, step, removed, file)
    : sendRequest(session, step, removed, service);
}

/** How many records a change removes if it is a replacement, which must confirm their number. */
function countRemoved(before: State, { versions }: Change): number {
  const kept = new Set(versions.map(({ record }) => record.id));
  return [...before.keys()].filter((id) => !kept.has(id)).length;
}

function runCommand(system: System, step: WriteStep, removed: number, file: string): Writing {
  const path = join(system.folder, `${file}${suffixOf(step)}`);
  writeFileSync(path, sourceOf(step));
  const running = system.spawn(argsOf(step, path, removed));
  return { done: outcomeOf(running), kill: () => running.child.kill('SIGKILL') };
}

/** Runs a killed import again; it must succeed. */
export async function repeatImport(system: System, step: WriteStep, file: string): Promise<void> {
  const running = system.spawn(argsOf(step, join(system.folder, `${file}${suffixOf(step)}`), 0));
  if (!(await outcomeOf(running))) throw new Difference(`an import that is run again fails: ${running.output()}`);
}

/** Whether a command succeeded; throws `Interrupted` if it failed, which a fault must explain. */
async function outcomeOf(running: OurProcess): Promise<boolean> {
  const { code } = await running.ended;
  if (code === null) return false;
  if (code !== 0) throw new Interrupted(`a command ended with ${code}: ${running.output()}`);
  return true;
}

function argsOf({ kind, tenant, format }: WriteStep, path: string, removed: number): string[] {
  if (kind === 'delete') return ['subscription', 'delete', '--tenant', tenant, '--file', path];
  return [
    'import',
    path,
    '--tenant',
    tenant,
    '--format',
    format,
    ...(kind === 'replace' ? ['--replace', '--remove', String(removed)] : []),
    '--json',
  ];
}

const suffixOf = ({ kind, compression, format }: WriteStep): string =>
  kind === 'delete' ? '.txt' : `.${format}${compression === 'gzip' ? '.gz' : compression === 'zstd' ? '.zst' : ''}`;

function sendRequest(session: Session, step: WriteStep, removed: number, service: 0 | 1): Writing {
  const abort = new AbortController();
  const query = step.kind === 'replace' ? `?replace=true&remove=${removed}` : '';
  const headers = {
    'content-type': 'application/x-ndjson',
    ...(step.compression !== 'no' && { 'content-encoding': step.compression }),
  };
  const body = sourceOf({ ...step, format: 'ndjson' });
  const send = async (): Promise<boolean> => {
    const { status, text } = await session
      .put(service, step.tenant, query, { body, headers, signal: abort.signal })
      .catch((error: unknown) => {
        if (abort.signal.aborted) return { status: 0, text: '' };
        throw error;
      });
    if (status !== 0 && status !== 200) throw new Difference(`a load over HTTP returned ${status}: ${text}`);
    return status === 200;
  };
  return { done: send(), kill: () => abort.abort() };
}

/** The bytes of a step's source. */
function sourceOf(step: WriteStep): Buffer {
  const { versions, ids } = changeOf(step);
  if (step.kind === 'delete') return Buffer.from(ids.map((id) => `${id}\n`).join(''));
  const text = step.format === 'csv' ? toCsv(versions) : versions.map(toLine).join('');
  if (step.compression === 'gzip') return gzipSync(text);
  return step.compression === 'zstd' ? zstdCompressSync(text) : Buffer.from(text);
}

const toLine = ({ record, email }: Version): string => `${JSON.stringify({ ...record, email })}\n`;

const columns = [...recordColumns, 'email'];

function toCsv(versions: readonly Version[]): string {
  const rows = versions.map(({ record: { product, ...rest }, email }) => {
    const parts = Object.entries(product).map(([name, value]) => [`product.${name}`, value] as const);
    const cells = [...Object.entries({ ...rest, email }), ...parts];
    return Object.fromEntries(cells.map(([name, value]) => [name, guarded(String(value))]));
  });
  return stringify(rows, { header: true, columns });
}

/** Resolves when no earlier write to the tenant is running. */
export async function writesAreOver(session: Session, tenant: string, service: 0 | 1): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    const headers = { 'content-type': 'application/x-ndjson' };
    try {
      const { status, text } = await session.put(service, tenant, '', { body: Buffer.alloc(0), headers });
      if (status === 200) return;
      throw new Difference(`an empty load returned ${status}: ${text}`);
    } catch (error) {
      // another import is still running
      if (!(error instanceof Interrupted) || tries > 12) throw error;
      await sleep(50);
    }
  }
}
