import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { type CommandResult, mcpProgram, runCommand } from '../../../../test/support/run-command.ts';
import { readerGroups } from '../../command-line.ts';
import { secret, secretForms } from './hostile-server.ts';

/** A program that talks to a server. */
export interface Program {
  readonly args: (place: Place) => readonly string[];
  readonly input?: string;
  readonly main?: string;
  /** Whether it only talks to the token endpoint: its first request meets the hostile server. */
  readonly isForTokens?: boolean;
  /** Writes files before it runs. */
  readonly prepare?: (place: Place) => Promise<void>;
  /** Whether it also succeeds when the server fails. */
  readonly mayEnd?: readonly number[];
}

interface Place {
  readonly folder: string;
  readonly url: string;
}

export const operatorToken = `sro_${'a'.repeat(43)}`;

/** Commands that talk to no server. */
const local = ['profiles'];

const rpc = (id: number, method: string, params: object): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params });

const info = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } };

const plain = (...args: string[]): Program => ({ args: () => args });

const syncTo = (to: (place: Place) => string, ...more: string[]): Program => ({
  args: (place) => ['sync', '--to', to(place), ...more],
});

/** Programs whose arguments are more than the name of the command. */
const given: Readonly<Record<string, readonly (readonly [string, Program])[]>> = {
  login: [
    [
      'login',
      {
        args: ({ url }) => `login --url ${url} --client-id acme --secret-stdin --profile new`.split(' '),
        input: secret,
        isForTokens: true,
      },
    ],
  ],
  logout: [['logout', { ...plain('logout'), mayEnd: [0], isForTokens: true }]],
  token: [['token', { ...plain('token'), isForTokens: true }]],
  whoami: [['whoami', plain('whoami')]],
  show: [
    ['show', plain('show', 'c3Vic2NyaXB0aW9uLTAwMDE=')],
    ['show --history', plain('show', 'c3Vic2NyaXB0aW9uLTAwMDE=', '--history')],
  ],
  list: [
    ['list', plain('list', '-o', 'table')],
    ['list --all', plain('list', '--all')],
  ],
  export: [
    ['export csv', plain('export', '-', '-o', 'csv')],
    ['export ndjson', plain('export', '-', '-o', 'ndjson')],
    ['export xlsx', { args: ({ folder }) => ['export', join(folder, 'report.xlsx')] }],
  ],
  changes: [
    ['changes', plain('changes')],
    ['changes --summary', plain('changes', '--summary', '--since', '2026-01-01T00:00:00Z')],
  ],
  sync: [
    ['sync sqlite', syncTo(({ folder }) => `sqlite:${join(folder, 'copy.db')}`)],
    ['sync dir', syncTo(({ folder }) => `dir:${join(folder, 'files')}`, '--format', 'ndjson')],
    ['sync parquet', syncTo(({ folder }) => `dir:${join(folder, 'files')}`, '--format', 'parquet')],
    ['sync stdout', syncTo(() => 'stdout:ndjson')],
    [
      'sync webhook',
      {
        args: ({ folder }) =>
          `sync --to webhook:https://example.com/hook --state ${folder}/hook.db --secret-file ${folder}/whsec`.split(
            ' ',
          ),
      },
    ],
  ],
};

/** All commands of readers, as this file or their name says; and the other packages' programs. */
export const programs: readonly (readonly [string, Program])[] = [
  ...readerGroups
    .flatMap(([, commands]) => Object.keys(commands))
    .filter((name) => !local.includes(name))
    .flatMap((name) => given[name] ?? [[name, plain(name)] as const]),
  [
    'subreport-mcp',
    {
      args: () => [],
      main: mcpProgram,
      mayEnd: [0],
      input: [
        rpc(1, 'initialize', info),
        JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }),
        rpc(2, 'tools/call', { name: 'list_subscriptions', arguments: {} }),
        '',
      ].join('\n'),
    },
  ],
];

export interface Outcome extends CommandResult {
  readonly peakKilobytes: number;
}

/** How a program is run. */
interface WatchedOptions {
  readonly environment?: Readonly<Record<string, string>>;
  /** The token endpoint of a program that is not for tokens. */
  readonly tokenUrl?: string;
}

/** Runs a program that has a profile of the server, with fast timers. */
export async function runWatched(
  program: Program,
  url: string,
  { environment = {}, tokenUrl = `${url}/honest/token` }: WatchedOptions = {},
): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), 'subreport-hostile-'));
  mkdirSync(join(folder, 'subreport/profiles'), { recursive: true });
  const profile = {
    base_url: `${url}/connect-api`,
    token_url: program.isForTokens === true ? `${url}/token` : tokenUrl,
    client_id: 'acme',
    client_secret: secret,
  };
  writeFileSync(join(folder, 'subreport/profiles/default.json'), JSON.stringify(profile));
  mkdirSync(join(folder, 'files'));
  writeFileSync(join(folder, 'whsec'), `whsec_${Buffer.alloc(32, 7).toString('base64')}\n`);
  await program.prepare?.({ folder, url });
  const peak = join(folder, 'peak');
  const preload = new URL('watched-process.mjs', import.meta.url).href;
  const result = await runCommand(program.args({ folder, url }), {
    environment: {
      XDG_CONFIG_HOME: folder,
      SUBREPORT_OPERATOR_TOKEN: operatorToken,
      PEAK_FILE: peak,
      NODE_OPTIONS: `--import ${preload}`,
      ...environment,
    },
    ...(program.input !== undefined && { input: program.input }),
    ...(program.main !== undefined && { program: [process.execPath, program.main] }),
  });
  const outcome: Outcome = { ...result, peakKilobytes: Number(readFileSync(peak, 'utf8')) };
  rmSync(folder, { recursive: true });
  return outcome;
}

/** What must hold of all that a program prints about a server that it cannot trust. */
export function requireCalm({ code, stdout, stderr }: Outcome, mayEnd: readonly number[] = []): void {
  for (const form of [...secretForms, operatorToken]) expect(stdout + stderr).not.toContain(form);
  expect(stderr).not.toMatch(/(?![\n\t])[\p{Cc}\p{Cf}\u2028\u2029]/u);
  expect(stderr).not.toMatch(/^FORGED/m);
  expect(stderr).not.toMatch(/^\s+at .*:\d+:\d+\)?$|node:internal|TypeError|RangeError/m);
  // the words of the engine about a fault of the program
  expect(stdout).not.toMatch(/Cannot (read propert|destructure|convert)|is not (iterable|a function)/);
  // a program that is called wrongly meets no server
  expect(stderr).not.toMatch(/^error: |must be a folder/m);
  expect([1, 2, 75, ...mayEnd], stderr).toContain(code);
  expect(stderr + stdout).not.toBe('');
}

/**
 * Memory that a program may take beyond that of one whose connection is refused, in kB. At most 83
 * MiB were measured on a quiet machine, and 140 on a busy one, which collects garbage later.
 */
const kilobytesMax = 192 * 1_024;

let idle: Promise<number> | undefined;

export async function requireSmall({ peakKilobytes }: Outcome): Promise<void> {
  idle ??= runWatched({ args: () => ['whoami'] }, 'http://127.0.0.1:9').then((outcome) => outcome.peakKilobytes);
  expect(peakKilobytes - (await idle)).toBeLessThan(kilobytesMax);
}
