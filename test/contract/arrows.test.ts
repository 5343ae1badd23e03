import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Imports that no room may have; each is planted in a file of that room. */
const wrongImports: readonly (readonly [room: string, specifier: string])[] = [
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
  ['src/audit', '../auth/resource-server.ts'],
  ['src/audit', 'pino'],
  ['src/report', '../auth/resource-server.ts'],
  ['src/report', '../import/check-row.ts'],
  ['src/report', 'node:sqlite'],
  ['src/import', '../report/run.ts'],
  ['src/import', '../auth/resource-server.ts'],
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
  ['src/cli/reader', '../../storage/store.ts'],
  ['src/cli/reader', '../config.ts'],
  ['src/cli/reader', '../../client/client.ts'],
  ['src/http/console', '../report/subscription.ts'],
  ['src/http/console', '../../storage/tables/client.ts'],
  ['console/ui', '../report/strings.ts'],
  ['console/ui', '../../src/storage/store.ts'],
  ['console/charts', '../report/strings.ts'],
  ['console/report', '../../src/http/server.ts'],
  ['console/report/overview', '../../operator/strings.ts'],
  ['console/report/overview', '../../../src/storage/store.ts'],
  ['console/operator', '../report/api.ts'],
  ['console/operator/keys', '../../../src/storage/store.ts'],
  ['examples', '../src/client/index.ts'],
];

/** Imports that the rooms live on: the rule must not catch them. */
const rightImports: readonly (readonly [room: string, specifier: string])[] = [
  ['src/storage', 'node:timers/promises'],
  ['src/auth', '../storage/store.ts'],
  ['src/report', '../contract/query.ts'],
  ['src/operator', '../import/delete-tenant.ts'],
  ['src/operator', '../storage/tables/client.ts'],
  ['src/http/operator', '../../operator/perform.ts'],
  ['src/http', '@fastify/static'],
  ['src/http', './report/subscription.ts'],
  ['src/http/listener', '../../storage/fresh-map.ts'],
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

/**
 * Plants each import in a file of its own in a copy of the rooms, and gives those that Biome, under
 * our configuration, refuses.
 */
function refusedImports(imports: readonly (readonly [room: string, specifier: string])[]): Set<string> {
  const copy = mkdtempSync(join(tmpdir(), 'subreport-arrows-'));
  try {
    const configuration = JSON.parse(readFileSync(join(root, 'biome.json'), 'utf8')) as Record<string, unknown>;
    writeFileSync(join(copy, 'biome.json'), JSON.stringify({ ...configuration, $schema: undefined }));
    for (const [index, [room, specifier]] of imports.entries()) {
      mkdirSync(join(copy, room), { recursive: true });
      writeFileSync(
        join(copy, room, `planted-${index}.ts`),
        `import * as planted from '${specifier}';\n\nexport const used = planted;\n`,
      );
    }
    const { stdout } = spawnSync(
      join(root, 'node_modules/.bin/biome'),
      ['lint', '--only=style/noRestrictedImports', '--reporter=json', '--max-diagnostics=none', '.'],
      { cwd: copy, encoding: 'utf8' },
    );
    const refused = [...stdout.matchAll(/planted-(\d+)\.ts/g)].map(([, index]) => imports[Number(index)]?.join(' '));
    return new Set(refused.filter((each) => each !== undefined));
  } finally {
    rmSync(copy, { recursive: true });
  }
}

describe('imports between folders', () => {
  const refused = refusedImports([...wrongImports, ...rightImports]);

  test.each(wrongImports)('a planted import in %s of %s is caught', (room, specifier) => {
    expect(refused).toContain(`${room} ${specifier}`);
  });

  test.each(rightImports)('an import in %s of %s is fine', (room, specifier) => {
    expect(refused).not.toContain(`${room} ${specifier}`);
  });

  test('the table of ARCHITECTURE.md has every folder that Biome knows', () => {
    const { overrides } = JSON.parse(readFileSync(join(root, 'biome.json'), 'utf8')) as {
      overrides: { includes: string[] }[];
    };
    const rooms = overrides
      .flatMap(({ includes }) => includes)
      .map((glob) => /^((?:src|console)\/[\w/]+)\/\*\*$/.exec(glob)?.[1])
      .filter((room) => room !== undefined);
    const architecture = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8');
    expect(rooms).toHaveLength(29);
    for (const room of rooms) expect(architecture).toContain(`| \`${room}/\` |`);
  });
});
