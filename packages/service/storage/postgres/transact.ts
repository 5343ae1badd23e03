import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { overdue } from '../deadline.ts';
import type { Directory, SqlValue } from '../store.ts';
import { announceChange } from './change-sql.ts';
import { isBusy, isRolledBack, isUnconfirmed } from './error.ts';
import { confirm, unknownOutcome } from './settle-commit.ts';
import type { ChangeParts } from './tenant-changes.ts';
import type { BatchStatement } from './wire/batch.ts';

/** What a transaction needs of the store. */
interface TransactionParts extends Pick<ChangeParts, 'use' | 'statements'> {
  /** Called after a commit that announces a change to other processes. */
  onAnnounced(): void;
}

/** Maximum look-ups of an interrupted commit, and the pause between them in milliseconds. */
const lookUpsMax = 20;
const pauseMs = 100;

/** Maximum attempts of a transaction that waits too long for a lock or ends in a deadlock. */
const attemptsMax = 3;

/**
 * Runs `work` in one transaction. If others hold a lock for too long, it is rolled back, and `work`
 * runs again: it must change nothing but what it writes. If the connection is lost during the
 * commit, the database is asked whether it was committed, so that the result says what happened.
 */
export async function transactOnPostgres<T>(
  { use, statements, onAnnounced }: TransactionParts,
  work: (directory: Directory) => Promise<T>,
): Promise<T> {
  const prepare = statements.prepare.bind(statements);
  let announces = false;
  let xid: SqlValue = null;
  let done: Ended<T> | undefined;
  const attempt = async (client: pg.ClientBase): Promise<Ended<T>> => {
    let isBroken = false;
    [announces, done] = [false, undefined];
    const send = (batch: readonly BatchStatement[]) =>
      statements.run(client, batch).catch((error: unknown) => {
        isBroken = true;
        throw error;
      });
    const [, begun] = await send([prepare('begin'), prepare(currentXid)]);
    const ended = await work({
      readDirectory: async (text, values) => (await send([prepare(text, values)]))[0] ?? [],
      writeDirectory(written, options) {
        announces ||= options?.announce === true;
        return send(written.map(({ sql, values }) => prepare(sql, values)));
      },
    }).then(toValue, toError);
    if (isBroken) throw 'error' in ended ? ended.error : brokenTransaction();
    if ('error' in ended) await send([prepare('rollback')]);
    else {
      [xid, done] = [begun?.[0]?.id ?? null, ended];
      await confirm(client, send([...(announces ? [prepare(announceChange)] : []), prepare('commit')]));
    }
    return ended;
  };
  const wasCommitted = async (): Promise<boolean> => {
    const status = prepare(xidStatus, [xid]);
    for (let lookUp = 1; lookUp <= lookUpsMax; lookUp += 1) {
      const [rows] = await use((client) => statements.run(client, [status]), { reads: true });
      if (rows?.[0]?.status !== 'in progress') return rows?.[0]?.status === 'committed';
      await sleep(pauseMs);
    }
    throw overdue();
  };
  const ended = await repeatBusy(() => use(attempt)).catch(async (error: unknown): Promise<Ended<T>> => {
    if (done === undefined || isRolledBack(error)) throw error;
    if (await wasCommitted().catch((cause: unknown) => Promise.reject(unknownOutcome(cause)))) return done;
    throw isUnconfirmed(error) ? unknownOutcome(error) : error;
  });
  if ('error' in ended) throw ended.error;
  if (announces) onAnnounced();
  return ended.value;
}

async function repeatBusy<T>(run: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await run();
    } catch (error) {
      if (!isBusy(error) || attempt === attemptsMax) throw error;
    }
  }
}

type Ended<T> = { readonly value: T } | { readonly error: unknown };

const toValue = <T>(value: T) => ({ value });
const toError = (error: unknown) => ({ error });

const currentXid = 'select cast(pg_current_xact_id() as text) as id';
const xidStatus = 'select pg_xact_status(cast(cast($1 as text) as xid8)) as status';

/** PostgreSQL turns the commit of a failed transaction into a rollback, without an error. */
const brokenTransaction = () => new TypeError('Cannot commit: every statement of the transaction must have succeeded');
