import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const read = (file: string): string => readFileSync(`${root}${file}`, 'utf8');

/** Every file that repeats the version, and how. */
const copies: readonly (readonly [file: string, pattern: RegExp])[] = [
  ['package-lock.json', /^ {2,6}"version": "(.+)"/m],
  ['openapi.json', /"version": "(.+)"/],
  ['openapi-operator.json', /"version": "(.+)"/],
  ['clients/python/subreport/__init__.py', /^__version__ = "(.+)"$/m],
  ...globSync('deploy/kubernetes/*.yaml', { cwd: root }).map((file) => [file, /image: \S+subreport:(\S+)/] as const),
];

test('has one value everywhere', () => {
  const { version } = JSON.parse(read('package.json')) as { version: string };
  const others = copies.map(([file, pattern]) => [file, pattern.exec(read(file))?.[1]]);
  expect(others.length).toBeGreaterThan(5);
  expect(others.filter(([, found]) => found !== version)).toEqual([]);
});

test('is published for the four packages and the Python client, after the tarballs and the image were tried', () => {
  const steps = [
    ...read('.github/workflows/release.yml').matchAll(
      /npm publish \S+\/(subreport\S*)\.tgz|try-packages|image\/try\.sh|write-sboms|gh-action-pypi-publish/g,
    ),
  ];
  expect(steps.map(([step, name]) => name ?? step)).toEqual([
    'try-packages',
    'image/try.sh',
    'write-sboms',
    'subreport-client-*',
    'subreport-cli-*',
    'subreport-mcp-*',
    'subreport-[0-9]*',
    'gh-action-pypi-publish',
  ]);
});
