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
import { dirname } from 'node:path/posix';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { folders, isFile } from '../../tools/arrows.ts';
import { arrowRules } from '../../tools/write-arrows.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Imports that must never become allowed, whatever the table says. */
const wrongImports: readonly (readonly [folder: string, specifier: string])[] = [
  ['packages/contract', '../service/storage/store.ts'],
  ['packages/contract', 'node:fs'],
  ['packages/client', 'typebox'],
  ['packages/client', 'node:crypto'],
  ['packages/cli/commands', '../../service/storage/store.ts'],
  ['packages/service/cli', '../../mcp/program.ts'],
  ['packages/service/storage', './sqlite/store.ts'],
  ['packages/service/storage/read', '../postgres/store.ts'],
  ['packages/service/auth', '../report/run.ts'],
  ['packages/service/report', '../import/check-row.ts'],
  ['packages/service/report', 'node:sqlite'],
  ['packages/service/import', '../auth/verify/resource-server.ts'],
  ['packages/service/operator', '../http/server.ts'],
  ['packages/service/http/operator', 'pg'],
  ['packages/console/report', '../../service/http/server.ts'],
  ['packages/console/operator', '../report/api.ts'],
  ['examples', '../packages/client/index.ts'],
];

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
  const rejected = rejectedImports(wrongImports);

  test.each(wrongImports)('an import in %s of %s is rejected', (folder, specifier) => {
    expect(rejected).toContain(`${folder} ${specifier}`);
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
