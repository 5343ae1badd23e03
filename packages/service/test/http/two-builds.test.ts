import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openSqlite } from '../../../../test/support/engines.ts';
import { subscriptionRow } from '../../../../test/support/rows.ts';
import { startCommand, untilWritten } from '../../../../test/support/run-command.ts';
import { startService } from '../../../../test/support/service.ts';
import { freePort } from '../../../../tools/free-port.ts';

const paths = [
  '?format=csv',
  '?format=json',
  '/id1',
  '/id1/history',
  '/summary?by=status',
  '/changes?size=5',
  '/changes?since=TOKEN',
  '/changes/summary?since=TOKEN',
  '/findings',
  '?all=true&format=csv',
];

/** Copies the sources, and changes what they write. */
function makeOtherBuild(): string {
  const copy = mkdtempSync(join(tmpdir(), 'subreport-build-'));
  for (const name of ['packages', 'package.json', 'openapi.json', 'openapi-operator.json'])
    cpSync(name, join(copy, name), { recursive: true, filter: (path) => !/node_modules|[/\\]test$/.test(path) });
  symlinkSync(join(process.cwd(), 'node_modules'), join(copy, 'node_modules'), 'junction');
  const file = join(copy, 'packages/contract/csv.ts');
  writeFileSync(file, readFileSync(file, 'utf8').replace('({ name }) => name', '({ name }) => name.toUpperCase()'));
  return copy;
}

test('two builds of one version on one store: none responds 304 for what the other has sent', async () => {
  const folder = makeOtherBuild();
  const port = String(await freePort());
  const opened = await openSqlite();
  const PUBLIC_URL = 'http://reports.example'; // of the balancer in front of both
  const older = await startService(opened, { PUBLIC_URL });
  const newer = startCommand(['serve'], {
    environment: { ...opened.environment, PORT: port, PUBLIC_URL, ALLOW_HTTP: 'true' },
    program: [process.execPath, join(folder, 'packages/service/cli/main.ts')],
  });
  try {
    await untilWritten(newer, '"serving"');
    const tenant = await older.createTenant('acme');
    await older.store.loadSubscriptions(tenant, [subscriptionRow({ id: 'id1' })]);
    const authorization = `Bearer ${await older.accessToken(await older.createClient(tenant))}`;
    const urls = [older.baseUrl, `http://127.0.0.1:${port}/connect-api`];
    const ask = async (url: string, path: string, tag = '""') => {
      const response = await fetch(`${url}/v1/subscription${path}`, {
        headers: { authorization, 'if-none-match': tag },
      });
      expect([path, response.headers.get('server-timing')]).not.toEqual([path, '']);
      return { status: response.status, tag: response.headers.get('etag'), text: await response.text() };
    };
    const { next } = JSON.parse((await ask(older.baseUrl, '/changes?since=now')).text);
    for (const path of paths.map((each) => each.replace('TOKEN', next))) {
      const answers = await Promise.all(urls.map((url) => ask(url, path)));
      expect([path, ...answers.map(({ status }) => status)]).toEqual([path, 200, 200]);
      expect([path, answers[0]?.text === answers[1]?.text]).toEqual([path, !path.includes('csv')]);
      for (const [at, url] of urls.entries())
        expect([path, await ask(url, path, answers[1 - at]?.tag ?? '')]).toEqual([path, answers[at]]);
    }
  } finally {
    newer.child.kill('SIGTERM');
    await newer.ended;
    await older.close();
    rmSync(folder, { recursive: true });
  }
});
