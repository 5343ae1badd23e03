import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { expect, test } from 'vitest';
import * as client from '../../packages/client/index.ts';
import { buildProgram } from '../../packages/service/cli/command-line.ts';
import { settings } from '../../packages/service/cli/config.ts';

// docs/readers/compatibility.md: what users of this major version rely on is not removed.
// UPDATE_SURFACE=1 adds what is new to the list, at each release.

const read = (file: string): string => readFileSync(fileURLToPath(new URL(`../../${file}`, import.meta.url)), 'utf8');
const list = fileURLToPath(new URL('./surface-1.txt', import.meta.url));

interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
}
interface Parameter {
  readonly $ref?: string;
  readonly in: string;
  readonly name: string;
}
interface Operation {
  readonly parameters?: readonly Parameter[];
  readonly responses: Readonly<Record<string, object>>;
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** The operations of an OpenAPI document, with parameters and statuses, and its fields. */
function namesOf(file: string): string[] {
  const document = JSON.parse(read(file)) as Document;
  const resolve = <T extends { readonly $ref?: string }>(part: T): T =>
    part.$ref === undefined
      ? part
      : (part.$ref
          .split('/')
          .slice(1)
          .reduce((at: object, key) => Reflect.get(at, key), document) as T);
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { responses }]) => responses !== undefined)
      .flatMap(([method, { parameters = [], responses }]) => {
        const operation = `${method.toUpperCase()} ${path}`;
        return [
          operation,
          ...parameters.map(resolve).map(({ in: where, name }) => `${operation} ${where} ${name}`),
          ...Object.keys(responses).map((status) => `${operation} status ${status}`),
        ];
      }),
  );
  const fieldsOf = (name: string, { properties = {}, items, anyOf = [] }: Schema): string[] => [
    ...Object.entries(properties).flatMap(([field, schema]) => [
      `${name}.${field}${schema.type === undefined ? '' : ` ${schema.type}`}`,
      ...fieldsOf(`${name}.${field}`, schema),
    ]),
    ...(items === undefined ? [] : fieldsOf(`${name}[]`, items)),
    ...anyOf.flatMap((schema) => fieldsOf(name, schema)),
  ];
  return [
    ...operations,
    ...Object.entries(document.components.schemas).flatMap(([name, schema]) => fieldsOf(name, schema)),
  ].map((name) => `${file}: ${name}`);
}

const commandsOf = (command: Command, names: readonly string[] = []): string[] =>
  command.commands.flatMap((below) => {
    const path = [...names, below.name()];
    const options = below.options.map(({ long }) => `command ${path.join(' ')} ${long}`);
    return [`command ${path.join(' ')}`, ...options, ...commandsOf(below, path)];
  });

async function surface(): Promise<readonly string[]> {
  const silent = { write: () => undefined };
  const program = await buildProgram({ stdout: silent, stderr: silent });
  const metrics = read('docs/operators/metrics.md').matchAll(
    /^\| `((?:subreport|process)_\w+)` \| (\w+) \|([^|]*)\|/gm,
  );
  return [
    ...namesOf('openapi.json'),
    ...namesOf('openapi-operator.json'),
    ...[...read('docs/readers/errors.md').matchAll(/^\| `(\w+)` \| (\d{3})/gm)].map(
      ([, type, status]) => `error ${type} ${status}`,
    ),
    ...Object.keys(client).map((name) => `@subreport/client ${name}`),
    ...commandsOf(program as unknown as Command),
    ...Object.keys(settings).map((name) => `setting ${name}`),
    ...[...metrics].map(([, name, type, labels]) => `metric ${name} ${type} ${labels?.trim()}`.trimEnd()),
  ].toSorted();
}

test('keeps every name that users of this major version rely on', async () => {
  const names = await surface();
  if (process.env.UPDATE_SURFACE !== undefined) writeFileSync(list, `${[...new Set(names)].join('\n')}\n`);
  const kept = readFileSync(list, 'utf8').trim().split('\n');
  for (const kind of [
    'openapi.json',
    'openapi-operator.json',
    'error',
    '@subreport/client',
    'command',
    'setting',
    'metric',
  ])
    expect(kept.filter((name) => name.startsWith(kind)).length).toBeGreaterThan(10);
  expect(kept.filter((name) => !names.includes(name))).toEqual([]);
});
