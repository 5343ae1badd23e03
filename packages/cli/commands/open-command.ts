import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Command } from 'commander';
import { addProfileOption, connect, type ProfileOption } from '../../terminal/connection.ts';
import { asStarted } from '../../terminal/environment.ts';
import { formatTable, type Output, writeResult } from '../../terminal/output.ts';
import { profileNames, readProfile } from '../../terminal/profile.ts';
import { runReader } from '../../terminal/reader-action.ts';

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
      writeResult(
        output,
        json,
        profiles,
        profiles.length === 0 ? asStarted("No profiles: run 'subreport login' first") : table,
      );
    });
}

interface OpenOptions extends ProfileOption {
  readonly print?: boolean;
  readonly json?: boolean;
}

export function addOpenCommand(program: Command, output: Output): void {
  addProfileOption(program.command('open'))
    .description('open the console of the service in a browser')
    .option('--print', 'print the URL instead')
    .option('--json', 'print {"url"}, and open nothing')
    .addHelpText('after', '\nExamples:\n  subreport open\n  subreport open --profile staging --print')
    .action(({ print = false, json = false, ...options }: OpenOptions) =>
      runReader(async () => {
        const url = new URL('console', connect(options).profile.base_url).href;
        const isOpened = !print && !json && (await openInBrowser(url));
        writeResult(output, json, { url }, isOpened ? `Opened ${url}` : url);
      }),
    );
}

/** Starts the browser of the desktop. Returns `false` if there is none; the URL is then printed. */
async function openInBrowser(url: string): Promise<boolean> {
  const [command, ...args] = opener(process.platform);
  const child = spawn(command, [...args, url], { stdio: 'ignore', detached: true });
  try {
    await once(child, 'spawn');
  } catch {
    return false;
  }
  child.unref();
  return true;
}

function opener(platform: NodeJS.Platform): [command: string, ...args: string[]] {
  if (platform === 'darwin') return ['open'];
  // not `cmd /c start`, which would interpret characters of the URL
  return platform === 'win32' ? ['rundll32', 'url.dll,FileProtocolHandler'] : ['xdg-open'];
}
