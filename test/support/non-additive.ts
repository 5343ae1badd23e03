import type { Migration } from '../../packages/service/storage/migrations.ts';

/**
 * Statements on an existing table that can break a program of an older schema, each with a name.
 */
const breaking: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['drop', /\bdrop\s+(?!index\b)\w+/],
  ['rename', /\brename\b/],
  ['type', /\balter\s+(?:column\s+)?\w+\s+(?:set\s+data\s+)?type\b/],
  ['not null', /\bset\s+not\s+null\b/],
  [
    'not null without a default',
    /\badd\s+(?:column\s+)?(?!constraint\b)\w+\s(?=[^,;]*\bnot\s+null\b)(?![^,;]*\bdefault\b)/,
  ],
  [
    'constraint',
    /\badd\s+(?:constraint|unique|check|primary|foreign|exclude)\b|\badd\s+(?:column\s+)?\w+\s[^,;]*\b(?:unique|check|references)\b/,
  ],
  ['unique index', /\bcreate\s+unique\s+index\b/],
  ['trigger', /\bcreate\s+(?:\w+\s+)*trigger\b/],
  ['row-level security', /\b(?:enable|force)\s+row\s+level\s+security\b|\bcreate\s+policy\b/],
  ['truncate', /\btruncate\b/],
];

/**
 * Returns what a migration does that can break a program of an older schema, as `name: statement`.
 * Statements on tables that the migration creates are allowed, and so are all statements of a
 * migration that names itself as the oldest schema, or that explains in a line `-- Contract: …` why
 * programs of its oldest schema do not need what it removes.
 */
export function findNonAdditive({ name, oldestSchema, statements }: Migration): readonly string[] {
  if (oldestSchema === undefined || oldestSchema === name) return [];
  const texts = statements.map(withoutComments);
  if (statements.some((statement) => /^-- Contract: \S/m.test(statement))) return [];
  const made = new Set(texts.map((text) => /^create table (?:if not exists )?(\w+)/.exec(text)?.[1]));
  return texts.flatMap((text) => {
    const table = /\b(?:alter table (?:only |if exists )*|truncate (?:table )?(?!on )| on (?:only )?)(\w+)/.exec(
      text,
    )?.[1];
    if (table !== undefined && made.has(table)) return [];
    return breaking.filter(([, pattern]) => pattern.test(text)).map(([kind]) => `${kind}: ${text}`);
  });
}

const withoutComments = (sql: string): string =>
  sql.replaceAll(/--.*$/gm, '').replaceAll(/\s+/g, ' ').trim().toLowerCase();
