import type { Static } from 'typebox';
import { importFlags, loadOutcomes, nullableMapping, outcomeMeanings } from '../load.ts';
import { closed, printable } from '../schema.ts';
import { Type } from '../type.ts';
import {
  listOf,
  listParameters,
  nullableText,
  nullableTime,
  type OperatorOperation,
  tenantText,
  time,
  word,
} from './operation.ts';
import { importId } from './path-parameters.ts';

/** The state of an import: running, or how it ended. */
export const importResults = ['running', 'ok', 'failed', 'interrupted'] as const;

/** The state of an import, and what became of its rows once it has ended. */
const importOutcomes = ['running', ...loadOutcomes, 'interrupted'] as const;

/** The result of an import. */
const importResult = word(importResults, 'How it ended; interrupted if its process was killed');

/** The outcome of an import. */
const importOutcome = word(
  importOutcomes,
  `What became of its rows. ${outcomeMeanings}; interrupted: its process was killed`,
);

const count = (description: string, example: number) =>
  Type.Union(
    [Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, format: 'int64', examples: [example] }), Type.Null()],
    { description: `${description}; null unless the import has ended`, examples: [example] },
  );

const actor = closed('Who started it', {
  kind: word(['command', 'client', 'operator'], 'A user who ran a command, a client, or an operator with a token'),
  id: printable(256, 'User name or id', 'ada'),
  name: nullableText(100, "Name of the operator's token; null for others", null),
});

const startedAt = time('When it started');
const endedAt = nullableTime('When it ended; null while it runs, and if it was interrupted');
const rejectedCount = count('Invalid rows', 1);
const acceptedCount = count('Valid rows', 2);

/** An import in the history. */
export const Import = closed('An import in the history', {
  id: importId,
  tenant: tenantText('Its tenant'),
  started_at: startedAt,
  ended_at: endedAt,
  actor,
  address: nullableText(45, 'Network address of the caller; null for a command', null),
  via: word(['command', 'http'], 'How it was started'),
  format: word(['ndjson', 'csv'], 'Format of the source'),
  options: Type.Array(word(importFlags, 'An option'), {
    maxItems: importFlags.length,
    description: 'Its options',
    examples: [['replace']],
  }),
  columns: nullableMapping('Its mapping of columns; null if each column had the name of its field'),
  result: importResult,
  outcome: importOutcome,
  error: nullableText(2_048, 'Why it failed', null),
  read: count('Rows read', 3),
  accepted: acceptedCount,
  rejected: rejectedCount,
  inserted: count('Records that were added', 2),
  updated: count('Records that were changed', 0),
  unchanged: count('Rows that equal the stored record', 0),
  removed: count('Records that a replacement removed', 0),
  revision: count('Revision of the tenant afterwards', 7),
});
export type Import = Static<typeof Import>;

/** The newest import of a tenant. */
export const LastImport = closed('An import in the history, in short', {
  id: importId,
  started_at: startedAt,
  ended_at: endedAt,
  result: importResult,
  outcome: importOutcome,
  accepted: acceptedCount,
  rejected: rejectedCount,
});
export type LastImport = Static<typeof LastImport>;

const rejectedLines = Type.String({
  maxLength: 131_072,
  pattern: '^([{]|$)',
  description: 'The rejected rows, one per line; empty if none was rejected',
});

/** The operations on the history of imports. */
export const importOperations = {
  listImports: {
    method: 'GET',
    path: '/operator/v1/imports',
    tag: 'imports',
    summary: 'List imports',
    description:
      'Returns the imports by commands and over HTTP, the newest first. An import whose process was killed is interrupted. The history is kept for 90 days.',
    scope: 'operator:read',
    query: {
      ...listParameters,
      tenant: tenantText('Its tenant'),
      result: word(importResults, 'Only imports with this result'),
    },
    response: { status: 200, schema: listOf(Import, 'A page of imports'), example: 'imports' },
    sample: { query: { result: 'failed' } },
  },
  getImport: {
    method: 'GET',
    path: '/operator/v1/imports/{import_id}',
    tag: 'imports',
    summary: 'Get an import',
    description: 'Returns one import of the history.',
    scope: 'operator:read',
    response: { status: 200, schema: Import, example: 'import' },
  },
  getImportErrors: {
    method: 'GET',
    path: '/operator/v1/imports/{import_id}/errors',
    tag: 'imports',
    summary: 'Get the rejected rows of an import',
    description:
      'Returns the first 100 rejected rows of an import (at most 128 KiB) as NDJSON, one row per line with its line number and errors. The errors quote invalid values of the rows, but no email addresses.',
    scope: 'operator:read',
    response: {
      status: 200,
      schema: rejectedLines,
      example: 'rejectedRows',
      mediaType: 'application/x-ndjson',
    },
  },
} as const satisfies Record<string, OperatorOperation>;
