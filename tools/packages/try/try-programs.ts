import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { run, userEnvironment } from './run.ts';
import { type DemoService, demoRecords } from './service.ts';

/** The variables that replace a profile. */
const variablesOf = ({ client, origin }: DemoService) => ({
  SUBREPORT_URL: origin,
  SUBREPORT_CLIENT_ID: client.client_id,
  SUBREPORT_CLIENT_SECRET: client.client_secret,
});

interface CommandsOptions {
  readonly node?: string;
  /** Whether this Node.js has SQLite. */
  readonly hasSqlite?: boolean;
}

/** Exports the whole report and copies it into SQLite, with `@subreport/cli`. */
export async function tryCommands(
  project: string,
  [file = '', ...first]: readonly string[],
  service: DemoService,
  { node = process.execPath, hasSqlite = true }: CommandsOptions = {},
): Promise<string> {
  const environment = variablesOf(service);
  const subreport = (...args: readonly string[]) => run(file, [...first, ...args], { cwd: project, node, environment });
  const ids = new Set((await subreport('export', '-')).trim().split('\n'));
  const workbook = await subreport('export', 'report.xlsx');
  const help = await subreport('--help');
  if (ids.size !== demoRecords || !help.includes('sync') || workbook.includes('Error'))
    throw new Error(`${ids.size} records; ${help}`);
  const copied = await subreport('sync', '--to', `sqlite:${join(project, 'copy.db')}`).catch(
    ({ message }: Error) => message,
  );
  const isRefused = copied.includes('Node.js must be version 22.13 or newer: current value is');
  if (isRefused === hasSqlite || (hasSqlite && !copied.includes('2,000'))) throw new Error(copied);
  return `${demoRecords} records exported; ${hasSqlite ? 'copied to SQLite' : 'sync to SQLite says what it needs'}`;
}

/** Counts the subscriptions with the program of `@subreport/mcp`, as an assistant does. */
export async function tryAssistant(
  project: string,
  [file = '', ...args]: readonly string[],
  service: DemoService,
  node = process.execPath,
): Promise<string> {
  const started = performance.now();
  const child = spawn(file, args, {
    cwd: project,
    env: { ...userEnvironment(node), ...variablesOf(service) },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const send = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const clientInfo = { name: 'try-packages', version: '1' };
  send({ id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo } });
  await lines.next();
  const ms = Math.round(performance.now() - started);
  send({ method: 'notifications/initialized' });
  send({ id: 2, method: 'tools/call', params: { name: 'list_subscriptions', arguments: {} } });
  const answer = (await lines.next()).value ?? '{}';
  child.stdin.end();
  const [code] = await once(child, 'close');
  const { total } = JSON.parse(JSON.parse(answer).result?.content?.[0]?.text ?? '{}');
  if (total !== demoRecords || code !== 0) throw new Error(`exit code ${code}: ${answer}`);
  return `counts ${total} records; first response after ${ms} ms`;
}
