import type { Command } from 'commander';
import { type Output, writeResult } from '../output.ts';
import { addProfileOption, connect, type ProfileOption } from './connection.ts';
import { runReader } from './reader-action.ts';

/** `subreport token`. */
export function addTokenCommand(program: Command, output: Output): void {
  addProfileOption(program.command('token'))
    .description('print an access token, for other programs such as curl')
    .option('--json', 'print {"access_token","expires_at","scope"}')
    .addHelpText(
      'after',
      '\nExample:\n  curl -H "Authorization: Bearer $(subreport token)" https://reports.example.com/connect-api/v1/subscription',
    )
    .action((options: ProfileOption & { readonly json?: boolean }) =>
      runReader(async (signal) => {
        const { accessToken, expiresAt, scope } = await connect(options).client.token({ signal });
        const result = { access_token: accessToken, expires_at: expiresAt.toISOString(), scope: scope ?? null };
        writeResult(output, options.json === true, result, accessToken);
      }),
    );
}
