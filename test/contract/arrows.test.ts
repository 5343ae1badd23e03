import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dirname, relative } from 'node:path/posix';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { folders, isFile } from '../../tools/arrows.ts';
import { arrowRules } from '../../tools/write-arrows.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Imports that must never become allowed, whatever the table says. */
const wrongImports: readonly (readonly [folder: string, specifier: string])[] = [
  ['src/contract', '../storage/store.ts'],
  ['src/contract', 'node:fs'],
  ['src/contract', 'fastify'],
  ['src/tracing', '../storage/store.ts'],
  ['src/tracing', '../contract/problem.ts'],
  ['src/storage', '../contract/problem.ts'],
  ['src/storage', 'fastify'],
  ['src/storage', './counts/span.ts'],
  ['src/storage', './sqlite/store.ts'],
  ['src/storage/counts', '../read/page.ts'],
  ['src/storage/counts', '../tables/tenant.ts'],
  ['src/storage/counts', '../sqlite/store.ts'],
  ['src/storage/counts', 'node:fs'],
  ['src/storage/tables', '../counts/span.ts'],
  ['src/storage/tables', '../postgres/store.ts'],
  ['src/storage/records', '../read/page.ts'],
  ['src/storage/records', '../sqlite/store.ts'],
  ['src/storage/read', '../sqlite/store.ts'],
  ['src/storage/read', '../postgres/store.ts'],
  ['src/storage/read', '../tables/tenant.ts'],
  ['src/storage/sqlite', '../read/page.ts'],
  ['src/storage/sqlite', '../postgres/store.ts'],
  ['src/storage/sqlite', 'pg'],
  ['src/storage/postgres', '../read/page.ts'],
  ['src/storage/postgres', '../sqlite/store.ts'],
  ['src/storage/postgres', '../../contract/problem.ts'],
  ['src/storage/backup', '../read/page.ts'],
  ['src/auth', '../report/run.ts'],
  ['src/auth', '../import/check-row.ts'],
  ['src/auth', '../http/server.ts'],
  ['src/auth', 'pg'],
  ['src/auth', './verify/verify-token.ts'],
  ['src/auth/keys', '../grants/issue-token.ts'],
  ['src/auth/clients', '../sessions/session.ts'],
  ['src/auth/verify', '../provider/external-issuer.ts'],
  ['src/auth/provider', '../clients/edit-client.ts'],
  ['src/auth/grants', '../sessions/session.ts'],
  ['src/audit', '../auth/verify/resource-server.ts'],
  ['src/audit', 'pino'],
  ['src/report', '../auth/verify/resource-server.ts'],
  ['src/report', '../import/check-row.ts'],
  ['src/report', 'node:sqlite'],
  ['src/import', '../report/run.ts'],
  ['src/import', '../auth/verify/resource-server.ts'],
  ['src/operator', '../report/run.ts'],
  ['src/operator', '../http/server.ts'],
  ['src/operator', '../cli/config.ts'],
  ['src/auth', '../operator/perform.ts'],
  ['src/import', '../operator/perform.ts'],
  ['src/http', '../operator/perform.ts'],
  ['src/http', '../storage/store.ts'],
  ['src/http', '../storage/sub/deep.ts'],
  ['src/http/listener', '../report/subscription.ts'],
  ['src/http/listener', '../oauth/token.ts'],
  ['src/http/listener', '../server.ts'],
  ['src/http/listener', '../../import/check-row.ts'],
  ['src/http/report', '../oauth/token.ts'],
  ['src/http/report', '../operator/management.ts'],
  ['src/http/report', '../../storage/tables/client.ts'],
  ['src/http/listener', '../../report/error.ts'],
  ['src/http/listener', '../../storage/sqlite/store.ts'],
  ['src/http/oauth', '../../report/error.ts'],
  ['src/http/oauth', '../../storage/tables/client.ts'],
  ['src/http/operator', '../../report/parse.ts'],
  ['src/http/operator', '../../storage/open-store.ts'],
  ['src/http/oauth', '../report/subscription.ts'],
  ['src/http/oauth', '../../import/check-row.ts'],
  ['src/http/operator', '../report/subscription.ts'],
  ['src/http/operator', 'pg'],
  ['src/http', '../cli/config.ts'],
  ['src/http', 'pg'],
  ['src/metrics', '../http/server.ts'],
  ['src/metrics', '../storage/sqlite/store.ts'],
  ['src/http/listener', '../../metrics/service-metrics.ts'],
  ['src/client', '../storage/store.ts'],
  ['src/client', 'node:crypto'],
  ['src/client', 'typebox'],
  ['src/workbook', '../client/index.ts'],
  ['src/workbook', 'node:fs'],
  ['src/cli/reader', '../../storage/store.ts'],
  ['src/cli/reader', '../config.ts'],
  ['src/cli/reader', '../../client/client.ts'],
  ['src/http/console', '../report/subscription.ts'],
  ['src/http/reference', '../../auth/error.ts'],
  ['src/http/reference', '../report/subscription.ts'],
  ['src/http/console', '../../storage/tables/client.ts'],
  ['console/ui', '../report/strings.ts'],
  ['console/ui', '../../src/storage/store.ts'],
  ['console/charts', '../report/strings.ts'],
  ['console/report', '../../src/http/server.ts'],
  ['console/report/overview', '../../operator/strings.ts'],
  ['console/report/overview', '../../../src/storage/store.ts'],
  ['console/operator', '../report/api.ts'],
  ['console/operator', '../../src/workbook/workbook.ts'],
  ['console/operator/keys', '../../../src/storage/store.ts'],
  ['examples', '../src/client/index.ts'],
];

/** Imports that must stay allowed. */
const rightImports: readonly (readonly [folder: string, specifier: string])[] = [
  ['src/storage', 'node:timers/promises'],
  ['src/auth', '../storage/store.ts'],
  ['src/auth/sessions', '../clients/authenticate-client.ts'],
  ['src/auth/keys', '../error.ts'],
  ['src/report', '../contract/query.ts'],
  ['src/operator', '../import/erase-records.ts'],
  ['src/operator', '../storage/tables/client.ts'],
  ['src/http/operator', '../../operator/perform.ts'],
  ['src/http', '@fastify/static'],
  ['src/http', './report/subscription.ts'],
  ['src/http/report', '../../storage/bounded-map.ts'],
  ['src/http/listener', '../../storage/error.ts'],
  ['src/http/oauth', '../../storage/error.ts'],
  ['src/http/operator', '../../storage/store.ts'],
  ['src/http/operator', '../listener/base-server.ts'],
  ['src/storage', './order-key.ts'],
  ['src/storage/read', '../counts/range.ts'],
  ['src/storage/sqlite', '../tables/resume-point.ts'],
  ['src/storage/postgres', 'pg'],
  ['src/client', '../contract/operations.ts'],
  ['src/cli', '../storage/store.ts'],
  ['src/cli/reader', '../../client/index.ts'],
  ['src/http/operator', '../console/pages.ts'],
  ['console/ui', '../../src/client/error.ts'],
  ['console/charts', '../ui/card.tsx'],
  ['console/report', '../../src/client/client.ts'],
  ['console/report/overview', '../../ui/card.tsx'],
  ['console/report/overview', '../../../src/contract/export.ts'],
  ['console/operator/keys', '../strings.ts'],
  ['examples', '@subreport/client'],
  ['examples', 'node:sqlite'],
];

/** For every folder with a rule: an import of each other folder that its row does not name. */
const generatedWrong = folders.flatMap(({ path, imports }): (readonly [folder: string, specifier: string])[] => {
  if (imports === undefined || isFile(path)) return [];
  const isAllowed = (other: string): boolean =>
    other.startsWith(`${path}/`)
      ? imports.some((each) => each.startsWith(other))
      : imports.some((each) => other === each || other.startsWith(`${each}/`));
  const others = folders.filter(
    (other) =>
      !isFile(other.path) && other.path !== path && !isAllowed(other.path) && !imports.includes(`${other.path}/*`),
  );
  return [
    ...others.map((other) => [path, fileOf(path, other.path)] as const),
    ...['node:fs', 'fastify', 'pg']
      .filter((each) => !imports.includes(each.split(':')[0] ?? ''))
      .map((each) => [path, each] as const),
  ];
});

/** For every folder with a rule: an import of everything that its row names. */
const generatedRight = folders.flatMap(({ path, imports = [] }): (readonly [folder: string, specifier: string])[] =>
  isFile(path)
    ? []
    : imports.map((each) => {
        if (each === 'node') return [path, 'node:fs'];
        if (each.endsWith('/*') && each.includes('src/')) return [path, fileOf(path, each.slice(0, -2))];
        if (!/^(?:src|console)\//.test(each)) return [path, each.replace('*', 'some')];
        return [path, isFile(each) ? relative(path, each) : fileOf(path, each)];
      }),
);

function fileOf(from: string, folder: string): string {
  const path = relative(from, `${folder}/some-file.ts`);
  return path.startsWith('../') ? path : `./${path}`;
}

/**
 * Plants each import in a file of its own in a copy of the folders, and returns those that Biome
 * rejects under our configuration.
 */
function rejectedImports(imports: readonly (readonly [folder: string, specifier: string])[]): Set<string> {
  const copy = mkdtempSync(join(tmpdir(), 'subreport-arrows-'));
  try {
    const configuration = JSON.parse(readFileSync(join(root, 'biome.json'), 'utf8')) as Record<string, unknown>;
    writeFileSync(join(copy, 'biome.json'), JSON.stringify({ ...configuration, $schema: undefined }));
    mkdirSync(join(copy, 'tools'));
    copyFileSync(join(root, 'tools/arrows.json'), join(copy, 'tools/arrows.json'));
    for (const [index, [folder, specifier]] of imports.entries()) {
      mkdirSync(join(copy, folder), { recursive: true });
      writeFileSync(
        join(copy, folder, `planted-${index}.ts`),
        `import * as planted from '${specifier}';\n\nexport const used = planted;\n`,
      );
    }
    const { stdout } = spawnSync(
      join(root, 'node_modules/.bin/biome'),
      ['lint', '--only=style/noRestrictedImports', '--reporter=json', '--max-diagnostics=none', '.'],
      { cwd: copy, encoding: 'utf8', maxBuffer: 2 ** 26 },
    );
    const rejected = [...stdout.matchAll(/planted-(\d+)\.ts/g)].map(([, index]) => imports[Number(index)]?.join(' '));
    return new Set(rejected.filter((each) => each !== undefined));
  } finally {
    rmSync(copy, { recursive: true });
  }
}

describe('imports between folders', () => {
  const rejected = rejectedImports([...wrongImports, ...rightImports, ...generatedWrong, ...generatedRight]);

  test.each(wrongImports)('an import in %s of %s is rejected', (folder, specifier) => {
    expect(rejected).toContain(`${folder} ${specifier}`);
  });

  test.each(rightImports)('an import in %s of %s is fine', (folder, specifier) => {
    expect(rejected).not.toContain(`${folder} ${specifier}`);
  });

  test('every folder rejects the folders and packages that its row does not name', () => {
    expect(generatedWrong.length).toBeGreaterThan(300);
    expect(generatedWrong.map((each) => each.join(' ')).filter((each) => !rejected.has(each))).toEqual([]);
  });

  test('every folder may import all that its row names', () => {
    expect(generatedRight.length).toBeGreaterThan(100);
    expect(generatedRight.map((each) => each.join(' ')).filter((each) => rejected.has(each))).toEqual([]);
  });

  test('every folder of src and console has a row, and every row a folder', () => {
    const paths = folders.map(({ path }) => path);
    const withSources = globSync(['src/**/*.ts', 'console/*/**/*.{ts,tsx,css}'], { cwd: root }).map((file) =>
      dirname(file),
    );
    const isNamed = (folder: string): boolean => paths.includes(folder) || /^console\/\w+\/./.test(folder);
    expect([...new Set(withSources)].filter((folder) => !isNamed(folder))).toEqual([]);
    expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });

  test('no folder may import one that may import it', () => {
    const rows = folders.filter(({ path, imports }) => imports !== undefined && !isFile(path));
    const mayImport = new Map(
      rows.map(({ path, imports = [] }) => [
        path,
        rows
          .map((row) => row.path)
          .filter(
            (other) =>
              other !== path &&
              imports.some((each) => other === each || `${other}/*` === each || other.startsWith(`${each}/`)),
          ),
      ]),
    );
    const findCircle = (path: string, way: readonly string[] = []): readonly string[] | undefined => {
      if (way.includes(path)) return [...way, path];
      return mayImport
        .get(path)
        ?.map((next) => findCircle(next, [...way, path]))
        .find((circle) => circle !== undefined);
    };
    expect(rows.map(({ path }) => findCircle(path)).filter((circle) => circle !== undefined)).toEqual([]);
  });

  test('tools/arrows.json is generated from the table (npm run arrows)', () => {
    expect(readFileSync(join(root, 'tools/arrows.json'), 'utf8')).toBe(arrowRules());
  });

  test('the section of ARCHITECTURE.md that the messages name is there', () => {
    const [, section = ''] = /see \\"([^"]+)\\" in ARCHITECTURE\.md/.exec(arrowRules()) ?? [];
    expect(readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8')).toContain(`\n## ${section}\n`);
  });
});
