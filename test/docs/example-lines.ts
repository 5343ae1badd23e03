import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { hasCheckers } from '../../tools/has-checkers.ts';
import { shownOutput } from '../examples/shown-output.ts';
import { hasFlask, systemPython } from '../support/has-flask.ts';
import { type CommandOptions, startCommand, untilWritten } from '../support/run-command.ts';

// Runs each line of the table of examples/README.md against the demo.

/** The line of each program of the table. */
export const exampleLines = (page: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...page.matchAll(/^\| \[(\S+)\]\(\S+\) \|.*\| `([^`]+)` \|$/gm)].map(([, program = '', line = '']) => [
      program,
      line,
    ]),
  );

const hasPackages = hasCheckers('two examples are not run');

type End = (line: string, options: CommandOptions & { readonly cwd: string }) => Promise<void>;

/** The program prints this, and exits. */
const prints =
  (expected: RegExp, code = 0): End =>
  async (line, options) => {
    const result = await startCommand(['-c', line], { ...options, program: ['bash'] }).ended;
    expect({ ...result, line }).toEqual({ line, code, stdout: expect.stringMatching(expected), stderr: '' });
  };

/** The program prints what examples/README.md shows, but numbers, quoted values and widths. */
const showsShape = (program: string): End => {
  const shape = (text: string): string => text.replaceAll(/'[^']*'|\d+/g, '#').replaceAll(/[ ─]+/g, ' ');
  return async (line, options) => {
    const { stdout, stderr } = await startCommand(['-c', line], { ...options, program: ['bash'] }).ended;
    expect([line, shape(stdout), stderr]).toEqual([line, shape(shownOutput(program)), '']);
  };
};

/** The program prints a line with its URL, and a request has this result, until it is stopped. */
const serves =
  (request: (url: string) => Promise<unknown>, expected: unknown): End =>
  async (line, options) => {
    const command = startCommand(['-c', `exec ${line}`], { ...options, program: ['bash'] });
    await untilWritten(command, 'http://127.0.0.1:');
    await untilWritten(command, '\n');
    const url = /http:\/\/127.0.0.1:\d+/.exec(command.stdout())?.[0] ?? '';
    const result = await request(url).catch(String);
    command.child.kill();
    await command.ended;
    expect({ line, result }).toEqual({ line, result: expected });
  };

const get = async (url: string): Promise<readonly [number, string | null]> => {
  const response = await fetch(url);
  await response.bytes();
  return [response.status, response.headers.get('x-total-count')];
};
const post = async (url: string): Promise<number> => (await fetch(url, { method: 'POST' })).status;
const skipped: End = async () => undefined;
const lastMonth = new Date(new Date().setUTCDate(0)).toISOString().slice(0, 7);

/** How each program ends. */
export const exampleEnds: Readonly<Record<string, End>> = {
  'nightly-csv.ts': prints(/^subscriptions.csv: 2000 subscriptions\n$/),
  'expiring-alert.ts': prints(/ {2}in \d days {2}.*\nexpiring within 7 days without renewal: [1-9]\d*\n$/, 1),
  'monthly-counts.ts': (line, options) =>
    prints(new RegExp(`^month,plan_id,product_id,count\n(${lastMonth},"\\S+","\\S+",\\d+\n){3,}$`))(
      line.replace(/\d{4}-\d\d$/, lastMonth),
      options,
    ),
  'duckdb-sql.mjs': hasPackages ? showsShape('duckdb-sql.mjs') : skipped,
  async 'grafana-dashboard.ts'(line, options) {
    await showsShape('grafana-dashboard.ts')(line, options);
    expect(existsSync(join(options.cwd, 'grafana/dashboards/subreport.json'))).toBe(true);
    expect(readFileSync(join(options.cwd, 'grafana/datasources/subreport.yaml'), 'utf8')).not.toMatch(/secret: [^$]/i);
  },
  async 'sqlite-sync.ts'(line, options) {
    const command = startCommand(['-c', `exec ${line}`], { ...options, program: ['bash'] });
    await untilWritten(command, '2000 in the copy\n');
    command.child.kill();
    expect(await command.ended).toMatchObject({ code: 0, stderr: '' });
  },
  'singer-tap.ts': prints(/^\{"type":"SCHEMA".*\n(?:\{"type":"RECORD".*\n|\{"type":"STATE".*\n)+.*/),
  'express-app.ts': serves((url) => get(`${url}/sims/8944500102198304826`), [404, null]),
  'express-receiver.ts': serves((url) => post(`${url}/hooks/subreport`), 400),
  'flask-receiver.py': hasFlask()
    ? (line, options) =>
        serves((url) => post(`${url}/hooks/subreport`), 400)(line.replace('python3', systemPython), options)
    : skipped,
  'react/': hasPackages
    ? serves(
        async (url) => {
          const page = await (await fetch(`${url}/subscription-table.jsx`)).text();
          return [page.includes('jsxDEV'), await get(`${url}/connect-api/v1/subscription?size=1`)];
        },
        [true, [200, '2000']],
      )
    : skipped,
  'browser/': serves(async (url) => {
    const { access_token } = (await (await fetch(`${url}/token`, { method: 'POST' })).json()) as {
      access_token: string;
    };
    const headers = { authorization: `Bearer ${access_token}` };
    return (await fetch(`${url}/connect-api/v1/subscription/summary`, { headers })).status;
  }, 200),
};
