import { type Calendar, dayNumber, type KnownOffsets } from '../calendar.ts';
import type { Row, SqlValue, TenantReader, TenantSql } from '../store.ts';
import { type ChangeKey, type ChangeKind, changeKinds, couldBeThere } from './changes.ts';

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
 * changed since the period's start: they and their former versions are read in one index each.
 */
export async function summariseChanges(
  reader: TenantReader,
  { after, base, until }: ChangesPeriod,
  days: Calendar,
  max: ListedMax,
): Promise<ChangesCounts> {
  const hasEnd = until !== undefined;
  const values: SqlValue[] = [after.revision, after.id, base, ...(hasEnd ? [until] : [])];
  const rows = Map.groupBy(await reader.all(countChanges(hasEnd, days.offsets(), max), values), (row) =>
    String(row.part),
  );
  const partOf = (name: string): readonly Row[] => rows.get(name) ?? [];
  const kinds = kindsOf(partOf('kind'));
  const changed = partOf('kind').find(({ kind }) => changeKinds[Number(kind)] === 'changed');
  const numberOf = (name: string): number => Number(changed?.[name] ?? 0);
  const moved = numberOf('moved');
  const products = moved === 0 ? [] : await reader.all(countMoves(hasEnd, max), values);
  const byImport = Map.groupBy(partOf('import status'), ({ import_id: id }) => String(id));
  return {
    kinds,
    renewed: numberOf('renewed'),
    status: transitionsOf(partOf('status'), numberOf('turned')),
    products: transitionsOf(products, moved),
    autoRenew: [
      { from: 'false', to: 'true', count: numberOf('switched_on') },
      { from: 'true', to: 'false', count: numberOf('switched_off') },
    ]
      .filter(({ count }) => count > 0)
      .sort((a, b) => b.count - a.count),
    days: byDay(partOf('day'), days),
    imports: partOf('import').map((row) => ({
      importId: row.import_id === '' ? undefined : String(row.import_id),
      firstSeconds: secondsOf(row.first_at),
      lastSeconds: secondsOf(row.last_at),
      kinds: { added: Number(row.added), changed: Number(row.changed), removed: Number(row.removed) },
      renewed: Number(row.renewed),
      status: transitionsOf(byImport.get(String(row.import_id)) ?? [], Number(row.turned)),
    })),
    importCount: Number(partOf('import count')[0]?.n ?? 0),
  };
}

function byDay(rows: readonly Row[], { startOf }: Calendar): ReadonlyMap<number | undefined, KindCounts> {
  const dayOf = ({ day }: Row): number | undefined => {
    const seconds = secondsOf(day);
    return seconds === undefined ? undefined : startOf(seconds);
  };
  const days = [...Map.groupBy(rows, dayOf)].sort(([a = -Infinity], [b = -Infinity]) => a - b);
  return new Map(days.map(([day, members]) => [day, kindsOf(members)]));
}

const secondsOf = (value: SqlValue | undefined): number | undefined =>
  value === null || value === undefined ? undefined : Number(value);

function kindsOf(rows: readonly Row[]): KindCounts {
  const counts = { added: 0, changed: 0, removed: 0 };
  for (const { kind, n } of rows) counts[changeKinds[Number(kind)] ?? 'changed'] += Number(n);
  return counts;
}

function transitionsOf(rows: readonly Row[], total: number): Transitions {
  const text = (value: SqlValue | undefined): string | null => (value === null ? null : String(value));
  const listed = rows.map((row) => ({ from: text(row.former), to: text(row.latter), count: Number(row.n) }));
  return { listed, others: total - listed.reduce((sum, { count }) => sum + count, 0) };
}

/** Columns that say what a change did. */
const compared = 'status, auto_renew, product_id, expiration_date';

/**
 * The last change of each record after the key `$2`, `$3` and up to the revision `$5`, if there is
 * one. A record that was removed then may have returned since, so its tombstone may be gone. The
 * few versions that ended with a removal are found first, in indexes.
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
  ), gone as (
    select id, revision from subscription_tombstone
    where tenant_id = $1 and (revision, id) > ($2, $3)${hasEnd ? ' and revision <= $5' : ''}${
      hasEnd
        ? `
    union all
    select v.id, max(v.until_revision) from subscription_version as v
    where v.tenant_id = $1 and v.until_revision <= $5 and (v.until_revision, v.id) > ($2, $3)
      and not exists (select 1 from subscription as n where n.tenant_id = $1 and n.revision = v.until_revision and n.id = v.id)
      and not exists (select 1 from subscription_version as n where n.tenant_id = $1 and n.id = v.id and n.from_revision = v.until_revision)
      and not exists (select 1 from subscription_tombstone as t where t.tenant_id = $1 and t.id = v.id and t.revision <= $5)
      and not exists (select 1 from subscription as p where p.tenant_id = $1 and p.id = v.id and p.revision <= $5)
      and not exists (
        select 1 from subscription_version as p
        where p.tenant_id = $1 and p.id = v.id and p.until_revision > $5 and p.from_revision <= $5
      )
    group by v.id`
        : ''
    }
  )`;

/** A changed record as it was at the revision `$4`. */
const former =
  'left join subscription_version as v on v.tenant_id = $1 and v.id = s.id and v.until_revision > $4 and v.from_revision <= $4';

/** The order of equally frequent transitions: by value, none last. */
const byValues = 'former is null, former, latter is null, latter';

const sumIf = (condition: string, name: string): string => `sum(case when ${condition} then 1 else 0 end) as ${name}`;

/** The columns of all parts of the result. */
const partColumns = {
  ...{ kind: 'bigint', n: 'bigint', former: 'text', latter: 'text' },
  ...{ turned: 'bigint', switched_on: 'bigint', switched_off: 'bigint', moved: 'bigint', renewed: 'bigint' },
  ...{ day: 'bigint', import_id: 'text', first_at: 'bigint', last_at: 'bigint' },
  ...{ added: 'bigint', changed: 'bigint', removed: 'bigint' },
};

/** A part of the result, which has some of the columns; `rest` is what follows them. */
function part(name: string, given: Partial<Record<keyof typeof partColumns, string>>, rest: string): string {
  const columns = Object.entries({ ...partColumns }).map(
    ([column, type]) => `cast(${given[column as keyof typeof partColumns] ?? 'null'} as ${type}) as ${column}`,
  );
  return `select * from (select '${name}' as part, ${columns.join(', ')} ${rest}) as part_${name.replace(' ', '_')}`;
}

const same = (...names: readonly (keyof typeof partColumns)[]) => Object.fromEntries(names.map((name) => [name, name]));
const summed = (...names: readonly (keyof typeof partColumns)[]) =>
  Object.fromEntries(names.map((name) => [name, `sum(${name})`]));

/**
 * All counts in one statement: records by commit and transition first, which sorts them once, and
 * the few groups of that by everything else.
 */
const countChanges = (
  hasEnd: boolean,
  offsets: KnownOffsets,
  max: ListedMax,
): TenantSql => `with ${lastChanges(hasEnd)}, grouped as (
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
    from gone as s ${former} where ${couldBeThere('$4')} group by 1
  ), placed as materialized (
    select g.*, coalesce(c.import_id, '') as import_id, c.committed_at, ${dayNumber('c.committed_at', offsets)} as day
    from grouped as g left join subscription_commit as c on c.tenant_id = $1 and c.revision = g.revision
  ), imports as (
    select import_id, max(revision) as last_revision, min(committed_at) as first_at, max(committed_at) as last_at,
      ${changeKinds.map((kind, number) => `sum(case when kind = ${number} then n else 0 end) as ${kind}`).join(', ')},
      sum(renewed) as renewed, sum(turned) as turned
    from placed group by import_id order by last_revision desc limit ${max.imports}
  ), turns as (
    select import_id, former, latter, sum(turned) as n,
      row_number() over (partition by import_id order by sum(turned) desc, ${byValues}) as place
    from placed where turned > 0 and import_id in (select import_id from imports) group by import_id, former, latter
  )
  ${[
    part(
      'kind',
      { ...same('kind'), ...summed('n', 'turned', 'switched_on', 'switched_off', 'moved', 'renewed') },
      'from placed group by kind',
    ),
    part(
      'status',
      { ...same('former', 'latter'), n: 'sum(turned)' },
      `from placed where turned > 0 group by former, latter order by sum(turned) desc, ${byValues} limit ${max.transitions}`,
    ),
    part('day', { ...same('kind'), day: 'min(committed_at)', ...summed('n') }, 'from placed group by placed.day, kind'),
    part(
      'import',
      same('turned', 'renewed', 'import_id', 'first_at', 'last_at', 'added', 'changed', 'removed'),
      'from imports order by last_revision desc',
    ),
    part(
      'import status',
      same('n', 'former', 'latter', 'import_id'),
      `from turns where place <= ${max.perImport} order by n desc, ${byValues}`,
    ),
    part('import count', { n: 'count(distinct import_id)' }, 'from placed'),
  ].join('\n  union all\n  ')}`;

/** Records that moved to another product. */
const countMoves = (hasEnd: boolean, max: ListedMax): TenantSql => `with ${lastChanges(hasEnd)}
  select v.product_id as former, s.product_id as latter, count(*) as n
  from live as s ${former} where v.product_id <> s.product_id
  group by 1, 2 order by n desc, former, latter limit ${max.transitions}`;
