import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = 'src/client';

/** The sections of the reference, and the files whose exports they describe. */
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

/** The reference of the client library: each export with its comment and its public members. */
export function clientReference(): string {
  const exported = exportsByFile(readFileSync(join(folder, 'index.ts'), 'utf8'));
  const described = sections.flatMap(([, files]) => files);
  const missing = [...exported.keys()].filter((file) => !described.includes(file) && !file.includes('contract/'));
  if (missing.length > 0) throw new Error(`Cannot write the reference: no section has ${missing.join(', ')}`);
  return sections
    .map(([title, files]) => {
      const entries = files.flatMap((file) => describeFile(file, exported.get(file) ?? []));
      return `## ${title}\n\n${entries.join('\n\n')}`;
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
      const { text, example } = commentBefore(source, at);
      const code = [declarationAt(source, at), ...(example === '' ? [] : ['', `// Example`, example])].join('\n');
      return `### ${name}\n\n${text}\n\n\`\`\`ts\n${code}\n\`\`\``;
    });
}

const declarationOf = (name: string) =>
  new RegExp(`^export (?:abstract )?(?:async )?(?:interface|type|class|function|const) ${name}\\b`, 'm');

/** The comment that ends before a declaration: its text on one line, and its example. */
function commentBefore(source: string, at: number): { text: string; example: string } {
  const [comment = ''] = /\/\*\*(?:(?!\*\/)[\s\S])*\*\/\s*$/.exec(source.slice(0, at)) ?? [];
  const lines = comment.replace(/^\/\*\*|\*\/\s*$/g, '').split('\n');
  const [text = '', example = ''] = lines
    .map((line) => line.replace(/^ \* ?/, ''))
    .join('\n')
    .split('@example');
  return { text: text.trim().replaceAll('\n', ' '), example: example.trim() };
}

/** A declaration without the bodies of its functions and its private members. */
function declarationAt(source: string, at: number): string {
  const [first = '', ...rest] = source.slice(at).split('\n');
  if (/^export (?:async )?function/.test(first)) return `${first.replace(/ \{$/, '')};`;
  let depth = 0;
  const lines = [first, ...rest];
  const last = lines.findIndex((line) => {
    depth += line.split('{').length - line.split('}').length;
    return depth === 0 && /^\}|;$/.test(line);
  });
  const declaration = lines.slice(0, last + 1);
  const text = first.includes('class ') ? publicMembers(declaration).join('\n') : declaration.join('\n');
  // the guide has the examples of members, and the page says once that members are read-only
  return text
    .replaceAll(/(?:\n {3}\*)?\n {3}\* @example[\s\S]*?(?=\n {3}\*\/)/g, '')
    .replaceAll('readonly ', '')
    .replaceAll(/(\?: [^;\n]+) \| undefined;/g, '$1;');
}

/** The public members of a class: its fields, and the signatures of its methods. */
function publicMembers([first = '', ...rest]: readonly string[]): string[] {
  const members: string[] = [];
  let comment: string[] = [];
  for (const line of rest) {
    if (/^ {2,3}(\/\*\*|\*)/.test(line)) comment.push(line);
    else {
      if (isPublicMember(line, first)) members.push(...comment, signatureOf(line));
      comment = [];
    }
  }
  return [first, ...members, '}'];
}

/** Programs do not construct errors, so the constructors of derived classes are left out. */
function isPublicMember(line: string, declaration: string): boolean {
  if (!/^ {2}[a-z]/.test(line) || /^[^(]*#/.test(line)) return false;
  return !(line.startsWith('  constructor') && / extends /.test(declaration));
}

const signatureOf = (line: string): string =>
  line.endsWith(' {') ? `${line.slice(0, -2).replace('  async ', '  ')};` : line;
