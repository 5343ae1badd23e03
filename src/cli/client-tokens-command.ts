import type { Command } from 'commander';
import { addOneClientCommand, type ClientChoice, jsonOption, withOwnClient } from './client-options.ts';
import { formatTable, type Output, writeResult } from './output.ts';

/** `subreport client sessions|revoke-tokens`. */
export function addClientTokenCommands(client: Command, output: Output): void {
  addSessions(client, output);
  addRevokeTokens(client, output);
}

function addSessions(client: Command, output: Output): void {
  addOneClientCommand(client, 'sessions')
    .description('list the sessions of a client; a session is a refresh token with all tokens that descend from it')
    .addOption(jsonOption())
    .addHelpText('after', '\nExample:\n  subreport client sessions --client-id acme-reporting')
    .action(async (options: ClientChoice) => {
      const { data: rows } = await withOwnClient(options, (call, params) => call('listClientSessions', { params }));
      const cells = rows.map((row) => [
        row.session,
        row.scopes.join(','),
        row.started_at ?? '-',
        row.last_used_at,
        String(row.refreshes),
        row.expires_at,
        row.ends_at,
      ]);
      const header = ['SESSION', 'SCOPES', 'STARTED', 'LAST USED', 'REFRESHES', 'EXPIRES', 'ENDS'];
      writeResult(output, options.json ?? false, rows, formatTable(header, cells));
    });
}

function addRevokeTokens(client: Command, output: Output): void {
  addOneClientCommand(client, 'revoke-tokens')
    .description('revoke all current tokens of a client; its secret stays valid, so it can request new ones')
    .option('--session <id>', "revoke only the tokens of one session of 'client sessions'")
    .addOption(jsonOption())
    .addHelpText(
      'after',
      '\nExamples:\n  subreport client revoke-tokens --client-id acme-reporting\n  subreport client revoke-tokens --client-id acme-reporting --session 1b0cQwCqv0nN3x7b1cPq9A',
    )
    .action(async (options: ClientChoice & { session?: string }) => {
      const { clientId, session } = options;
      const revoked = await withOwnClient(options, (call, params) =>
        call('revokeClientTokens', { params, body: { session } }),
      );
      writeResult(
        output,
        options.json ?? false,
        revoked,
        session === undefined
          ? `All tokens of the client ${clientId} were revoked. If its secret was leaked, replace it: subreport client rotate`
          : `The tokens of the session ${session} were revoked.`,
      );
    });
}
