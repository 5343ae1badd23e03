import type { AuditDetails } from '../audit/audit-event.ts';
import { type OperatorContext, perform, recordStart } from '../operator/perform.ts';
import { openStore } from '../storage/open-store.ts';
import { commandContext } from './command-context.ts';
import type { Config } from './config.ts';
import { describeFailure } from './describe-failure.ts';
import type { Output } from './output.ts';

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
  const { DATABASE_URL: databaseUrl, DATA_DIR: dataDir } = config;
  try {
    const store = openStore({ databaseUrl, dataDir, poolSize: 1, onConnectionError: () => undefined });
    await add(commandContext(store, config)).finally(() => store.close());
  } catch (error) {
    output.stderr.write(`Cannot add the action to the audit log: ${describeFailure(error)}; ${state}\n`);
  }
}
