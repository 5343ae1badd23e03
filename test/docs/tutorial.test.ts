import { execFile } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../../tools/free-port.ts';
import { blocksOf, makeCommandFolder } from '../support/command-folder.ts';
import { hasTools } from '../support/has-tools.ts';
import { type RunningCommand, runCommand, startCommand, untilWritten } from '../support/run-command.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const page = readFileSync(join(root, 'docs/readers/tutorial.md'), 'utf8');
const readme = readFileSync(join(root, 'README.md'), 'utf8').split('\n## Use it\n')[1] ?? '';
const run = promisify(execFile);

/** The command blocks in order, each with the output that the page shows for it. */
const [start, ...steps] = [...page.matchAll(/```sh\n(.*?)```(?:\n\n```text\n(.*?)```)?/gs)].map(
  ([, commands = '', shown]) => ({ commands, shown }),
);

describe.runIf(hasTools('curl', 'jq'))('"Use it" of the README and then docs/readers/tutorial.md', () => {
  let folder: string;
  let environment: NodeJS.ProcessEnv;
  let service: RunningCommand;
  let port: string;
  let url: string;
  /** A change token of the demo's tenant. */
  let demoChanges: string;
  const outputs: string[] = [];
  const outputOf = (command: string): string =>
    outputs[steps.findIndex(({ commands }) => commands.includes(command))] ?? '';
  const synced = (): string => readFileSync(join(folder, 'nightly/subscriptions.csv'), 'utf8');
  const sync = (credentials = 'globex-nightly.json') =>
    run('examples/nightly-sync.sh', [url, credentials, 'nightly'], { cwd: folder });
  const fetchAs = async (file: string, path: string): Promise<Response> => {
    const { client_id, client_secret } = JSON.parse(readFileSync(join(folder, file), 'utf8'));
    const form = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret });
    const { access_token } = await (await fetch(`${url}/oauth2/token`, { method: 'POST', body: form })).json();
    return fetch(`${url}/connect-api/v1/subscription${path}`, { headers: { authorization: `Bearer ${access_token}` } });
  };

  const startService = async (args: readonly string[]): Promise<void> => {
    service = startCommand(args, { environment: { PORT: port, REQUEST_SECONDS_MAX: '60' }, cwd: folder });
    await untilWritten(service, '"serving"');
  };
  const stopService = async (): Promise<void> => {
    service.child.kill('SIGTERM');
    await service.ended;
  };
  /** Runs blocks in one shell, as a reader does in one terminal. */
  const runBlocks = async (blocks: readonly { readonly commands: string }[]): Promise<void> => {
    const script = ['set -eu', ...blocks.map(({ commands }) => `${commands}printf '\\0'`)].join('\n');
    const { stdout } = await run('bash', ['-c', script.replaceAll('8080', port)], {
      cwd: folder,
      env: { ...environment, SERVICE: url },
    });
    outputs.push(...stdout.split('\0').slice(0, -1));
  };

  beforeAll(async () => {
    const made = makeCommandFolder();
    folder = made.folder;
    environment = { ...made.environment, XDG_CONFIG_HOME: folder };
    cpSync(join(root, 'examples'), join(folder, 'examples'), { recursive: true });
    port = String(await freePort());
    url = `http://127.0.0.1:${port}`;
  });
  afterAll(async () => {
    await stopService();
    rmSync(folder, { recursive: true });
  });

  test('the commands under "Use it" lead from an empty folder to a report', async () => {
    const [create = '', report = ''] = blocksOf(readme, 'sh');
    const [commands = '', rest] = create.split('npx subreport serve\n');
    expect(rest).toBe('');
    await runBlocks([{ commands }]);
    await startService(['serve']);
    await runBlocks([{ commands: report }]);
    expect(outputs.splice(0).at(-1)).toContain('which has 5 subscriptions');
    await stopService();
  });

  test('has commands that run unchanged and print what the page shows', async () => {
    await startService(['serve', '--demo']);
    expect(start?.commands).toBe('npm ci\nnpm start\n'); // the test of the README runs it
    const serve = steps.findIndex(({ commands }) => commands === 'npx subreport serve\n');
    await runBlocks(steps.slice(0, serve));
    demoChanges = (await (await fetchAs(`data/demo-${port}/demo-client.json`, '/changes?size=1')).json()).next;
    await stopService();
    await startService(['serve']);
    outputs.push('');
    await runBlocks(steps.slice(serve + 1));
    for (const [index, { commands, shown }] of steps.entries())
      if (shown !== undefined) expect([commands, outputs[index]]).toEqual([commands, shown]);
  });

  test('leaves nothing in the clone that git does not ignore', async () => {
    const written = readdirSync(folder).filter((name) => !['.bin', 'examples', 'subreport'].includes(name));
    expect(written).toContain('globex-nightly.json');
    const paths = written.map((name) => (statSync(join(folder, name)).isDirectory() ? `${name}/` : name));
    const { stdout } = await run('git', ['check-ignore', ...paths], { cwd: root });
    expect(stdout.trim().split('\n').sort()).toEqual(paths.sort());
  });

  test('has a loop over the pages that reads as many records as X-Total-Count says', () => {
    const [, total] = /^x-total-count: (\d+)/m.exec(outputOf('size=2')) ?? [];
    expect(Number(total)).toBeGreaterThan(50);
    expect(Number(outputOf('sort -u'))).toBe(Number(total));
  });

  test('has a synced CSV with the cells of format=csv, guarded against formulas', async () => {
    const rows = readFileSync(join(folder, 'examples/subscriptions.csv'), 'utf8');
    writeFileSync(join(folder, 'formulas.csv'), rows.replaceAll(/device-(\d+)/g, `"=+""'-@$1"`));
    await runCommand(['import', 'formulas.csv', '--tenant', 'globex', '--replace'], { cwd: folder });
    await sync();
    const exported = await (await fetchAs('globex-nightly.json', '?all=true&format=csv')).text();
    expect(parse(synced())).toEqual(parse(exported));
    expect(synced()).toContain(`"'=+""'-@`);
  });

  test('has a script that removes a deleted record, and reads everything again when its copy is damaged', async () => {
    const [header, first = '', ...rest] = synced().split('\n');
    const [id = ''] = first.split(',');
    await runCommand(['subscription', 'delete', '--tenant', 'globex', '--id', JSON.parse(id)], { cwd: folder });
    await sync();
    expect(synced()).toBe([header, ...rest].join('\n'));
    writeFileSync(join(folder, 'nightly/copy.ndjson'), '{"id":"a copy that was cut off"}\n');
    await sync();
    expect(synced()).toBe([header, ...rest].join('\n'));
  });

  test('has a script that reads everything again when its change token is refused with RESYNC_REQUIRED', async () => {
    const before = synced();
    const next = `{"next":"${demoChanges}"}`;
    writeFileSync(join(folder, 'nightly/copy.ndjson'), `{"id":"of another tenant"}\n${next}\n`);
    await sync();
    expect(synced()).toBe(before);
  });

  test('has a script that exits with 1 and keeps its files when its client is refused', async () => {
    const before = synced();
    writeFileSync(join(folder, 'wrong.json'), '{"client_id":"globex-nightly","client_secret":"wrong"}');
    await expect(sync('wrong.json')).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining('no access token, status 401'),
    });
    expect(synced()).toBe(before);
  });
});
