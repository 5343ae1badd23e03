import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { runDrill } from '../drills/run-drill.ts';
import { citusDrills, drillNames } from './drills.ts';
import { type CitusCluster, findPostgresWithCitus, query, startCluster } from './start-cluster.ts';

// Starts a Citus cluster on loopback, and runs the suites and the drills on it:
//   npm run citus                                 everything
//   npm run citus -- upgrade packages/service/test/import          some of it
//   npm run citus -- packages/service/test/storage/change-mark.test.ts   a file of a suite
//   npm run citus -- --bin /usr/lib/postgresql/15/bin
//   npm run citus -- --write                      and write the results to docs/operators/citus.md
// Exits with 0 if everything passed, 1 if not, 2 for an unknown name, 3 if no PostgreSQL with Citus
// is installed here.

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    bin: { type: 'string' },
    seed: { type: 'string', default: '1' },
    write: { type: 'boolean', default: false },
  },
});
const root = fileURLToPath(new URL('../../', import.meta.url));

/** What runs on the cluster as on any other server. */
const suites = [
  'test/citus',
  'packages/service/test/storage',
  'packages/service/test/import',
  'packages/service/test/backup',
  'packages/service/test/report',
  'test/spec',
  'test/docs/move.test.ts',
];

/** Titles of tests that run neither on SQLite nor on plain PostgreSQL alone. */
const onPostgres = '^(?!.*(sqlite|without Citus))';

/** What ran, and how many of its tests did what. */
interface Result {
  readonly name: string;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly notes: readonly string[];
}

/** Files of the suites, and other tests, that were named. */
const files = positionals.filter(
  (name) =>
    !suites.includes(name) &&
    ['test', ...suites].some((folder) => name.startsWith(`${folder}/`)) &&
    existsSync(join(root, name)),
);
const known = [...suites, ...drillNames];
const unknown = positionals.filter((name) => !known.includes(name) && !files.includes(name));

const isWanted = (name: string): boolean => positionals.length === 0 || positionals.includes(name);

const postgres = findPostgresWithCitus(values.bin ?? process.env.PGBIN);
if (unknown.length > 0) {
  console.error(
    `Cannot run ${unknown.join(', ')}: each must be one of ${known.join(', ')}, or a file in one of these folders or in test, such as test/citus/nodes.test.ts`,
  );
  process.exitCode = 2;
} else if (postgres === undefined) {
  console.error(
    'Cannot run on Citus: a PostgreSQL with the extension must be installed: none was found; install one (tools/build-citus.sh builds it), or name its programs with --bin',
  );
  process.exitCode = 3;
} else process.exitCode = await runAll(await startCluster(postgres));

async function runAll(cluster: CitusCluster): Promise<number> {
  const results: Result[] = [];
  let versions = '';
  try {
    const [row] = await query(
      cluster.coordinator.url,
      "select split_part(citus_version(), ' on ', 1) as citus, split_part(current_setting('server_version'), ' ', 1) as postgres",
    );
    versions = `${row?.citus} on PostgreSQL ${row?.postgres}`;
    console.log(`${versions}\n`);
    results.push(...(await runSuites(cluster, [...suites, ...files].filter(isWanted))));
    for (const drill of citusDrills(cluster).filter(({ name }) => isWanted(name))) {
      const setting = { program: undefined, postgres: async () => cluster.coordinator };
      const { name, ok, expected, observed } = await runDrill(drill, setting, Number(values.seed));
      const notes = ok === 'yes' ? [] : [`expected: ${expected}`, `observed: ${observed}`];
      results.push({ name, passed: ok === 'yes' ? 1 : 0, failed: ok === 'yes' ? 0 : 1, skipped: 0, notes });
      console.log(`${name}: ${ok === 'yes' ? observed : notes.join('\n  ')}`);
    }
  } finally {
    await cluster.stop();
  }
  const date = new Date().toISOString().slice(0, 10);
  if (results.length === 0) return 1;
  const sum = (count: 'passed' | 'failed'): number => results.reduce((total, each) => total + each[count], 0);
  const table = [
    '| suite or drill | passed | failed | skipped |\n|---|---|---|---|',
    ...results.map(({ name, passed, failed, skipped }) => `| \`${name}\` | ${passed} | ${failed} | ${skipped} |`),
  ].join('\n');
  console.log(`\n${table}\n`);
  for (const { name, notes } of results) for (const note of notes) console.log(`${name}: ${note}`);
  const total = `${sum('passed')} passed, ${sum('failed')} failed`;
  console.log(total);
  if (values.write) writeResult(`${date}, ${versions}: ${total}.`);
  return sum('failed') === 0 ? 0 : 1;
}

/** Runs folders of tests on the cluster, one process for all of them. */
async function runSuites({ coordinator }: CitusCluster, folders: readonly string[]): Promise<Result[]> {
  if (folders.length === 0) return [];
  const folder = mkdtempSync(join(tmpdir(), 'subreport-citus-'));
  const report = join(folder, 'report.json');
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const args = ['vitest', 'run', '--project', 'engines', '--testNamePattern', onPostgres, ...reporters];
  const child = spawn('npx', [...args, ...folders], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, TEST_DATABASE_URL: coordinator.url, ALL: '1' },
  });
  await once(child, 'close');
  const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as { testResults: readonly TestFile[] };
  rmSync(folder, { recursive: true });
  return folders.map((name) => {
    const files = testResults.filter((file) => relative(root, file.name).startsWith(name));
    const tests = files.flatMap(({ assertionResults }) => assertionResults);
    const count = (status: string): number => tests.filter((each) => each.status === status).length;
    const failed = tests.filter(({ status }) => status === 'failed');
    // the tests of a file that could not be read or prepared are absent or skipped
    const broken = files.filter(
      (file) => file.status === 'failed' && file.assertionResults.every(({ status }) => status !== 'failed'),
    );
    const notes = [...failed.map(({ fullName }) => fullName), ...broken.map((file) => file.name)];
    return {
      name,
      passed: count('passed'),
      failed: failed.length + broken.length,
      skipped: tests.length - count('passed') - failed.length,
      notes,
    };
  });
}

/** A part of the report of Vitest. */
interface TestFile {
  readonly name: string;
  readonly status: string;
  readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[];
}

/** Replaces the result in the documentation, which is between two comments. */
function writeResult(result: string): void {
  const page = new URL('../../docs/operators/citus.md', import.meta.url);
  const text = readFileSync(page, 'utf8');
  const [start, end] = ['<!-- result -->\n', '<!-- /result -->'];
  const [before, rest = ''] = text.split(start);
  writeFileSync(page, `${before}${start}${result}\n${end}${rest.split(end)[1] ?? ''}`);
}
