import { setImmediate as nextTurn } from 'node:timers/promises';
import { directoryStatement, type Store, type TenantId } from '../store.ts';
import { writeOne } from './write-one.ts';

// The revision of a tenant at the end of a day (`tenant_revision`): a lower bound of the age of
// what it removed. A day without a row has the revision of the previous row.

const daySeconds = 86_400;

/** Tenants per statement: a millisecond or two, also on the main thread of SQLite. */
const tenantsAtOnce = 1_000;

interface NoteOptions {
  readonly nowSeconds: number;
  /** Whether a tenant without a history, or that has changed without it, begins one now. */
  readonly beginsHistory: boolean;
}

/**
 * Notes the revisions of the tenants that have changed since they were last noted, at most once a
 * day for each, some tenants at a time.
 */
export async function noteRevisions(store: Store, { nowSeconds, beginsHistory }: NoteOptions): Promise<void> {
  const today = Math.floor(nowSeconds / daySeconds);
  for await (const { after, last } of tenantRanges(store))
    await store.writeDirectory([
      directoryStatement(insertNotes, [today, after, last]),
      directoryStatement(setNoted, [today, after, last]),
      ...(beginsHistory ? [directoryStatement(beginMissing, [nowSeconds, after, last])] : []),
    ]);
}

/** Ranges of names that together contain every tenant; each is handled in a turn of its own. */
export async function* tenantRanges(store: Store): AsyncGenerator<{ readonly after: string; readonly last: string }> {
  for (let after = ''; ; ) {
    const [row] = await store.readDirectory(
      'select max(id) as last from (select id from tenant where id > $1 order by id limit $2) as following',
      [after, tenantsAtOnce],
    );
    const last = row?.last ?? null;
    if (last === null) return;
    yield { after, last: String(last) };
    after = String(last);
    await nextTurn(); // let pending requests run first
  }
}

/** Notes of one statement. */
const notesAtOnce = 500;

interface NotedSweep {
  readonly of: 'versions' | 'tombstones';
  /** The newest day of the notes, in days since 1970. */
  readonly day: number;
  /** Whether the notes are then removed, and not only marked as used by the sweep of versions. */
  readonly forgets: boolean;
}

/**
 * Sweeps each tenant that has notes up to a day which this kind of sweep has not used: up to the
 * newest revision in them. Returns how many rows were removed.
 */
export async function sweepNoted(
  store: Store,
  { of, day, forgets }: NotedSweep,
  sweep: (tenant: TenantId, revision: number) => Promise<number>,
): Promise<number> {
  for (let removed = 0; ; await nextTurn()) {
    const notes = await store.readDirectory(of === 'versions' ? selectUnswept : selectNotes, [day, notesAtOnce]);
    const last = notes.at(-1);
    if (last === undefined) return removed;
    const newest = new Map<TenantId, number>();
    for (const { tenant_id: id, revision } of notes)
      newest.set(id as TenantId, Math.max(Number(revision), newest.get(id as TenantId) ?? 0));
    for (const [tenant, revision] of newest) {
      removed += await sweep(tenant, revision);
      await nextTurn(); // let pending requests run first
    }
    const values = [Number(last.day), String(last.tenant_id)];
    await (forgets ? writeOne(store, deleteNotes, values) : writeOne(store, markNotes, values));
  }
}

/** Of the tenants after `$2` up to `$3`. */
const insertNotes = `insert into tenant_revision (tenant_id, day, revision)
  select id, cast($1 as bigint), revision from tenant
  where id > $2 and id <= $3 and deletion_started_at is null and coalesce(noted_revision, -1) <> revision
  on conflict do nothing` as const;

const setNoted = `update tenant set noted_revision = revision
  where id > $2 and id <= $3 and coalesce(noted_revision, -1) <> revision
    and exists (select 1 from tenant_revision as r where r.tenant_id = tenant.id and r.day = $1 and r.revision = tenant.revision)` as const;

/**
 * A tenant without changes has no revision that a change could have added to its history. It begins
 * after this second, because a response may have shown this instant of the discarded history.
 */
const beginMissing =
  `update tenant set history_from = revision, history_from_at = cast($1 as bigint) + 1, history_revision = revision, history_at = $1
  where id > $2 and id <= $3 and deletion_started_at is null
    and (history_revision is null or history_revision <> revision)` as const;

const selectNotes = `select tenant_id, day, revision from tenant_revision where day <= $1
  order by day, tenant_id limit $2` as const;

const selectUnswept = `select tenant_id, day, revision from tenant_revision where is_swept = 0 and day <= $1
  order by day, tenant_id limit $2` as const;

const markNotes = `update tenant_revision set is_swept = 1
  where is_swept = 0 and day <= $1 and (day, tenant_id) <= (cast($1 as bigint), $2)` as const;

const deleteNotes = `delete from tenant_revision
  where day <= $1 and (day, tenant_id) <= (cast($1 as bigint), $2)` as const;
