import type { AuditDetails } from '../audit/audit-event.ts';
import { perform } from '../operator/perform.ts';
import { openStore } from '../storage/open-store.ts';
import { commandContext } from './command-context.ts';
import type { Config } from './config.ts';
import { describeFailure } from './describe-failure.ts';
import type { Output } from './output.ts';

/**
 * Records an action on the whole database after it was done. If its schema has no audit log yet, or
 * it is read-only, the entry cannot be added: that is a warning.
 */
export async function recordStoreAction(
  config: Config,
  output: Output,
  name: 'store.backup' | 'store.migrate' | 'store.repair' | 'store.restore',
  details: AuditDetails,
): Promise<void> {
  const { DATABASE_URL: databaseUrl, DATA_DIR: dataDir } = config;
  const add = async (): Promise<void> => {
    const store = openStore({ databaseUrl, dataDir, poolSize: 1, onConnectionError: () => undefined });
    const context = commandContext(store, config);
    await perform(context, { name, target: {}, details }, async () => undefined).finally(() => store.close());
  };
  await add().catch((error: unknown) => {
    output.stderr.write(`Cannot add the action to the audit log: ${describeFailure(error)}; the action was done\n`);
  });
}
