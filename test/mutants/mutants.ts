/**
 * A mistake that somebody could make in this code, and the test that must notice it.
 * `npm run mutants` plants them one at a time in a copy of the tree.
 *
 * When `mutants.test.ts` fails because you moved, rewrote or reworded something: find the line that
 * does the same now, put a part of it that occurs once below `src/` or `console/` into `search`, make the same
 * mistake in `replace`, copy the title as it is now into `test`, and run
 * `npm run mutants -- --only <id>`.
 */
export interface Mutant {
  readonly id: string;
  /** What the service does wrong. */
  readonly breaks: string;
  /** Code that occurs in one file below `src/` or `console/`, once. */
  readonly search: string;
  readonly replace: string;
  /** Base name of the test file. */
  readonly file: string;
  /** The title of the test as its file has it. */
  readonly test: string;
  /** Words in the titles of the suites around the test, such as the engine. */
  readonly on?: readonly string[];
}

export const mutants: readonly Mutant[] = [
  // Tenants
  {
    id: 'record-without-tenant',
    breaks: 'A record is found by its id in every tenant.',
    search: "subscription where tenant_id = $1 and id = $2', [id]",
    replace: "subscription where $1 is not null and id = $2', [id]",
    file: 'isolation.test.ts',
    test: "neither reads an id that only the other has, nor counts the other's records",
    on: ['sqlite'],
  },
  {
    id: 'page-without-tenant',
    breaks: 'A page has the records of every tenant.',
    search: `const rows = \`from subscription where tenant_id = $1\${and(filterConditions`,
    replace: `const rows = \`from subscription where $1 is not null\${and(filterConditions`,
    file: 'spec.test.ts',
    test: 'an authenticated client reads a report of its own subscriptions and of no others',
    on: ['sqlite'],
  },
  {
    id: 'changes-without-tenant',
    breaks: 'The changes have the records of every tenant.',
    search: 'from subscription where tenant_id = $1 and (revision, id) > ($2, $3)',
    replace: 'from subscription where $1 is not null and (revision, id) > ($2, $3)',
    file: 'changes.test.ts',
    test: 'the changes of a tenant contain no record and no tombstone of another tenant',
    on: ['sqlite'],
  },
  {
    id: 'no-row-level-security',
    breaks: 'A transaction of a superuser on PostgreSQL keeps the rights to read every tenant.',
    search: '...(stepDown ? [[`set local role',
    replace: '...(!stepDown ? [[`set local role',
    file: 'isolation.test.ts',
    test: 'limits a statement that forgot its tenant to one tenant',
    on: ['postgres', 'superuser'],
  },
  // Filters
  {
    id: 'after-inclusive',
    breaks: 'The filter after includes its own second.',
    search: `\${dateColumn} > \${bind(afterSeconds)}`,
    replace: `\${dateColumn} >= \${bind(afterSeconds)}`,
    file: 'spec.test.ts',
    test: 'before and after %s: only subscriptions before, only subscriptions after this instant',
    on: ['postgres'],
  },
  {
    id: 'counts-ignore-filters',
    breaks: 'The total comes from the counts although they know nothing of a filter.',
    search: 'Object.values(others).every((value) => value === undefined) &&',
    replace: '',
    file: 'walk.test.ts',
    test: 'pages by number equal the model, with the total on every page: %j',
    on: ['sqlite', 'pages of 1000'],
  },
  // Pages
  {
    id: 'cursor-off-by-one',
    breaks: 'The cursor of the next page points to the last record but one.',
    search: String.raw`ids.slice(ids.lastIndexOf('\n') + 1)`,
    replace: String.raw`ids.split('\n').at(-2) ?? ''`,
    file: 'search.test.ts',
    test: 'following X-Next-Cursor reads the whole report, and X-Previous-Cursor leads back',
    on: ['sqlite'],
  },
  {
    id: 'cursor-inclusive',
    breaks: 'A page begins with the record that its cursor points to.',
    search: `\${start.isKeyItself === true ? '=' : ''}`,
    replace: '=',
    file: 'search.test.ts',
    test: 'following X-Next-Cursor reads the whole report, and X-Previous-Cursor leads back',
    on: ['postgres'],
  },
  {
    id: 'deep-page-off-by-one',
    breaks: 'A deep page in descending order begins one record too early.',
    search: 'start + total - 1 - skip',
    replace: 'start + total - skip',
    file: 'walk.test.ts',
    test: 'the 30th page of 100 by %s contains records 2,901 to 3,000',
    on: ['sqlite'],
  },
  // Counts
  {
    id: 'status-change-not-counted',
    breaks: 'A record that changes its status stays counted under the old one.',
    search: 'before.status === after.status',
    replace: 'before.status === before.status',
    file: 'counts.test.ts',
    test: 'a record whose status alone changes is counted under its new status',
    on: ['sqlite'],
  },
  {
    id: 'total-after-inclusive',
    breaks: 'The total of a filter after counts its own second.',
    search: 'counts.rankSql(afterSeconds + 1, bind)',
    replace: 'counts.rankSql(afterSeconds, bind)',
    file: 'walk.test.ts',
    test: 'pages by number equal the model, with the total on every page: %j',
    on: ['sqlite', 'pages of 1000'],
  },
  // Revisions and caches
  {
    id: 'revision-kept-sqlite',
    breaks: 'A load on SQLite does not change the revision of the tenant.',
    search: 'countOnSqlite(connection, tenant, countChanges(changes, storedLast));',
    replace: 'return void countOnSqlite(connection, tenant, countChanges(changes, storedLast));',
    file: 'caching.test.ts',
    test: 'a change by another process is in the next response',
    on: ['sqlite', 'this process'],
  },
  {
    id: 'revision-kept-postgres',
    breaks: 'A load on PostgreSQL does not change the revision of the tenant.',
    search: '              run(setRevision, [tenant, revision]),\n',
    replace: '',
    file: 'import.test.ts',
    test: 'of a file that repeats an id creates one revision, and none the second time (T4)',
    on: ['postgres'],
  },
  {
    id: 'change-not-announced',
    breaks: 'A load on PostgreSQL is not announced to the other processes.',
    search: '              client.query(announceChange),\n',
    replace: '',
    file: 'change-mark.test.ts',
    test: 'a load notifies a listening connection before it returns',
    on: ['postgres'],
  },
  {
    id: 'shared-read-not-repeated',
    breaks: 'A read on PostgreSQL fails because another one on its connection failed.',
    search: 'isOwnFailure ? translate(error) : closedByOther(error)',
    replace: 'isOwnFailure ? translate(error) : translate(error)',
    file: 'postgres-shared.test.ts',
    test: 'return their rows although the statement that another one prepares for all is cancelled',
  },
  {
    id: 'cache-key-without-tenant',
    breaks: 'A cached response of one tenant is sent to another one.',
    search: '{tenant} ${response',
    replace: '{""}${response',
    file: 'caching.test.ts',
    test: 'two tenants never share a cached response or an ETag',
    on: ['sqlite', 'this process'],
  },
  {
    id: 'repeated-after-expiry',
    breaks: 'A repeated request is answered from memory although its access token has expired.',
    search: 'known.access.expiresAt > now()',
    replace: 'known.access.expiresAt > 0',
    file: 'repeated-requests.test.ts',
    test: 'a repeated request reaches its route when the token has expired',
  },
  // Tokens
  {
    id: 'revoked-family-ignored',
    breaks: 'An access token of a revoked refresh family is accepted.',
    search: '(row.family === null || row.revoked_at !== null)',
    replace: 'row.family === null',
    file: 'token-management.test.ts',
    test: '68 (RFC 7009 §2.1, §2.2): revoking a refresh token revokes its family, including its access tokens at once',
    on: ['sqlite'],
  },
  {
    id: 'scope-not-checked',
    breaks: 'An access token without the scope of writing loads records.',
    search: '!claims.scopes.includes(scope) || !client.scopes.includes(scope)',
    replace: '!client.scopes.includes(scope)',
    file: 'operator.test.ts',
    test: 'a load rejects an access token without the scope subscription:write, although its client has that scope',
    on: ['sqlite', 'this process'],
  },
  {
    id: 'refresh-reuse-forgiven',
    breaks: 'A refresh token that is used twice does not end its family.',
    search: 'await revokeRefreshFamily(store, client.clientId, id, nowSeconds);',
    replace: '',
    file: 'token-endpoint.test.ts',
    test: '31 (RFC 9700 §4.14.2): reuse of a used token revokes its family and no other',
    on: ['postgres'],
  },
  {
    id: 'refresh-beyond-cap',
    breaks: 'A refresh family outlives the longest time that it may be refreshed.',
    search: 'case when cap_at < $5 then cap_at else $5 end',
    replace: '$5',
    file: 'clock.test.ts',
    test: '33 (RFC 9700 §4.14.2): each refresh extends the family by 30 minutes, up to its maximum age',
    on: ['postgres'],
  },
  // Keys
  {
    id: 'dead-key-published',
    breaks: 'A replaced signing key stays in the key set for ever.',
    search: "endsAt <= nowSeconds ? 'dead'",
    replace: "endsAt < 0 ? 'dead'",
    file: 'keys.test.ts',
    test: 'rotation publishes the next key before its use, and the old one until its last token has expired',
    on: ['sqlite'],
  },
  {
    id: 'keys-in-the-clear',
    breaks: 'Private keys are stored unencrypted although the operator set a secret for them.',
    search: 'if (current === undefined) return jwk;',
    replace: 'if (current !== null) return jwk;',
    file: 'keys.test.ts',
    test: 'KEY_ENCRYPTION_SECRET encrypts the keys and replaces unencrypted ones',
    on: ['postgres'],
  },
  // Import
  {
    id: 'resume-repeats-a-row',
    breaks: 'A resumed import loads the last row of the interrupted one again.',
    search: 'if (row > read) return false;',
    replace: 'if (row >= read) return false;',
    file: 'resume.test.ts',
    test: 'is resumed from standard input and past the summary lines of exports',
    on: ['sqlite'],
  },
  {
    id: 'replace-keeps-an-email',
    breaks: 'A replacement on PostgreSQL misses that an e-mail alone has changed.',
    search: 'k.email is distinct from t.email or',
    replace: '',
    file: 'replace.test.ts',
    test: 'updates a record if only its e-mail has changed',
    on: ['postgres'],
  },
  {
    id: 'strict-loads-half',
    breaks: 'A strict load over HTTP with a bad row loads the good ones.',
    search: 'if (checked.rejected > 0) {',
    replace: 'if (checked.rejected > checked.read) {',
    file: 'operator.test.ts',
    test: 'strict=true loads all rows or none',
    on: ['sqlite', 'this process'],
  },
  {
    id: 'duplicate-id-first-wins',
    breaks: 'Of several rows with one id, the first one is loaded.',
    search: 'const isSame = stored?.record === row.record',
    replace: 'if (this.#changed.has(row.id)) return;\n    const isSame = stored?.record === row.record',
    file: 'import.test.ts',
    test: 'with several rows of one id loads the last',
    on: ['sqlite'],
  },
  // Exports and limits
  {
    id: 'export-summary-missing',
    breaks: 'A whole report as NDJSON ends without its summary.',
    search: "if (report.format === 'ndjson' || isSummaryPreferred) yield",
    replace: 'if (isSummaryPreferred) yield',
    file: 'export.test.ts',
    test: 'NDJSON ends with a summary of the lines before it, and the trailers state the same',
    on: ['sqlite'],
  },
  {
    id: 'rate-limit-shared',
    breaks: 'OAuth requests use up the rate limit of reports.',
    search: 'audit === null ? caller',
    replace: 'audit !== undefined ? caller',
    file: 'revisions.test.ts',
    test: 'count for their client, apart from reports, and without a known client for their address (A 2.4.1)',
    on: ['sqlite'],
  },
  // Console
  {
    id: 'console-keeps-pages',
    breaks: 'After a sign-out, Back shows the pages of the user before to the next one.',
    search: '  memories.clear();',
    replace: '',
    file: 'attacks.test.ts',
    test: 'after a sign-in as a client of another tenant, no Back shows anything of the first one',
  },
  {
    id: 'console-restores-session',
    breaks: 'A page that the browser has kept for Back shows the records of a session that has ended.',
    search: 'void (persisted && this.#leaveAndStart())',
    replace: 'void persisted',
    file: 'attacks.test.ts',
    test: 'Back from another site to a page that the browser has kept shows a session %s',
  },
  {
    id: 'console-same-address',
    breaks: 'Another address in the filter shows the records of the address before.',
    search: 'a.filters.email === b.filters.email && formatReportState(a)',
    replace: 'formatReportState(a)',
    file: 'subscriptions.test.ts',
    test: 'another address in the filter shows the records of the other one, and Back those of the first',
  },
  {
    id: 'hanging-tenants-keep-turns',
    breaks: 'Tenants of a worker that hangs use all turns of the queue.',
    search: 'isHanging: (tenant) => store.isHanging?.(tenant) === true',
    replace: 'isHanging: (tenant) => store.isHanging?.(tenant) === undefined',
    file: 'overload.test.ts',
    test: 'keep other tenants waiting until their first time-out at most: then all of them take one turn',
  },
  {
    id: 'counts-of-ended-worker-lost',
    breaks: 'The sums of /metrics go down when a worker exits.',
    search: 'ended = ended.then((sum) => addCounts(sum, last));',
    replace: 'ended = ended.then((sum) => addCounts(sum, last.slice(0, 0)));',
    file: 'worker-metrics.test.ts',
    test: 'what a worker counted remains in the sums while it is silent, and after it has exited',
  },
  // Changes
  {
    id: 'deletion-without-tombstone',
    breaks: 'A deletion on SQLite leaves no tombstone.',
    search: 'for (const { id } of removed) connection.change(insertTombstone, [tenant, String(id), revision]);',
    replace: '',
    file: 'changes.test.ts',
    test: 'a client that reads the changes from the beginning drops removed records from an old copy',
    on: ['sqlite'],
  },
  {
    id: 'swept-token-accepted',
    breaks: 'A change token is accepted although tombstones that its reader needs are gone.',
    search: 'cleanRevisionOf(token) < history.sweptRevision',
    replace: 'cleanRevisionOf(token) < 0',
    file: 'tombstones.test.ts',
    test: 'a change token older than a removed tombstone is rejected, a newer one is accepted',
    on: ['sqlite'],
  },
  {
    id: 'repair-without-new-history',
    breaks: 'After a repair of lost revisions, their numbers are given to other content.',
    search: '(isNewHistory ? Math.max(historyStart(nowSeconds), newest) : known)',
    replace: 'known',
    file: 'doctor.test.ts',
    test: 'a repair of lost revisions rejects their change tokens, and none of their ETags matches',
    on: ['postgres'],
  },
  {
    id: 'replacement-without-lock',
    breaks: 'A replacement whose import lock was lost replaces the records beside another import.',
    search: "requireHeld(lock, 'nothing was changed');",
    replace: '',
    file: 'replace.test.ts',
    test: 'changes nothing if the import lock is lost before all rows are read',
    on: ['sqlite'],
  },
  {
    id: 'row-of-any-shape',
    breaks: 'A row is parsed however deep it is nested.',
    search: 'if (depth > depthMax || values > valuesMax) return false;',
    replace: '',
    file: 'read-ndjson.test.ts',
    test: 'rejects a row %s without parsing it',
  },
  {
    id: 'zstd-window-over-http',
    breaks: 'A zstd body over HTTP may demand the window of a file, 128 MiB of memory.',
    search: 'windowBytesMax: httpWindowBytesMax };',
    replace: 'windowBytesMax: 2 ** 27 };',
    file: 'operator.test.ts',
    test: 'a load accepts gzip and zstd, and no other coding or media type',
    on: ['sqlite'],
  },
];
