import { formatInstant } from '../../contract/instant.ts';
import type { Directory, Store } from '../storage/store.ts';
import { type AuditEntryRow, insertAuditEntries, type NewAuditEntry } from '../storage/tables/audit-entry.ts';
import type { AuditEvent } from './audit-event.ts';

export { listAuditEntries } from '../storage/tables/audit-entry.ts';

/** Records what happened, in the store and in the log stream. */
export interface AuditLog {
  /**
   * Adds entries in a transaction. Once it is committed, call the returned function, which writes
   * them to the log stream.
   */
  readonly add: (directory: Directory, events: readonly AuditEvent[]) => Promise<() => void>;
  /**
   * Adds entries, durable when it resolves. If the store fails, the entries are still written to
   * the log stream, without their ids, and the promise rejects with `StorageError`.
   */
  readonly record: (events: readonly AuditEvent[]) => Promise<void>;
}

interface AuditLogOptions {
  readonly store: Store;
  /** UTC epoch seconds. */
  readonly now: () => number;
  /** Writes a line of the log stream. */
  readonly write: (entry: WrittenEntry) => void;
  readonly measure?:
    | { readonly recorded: (event: AuditEvent) => void; readonly writeFailed: (events: number) => void }
    | undefined;
}

/** Longest JSON of the details, in characters; the table has the same limit. */
const detailsLengthMax = 2_000;

/** Longest name of a tenant or a client, in characters. */
const nameLengthMax = 255;

export function createAuditLog({ store, now, write, measure }: AuditLogOptions): AuditLog {
  const add: AuditLog['add'] = async (directory, events) => {
    const entries = events.map((event) => toEntry(event, now()));
    const ids = await insertAuditEntries(directory, entries);
    return () => {
      for (const [index, entry] of entries.entries()) write(formatAuditEntry({ ...entry, id: ids[index] ?? null }));
      if (measure !== undefined) for (const event of events) measure.recorded(event);
    };
  };
  return {
    add,
    async record(events) {
      const written = await add(store, events).catch((error: unknown) => {
        measure?.writeFailed(events.length);
        for (const event of events) write(formatAuditEntry({ ...toEntry(event, now()), id: null }));
        throw error;
      });
      written();
    },
  };
}

function toEntry(event: AuditEvent, recordedAt: number): NewAuditEntry {
  const { actor, details: all, ...others } = event;
  const details = JSON.stringify(all);
  return {
    ...others,
    tenant: printable(event.tenant),
    clientId: printable(event.clientId),
    recordedAt,
    actorKind: actor.kind,
    actorId: actor.id,
    actorName: actor.name,
    details: details.length > detailsLengthMax ? '{"truncated":true}' : details,
  };
}

/**
 * A name that was not checked may contain NUL, which PostgreSQL rejects, or control sequences of
 * terminals.
 */
const printable = (name: string | null): string | null =>
  name?.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, nameLengthMax) ?? null;

type WrittenEntry = ReturnType<typeof formatAuditEntry<number | null>>;

/** An entry as API, command and log stream show it; `id` is null if it is not stored. */
export const formatAuditEntry = <Id>(entry: Omit<AuditEntryRow, 'id'> & { readonly id: Id }) => ({
  id: entry.id,
  recorded_at: formatInstant(entry.recordedAt),
  actor: { kind: entry.actorKind, id: entry.actorId, name: entry.actorName },
  address: entry.address,
  action: entry.action,
  tenant: entry.tenant,
  client_id: entry.clientId,
  outcome: entry.outcome,
  error: entry.error,
  correlation_id: entry.correlationId,
  details: JSON.parse(entry.details) as Record<string, unknown>,
});
