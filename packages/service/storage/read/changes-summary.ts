import { type Calendar, dayNumber, type KnownOffsets } from '../calendar.ts';
import type { Row, SqlValue, TenantReader, TenantSql } from '../store.ts';
import { type ChangeKey, type ChangeKind, changeKinds, wasThere } from './changes.ts';

// Counts what the feed of changes lists: the last change of each record within a period, by what
// the record was at the period's start (docs/decisions/changes.md#changes-summary).

/** A period of changes. */
export interface ChangesPeriod {
  /** The last change before the period. */
  readonly after: ChangeKey;
  /** The revision that former records are from. */
  readonly base: number;
  /** The last revision of the period; absent if that is the present one. */
  readonly until?: number | undefined;
}

/** How many records went from one value to another one; `null` is no status. */
interface Transition {
  readonly from: string | null;
  readonly to: string | null;
  readonly count: number;
}

type KindCounts = Readonly<Record<ChangeKind, number>>;

/** The most frequent transitions, and how many changes have another one. */
interface Transitions {
  readonly listed: readonly Transition[];
  readonly others: number;
}

/** What one import changed, or what was changed without one. */
export interface ImportChanges {
  readonly importId: string | undefined;
  /** When its first and last changes were committed, in UTC epoch seconds, if that is kept. */
  readonly firstSeconds: number | undefined;
  readonly lastSeconds: number | undefined;
  readonly kinds: KindCounts;
  readonly renewed: number;
  readonly status: Transitions;
}

/** The counts of a period. */
export interface ChangesCounts {
  readonly kinds: KindCounts;
  /** Records whose expiration date became later. */
  readonly renewed: number;
  readonly status: Transitions;
  readonly products: Transitions;
  readonly autoRenew: readonly Transition[];
  /** By the start of each day, in order; `undefined` if the time is not kept. */
  readonly days: ReadonlyMap<number | undefined, KindCounts>;
  /** The newest imports first, and how many there are. */
  readonly imports: readonly ImportChanges[];
  readonly importCount: number;
}

/** Most transitions, most imports, and most transitions of an import that are listed. */
interface ListedMax {
  readonly transitions: number;
  readonly imports: number;
  readonly perImport: number;
}

/**
 * Counts the changes of a period, each record once. The cost is proportional to the records that
 * changed since the period's start: they and their former versions are read in one index each. The
 * statement groups them by import, day and transition; what is listed is added up here.
 */
export async function summariseChanges(
  reader: TenantReader,
  { after, base, until }: ChangesPeriod,
  { offsets, startOf }: Calendar,
  max: ListedMax,
): Promise<ChangesCounts> {
  const hasEnd = until !== undefined;
  const values: SqlValue[] = [after.revision, after.id, base, ...(hasEnd ? [until] : [])];
  const rows = await reader.all(countChanges(hasEnd, offsets()), values);
  const dayOf = ({ first_at: at = null }: Row) => (at === null ? undefined : startOf(Number(at)));
  const days = [...Map.groupBy(rows, dayOf)].sort(([a = -Infinity], [b = -Infinity]) => a - b);
  const imports = [...Map.groupBy(rows, ({ import_id: id = null }) => id)];
  const lastOf = ([, of]: (typeof imports)[number]): number => greatest(of, 'last_revision') ?? 0;
  const moved = sum(rows, 'moved');
  const products = moved === 0 ? [] : await reader.all(countMoves(hasEnd, max), values);
  return {
    kinds: kindsOf(rows),
    renewed: sum(rows, 'renewed'),
    status: listTurns(rows, max.transitions),
    products: toTransitions(products.map(toTransition), moved),
    autoRenew: [
      { from: 'false', to: 'true', count: sum(rows, 'switched_on') },
      { from: 'true', to: 'false', count: sum(rows, 'switched_off') },
    ]
      .filter(({ count }) => count > 0)
      .sort((a, b) => b.count - a.count),
    days: new Map(days.map(([day, ofDay]) => [day, kindsOf(ofDay)])),
    imports: imports
      .sort((a, b) => lastOf(b) - lastOf(a))
      .slice(0, max.imports)
      .map(([id, ofImport]) => ({
        importId: id === null ? undefined : String(id),
        firstSeconds: least(ofImport, 'first_at'),
        lastSeconds: greatest(ofImport, 'last_at'),
        kinds: kindsOf(ofImport),
        renewed: sum(ofImport, 'renewed'),
        status: listTurns(ofImport, max.perImport),
      })),
    importCount: imports.length,
  };
}

const sum = (rows: readonly Row[], name: string): number => rows.reduce((total, row) => total + Number(row[name]), 0);

const numbersIn = (rows: readonly Row[], name: string): readonly number[] =>
  rows.flatMap(({ [name]: value = null }) => (value === null ? [] : [Number(value)]));
const least = (rows: readonly Row[], name: string): number | undefined =>
  numbersIn(rows, name).reduce<number | undefined>((found = Infinity, each) => Math.min(found, each), undefined);
const greatest = (rows: readonly Row[], name: string): number | undefined =>
  numbersIn(rows, name).reduce<number | undefined>((found = -Infinity, each) => Math.max(found, each), undefined);

function kindsOf(rows: readonly Row[]): KindCounts {
  const counts = { added: 0, changed: 0, removed: 0 };
  for (const { kind, n } of rows) counts[changeKinds[Number(kind)] ?? 'changed'] += Number(n);
  return counts;
}

const toTransition = ({ former = null, latter = null, n }: Row): Transition => ({
  from: former === null ? null : String(former),
  to: latter === null ? null : String(latter),
  count: Number(n),
});

const toTransitions = (listed: readonly Transition[], total: number): Transitions => ({
  listed,
  others: total - listed.reduce((listedSum, { count }) => listedSum + count, 0),
});

/** The most frequent transitions of the status; equally frequent ones by value, none last. */
function listTurns(rows: readonly Row[], max: number): Transitions {
  const turns = [...Map.groupBy(rows, ({ former, latter }) => JSON.stringify([former, latter])).values()]
    .map((same) => ({ ...toTransition(same[0] ?? {}), count: sum(same, 'turned') }))
    .filter(({ count }) => count > 0)
    .sort((a, b) => b.count - a.count || compareTexts(a.from, b.from) || compareTexts(a.to, b.to));
  return toTransitions(turns.slice(0, max), sum(rows, 'turned'));
}

/** Compares as both engines do, by UTF-8 bytes; `null` is last. */
function compareTexts(a: string | null, b: string | null): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

/** Columns that say what a change did. */
const compared = 'status, auto_renew, product_id, expiration_date';

/**
 * The last change of each record after the key `$2`, `$3` and up to the revision `$5`, if there is
 * one. A record that was removed then may have returned since, so its tombstone may be gone; but
 * a version of it ended in the period, and it is neither alive nor dead at the end. A version that
 * has been erased counts too.
 */
const lastChanges = (hasEnd: boolean): string => `live as (
    select id, revision, ${compared} from subscription
    where tenant_id = $1 and (revision, id) > ($2, $3)${hasEnd ? ' and revision <= $5' : ''}${
      hasEnd
        ? `
    union all
    select id, from_revision, ${compared} from subscription_version
    where tenant_id = $1 and until_revision > $5 and from_revision <= $5 and (from_revision, id) > ($2, $3)`
        : ''
    }
  ), dead as (
    select id, revision from subscription_tombstone
    where tenant_id = $1 and (revision, id) > ($2, $3)${hasEnd ? ' and revision <= $5' : ''}
  ), gone as (
    select id, max(revision) as revision from (
      select id, revision from dead${
        hasEnd
          ? `
      union all
      select v.id, v.until_revision from (
        select id, until_revision from subscription_version where tenant_id = $1 and until_revision <= $5 and until_revision >= $2
        union all
        select id, until_revision from subscription_erasure where tenant_id = $1 and until_revision <= $5 and until_revision >= $2
      ) as v left join (
        select id from live union all select id from dead
        union all
        select id from subscription_erasure where tenant_id = $1 and until_revision > $5 and from_revision <= $5
      ) as s on s.id = v.id where (v.until_revision, v.id) > ($2, $3) and s.id is null`
          : ''
      }
    ) as ended group by id
  )`;

/** A changed record as it was at the revision `$4`. */
const former =
  'left join subscription_version as v on v.tenant_id = $1 and v.id = s.id and v.until_revision > $4 and v.from_revision <= $4';

const sumIf = (condition: string, name: string): string => `sum(case when ${condition} then 1 else 0 end) as ${name}`;

/** What is counted of the changes of a commit with one transition of the status. */
const counted = ['n', 'turned', 'switched_on', 'switched_off', 'moved', 'renewed'];

/** Counts records by commit and transition first, which sorts them once; then groups the counts. */
const countChanges = (hasEnd: boolean, offsets: KnownOffsets): TenantSql => `with ${lastChanges(hasEnd)}, grouped as (
    select s.revision, case when v.id is null then 0 else 1 end as kind,
      v.status as former, s.status as latter, count(*) as n,
      ${[
        sumIf('v.id is not null and v.status is distinct from s.status', 'turned'),
        sumIf("v.auto_renew <> s.auto_renew and s.auto_renew = 'true'", 'switched_on'),
        sumIf("v.auto_renew <> s.auto_renew and s.auto_renew = 'false'", 'switched_off'),
        sumIf('v.product_id <> s.product_id', 'moved'),
        sumIf('v.expiration_date < s.expiration_date', 'renewed'),
      ].join(', ')}
    from live as s ${former} group by 1, 2, 3, 4
    union all
    select s.revision, 2, null, null, count(*), 0, 0, 0, 0, 0
    from gone as s ${former} where ${wasThere('$4')} group by 1
  )
  select c.import_id, g.kind, g.former, g.latter, min(c.committed_at) as first_at, max(c.committed_at) as last_at,
    max(g.revision) as last_revision, ${counted.map((name) => `sum(g.${name}) as ${name}`).join(', ')}
  from grouped as g left join subscription_commit as c on c.tenant_id = $1 and c.revision = g.revision
  group by 1, 2, 3, 4, ${dayNumber('c.committed_at', offsets)}`;

/** Records that moved to another product. */
const countMoves = (hasEnd: boolean, max: ListedMax): TenantSql => `with ${lastChanges(hasEnd)}
  select v.product_id as former, s.product_id as latter, count(*) as n
  from live as s ${former} where v.product_id <> s.product_id
  group by 1, 2 order by n desc, former, latter limit ${max.transitions}`;
