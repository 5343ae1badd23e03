import type { Command } from 'commander';
import { SubreportError } from '../../client/index.ts';
import { type Output, writeResult } from '../output.ts';
import { addProfileOption, cachedTokens, openClient, type ProfileOption, profileName } from './connection.ts';
import { readProfile, removeProfile } from './profile.ts';
import { runReader } from './reader-action.ts';

/** `subreport logout`. */
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
