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
  ['packages/contract', '../service/storage/store.ts'],
  ['packages/contract', 'node:fs'],
  ['packages/cli/commands', '../../mcp/serve-mcp.ts'],
  ['packages/service/cli', '../../mcp/program.ts'],
  ['packages/contract', 'fastify'],
  ['packages/service/tracing', '../storage/store.ts'],
  ['packages/service/tracing', '../contract/problem.ts'],
  ['packages/service/storage', '../contract/problem.ts'],
  ['packages/service/storage', 'fastify'],
  ['packages/service/storage', './counts/span.ts'],
  ['packages/service/storage', './sqlite/store.ts'],
  ['packages/service/storage/counts', '../read/page.ts'],
  ['packages/service/storage/counts', '../tables/tenant.ts'],
  ['packages/service/storage/counts', '../sqlite/store.ts'],
  ['packages/service/storage/counts', 'node:fs'],
  ['packages/service/storage/tables', '../counts/span.ts'],
  ['packages/service/storage/tables', '../postgres/store.ts'],
  ['packages/service/storage/records', '../read/page.ts'],
  ['packages/service/storage/records', '../sqlite/store.ts'],
  ['packages/service/storage/read', '../sqlite/store.ts'],
  ['packages/service/storage/read', '../postgres/store.ts'],
  ['packages/service/storage/read', '../tables/tenant.ts'],
  ['packages/service/storage/sqlite', '../read/page.ts'],
  ['packages/service/storage/sqlite', '../postgres/store.ts'],
  ['packages/service/storage/sqlite', 'pg'],
  ['packages/service/storage/postgres', '../read/page.ts'],
  ['packages/service/storage/postgres', '../sqlite/store.ts'],
  ['packages/service/storage/postgres', '../../contract/problem.ts'],
  ['packages/service/storage/backup', '../read/page.ts'],
  ['packages/service/auth', '../report/run.ts'],
  ['packages/service/auth', '../import/check-row.ts'],
  ['packages/service/auth', '../http/server.ts'],
  ['packages/service/auth', 'pg'],
  ['packages/service/auth', './verify/verify-token.ts'],
  ['packages/service/auth/keys', '../grants/issue-token.ts'],
  ['packages/service/auth/clients', '../sessions/session.ts'],
  ['packages/service/auth/verify', '../provider/external-issuer.ts'],
  ['packages/service/auth/provider', '../clients/edit-client.ts'],
  ['packages/service/auth/grants', '../sessions/session.ts'],
  ['packages/service/audit', '../auth/verify/resource-server.ts'],
  ['packages/service/audit', 'pino'],
  ['packages/service/report', '../auth/verify/resource-server.ts'],
  ['packages/service/report', '../import/check-row.ts'],
  ['packages/service/report', 'node:sqlite'],
  ['packages/service/import', '../report/run.ts'],
  ['packages/service/import', '../auth/verify/resource-server.ts'],
  ['packages/service/operator', '../report/run.ts'],
  ['packages/service/operator', '../http/server.ts'],
  ['packages/service/operator', '../cli/config.ts'],
  ['packages/service/auth', '../operator/perform.ts'],
  ['packages/service/import', '../operator/perform.ts'],
  ['packages/service/http', '../operator/perform.ts'],
  ['packages/service/http', '../storage/store.ts'],
  ['packages/service/http', '../storage/sub/deep.ts'],
  ['packages/service/http/listener', '../report/subscription.ts'],
  ['packages/service/http/listener', '../oauth/token.ts'],
  ['packages/service/http/listener', '../server.ts'],
  ['packages/service/http/listener', '../../import/check-row.ts'],
  ['packages/service/http/report', '../oauth/token.ts'],
  ['packages/service/http/report', '../operator/management.ts'],
  ['packages/service/http/report', '../../storage/tables/client.ts'],
  ['packages/service/http/listener', '../../report/error.ts'],
  ['packages/service/http/listener', '../../storage/sqlite/store.ts'],
  ['packages/service/http/oauth', '../../report/error.ts'],
  ['packages/service/http/oauth', '../../storage/tables/client.ts'],
  ['packages/service/http/operator', '../../report/parse.ts'],
  ['packages/service/http/operator', '../../storage/open-store.ts'],
  ['packages/service/http/oauth', '../report/subscription.ts'],
  ['packages/service/http/oauth', '../../import/check-row.ts'],
  ['packages/service/http/operator', '../report/subscription.ts'],
  ['packages/service/http/operator', 'pg'],
  ['packages/service/http', '../cli/config.ts'],
  ['packages/service/http', 'pg'],
  ['packages/service/metrics', '../http/server.ts'],
  ['packages/service/metrics', '../storage/sqlite/store.ts'],
  ['packages/service/http/listener', '../../metrics/service-metrics.ts'],
  ['packages/client', '../service/storage/store.ts'],
  ['packages/client', 'node:crypto'],
  ['packages/client', 'typebox'],
  ['packages/cli/workbook', '../client/index.ts'],
  ['packages/cli/workbook', 'node:fs'],
  ['packages/cli/commands', '../../service/storage/store.ts'],
  ['packages/cli/commands', '../../service/cli/config.ts'],
  ['packages/cli/commands', '../../client/client.ts'],
  ['packages/service/http/console', '../report/subscription.ts'],
  ['packages/service/http/reference', '../../auth/error.ts'],
  ['packages/service/http/reference', '../report/subscription.ts'],
  ['packages/service/http/console', '../../storage/tables/client.ts'],
  ['packages/console/ui', '../report/strings.ts'],
  ['packages/console/ui', '../../service/storage/store.ts'],
  ['packages/console/charts', '../report/strings.ts'],
  ['packages/console/report', '../../service/http/server.ts'],
  ['packages/console/report/overview', '../../operator/strings.ts'],
  ['packages/console/report/overview', '../../../service/storage/store.ts'],
  ['packages/console/operator', '../report/api.ts'],
  ['packages/console/operator', '../../cli/workbook/workbook.ts'],
  ['packages/console/operator/keys', '../../../service/storage/store.ts'],
  ['examples', '../packages/client/index.ts'],
];

/** Imports that must stay allowed. */
const rightImports: readonly (readonly [folder: string, specifier: string])[] = [
  ['packages/service/storage', 'node:timers/promises'],
  ['packages/service/auth', '../storage/store.ts'],
  ['packages/service/auth/sessions', '../clients/authenticate-client.ts'],
  ['packages/service/auth/keys', '../error.ts'],
  ['packages/service/report', '../../contract/query.ts'],
  ['packages/service/operator', '../import/erase-records.ts'],
  ['packages/service/operator', '../storage/tables/client.ts'],
  ['packages/service/http/operator', '../../operator/perform.ts'],
  ['packages/service/http/listener', 'negotiator'],
  ['packages/service/http', './report/subscription.ts'],
  ['packages/service/http/report', '../../storage/bounded-map.ts'],
  ['packages/service/http/listener', '../../storage/error.ts'],
  ['packages/service/http/oauth', '../../storage/error.ts'],
  ['packages/service/http/operator', '../../storage/store.ts'],
  ['packages/service/http/operator', '../listener/base-server.ts'],
  ['packages/service/storage', './order-key.ts'],
  ['packages/service/storage/read', '../counts/range.ts'],
  ['packages/service/storage/sqlite', '../tables/history.ts'],
  ['packages/service/storage/postgres', 'pg'],
  ['packages/client', '../contract/operations.ts'],
  ['packages/service/cli', '../storage/store.ts'],
  ['packages/cli/commands', '../../client/index.ts'],
  ['packages/service/http/operator', '../console/pages.ts'],
  ['packages/console/ui', '../../client/error.ts'],
  ['packages/console/charts', '../ui/card.tsx'],
  ['packages/console/report', '../../client/client.ts'],
  ['packages/console/report/overview', '../../ui/card.tsx'],
  ['packages/console/report/overview', '../../../contract/report.ts'],
  ['packages/console/operator/keys', '../strings.ts'],
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
        if (each.endsWith('/*') && each.includes('packages/')) return [path, fileOf(path, each.slice(0, -2))];
        if (!/^packages\//.test(each)) return [path, each.replace('*', 'some')];
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

  test('every folder of packages has a row, and every row a folder', () => {
    const paths = folders.map(({ path }) => path);
    const withSources = globSync('packages/*/**/*.{ts,tsx,css}', { cwd: root, exclude: ['packages/*/test/**'] }).map(
      (file) => dirname(file),
    );
    const isNamed = (folder: string): boolean => paths.includes(folder) || /^packages\/console\/\w+\/./.test(folder);
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
