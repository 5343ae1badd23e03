import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const architecture = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8');
const [, section = ''] = /## What is kept in memory\n([\s\S]*?)\n## /.exec(architecture) ?? [];
const paths = [...section.matchAll(/`((?:auth|cli|http|import|metrics|report|storage)\/[\w/-]+\.ts)`/g)].map(
  ([, path]) => path,
);

const sources = globSync('packages/**/*.ts', {
  cwd: root,
  exclude: ['packages/console/**', 'packages/*/test/**', '**/*.test.ts'],
});
const read = (file: string) => readFileSync(join(root, file), 'utf8');

test('the table of caches in ARCHITECTURE.md lists every file that creates one, and no others', () => {
  const makers = sources.filter((file) => /new BoundedMap[<(]|createWindowCounter\(/.test(read(file)));
  // the windows of the rate limit, which the table lists under the file that uses them
  const wired = ['packages/service/cli/serving/counters.ts'];
  for (const file of makers.filter((each) => !wired.includes(each)))
    expect(paths).toContain(file.replace('packages/service/', ''));
  expect(makers.length).toBeGreaterThan(5);
  for (const path of paths) expect(sources).toContain(`packages/service/${path}`);
});

test('every BoundedMap has a name in the metrics', () => {
  const unnamed = sources.filter((file) =>
    [...read(file).matchAll(/new BoundedMap(?:<.*>)?\([^;]*?\{([^;]*?)\}/g)].some(
      ([text]) => !text.includes("name: '"),
    ),
  );
  expect(unnamed).toEqual([]);
});

test('every Map or Set that outlives a request has its bound in ARCHITECTURE.md or in this test', () => {
  const bounded: Readonly<Record<string, string>> = {
    'packages/service/storage/bounded-map.ts': 'maps of the process',
    'packages/service/storage/postgres/connections.ts': 'tenants whose last work hung',
    'packages/service/storage/sqlite/error.ts': 'database files of the process',
    'packages/service/cli/serving/worker-messages.ts': 'requests under way',
    'packages/service/cli/serving/workers.ts': 'worker processes',
    'packages/contract/schema.ts': 'patterns of the contract',
    'packages/contract/zone.ts': '16 zones of at most 16,384 blocks',
    'packages/service/storage/migrations.ts': 'migrations of the program',
    'packages/service/parquet/parquet-thread.ts': 'exports under way',
    'packages/service/parquet/write-parquet.ts': 'exports under way',
    'packages/service/storage/sqlite/reader-thread.ts': 'snapshots under way',
  };
  const stateful = sources.filter((file) =>
    /(?:^|\n)(?:const \w+ = new (?:Map|Set)<[^\n]*\(\)| {2}readonly #\w+ = new (?:Map|Set)<)/.test(read(file)),
  );
  // objects that live as long as one call
  const perCall = [
    'import/batch.ts',
    'import/require-room.ts',
    'import/row-sample.ts',
    'count-work.ts',
    'span-tree.ts',
    'sync/change-spool.ts',
    'sync/compare-records.ts',
    'sync/state-file.ts',
  ];
  for (const file of stateful) {
    if (perCall.some((each) => file.endsWith(each)) || file in bounded) continue;
    expect(paths).toContain(file.replace('packages/service/', ''));
  }
});
