import { appendFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname } from 'node:path';
import { createFolders } from '../../../terminal/create-folders.ts';
import type { Output } from '../../../terminal/output.ts';
import type { AuditDetails } from '../../audit/audit-event.ts';
import { type AuditLog, createAuditLog } from '../../audit/audit-log.ts';
import { type OperatorContext, perform, recordStart } from '../../operator/perform.ts';
import { nowSeconds } from '../../storage/now-seconds.ts';
import type { Store } from '../../storage/store.ts';
import type { Config } from '../config.ts';
import { describeFailure } from '../log/describe-failure.ts';
import { openConfiguredStore, openReadyStore, requireStore } from './store-session.ts';

/** The context of an action that a command performs: the actor is the user of the machine. */
const commandContext = (store: Store, config: Config): OperatorContext => ({
  store,
  now: nowSeconds,
  actor: { kind: 'command', user: osUser() },
  audit: openCommandAudit(store, config),
  onUnrecorded: (error) =>
    void process.stderr.write(`Cannot record the end of the action: ${describeFailure(error)}; the action was done\n`),
});

/** Runs an operator's command with an open store, which must exist, and always closes it. */
export async function withOperator<T>(config: Config, work: (context: OperatorContext) => Promise<T>): Promise<T> {
  requireStore(config);
  const store = await openReadyStore(config);
  return work(commandContext(store, config)).finally(() => store.close());
}

/**
 * The audit log of a command. With `AUDIT_FILE`, each entry is also a line of that file, in the
 * format of the service's log.
 */
function openCommandAudit(store: Store, { AUDIT_FILE: file }: Pick<Config, 'AUDIT_FILE'>): AuditLog {
  const write = (entry: object): void => {
    if (file !== '')
      appendLine(file, { level: 'info', time: new Date(), service: 'subreport', ...entry, msg: 'audit' });
  };
  return createAuditLog({ store, now: nowSeconds, write });
}

/** Appends a line; if that fails, prints an error and continues, as the store has the entry. */
function appendLine(file: string, line: object): void {
  try {
    createFolders(dirname(file));
    appendFileSync(file, `${JSON.stringify(line)}\n`, { mode: 0o600 });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    process.stderr.write(
      `Cannot write the audit line: AUDIT_FILE must be a file that this user can write: ${code ?? message}; the database has the entry\n`,
    );
  }
}

/** Returns the name of the current user, or its numeric id if it has no name. */
function osUser(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.());
  }
}

type StoreAction = 'store.backup' | 'store.migrate' | 'store.repair' | 'store.restore';

/**
 * Records that an action on the whole database begins; not before a migration or a restore, as the
 * database may have no audit log yet. If the entry cannot be added, that is a warning, as the
 * database may be read-only.
 */
export const recordStoreStart = (config: Config, output: Output, name: 'store.backup' | 'store.repair') =>
  record(config, output, 'it goes on', (context) => recordStart(context, { name, target: {} }));

/** Records an action on the whole database after it was done, or warns. */
export const recordStoreAction = (config: Config, output: Output, name: StoreAction, details: AuditDetails) =>
  record(config, output, 'it was done', (context) =>
    perform(context, { name, target: {}, details }, async () => undefined),
  );

async function record(
  config: Config,
  output: Output,
  state: string,
  add: (context: OperatorContext) => Promise<void>,
): Promise<void> {
  try {
    const store = openConfiguredStore(config, { poolSize: 1 });
    await add(commandContext(store, config)).finally(() => store.close());
  } catch (error) {
    output.stderr.write(`Cannot add the action to the audit log: ${describeFailure(error)}; ${state}\n`);
  }
}
