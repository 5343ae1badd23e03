import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import type { Command } from 'commander';
import { baseUrlOf } from '../../terminal/connection.ts';
import { readVariable } from '../../terminal/environment.ts';
import { CommandError, InterruptedError, readFailure, UsageError } from '../../terminal/error.ts';
import type { Output } from '../../terminal/output.ts';
import { type Profile, parseObject } from '../../terminal/profile.ts';

/** The options of `addCredentialOptions`. */
export interface CredentialOptions {
  readonly url?: string;
  readonly clientId?: string;
  readonly tokenUrl?: string;
  readonly secretStdin?: boolean;
  readonly clientSecretFile?: string;
  readonly credentials?: string;
  readonly allowHttp?: boolean;
}

export const addCredentialOptions = (command: Command): Command =>
  command
    .option('--url <url>', 'URL of the service, such as https://reports.example.com')
    .option('--client-id <id>', 'id of the client')
    .option('--secret-stdin', 'read the secret from standard input instead of asking for it')
    .option('--client-secret-file <file>', 'read the secret from a file')
    .option(
      '--credentials <file>',
      'JSON file with the credentials, such as demo-client.json (- for standard input); options take precedence',
    )
    .option('--token-url <url>', 'the token endpoint, if it is not that of the service')
    .option('--allow-http', 'permit http to another machine, which sends the secret unencrypted');

/** Where the secret comes from, for the help of these commands. */
export const sourcesOfSecret =
  'The secret is asked for, read from standard input or a file, or taken from SUBREPORT_CLIENT_SECRET.';

/** Takes credentials from options, a file, the environment and the terminal, in this order. */
export async function readCredentials(options: CredentialOptions, output: Output): Promise<Profile> {
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
  const values = parseObject(path === '-' ? await readAllInput() : readText(path), path);
  if (values.client_secret !== undefined) return values;
  throw new CommandError(
    `Cannot use '${path}': it must be a JSON object with client_id and client_secret, such as the output of 'subreport client create --json'`,
  );
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw readFailure(file, error);
  }
}

async function orAsk(value: string | undefined, option: string, question: string, output: Output): Promise<string> {
  const answer = value ?? (canAsk() ? await ask(question, output) : '');
  if (answer !== '') return answer;
  throw new UsageError(`Cannot log in: ${option} or its environment variable must be set`);
}

async function readSecret(
  { secretStdin, clientSecretFile }: CredentialOptions,
  fromFile: string | undefined,
  output: Output,
): Promise<string> {
  if (secretStdin === true) return (await readAllInput()).replace(/\r?\n$/, '');
  if (clientSecretFile !== undefined) return readText(clientSecretFile).replace(/\r?\n$/, '');
  const given = fromFile ?? readVariable('SUBREPORT_CLIENT_SECRET');
  const secret = given ?? (canAsk() ? await ask('Client secret', output, true) : '');
  if (secret !== '') return secret;
  throw new UsageError(
    'Cannot log in: the secret must come from a terminal, from standard input (--secret-stdin), from --credentials, or from SUBREPORT_CLIENT_SECRET',
  );
}

/** Whether a person can answer questions. */
const canAsk = (): boolean => process.stdin.isTTY === true;

/** Asks for a line on the terminal, which shows what is typed unless it is `hidden`. */
async function ask(question: string, { stderr }: Output, hidden = false): Promise<string> {
  const nothing = new Writable({ write: (_part, _encoding, done) => done() });
  const editor = hidden ? { output: nothing, terminal: true } : {}; // otherwise the terminal's own
  const lines = createInterface({ input: process.stdin, ...editor });
  stderr.write(`${question}${hidden ? ' (not shown)' : ''}: `);
  try {
    return await new Promise((resolve, reject) => {
      lines.on('SIGINT', () => reject(new InterruptedError()));
      lines.on('line', resolve).on('close', () => resolve(''));
    });
  } finally {
    lines.close();
    if (hidden) stderr.write('\n');
  }
}

async function readAllInput(): Promise<string> {
  let text = '';
  for await (const chunk of process.stdin.setEncoding('utf8')) text += chunk;
  return text;
}
