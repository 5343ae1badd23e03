import type { Command } from 'commander';
import { addProfileOption, connect, type ProfileOption } from '../../terminal/connection.ts';
import { countText, formatFields, type Output, writeResult } from '../../terminal/output.ts';
import { runReader } from '../../terminal/reader-action.ts';

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

export function addWhoamiCommand(program: Command, output: Output): void {
  addProfileOption(program.command('whoami'))
    .description('show the service and the client of a profile, and check that they work')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExamples:\n  subreport whoami\n  subreport whoami --profile staging --json')
    .action((options: ProfileOption & { readonly json?: boolean }) =>
      runReader(async (signal) => {
        const { name, profile, client } = connect(options);
        // another server of the API may send no total
        const { totalCount } = await client.subscriptions({ size: 1 }, { signal }).page();
        const subscriptions = Number.isNaN(totalCount) ? null : totalCount;
        const { expiresAt, scope } = await client.token({ signal });
        const result = {
          profile: name ?? null,
          base_url: profile.base_url,
          client_id: profile.client_id,
          scope: scope ?? null,
          token_expires_at: expiresAt.toISOString(),
          subscriptions,
        };
        writeResult(
          output,
          options.json === true,
          result,
          describe({ ...result, subscriptions: subscriptions === null ? 'unknown' : countText(subscriptions) }),
        );
      }),
    );
}

const describe = (result: Readonly<Record<string, string | number | null>>): string =>
  formatFields({ ...result, profile: result.profile ?? '(environment variables)' });
