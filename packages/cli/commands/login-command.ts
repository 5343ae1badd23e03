import type { Command } from 'commander';
import { SubreportError } from '../../client/index.ts';
import {
  addProfileOption,
  cachedTokens,
  openClient,
  type ProfileOption,
  profileName,
} from '../../terminal/connection.ts';
import { counted, type Output, writeResult } from '../../terminal/output.ts';
import {
  defaultProfile,
  profileFile,
  readProfile,
  removeFile,
  removeProfile,
  writeProfile,
} from '../../terminal/profile.ts';
import { runReader } from '../../terminal/reader-action.ts';
import { type CredentialOptions, readCredentials } from './credentials.ts';

interface LoginOptions extends ProfileOption, CredentialOptions {
  readonly json?: boolean;
}

export function addLoginCommand(program: Command, output: Output): void {
  addProfileOption(program.command('login'))
    .description('check the credentials of a client and store them in a profile')
    .option('--url <url>', 'URL of the service, such as https://reports.example.com')
    .option('--client-id <id>', 'id of the client')
    .option('--secret-stdin', 'read the secret from standard input instead of asking for it')
    .option(
      '--credentials <file>',
      'JSON file with the credentials, such as demo-client.json (- for standard input); options take precedence',
    )
    .option('--token-url <url>', 'the token endpoint, if it is not that of the service')
    .option('--allow-http', 'permit http to another machine, which sends the secret unencrypted')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
The secret is asked for, read from standard input or a file, or taken from SUBREPORT_CLIENT_SECRET.

Examples:
  subreport login --url https://reports.example.com --client-id acme-reporting
  pass show reports | subreport login --url https://reports.example.com --client-id acme-reporting --secret-stdin
  subreport login --credentials data/demo-8080/demo-client.json --profile demo`,
    )
    .action((options: LoginOptions) =>
      runReader(async (signal) => {
        const name = profileName(options.profile);
        const profile = await readCredentials(options, output);
        // without cached tokens, which an older secret may have obtained
        const { totalCount } = await openClient(profile).subscriptions({ size: 1 }, { signal }).page();
        const total = Number.isNaN(totalCount) ? null : totalCount;
        removeFile(profileFile('tokens', name));
        writeProfile(name, profile);
        const use = name === defaultProfile ? '' : ` --profile ${name}`;
        writeResult(
          output,
          options.json === true,
          { profile: name, base_url: profile.base_url, client_id: profile.client_id, subscriptions: total },
          `Logged in to ${profile.base_url} as ${profile.client_id}${describeTotal(total)}.\nRead them with: subreport list${use}`,
        );
      }),
    );
}

/** Another server of the API may send no total. */
const describeTotal = (total: number | null): string =>
  total === null ? '' : `, which has ${counted(total, 'subscription')}`;

export function addLogoutCommand(program: Command, output: Output): void {
  addProfileOption(program.command('logout'))
    .description('revoke the tokens of a profile and remove the profile')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExamples:\n  subreport logout\n  subreport logout --profile staging')
    .action(({ profile: given, json }: ProfileOption & { readonly json?: boolean }) =>
      runReader(async (signal) => {
        const name = profileName(given);
        const client = openClient(readProfile(name), cachedTokens(name));
        const failure = await client.revoke({ signal }).catch(onlyOfService);
        removeProfile(name);
        const rest = failure === undefined ? '' : `; its tokens remain valid until they expire: ${failure.message}`;
        const result = { profile: name, tokens_revoked: failure === undefined };
        writeResult(output, json === true, result, `Removed profile '${name}'${rest}`);
      }),
    );
}

/** Tokens cannot be revoked while the service is down; the profile is removed anyway. */
function onlyOfService(error: unknown): SubreportError {
  if (error instanceof SubreportError) return error;
  throw error;
}
