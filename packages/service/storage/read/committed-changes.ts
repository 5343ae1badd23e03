import type { Calendar } from '../calendar.ts';
import {
  addToGroups,
  type ChangeEffect,
  type ChangeGroups,
  type ChangeKind,
  type ComparedRow,
  readGroups,
  toComparedRow,
} from '../change-groups.ts';
import type { Row, TenantReader, TenantSql } from '../store.ts';
import type { ChangesCounts, ChangesPeriod, ImportChanges, ListedMax, Transitions } from './changes-summary.ts';

// Counts the changes of a period from what each commit says of its changes. That is exact for a
// record that changed once within the period. Of any other record, the changes are subtracted again
// and the one from its first to its last state is added, at its last revision.

/** Most revisions of a period, and most records that changed more than once in it. */
const limits = { revisions: 5_000, records: 5_000 };

/** Ids that are bound to one statement. */
const idsPerStatement = 500;

interface Commit {
  readonly revision: number;
  readonly at: number;
  readonly importId: string | undefined;
  readonly groups: ChangeGroups;
}

/**
 * Counts the changes of a period up to the revision `end`, each record once. Returns `undefined` if
 * the commits do not say it: the period begins within a revision, a commit has no groups, records
 * were erased or have come back, or too many changed more than once.
 */
export async function countCommitted(
  reader: TenantReader,
  { after, base }: ChangesPeriod,
  end: number,
  days: Calendar,
  max: ListedMax,
): Promise<ChangesCounts | undefined> {
  if (after.revision !== base + 1 || after.id !== '' || end - base > limits.revisions) return undefined;
  const [commits, erasures] = await Promise.all([
    reader.all(selectCommits, [base, end]),
    reader.all(selectErasure, [base, end]),
  ]);
  if (erasures.length > 0 || commits.length !== end - base) return undefined;
  if (commits.some(({ change_groups: groups = null }) => groups === null)) return undefined;
  const byRevision = new Map(commits.map((row) => [Number(row.revision), toCommit(row)]));
  if (mayHaveReturned([...byRevision.values()])) return undefined;
  if (end - base > 1) {
    const again = await reader.all(selectAgain, [base, end, limits.records + 1]);
    if (again.length > limits.records) return undefined;
    await correct(reader, byRevision, { base, end, ids: [...new Set(again.map(({ id }) => String(id)))] });
  }
  return sumUp([...byRevision.values()], days, max);
}

const selectCommits = `select revision, committed_at, import_id, change_groups from subscription_commit
  where tenant_id = $1 and revision > $2 and revision <= $3 order by revision`;

const selectErasure = `select 1 as found from subscription_erasure
  where tenant_id = $1 and until_revision > $2 and from_revision <= $3 limit 1`;

/** Versions that began and ended within the period: their records changed at least twice. */
const selectAgain = `select id from subscription_version
  where tenant_id = $1 and until_revision > $2 and until_revision <= $3 and from_revision > $2 limit $4`;

const toCommit = ({ revision, committed_at: at, import_id: importId = null, change_groups: groups }: Row): Commit => ({
  revision: Number(revision),
  at: Number(at),
  importId: importId === null ? undefined : String(importId),
  groups: readGroups(String(groups)),
});

/** Whether a record may have been removed and added again without a version that shows it. */
function mayHaveReturned(commits: readonly Commit[]): boolean {
  const has = (kind: ChangeKind) => (commit: Commit) => effectsOf(commit).some(([effect]) => effect.kind === kind);
  const removal = commits.findIndex(has('removed'));
  return removal >= 0 && commits.findLastIndex(has('added')) > removal;
}

const effectsOf = ({ groups }: Commit): (readonly [effect: ChangeEffect, n: number])[] =>
  [...groups].flatMap(([effect, n]) => (n === 0 ? [] : [[JSON.parse(effect) as ChangeEffect, n] as const]));

/** The records that changed more than once after `base` and up to `end`. */
interface ChangedAgain {
  readonly base: number;
  readonly end: number;
  readonly ids: readonly string[];
}

async function correct(
  reader: TenantReader,
  commits: ReadonlyMap<number, Commit>,
  { base, end, ids }: ChangedAgain,
): Promise<void> {
  for (let first = 0; first < ids.length; first += idsPerStatement) {
    const bound = ids.slice(first, first + idsPerStatement);
    // one statement whatever the number of ids
    while (bound.length < idsPerStatement) bound.push(bound[0] ?? '');
    const rows = await reader.all(selectStates, [base, end, ...bound]);
    for (const states of Map.groupBy(rows.map(toState), ({ id }) => id).values())
      correctRecord(
        commits,
        states.toSorted((a, b) => a.from - b.from),
        { base, end },
      );
  }
}

const placeholders = Array.from({ length: idsPerStatement }, (_, index) => `$${index + 4}`).join(', ');

/** The states of some records from the revision `$2` to `$3`. */
const selectStates = `select id, from_revision, until_revision, status, auto_renew, product_id, expiration_date
    from subscription_version
    where tenant_id = $1 and id in (${placeholders}) and until_revision > $2 and from_revision <= $3
  union all
  select id, revision, null, status, auto_renew, product_id, expiration_date from subscription
    where tenant_id = $1 and id in (${placeholders}) and revision <= $3` as TenantSql;

/**
 * A version of a record, with the first revision that has it and the first that no longer has it.
 */
interface State extends ComparedRow {
  readonly id: string;
  readonly from: number;
  /** Infinite while the record is as it was. */
  readonly until: number;
}

const toState = (row: Row): State => ({
  id: String(row.id),
  from: Number(row.from_revision),
  until: row.until_revision === null ? Number.POSITIVE_INFINITY : Number(row.until_revision),
  ...toComparedRow(row),
});

/** Replaces all changes of a record by one, if it is another record in the end, at the last one. */
function correctRecord(
  commits: ReadonlyMap<number, Commit>,
  states: readonly State[],
  { base, end }: Pick<ChangedAgain, 'base' | 'end'>,
): void {
  const count = (revision: number, before: State | undefined, after: State | undefined, n: number): void => {
    const commit = commits.get(revision);
    if (commit !== undefined) addToGroups(commit.groups, { before, after }, n);
  };
  const first = states.find(({ from, until }) => from <= base && until > base);
  let [last, revision] = [first, base];
  for (const state of states.filter(({ from }) => from > base)) {
    const isNext = last?.until === state.from;
    if (last !== undefined && !isNext) count(last.until, last, undefined, -1);
    count(state.from, isNext ? last : undefined, state, -1);
    [last, revision] = [state, state.from];
  }
  const isGone = last !== undefined && last.until <= end;
  if (last !== undefined && isGone) {
    count(last.until, last, undefined, -1);
    revision = last.until;
  }
  const after = isGone ? undefined : last;
  if (first !== undefined || after !== undefined) count(revision, first, after, 1);
}

/** Adds up what the commits of a period did. */
function sumUp(commits: readonly Commit[], { startOf }: Calendar, max: ListedMax): ChangesCounts {
  const all = new Sum();
  const days = new Map<number, Sum>();
  const imports = new Map<string | undefined, Sum>();
  for (const commit of commits) {
    const [day, { importId }] = [startOf(commit.at), commit];
    for (const [effect, n] of effectsOf(commit)) {
      const sums = [all, days.get(day) ?? new Sum(), imports.get(importId) ?? new Sum()] as const;
      days.set(day, sums[1]);
      imports.set(importId, sums[2]);
      for (const sum of sums) sum.add(commit, effect, n);
    }
  }
  const newest = [...imports].sort(([, a], [, b]) => b.lastRevision - a.lastRevision).slice(0, max.imports);
  return {
    kinds: all.kinds,
    renewed: all.renewed,
    status: all.listed('status', max.transitions),
    products: all.listed('product', max.transitions),
    autoRenew: all.listed('autoRenew', 2).listed,
    days: new Map([...days].sort(([a], [b]) => a - b).map(([day, { kinds }]) => [day, kinds])),
    imports: newest.map(([importId, sum]) => toImport(importId, sum, max)),
    importCount: imports.size,
  };
}

const toImport = (importId: string | undefined, sum: Sum, { perImport }: ListedMax): ImportChanges => ({
  importId,
  firstSeconds: sum.firstSeconds,
  lastSeconds: sum.lastSeconds,
  kinds: sum.kinds,
  renewed: sum.renewed,
  status: sum.listed('status', perImport),
});

type Compared = 'status' | 'product' | 'autoRenew';

/** The changes of some commits, which are added in their order. */
class Sum {
  readonly kinds = { added: 0, changed: 0, removed: 0 };
  renewed = 0;
  firstSeconds: number | undefined;
  lastSeconds: number | undefined;
  lastRevision = 0;
  readonly #moves = { status: new Map<string, number>(), product: new Map(), autoRenew: new Map() };

  add({ revision, at }: Commit, effect: ChangeEffect, n: number): void {
    this.firstSeconds ??= at;
    this.lastSeconds = at;
    this.lastRevision = revision;
    this.kinds[effect.kind] += n;
    if (effect.renewed) this.renewed += n;
    for (const field of ['status', 'product', 'autoRenew'] as const) {
      if (effect[field] === undefined) continue;
      const [key, moves] = [JSON.stringify(effect[field]), this.#moves[field]];
      moves.set(key, (moves.get(key) ?? 0) + n);
    }
  }

  /** The most frequent transitions of a field, and the number of changes with any other. */
  listed(field: Compared, max: number): Transitions {
    const moves = [...this.#moves[field]]
      .filter(([, count]) => count > 0)
      .map(([key, count]) => {
        const [from, to] = JSON.parse(key) as [from: string | null, to: string | null];
        return { from, to, count };
      })
      .sort((a, b) => b.count - a.count || compareTexts(a.from, b.from) || compareTexts(a.to, b.to));
    return { listed: moves.slice(0, max), others: moves.slice(max).reduce((sum, { count }) => sum + count, 0) };
  }
}

/** Compares as both engines do, by UTF-8 bytes; `null` is last. */
function compareTexts(a: string | null, b: string | null): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
