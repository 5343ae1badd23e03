import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Random } from '../../../../test/simulation/random.ts';
import { queryDuckDb } from '../../../../test/support/checker-packages.ts';
import type { SubreportClient } from '../../../client/index.ts';
import type { FileStore } from '../../sync/file-store.ts';
import { FolderFiles } from '../../sync/folder-files.ts';
import { type Manifest, parseManifest } from '../../sync/manifest.ts';
import { runSnapshot } from '../../sync/run-snapshot.ts';
import type { ChangingReport } from './changing-report.ts';

/** What happened in a history, for messages. */
export interface IncrementTally {
  increments: number;
  whole: number;
  unchanged: number;
  cut: number;
  removed: number;
}

class Cut extends Error {}

/**
 * Changes a report and writes its changes at random, with keeping, new whole reports, and kills
 * between any two steps of a place. Throws unless every manifest that is there has all its whole
 * files, and the newest with `query` of DuckDB gives the report.
 *
 * @param query the statements of the guide, for a folder
 */
export async function runIncrementHistory(
  report: ChangingReport,
  folder: string,
  seed: number,
  rounds: number,
  query: (folder: string) => readonly string[],
): Promise<IncrementTally> {
  const random = new Random(seed);
  const tally: IncrementTally = { increments: 0, whole: 0, unchanged: 0, cut: 0, removed: 0 };
  const files = await FolderFiles.open(folder);
  let second = 0;
  const write = async (place: FileStore, source = report.source): Promise<void> => {
    second += 1;
    const result = await runSnapshot(source, place, {
      format: 'parquet',
      values: 'raw',
      scheduledFor: new Date(Date.UTC(2026, 10, 23, 3, 0, second)),
      changes: true,
      reload: random.chance(0.05),
      keepSeconds: random.chance(0.3) ? random.between(1, 6) : undefined,
    });
    if (result.isUnchanged === true) tally.unchanged += 1;
    else tally[result.manifest.removals === undefined ? 'whole' : 'increments'] += 1;
    tally.removed += result.removed ?? 0;
  };
  for (let round = 1; round <= rounds; round += 1) {
    for (let changes = random.between(0, 2); changes > 0; changes -= 1) await report.change();
    const cutAt = random.chance(0.4) ? random.between(1, 20) : Number.POSITIVE_INFINITY;
    const client = walking(report.source.client, random.chance(0.3) ? () => report.change() : async () => undefined);
    try {
      await write(cutting(files, cutAt), { ...report.source, client });
      await write(files); // the report may have changed during the run
      await requireSum(report, folder, query);
    } catch (error) {
      if (!(error instanceof Cut)) throw new Error(`seed ${seed}, round ${round}: ${error}`, { cause: error });
      tally.cut += 1;
    }
    requireWhole(folder, `seed ${seed}, round ${round}`);
  }
  return tally;
}

/** A client with pages of two changes, which calls `between` after the first one. */
function walking(client: SubreportClient, between: () => Promise<void>): SubreportClient {
  return {
    ...client,
    async *changes(since, options) {
      let isFirst = true;
      for await (const page of client.changes(since, { ...options, size: 2 })) {
        yield page;
        if (isFirst && since !== 'now') await between();
        isFirst = false;
      }
    },
  };
}

/** A place in which a process was killed before a step: no later one happens either. */
function cutting(files: FileStore, cutAt: number): FileStore {
  let step = 0;
  const before = <T>(work: () => T): T => {
    step += 1;
    if (step >= cutAt) throw new Cut();
    return work();
  };
  return {
    shown: files.shown,
    list: async (folder) => before(() => files.list(folder)),
    read: (name) => before(() => files.read(name)),
    write: async (name, content) => before(() => files.write(name, content)),
    replace: async (name, text) => before(() => files.replace(name, text)),
    discard: async (name) => before(() => files.discard(name)),
    removeWithFolder: async (name) => before(() => files.removeWithFolder(name)),
  };
}

/** Throws unless each manifest has all files with which it is read, and they are whole. */
function requireWhole(folder: string, when: string): void {
  const manifests = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /manifest-\w+\.json$/.test(name))
    .map((name) => parseManifest(readFileSync(join(folder, name), 'utf8')) as Manifest);
  const known = new Map(manifests.map((manifest) => [manifest.files.at(-1), manifest]));
  for (const path of manifests.flatMap(({ files }) => files)) {
    const manifest = known.get(path);
    if (manifest === undefined) throw new Error(`${when}: ${path} is needed, and has no manifest`);
    const bytes = readFileSync(join(folder, path));
    if (createHash('sha256').update(bytes).digest('hex') !== manifest.sha256)
      throw new Error(`${when}: ${path} is not whole`);
  }
}

/** Throws unless DuckDB finds the report in the files that `latest.json` names. */
export async function requireSum(
  { source }: ChangingReport,
  folder: string,
  query: (folder: string) => readonly string[],
): Promise<void> {
  const whole = join(folder, '../whole.parquet');
  writeFileSync(whole, Buffer.concat(await Array.fromAsync(await source.client.export({}, { format: 'parquet' }))));
  const statements = query(folder);
  const found = `(${statements.at(-1)})`;
  const report = `(from read_parquet('${whole}'))`;
  const differences = await queryDuckDb?.(
    ...statements.slice(0, -1),
    `select 'not in the report' as fault, * from (from ${found} except all from ${report})
     union all by name select 'not in the files' as fault, * from (from ${report} except all from ${found})`,
  );
  if (differences === undefined || differences.length > 0)
    throw new Error(`the files differ from the report: ${JSON.stringify(differences)}`);
}
