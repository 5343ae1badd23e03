import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { SubreportError } from '../../client/index.ts';
import { CommandError, InterruptedError, UsageError } from '../error.ts';
import { type Output, writeResult } from '../output.ts';
import {
  addProfileOption,
  baseUrlOf,
  cachedTokens,
  openClient,
  type ProfileOption,
  profileName,
} from './connection.ts';
import { readVariable } from './environment.ts';
import { defaultProfile, type Profile, parseObject, readProfile, removeProfile, writeProfile } from './profile.ts';
import { runReader } from './reader-action.ts';

interface LoginOptions extends ProfileOption {
  readonly url?: string;
  readonly clientId?: string;
  readonly tokenUrl?: string;
  readonly secretStdin?: boolean;
  readonly credentials?: string;
  readonly allowHttp?: boolean;
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
The secret is asked for, read from standard input, or taken from SUBREPORT_CLIENT_SECRET.

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
        const total = await openClient(profile).subscriptions({}, { signal }).total();
        removeProfile(name);
        writeProfile(name, profile);
        const use = name === defaultProfile ? '' : ` --profile ${name}`;
        writeResult(
          output,
          options.json === true,
          { profile: name, base_url: profile.base_url, client_id: profile.client_id, subscriptions: total },
          `Logged in to ${profile.base_url} as ${profile.client_id}, which has ${total.toLocaleString('en')} subscriptions.\nRead them with: subreport list${use}`,
        );
      }),
    );
}

/** Takes credentials from options, a file, the environment and the terminal, in this order. */
async function readCredentials(options: LoginOptions, output: Output): Promise<Profile> {
  const file = options.credentials === undefined ? {} : await readCredentialsFile(options.credentials);
  const url = options.url ?? file.base_url ?? readVariable('SUBREPORT_URL');
  const base_url = baseUrlOf(await orAsk(url, '--url', 'URL of the service', output));
  const id = options.clientId ?? file.client_id ?? readVariable('SUBREPORT_CLIENT_ID');
  const client_id = await orAsk(id, '--client-id', 'Client id', output);
  const token_url = options.tokenUrl ?? (options.url === undefined ? file.token_url : undefined);
  return {
    base_url,
    ...(token_url !== undefined && { token_url }),
    client_id,
    client_secret: await readSecret(options, file.client_secret, output),
    ...(options.allowHttp === true && { allow_http: true }),
  };
}

async function readCredentialsFile(path: string): Promise<Partial<Record<string, string>>> {
  const values = parseObject(path === '-' ? await readAllInput() : readFileSync(path, 'utf8'));
  if (values.client_secret !== undefined) return values;
  throw new CommandError(
    `Cannot use '${path}': it must be a JSON object with client_id and client_secret, such as the output of 'subreport client create --json'`,
  );
}

async function orAsk(value: string | undefined, option: string, question: string, output: Output): Promise<string> {
  const answer = value ?? (canAsk() ? await ask(question, output) : '');
  if (answer !== '') return answer;
  throw new UsageError(`Cannot log in: ${option} or its environment variable must be set`);
}

async function readSecret(
  { secretStdin }: LoginOptions,
  fromFile: string | undefined,
  output: Output,
): Promise<string> {
  if (secretStdin === true) return (await readAllInput()).replace(/\r?\n$/, '');
  const given = fromFile ?? readVariable('SUBREPORT_CLIENT_SECRET');
  const secret = given ?? (canAsk() ? await askHidden('Client secret', output) : '');
  if (secret !== '') return secret;
  throw new UsageError(
    'Cannot log in: the secret must come from a terminal, from standard input (--secret-stdin), from --credentials, or from SUBREPORT_CLIENT_SECRET',
  );
}

/** Whether a person can answer questions. */
const canAsk = (): boolean => process.stdin.isTTY === true;

/** Asks for a line on the terminal. */
async function ask(question: string, { stderr }: Output): Promise<string> {
  stderr.write(`${question}: `);
  return (await readLine()).trim();
}

/** Asks for a line on the terminal without showing it. */
async function askHidden(question: string, { stderr }: Output): Promise<string> {
  process.stdin.setRawMode(true); // before the question: the answer may come immediately
  stderr.write(`${question} (not shown): `);
  try {
    return await readLine();
  } finally {
    process.stdin.setRawMode(false);
    stderr.write('\n');
  }
}

/** Reads a line; in raw mode, also handles the editing keys, as a terminal does. */
function readLine(): Promise<string> {
  const { stdin } = process;
  let line = '';
  return new Promise((resolve, reject) => {
    const finish = (end: () => void) => {
      stdin.off('data', take).off('end', finishLine);
      stdin.pause();
      end();
    };
    const finishLine = () => finish(() => resolve(line));
    const take = (chunk: Buffer) => {
      for (const key of chunk.toString()) {
        if (key === '\r' || key === '\n' || key === '\u0004') return finishLine();
        if (key === '\u0003') return finish(() => reject(new InterruptedError()));
        if (key === '\u0015') line = '';
        else if (key === '\u007f' || key === '\b') line = line.slice(0, -1);
        else line += key;
      }
    };
    stdin.on('data', take).on('end', finishLine).resume();
  });
}

async function readAllInput(): Promise<string> {
  let text = '';
  for await (const chunk of process.stdin.setEncoding('utf8')) text += chunk;
  return text;
}

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
