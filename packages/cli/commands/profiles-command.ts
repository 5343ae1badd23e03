import type { Command } from 'commander';
import { formatTable, type Output, writeResult } from '../../terminal/output.ts';
import { profileNames, readProfile } from '../../terminal/profile.ts';

export function addProfilesCommand(program: Command, output: Output): void {
  program
    .command('profiles')
    .description('list the profiles that login has stored, without their secrets')
    .option('--json', 'print a JSON array')
    .addHelpText('after', '\nExample:\n  subreport profiles')
    .action(({ json = false }: { readonly json?: boolean }) => {
      const profiles = profileNames().map((profile) => {
        const { base_url, client_id } = readProfile(profile);
        return { profile, base_url, client_id };
      });
      const table = formatTable(['PROFILE', 'SERVICE', 'CLIENT'], profiles.map(Object.values));
      writeResult(output, json, profiles, profiles.length === 0 ? "No profiles: run 'subreport login' first" : table);
    });
}
