import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { baseUrlOf } from '../../terminal/connection.ts';
import { readVariable } from '../../terminal/environment.ts';
import { CommandError, InterruptedError, readTextFile, UsageError } from '../../terminal/error.ts';
import type { Output } from '../../terminal/output.ts';
import { type Profile, parseObject } from '../../terminal/profile.ts';

/** The options of `login` that are credentials. */
export interface CredentialOptions {
  readonly url?: string;
  readonly clientId?: string;
  readonly tokenUrl?: string;
  readonly secretStdin?: boolean;
  readonly credentials?: string;
  readonly allowHttp?: boolean;
}

/** Takes credentials from options, a file, the environment and the terminal, in this order. */
export async function readCredentials(options: CredentialOptions, output: Output): Promise<Profile> {
  const file = options.credentials === undefined ? {} : await readCredentialsFile(options.credentials);
  const url = options.url ?? file.base_url ?? readVariable('SUBREPORT_URL');
  const id = options.clientId ?? file.client_id ?? readVariable('SUBREPORT_CLIENT_ID');
  const token_url = options.tokenUrl ?? (options.url === undefined ? file.token_url : undefined);
  const base_url = baseUrlOf(url ?? (await ask('URL of the service', variableRule('--url'), output)));
  const client_id = id ?? (await ask('Client id', variableRule('--client-id'), output));
  const secret = options.secretStdin
    ? (await text(process.stdin)).replace(/\r?\n$/, '')
    : (file.client_secret ?? readVariable('SUBREPORT_CLIENT_SECRET'));
  return {
    base_url,
    ...(token_url !== undefined && { token_url }),
    client_id,
    client_secret: secret ?? (await ask('Client secret', secretRule, output, true)),
    ...(options.allowHttp === true && { allow_http: true }),
  };
}

const variableRule = (option: string): string => `${option} or its environment variable must be set`;
const secretRule =
  'the secret must come from a terminal, from standard input (--secret-stdin), from --credentials, or from SUBREPORT_CLIENT_SECRET';

async function readCredentialsFile(path: string): Promise<Partial<Record<string, string>>> {
  const values = parseObject(path === '-' ? await text(process.stdin) : readTextFile(path), path);
  if (values.client_secret !== undefined) return values;
  throw new CommandError(
    `Cannot use '${path}': it must be a JSON object with client_id and client_secret, such as the output of 'subreport client create --json'`,
  );
}

/** Asks on the terminal. Throws `UsageError` with the rule if nobody answers. */
async function ask(question: string, rule: string, output: Output, hidden = false): Promise<string> {
  const answer = process.stdin.isTTY === true ? await readLine(question, output, hidden) : '';
  if (answer !== '') return answer;
  throw new UsageError(`Cannot log in: ${rule}`);
}

/** Reads a line from the terminal, which shows what is typed unless it is `hidden`. */
async function readLine(question: string, { stderr }: Output, hidden: boolean): Promise<string> {
  const nothing = new Writable({ write: (_part, _encoding, done) => done() });
  const editor = hidden ? { output: nothing, terminal: true } : {}; // otherwise the terminal's own
  const lines = createInterface({ input: process.stdin, ...editor });
  stderr.write(`${question}${hidden ? ' (not shown)' : ''}: `);
  try {
    return await new Promise((resolve, reject) => {
      lines.on('SIGINT', () => reject(new InterruptedError()));
      lines.on('line', (line) => resolve(hidden ? line : line.trim())).on('close', () => resolve(''));
    });
  } finally {
    lines.close();
    if (hidden) stderr.write('\n');
  }
}
