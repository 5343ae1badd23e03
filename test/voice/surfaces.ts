import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { createClient, type SubreportClient } from '../../packages/client/index.ts';
import type { inputs } from '../../packages/mcp/schemas.ts';
import { serveMcp } from '../../packages/mcp/serve-mcp.ts';
import { buildProgram } from '../../packages/service/cli/command-line.ts';
import { runHere } from '../support/run-here.ts';
import type { TestClient, TestService } from '../support/service.ts';
import type { QueryMistake, Values } from './mistakes.ts';

/** What a surface says about a mistake; `undefined` if it has no input in which to make it. */
export type Sentence = string | undefined;

/** Where the mistakes are made. */
export interface Place {
  readonly service: TestService;
  readonly client: TestClient;
  /** A folder for files. */
  readonly folder: string;
  readonly token: string;
}

const text64 = (values: Values): [string, string][] =>
  Object.entries(values).map(([name, value]) => [name, Array.isArray(value) ? value.join(',') : String(value)]);

const withoutId = ({ id, ...rest }: Values) => ({ id: encodeURIComponent(String(id)), rest });

/** The path and body of a question, as a caller of the API sends it. */
function requestOf({ ask, given }: QueryMistake): readonly [path: string, body?: object] {
  const query = (values: Values) => `?${new URLSearchParams(text64(values))}`;
  const { id, rest } = withoutId(given);
  switch (ask) {
    case 'list':
      return [`/v1/subscription${query(given)}`];
    case 'search':
      return ['/v1/subscription/search', given];
    case 'summary':
      return [`/v1/subscription/summary${query(given)}`];
    case 'changes':
      return [`/v1/subscription/changes${query(given)}`];
    case 'changesSummary':
      return [`/v1/subscription/changes/summary${query(given)}`];
    case 'export':
      return [`/v1/subscription${query({ all: 'true', format: 'csv', ...given })}`];
    case 'get':
      return [`/v1/subscription/${id}${query(rest)}`];
    case 'history':
      return [`/v1/subscription/${id}/history`];
  }
}

/** The sentences of the API. */
export const askApi = ({ service, token }: Place, mistake: QueryMistake): Promise<Sentence> =>
  send(service.baseUrl, token, requestOf(mistake));

/** Sends a request with a token, and returns the status and the sentences of the response. */
async function send(base: string, token: string, [path, body]: ReturnType<typeof requestOf>): Promise<string> {
  const headers = { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) };
  const sent = body && { method: 'POST', body: JSON.stringify(body) };
  const response = await fetch(base + path, { headers, ...sent });
  const { messages, title } = (await response.json()) as { messages?: string[]; title?: string };
  return `${response.status} ${messages?.join('\n') ?? title}`;
}

const words: Readonly<Record<QueryMistake['ask'], readonly string[]>> = {
  list: ['list'],
  search: ['list'],
  summary: ['summary'],
  changes: ['changes'],
  changesSummary: ['changes', '--summary'],
  export: ['export', '-'],
  get: ['show'],
  history: ['show'],
};

const silent = { write: () => undefined };
const program = await buildProgram({ stdout: silent, stderr: silent });

/** The words of a question on the command line; `undefined` if it has no such option. */
function wordsOf({ ask, given }: QueryMistake): string[] | undefined {
  const [name = '', ...more] = words[ask];
  const known = program.commands.find((command) => command.name() === name)?.options.map(({ long }) => long) ?? [];
  const { id, ...rest } = given;
  const isOne = ask === 'get' || ask === 'history';
  if (Object.values(given).some(Array.isArray)) return undefined;
  const options = Object.entries(isOne ? rest : given).flatMap(([option, value]) => [`--${option}`, String(value)]);
  const contract = ['all', 'format', 'order', 'before', 'size', 'page', 'cursor', 'as-of'];
  const isUnknown = Object.keys(isOne ? rest : given).some(
    (option) => contract.includes(option) && !known.includes(`--${option}`),
  );
  if (isUnknown || (ask === 'changes' && 'before' in given)) return undefined;
  return [name, ...(isOne ? [String(id)] : []), ...more, ...(ask === 'history' ? ['--history'] : []), ...options];
}

/** The variables of a client. */
const variablesOf = ({ service, client, folder }: Place) => ({
  SUBREPORT_URL: service.url,
  SUBREPORT_CLIENT_ID: client.client_id,
  SUBREPORT_CLIENT_SECRET: client.client_secret,
  XDG_CONFIG_HOME: folder,
  DATA_DIR: folder,
});

/** The sentences of the command line, and its exit code. */
export async function askCommandLine(place: Place, mistake: QueryMistake): Promise<Sentence> {
  const args = wordsOf(mistake);
  if (args === undefined) return undefined;
  const { code, stderr } = await runHere(args, variablesOf(place));
  return `${code} ${stderr.trim()}`;
}

type Call = (...given: readonly unknown[]) => unknown;

/** The sentence of the TypeScript client. */
export async function askTypeScript(client: SubreportClient, { ask, given }: QueryMistake): Promise<Sentence> {
  const untyped = client as unknown as Record<string, Call>;
  const list = (name: string) => (untyped[name]?.(given) as { page(): Promise<unknown> } | undefined)?.page();
  const { since, ...ofChanges } = given;
  const { id, ...ofOne } = given;
  const run: Record<QueryMistake['ask'], () => unknown> = {
    list: () => list('subscriptions'),
    search: () => list('search'),
    summary: () => untyped.summary?.(given),
    changes: () => (untyped.changes?.(since, ofChanges) as AsyncGenerator | undefined)?.next(),
    changesSummary: () => untyped.changesSummary?.(since, ofChanges),
    export: () => untyped.export?.(given, { format: 'csv' }),
    get: () => untyped.subscription?.(id, ofOne),
    history: () => untyped.history?.(id),
  };
  return failureOf(run[ask]);
}

async function failureOf(run: () => unknown): Promise<string> {
  try {
    await run();
    return 'no error';
  } catch (error) {
    return `${(error as Error).name}: ${(error as Error).message}`;
  }
}

const keyword = (name: string): string => (name === 'from' ? 'from_' : name.replaceAll('-', '_'));

/** A question as an expression of Python. */
function pythonOf({ ask, given }: QueryMistake): string {
  const { since, ...ofChanges } = given;
  const { id, ...ofOne } = given;
  const keywords = (values: Values): string =>
    `**${JSON.stringify(Object.fromEntries(Object.entries(values).map(([name, value]) => [keyword(name), value])))}`;
  const start = since === undefined ? 'None' : JSON.stringify(since);
  const calls: Record<QueryMistake['ask'], string> = {
    list: `client.subscriptions(${keywords(given)}).page()`,
    search: `client.search(${keywords(given)}).page()`,
    summary: `client.summary(${keywords(given)})`,
    changes: `next(client.changes(${start}, ${keywords(ofChanges)}))`,
    changesSummary: `client.changes_summary(${start}, ${keywords(ofChanges)})`,
    export: `client.export(format="csv", ${keywords(given)})`,
    get: `client.subscription(${JSON.stringify(id)}, ${keywords(ofOne)})`,
    history: `client.history(${JSON.stringify(id)})`,
  };
  return calls[ask];
}

/** The sentences of the Python client, of one process. */
export async function askPython({ service, client }: Place, mistakes: readonly QueryMistake[]) {
  const child = spawn('python3', [fileURLToPath(new URL('python_mistakes.py', import.meta.url))]);
  const given = mistakes.map(pythonOf);
  child.stdin.end(JSON.stringify({ url: service.url, ...client, given }));
  const [out, fault] = await Promise.all([text(child.stdout), text(child.stderr)]);
  if (fault !== '') throw new Error(fault);
  return JSON.parse(out) as string[];
}

const toolOf: Readonly<Record<QueryMistake['ask'], readonly [tool: string, input: keyof typeof inputs] | undefined>> = {
  list: ['list_subscriptions', 'list'],
  search: ['list_subscriptions', 'list'],
  summary: ['summarize_subscriptions', 'summary'],
  changes: ['list_changes', 'changes'],
  changesSummary: ['summarize_changes', 'changesSummary'],
  export: undefined,
  get: ['get_subscription', 'get'],
  history: ['get_subscription_history', 'history'],
};

/** The arguments that only the API has: an assistant that sends them has not read the schema. */
const notOfTools = ['format', 'fields', 'dates', 'all', 'page', 'email'];

/** The sentence of a tool. */
export async function askTool(call: ToolCall, { ask, given }: QueryMistake): Promise<Sentence> {
  const tool = toolOf[ask];
  const isMissing = tool === undefined || Object.keys(given).some((name) => notOfTools.includes(name));
  return isMissing ? undefined : call(tool[0], given);
}

export type ToolCall = (name: string, given: Values) => Promise<string>;

/** Serves the tools of a client, and calls them by lines of JSON-RPC. */
export async function openTools(client: SubreportClient): Promise<{ call: ToolCall; close: () => void }> {
  const [input, output, stop] = [new PassThrough(), new PassThrough(), new AbortController()];
  const served = serveMcp({ open: () => client, version: '1', input, output, signal: stop.signal });
  let id = 0;
  const send = async (method: string, params: object): Promise<{ result: ToolResult; error?: { message: string } }> => {
    id += 1;
    input.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    const [line] = await once(output, 'data');
    return JSON.parse(String(line));
  };
  const clientInfo = { name: 'test', version: '1' };
  await send('initialize', { protocolVersion: '2024-11-05', capabilities: {}, clientInfo });
  input.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`);
  return {
    async call(name, given) {
      const { result, error } = await send('tools/call', { name, arguments: given });
      if (error !== undefined) return error.message;
      const said = result.content.map((part) => part.text).join('\n');
      return result.isError === true ? said : `no error`;
    },
    close() {
      input.end();
      stop.abort();
      void served.catch(() => undefined);
    },
  };
}

interface ToolResult {
  readonly content: readonly { readonly text: string }[];
  readonly isError?: boolean;
}

export const createTestClient = ({ service, client }: Place): SubreportClient =>
  createClient({ url: service.url, clientId: client.client_id, clientSecret: client.client_secret });
