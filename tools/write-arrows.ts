import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, relative } from 'node:path/posix';
import { type Folder, folders, isFile } from './arrows.ts';
import { withGeneratedPart } from './generated-part.ts';

/** The patterns that match an import that a file of the folder may have. */
function patternsOf(folder: string, allowed: string): string[] {
  if (allowed === 'node') return ['node:*', 'node:*/**'];
  if (!/^packages\//.test(allowed)) return [allowed];
  const path = relative(folder, allowed);
  const fromHere = path.startsWith('../') ? path : `./${path}`;
  if (isFile(allowed)) return [fromHere];
  return [allowed.endsWith('/*') ? `${fromHere}.ts` : `${fromHere}/**`];
}

function nameOf(allowed: string): string {
  if (allowed === 'node') return 'Node';
  return allowed.replace(/^packages\/(.*?)(\/\*)?$/, (_, path, own) => (own === undefined ? path : `${path}/*.ts`));
}

function ruleOf({ path, imports, forbids }: Folder): object | undefined {
  if (imports === undefined && forbids === undefined) return undefined;
  const folder = isFile(path) ? dirname(path) : path;
  const names = imports?.map(nameOf).join(', ');
  const may =
    forbids === undefined
      ? `may import only ${names || 'its own files'}`
      : path.startsWith('packages/console')
        ? 'reaches the service only through packages/client/, and imports nothing of the other console'
        : `may not import ${forbids.join(', ')}`;
  const patterns = [
    {
      group: forbids ?? [
        '**',
        './**',
        ...['./*', ...(imports ?? []).flatMap((each) => patternsOf(folder, each))].map((pattern) => `!${pattern}`),
      ],
      message: `${path} ${may}: see "Folders and imports" in ARCHITECTURE.md`,
    },
  ];
  // one file makes typebox's types, the others import them from it
  const typebox = {
    importNames: ['default'],
    message: 'import Type from contract/type.ts: typebox itself takes 110 ms of CPU time at each start',
  };
  const options = path.startsWith('packages/contract')
    ? { paths: { typebox }, patterns }
    : opensConnections(path)
      ? { patterns }
      : { paths: connections, patterns };
  const globals = { level: 'error', options: { deniedGlobals: { fetch: outgoingRule, WebSocket: outgoingRule } } };
  return {
    includes: isFile(path) ? [path] : [`${path}/**`, ...(isPackage(path) ? [`!${path}/test/**`] : [])],
    linter: {
      rules: {
        style: {
          noRestrictedImports: { level: 'error', options },
          ...(isForPrograms(path) && { noRestrictedGlobals: opensConnections(path) ? 'off' : globals }),
        },
      },
    },
  };
}

const isForPrograms = (path: string): boolean => /^packages\/(cli|mcp|outgoing|terminal)(\/|$)/.test(path);

/** Whether a folder may connect to others by itself: of the programs of readers, one may. */
const opensConnections = (path: string): boolean => !isForPrograms(path) || path === 'packages/outgoing';

const outgoingRule = 'only packages/outgoing opens connections: bounds, time limits, TLS and proxies are there';

const httpTypes = ['Agent', 'ClientRequest', 'IncomingMessage'];

/** What opens connections, without the types that a caller of `outgoing` needs. */
const connections = Object.fromEntries(
  ['node:http', 'node:https', 'node:http2', 'node:net', 'node:tls', 'node:dgram'].map((name) => [
    name,
    { allowImportNames: name === 'node:http' ? httpTypes : [], message: outgoingRule },
  ]),
);

const isPackage = (path: string): boolean => /^packages\/\w+$/.test(path);

/** The rules for Biome: of several that match a file, the last one holds. */
export function arrowRules(): string {
  const parentsFirst = folders.toSorted((a, b) => a.path.split('/').length - b.path.split('/').length);
  const overrides = parentsFirst.map(ruleOf).filter((rule) => rule !== undefined);
  return `{"overrides":[\n${overrides.map((each) => JSON.stringify(each)).join(',\n')}\n]}\n`;
}

export const arrowPictureAndFolders = (): string => `${arrowPicture()}\n\n${folderList()}`;

/** What each folder may import is in tools/arrows.ts, and in the message of Biome. */
const folderList = (): string =>
  folders
    .filter(({ path }) => !isFile(path))
    .map(({ path, contents }) => `- \`${path}/\`: ${contents}`)
    .join('\n');

/** Without the arrows that follow from others. */
function arrowPicture(): string {
  const areaOf = (path: string): string =>
    path
      .split('/')
      .slice(0, path.startsWith('packages/service/') ? 3 : 2)
      .join('/');
  const areas = [
    ...new Set(folders.map(({ path }) => areaOf(path)).filter((path) => /^packages\/(?!console)/.test(path))),
  ];
  const imports = new Map(
    areas.map((area) => {
      const rows = folders.filter(({ path }) => areaOf(path) === area);
      const named = rows
        .flatMap(
          ({ imports: own, forbids = [] }) =>
            own ?? areas.filter((each) => !forbids.includes(`**/${each.slice('packages/'.length)}/**`)),
        )
        .map(areaOf);
      return [area, new Set(named.filter((each) => areas.includes(each) && each !== area))];
    }),
  );
  const lines = areas.flatMap((from) => {
    const direct = [...(imports.get(from) ?? [])];
    const needed = direct.filter((to) => !direct.some((other) => other !== to && reaches(imports, other, to)));
    return needed.map((to) => `  ${boxOf(from)} --> ${boxOf(to)}`);
  });
  return ['```mermaid', 'flowchart TD', ...lines, '```'].join('\n');
}

/** A box of the picture, whose name has no slash. */
function boxOf(area: string): string {
  const name = area.slice('packages/'.length);
  return name.includes('/') ? `${name.replace('/', '-')}[${name}]` : name;
}

/** Whether a way leads from a node of a graph without circles to another one. */
function reaches(graph: ReadonlyMap<string, ReadonlySet<string>>, from: string, to: string): boolean {
  return [...(graph.get(from) ?? [])].some((next) => next === to || reaches(graph, next, to));
}

if (import.meta.main) {
  const architecture = new URL('../ARCHITECTURE.md', import.meta.url);
  writeFileSync(architecture, withGeneratedPart(readFileSync(architecture, 'utf8'), arrowPictureAndFolders()));
  writeFileSync(new URL('arrows.json', import.meta.url), arrowRules());
}
