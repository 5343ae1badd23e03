/** The surfaces on which a mistake can be made. */
export const surfaces = ['api', 'cli', 'typescript', 'python', 'mcp'] as const;
export type Surface = (typeof surfaces)[number];

export type Values = Readonly<Record<string, unknown>>;

/** A question with a mistake, which each surface asks in its own way. */
export interface QueryMistake {
  readonly ask: 'list' | 'search' | 'summary' | 'changes' | 'changesSummary' | 'export' | 'get' | 'history';
  readonly given: Values;
  /** The parameters that a sentence must name; the given ones by default. */
  readonly names?: readonly string[];
  /** What a sentence must have: a right value, or what is meant. */
  readonly shows: string;
  /** Surfaces on which this is no mistake, and why. */
  readonly except?: Readonly<Partial<Record<Surface, string>>>;
}

const many = (count: number): string[] =>
  Array.from({ length: count }, (_, n) => String(8944500000000000000n + BigInt(n)));

/** Members that the types of the client library do not have. */
const untyped = { typescript: 'the type has no such member' };

/** Parameters with values that break their rules, or contradict each other. */
export const queryMistakes: readonly QueryMistake[] = [
  { ask: 'list', given: { size: '0' }, shows: 'such as 20' },
  { ask: 'list', given: { size: '5000' }, shows: 'such as 20' },
  { ask: 'list', given: { page: '0' }, shows: 'such as 1' },
  { ask: 'list', given: { page: '1.5' }, shows: 'such as 1' },
  { ask: 'list', given: { iccid: 'abc' }, shows: 'such as 8944500102198304826' },
  { ask: 'list', given: { id: 'a/b' }, shows: 'such as c3Vic2' },
  { ask: 'list', given: { email: 'ada lovelace' }, shows: 'such as ada@example.com' },
  { ask: 'list', given: { 'product-id': 'a\tb' }, shows: 'such as cHJv' },
  { ask: 'list', given: { 'plan-id': 'a\tb' }, shows: 'such as cGxhb' },
  { ask: 'list', given: { status: 'A'.repeat(65) }, shows: 'such as ACTIVE' },
  { ask: 'list', given: { status: Array.from({ length: 17 }, (_, n) => `S${n}`).join(',') }, shows: 'such as ACTIVE' },
  { ask: 'list', given: { after: 'last week' }, shows: 'such as 2024-05-01' },
  { ask: 'list', given: { after: '2024-02-30T00:00:00Z' }, shows: 'such as 2024-05-01' },
  { ask: 'list', given: { before: '2024-05-01T08:00:00' }, shows: 'such as 2024-05-01' },
  { ask: 'list', given: { 'date-field': 'creation' }, shows: 'created' },
  { ask: 'list', given: { 'auto-renew': 'maybe' }, shows: 'true' },
  { ask: 'list', given: { 'expires-within': '1 month' }, shows: 'such as 7d' },
  { ask: 'list', given: { 'expires-within': '99999d' }, shows: 'such as 7d' },
  { ask: 'list', given: { sort: 'created' }, shows: 'createdDate' },
  { ask: 'list', given: { cursor: 'abc' }, shows: 'unchanged' },
  { ask: 'list', given: { format: 'xml' }, shows: 'csv', except: untyped },
  { ask: 'list', given: { format: 'parquet' }, shows: 'whole report', except: untyped },
  { ask: 'list', given: { fields: 'iccid,stauts' }, shows: 'status' },
  { ask: 'list', given: { fields: 'iccid,iccid' }, shows: 'such as iccid' },
  { ask: 'list', given: { dates: 'lokal' }, shows: 'local' },
  { ask: 'list', given: { dates: 'local', zone: 'Europe/Berlin' }, names: ['dates'], shows: 'csv' },
  { ask: 'list', given: { 'as-of': '2024-05-01T00:00:00Z' }, shows: 'past', except: untyped },
  { ask: 'list', given: { statsu: 'ACTIVE' }, shows: 'status' },
  { ask: 'list', given: { limit: '5' }, shows: 'size' },
  {
    ask: 'list',
    given: { before: '2024-01-01T00:00:00Z', after: '2024-02-01T00:00:00Z' },
    names: ['before', 'after'],
    shows: 'later than',
  },
  {
    ask: 'list',
    given: { 'created-to': '2024-01-01T00:00:00Z', 'created-from': '2024-02-01T00:00:00Z' },
    names: ['created-to', 'created-from'],
    shows: 'later than',
  },
  {
    ask: 'list',
    given: { 'expires-within': '7d', before: '2024-01-01T00:00:00Z', 'date-field': 'expiration' },
    names: ['expires-within'],
    shows: 'before',
  },
  { ask: 'search', given: { iccid: many(1_001) }, shows: '1000' },
  { ask: 'search', given: { iccid: [] }, shows: 'value', except: { mcp: 'an empty list is absent' } },
  { ask: 'summary', given: { by: 'state' }, shows: 'status' },
  { ask: 'summary', given: { by: 'status,status' }, shows: 'such as status' },
  { ask: 'summary', given: { by: 'day' }, shows: '366 days' },
  { ask: 'summary', given: { size: '5' }, shows: 'must be' },
  { ask: 'summary', given: { 'as-of': '2999-01-01T00:00:00Z' }, shows: 'such as 2026-10-31' },
  { ask: 'summary', given: { 'as-of': '999999' }, shows: 'present revision' },
  { ask: 'summary', given: { 'as-of': '1999-01-01T00:00:00Z' }, shows: 'begins' },
  { ask: 'summary', given: { 'as-of': '1', 'expires-within': '7d' }, names: ['expires-within'], shows: 'before' },
  { ask: 'changes', given: { since: 'yesterdy' }, shows: 'such as Wz' },
  { ask: 'changes', given: { since: 'WzEsNDIsIiIsIjFuNHA5cSJd' }, names: [], shows: 'again' },
  { ask: 'changes', given: { kind: 'deleted' }, shows: 'such as removed' },
  { ask: 'changes', given: { field: 'state' }, shows: 'status' },
  { ask: 'changes', given: { from: 'ACTIVE' }, shows: 'field' },
  { ask: 'changes', given: { field: 'status', kind: 'added' }, names: ['kind'], shows: 'changed' },
  { ask: 'changes', given: { 'import-id': 'a b' }, shows: 'such as 0189' },
  { ask: 'changes', given: { order: 'latest' }, shows: 'newest' },
  { ask: 'changes', given: { before: 'yes please' }, shows: 'true' },
  { ask: 'changesSummary', given: { since: '1', until: 'tomorow' }, names: ['until'], shows: 'such as 2026-10-31' },
  { ask: 'changesSummary', given: { since: '1999-01-01T00:00:00Z' }, shows: 'begins' },
  {
    ask: 'export',
    given: { 'as-of': '2026-01-01T00:00:00Z', 'expires-within': '7d' },
    names: ['expires-within'],
    shows: 'before',
  },
  { ask: 'export', given: { dates: 'local' }, shows: 'such as' },
  { ask: 'export', given: { size: '5' }, shows: 'whole report', except: untyped },
  { ask: 'get', given: { id: 'nope' }, names: [], shows: 'subscription' },
  { ask: 'get', given: { id: 'a b' }, names: [], shows: 'id' },
  { ask: 'get', given: { id: 'c3ViMQ', fields: 'icid' }, names: ['fields'], shows: 'iccid' },
  { ask: 'history', given: { id: 'nope' }, names: [], shows: 'subscription' },
];
