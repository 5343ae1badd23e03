import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = 'packages/client';

/** The sections of the reference, and the files whose exports they list. */
const sections: readonly (readonly [string, readonly string[]])[] = [
  ['Client', ['client']],
  ['Options', ['options', 'value-store']],
  ['Queries', ['query']],
  ['Reports', ['list', 'export']],
  ['Changes', ['changes', 'follow']],
  ['Records', ['records']],
  ['Tokens', ['token-source']],
  ['Errors', ['error']],
];

/**
 * The reference of the client library: each export with its comment. The types in the package have
 * their members, signatures and comments.
 */
export function clientReference(): string {
  const exported = exportsByFile(readFileSync(join(folder, 'index.ts'), 'utf8'));
  const described = sections.flatMap(([, files]) => files);
  const missing = [...exported.keys()].filter((file) => !described.includes(file) && !file.includes('contract/'));
  if (missing.length > 0) throw new Error(`Cannot write the reference: no section has ${missing.join(', ')}`);
  return sections
    .map(([title, files]) => {
      const sources = files.map((file) => `[${file}.ts](../../${folder}/${file}.ts)`).join(', ');
      const entries = files.flatMap((file) => describeFile(file, exported.get(file) ?? []));
      return `## ${title}\n\n${sources}\n\n${entries.join('\n')}`;
    })
    .join('\n\n');
}

/** The exported names of each file that `index.ts` exports from. */
function exportsByFile(index: string): Map<string, string[]> {
  const lists = index.matchAll(/export (?:type )?\{([^}]*)\} from '(?:\.\/)?([^']+)\.ts'/g);
  return new Map(
    [...lists].map(([, names = '', file = '']) => [file, [...names.matchAll(/(\w+)\s*(?:,|$)/g)].map(nameOf)]),
  );
}

const nameOf = ([, name = '']: RegExpMatchArray): string => name;

function describeFile(file: string, names: readonly string[]): string[] {
  const source = readFileSync(join(folder, `${file}.ts`), 'utf8');
  return names
    .map((name) => ({ name, at: source.search(declarationOf(name)) }))
    .sort((a, b) => a.at - b.at)
    .map(({ name, at }) => {
      if (at < 0) throw new Error(`Cannot write the reference: ${file}.ts must declare ${name}`);
      return `- \`${name}\`${valueAt(source, at)}: ${commentBefore(source, at)}`;
    });
}

const declarationOf = (name: string) =>
  new RegExp(`^export (?:abstract )?(?:async )?(?:interface|type|class|function|const) ${name}\\b`, 'm');

/** The comment that ends before a declaration, on one line and without its example. */
function commentBefore(source: string, at: number): string {
  const [comment = ''] = /\/\*\*(?:(?!\*\/)[\s\S])*\*\/\s*$/.exec(source.slice(0, at)) ?? [];
  const lines = comment.replace(/^\/\*\*|\*\/\s*$/g, '').split('\n');
  const [text = ''] = lines
    .map((line) => line.replace(/^ \* ?/, ''))
    .join('\n')
    .split('@example');
  return text.trim().replaceAll(/\s+/g, ' ');
}

/** The type of a short alias, such as the codes of an error. */
function valueAt(source: string, at: number): string {
  const [, text = ''] = /^export type \w+ =((?:.|\n(?!\n))*?);$/m.exec(source.slice(at).split('\n\n')[0] ?? '') ?? [];
  const value = text.trim().replace(/^\| /, '').replaceAll(/\s+/g, ' ');
  if (value === '' || value.length > 160 || value.includes('{ ')) return '';
  return value.includes('`') ? ` = \`\` ${value} \`\`` : ` = \`${value}\``;
}
