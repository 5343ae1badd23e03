import type { Command } from 'commander';
import { type Output, writeResult } from '../../../terminal/output.ts';
import { readConfig } from '../config.ts';
import { recordStoreAction } from './command-context.ts';
import { openConfiguredStore } from './store-session.ts';

export function addMigrateCommand(program: Command, output: Output): void {
  program
    .command('migrate')
    .description('migrate the schema of the database to the latest version; safe to run concurrently')
    .option('--json', 'print {"applied","current"}')
    .addHelpText(
      'after',
      '\nExample:\n  DATABASE_URL=postgres://subreport:secret@localhost/subreport subreport migrate',
    )
    .action(async ({ json = false }: { json?: boolean }) => {
      const config = readConfig();
      const store = openConfiguredStore(config);
      try {
        const result = await store.migrate();
        const applied = result.applied.length === 0 ? 'Nothing to do' : `Applied ${result.applied.join(', ')}`;
        if (result.applied.length > 0)
          await recordStoreAction(config, output, 'store.migrate', { applied: result.applied });
        writeResult(output, json, result, `${applied}: the schema is at ${result.current}.`);
      } finally {
        await store.close();
      }
    });
}
