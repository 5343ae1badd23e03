import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { parse } from 'csv-parse/sync';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { beginHistory } from '../../packages/service/storage/tables/history.ts';
import { freePort } from '../../tools/free-port.ts';
import { hasCheckers } from '../../tools/has-checkers.ts';
import { hasChromium, type SharedBrowser, shareChromium } from '../support/chromium.ts';
import { type RunningCommand, untilWritten } from '../support/run-command.ts';
import { startBreakingProxy } from './breaking-proxy.ts';
import {
  type ExampleService,
  type ExampleTenant,
  loadRows,
  type Row,
  rows,
  startExampleService,
  withoutVariables,
} from './example-service.ts';
import { shownOutput } from './shown-output.ts';

let shared: ExampleService;
let acme: ExampleTenant;
beforeAll(async () => {
  shared = await startExampleService();
  acme = await shared.createTenant('acme');
});
afterAll(() => shared.close());

const expectShown = (name: string, output: string) =>
  expect(withoutVariables(output)).toBe(withoutVariables(shownOutput(name)));
const wrongSecret = { SUBREPORT_CLIENT_SECRET: 'wrong' };
const sortedBy = (key: (row: Row) => string, given: readonly Row[] = rows) =>
  given.toSorted((a, b) => (key(a) < key(b) ? -1 : 1));

describe('nightly-csv.ts', () => {
  const file = () => join(shared.folder, 'subscriptions.csv');

  test('writes every subscription to the file', async () => {
    const { code, stdout, stderr } = await acme.start('nightly-csv.ts', ['subscriptions.csv']).ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const written: Record<string, string>[] = parse(readFileSync(file()), { columns: true });
    expect(written.map((row) => [row.id, row.iccid, row.auto_renew, row['product.name']])).toEqual(
      sortedBy((row) => row.createdDate + row.id).map((row) => [row.id, row.iccid, row.auto_renew, row.product.name]),
    );
    expectShown('nightly-csv.ts', stdout);
  });

  test('keeps the previous file if the export breaks off, and exits with 1', async () => {
    writeFileSync(file(), 'the previous file');
    const proxy = await startBreakingProxy(shared.service.url);
    const { ended } = acme.start('nightly-csv.ts', ['subscriptions.csv'], { SUBREPORT_URL: proxy.url });
    const { code, stderr } = await ended;
    proxy.close();
    expect(stderr).toMatch(/^nightly-csv: .*\(CONNECTION_LOST, correlation id \w{32}\)\n$/);
    expect(code).toBe(1);
    expect(readFileSync(file(), 'utf8')).toBe('the previous file');
    expect(readdirSync(shared.folder).filter((name) => name.endsWith('.part'))).toEqual([]);
  });
});

describe('expiring-alert.ts', () => {
  test('lists what expires within 7 days without renewal, the soonest first, and exits with 1', async () => {
    const { code, stdout, stderr } = await acme.start('expiring-alert.ts').ended;
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    const listed = stdout.split('\n').slice(0, -2);
    expect(listed.map((line) => line.split('  ')[2])).toEqual([rows[291]?.iccid, rows[290]?.iccid]);
    expectShown('expiring-alert.ts', stdout);
  });

  test('exits with 0 if nothing expires, and with 2 if the credentials are wrong', async () => {
    const runs = [acme.start('expiring-alert.ts', ['1']), acme.start('expiring-alert.ts', ['7'], wrongSecret)];
    const [calm, failed] = await Promise.all(runs.map(({ ended }) => ended));
    expect(calm).toEqual({ code: 0, stdout: 'expiring within 1 days without renewal: 0\n', stderr: '' });
    expect(failed).toMatchObject({ code: 2, stdout: '' });
    expect(failed?.stderr).toMatch(/^expiring-alert: .*\(invalid_client, correlation id \w{32}\)\n$/);
  });
});

test('monthly-counts.ts prints the number of subscriptions of each plan and product created in a month', async () => {
  const { code, stdout, stderr } = await acme.start('monthly-counts.ts', ['2024-04']).ended;
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const created = rows.filter(({ createdDate }) => createdDate.startsWith('2024-04'));
  const groups = Object.groupBy(created, ({ product }) => `2024-04 ${product.plan_id} ${product.id}`);
  const expected = Object.entries(groups).map(([key, group]) => `${key} ${group?.length}`);
  const printed: string[][] = parse(stdout, { fromLine: 2 });
  expect(printed.map((cells) => cells.join(' '))).toEqual(expected.toSorted());
  expectShown('monthly-counts.ts', stdout);
});

describe('sqlite-sync.ts', () => {
  const copied = () => {
    using database = new DatabaseSync(join(shared.folder, 'copy.db'), { readOnly: true });
    const copies = database.prepare("select id, record ->> 'device_id' as device from subscription order by id").all();
    return copies.map(({ id, device }) => [id, device]);
  };
  const addCopy = (id: string) => {
    using database = new DatabaseSync(join(shared.folder, 'copy.db'));
    database.prepare('insert into subscription (id, record) values (?, ?)').run(id, '{}');
  };
  const expectCopied = (expected: readonly Row[]) =>
    expect(copied()).toEqual(sortedBy(({ id }) => id, expected).map(({ id, device_id }) => [id, device_id]));
  const end = async (sync: RunningCommand, signal: 'SIGTERM' | 'SIGKILL') => {
    sync.child.kill(signal);
    return sync.ended;
  };

  test('follows changes and removals, continues after a kill, and reads everything again after a restore', async () => {
    const { tenant, start } = await shared.createTenant('globex');
    const { store } = shared.service;
    const sync = () => start('sqlite-sync.ts', ['copy.db'], { SYNC_SECONDS: '0.05' });
    const [first, second, third, ...others] = rows as [Row, Row, Row, ...Row[]];

    const followed = sync();
    await untilWritten(followed, '300 in the copy\n');
    expectCopied(rows);
    await loadRows(shared.service, tenant, [{ ...first, device_id: 'replaced' }]);
    await untilWritten(followed, '1 changed, 0 removed, 300 in the copy\n');
    await store.deleteSubscriptions(tenant, [second.id]);
    await untilWritten(followed, '0 changed, 1 removed, 299 in the copy\n');
    expectCopied([{ ...first, device_id: 'replaced' }, third, ...others]);
    const killed = await end(followed, 'SIGKILL');

    await loadRows(shared.service, tenant, [first]);
    const continued = sync();
    await untilWritten(continued, '299 in the copy\n');
    expectCopied([first, third, ...others]);
    const stopped = await end(continued, 'SIGTERM');
    expect({ code: stopped.code, stderr: stopped.stderr }).toEqual({ code: 0, stderr: '' });

    await store.deleteSubscriptions(tenant, [third.id]);
    await beginHistory(store, Math.floor(Date.now() / 1000)); // as `subreport restore` does
    addCopy('created-after-the-backup');
    const again = sync();
    await untilWritten(again, '298 in the copy\n');
    expectCopied([first, ...others]);
    const restored = await end(again, 'SIGTERM');
    expectShown('sqlite-sync.ts', [killed, stopped, restored].map(({ stdout }) => stdout).join(''));
  });
});

/** Starts a server among the examples, and returns its URL from the line that it prints. */
async function listening(server: RunningCommand): Promise<string> {
  await untilWritten(server, 'http://');
  return /http:\S+/.exec(server.stdout())?.[0] ?? '';
}

describe('express-app.ts', () => {
  let app: RunningCommand;
  let url: string;
  beforeAll(async () => {
    app = acme.start('express-app.ts');
    url = await listening(app);
  });
  afterAll(async () => {
    app.child.kill();
    await app.ended;
  });

  test('shows the subscription of a SIM that expires last, and 404 for an unknown SIM', async () => {
    const [row] = rows.slice(290);
    const response = await fetch(`${url}/sims/${row?.iccid}`);
    expect(response.headers.get('cache-control')).toBe('no-store');
    const body = await response.text();
    const { iccid, status, expirationDate, product } = row as Row;
    expect(JSON.parse(body)).toEqual({ iccid, status, expirationDate, product: product.name });
    expectShown('express-app.ts', `${body}\n`);
    expect((await fetch(`${url}/sims/8944500102198304826`)).status).toBe(404);
  });

  test('finds the subscriptions of an email address without sending it in a URL', async () => {
    const { email } = rows[0] as Row;
    const response = await fetch(`${url}/customers`, {
      method: 'POST',
      headers: { 'x-correlation-id': 'by-email' },
      body: new URLSearchParams({ email }),
    });
    const { total, subscriptions } = (await response.json()) as { total: number; subscriptions: Row[] };
    const expected = rows.filter((row) => row.email === email).map(({ id }) => id);
    expect(total).toBe(expected.length);
    expect(subscriptions.map(({ id }) => id).toSorted()).toEqual(expected.toSorted());
    const logged = () => shared.service.log.find(({ correlation_id }) => correlation_id === 'by-email');
    await expect.poll(logged).toMatchObject({ method: 'POST', route: '/connect-api/v1/subscription/search' });
  });

  test('answers a missing email and an invalid ICCID with 400, the rule and the correlation id', async () => {
    expect((await fetch(`${url}/customers`, { method: 'POST' })).status).toBe(400);
    const response = await fetch(`${url}/sims/12`, { headers: { 'x-correlation-id': 'from-the-browser' } });
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({
      error: expect.stringContaining('15 to 22 digits'),
      correlation_id: 'from-the-browser',
    });
  });

  test('answers 503 without details while the service rejects it, and logs the reason', async () => {
    const rejected = acme.start('express-app.ts', [], wrongSecret);
    const response = await fetch(`${await listening(rejected)}/sims/${rows[0]?.iccid}`);
    rejected.child.kill();
    const { stderr } = await rejected.ended;
    expect(response.status).toBe(503);
    const { error, correlation_id } = (await response.json()) as { error: string; correlation_id: string };
    expect(error).toBe('The subscriptions are not available now');
    expect(JSON.parse(stderr)).toMatchObject({ code: 'invalid_client', correlation_id });
  });
});

describe.skipIf(!hasChromium)('pages', () => {
  let server: RunningCommand;
  let browser: SharedBrowser;
  beforeAll(async () => {
    server = acme.start('browser/server.ts');
    browser = await shareChromium();
  });
  afterAll(async () => {
    await browser.close();
    server.child.kill();
    await server.ended;
  });

  test.runIf(hasCheckers('the table in React is not tested'))(
    'react/: the table has the pages of a status, or an error with its correlation id',
    async () => {
      const vite = acme.startVite(String(await freePort()));
      const page = await (await browser.newContext({ viewport: { width: 900, height: 500 } })).newPage();
      await page.goto(await listening(vite));
      const message = page.getByRole('status');
      const texts = () => page.locator('tbody tr').allInnerTexts();
      await message.getByText('300 subscriptions, page 1').waitFor();
      const newest = sortedBy((row) => row.createdDate + row.id).toReversed();
      const shown = newest.map(({ createdDate, status = '', iccid, product }) =>
        [createdDate.slice(0, 10), status, iccid, product.name].join('\t'),
      );
      expect(await texts()).toEqual(shown.slice(0, 20));
      await page.getByRole('button', { name: 'Next' }).click();
      await message.getByText('page 2').waitFor();
      expect(await texts()).toEqual(shown.slice(20, 40));
      await page.getByRole('button', { name: 'Previous' }).click();
      await message.getByText('page 1').waitFor();
      const expired = rows.filter(({ status }) => status === 'EXPIRED').length;
      await page.getByLabel('Status').selectOption('EXPIRED');
      await message.getByText(`${expired} subscriptions, page 1`).waitFor();
      await page.route('**/connect-api/**', (route) =>
        route.fulfill({ status: 503, headers: { 'x-correlation-id': 'abc' }, body: '' }),
      );
      await page.getByLabel('Status').selectOption('ACTIVE');
      await message.getByText('Cannot be read: 503 (correlation id abc)').waitFor();
      expect(await texts()).toEqual([]);
      await page.close();
      vite.child.kill();
      await vite.ended;
    },
  );

  test('browser/: the page shows the newest subscriptions of a status, or an error with its correlation id', async () => {
    const page = await (await browser.newContext({ viewport: { width: 900, height: 500 } })).newPage();
    await page.goto(await listening(server));
    const message = page.getByRole('status');
    await message.getByText('of 300').waitFor();
    const lines = async () => {
      const texts = await page.locator('tbody tr').allInnerTexts();
      return [await message.innerText(), ...texts.map((text) => text.replaceAll('\t', '  ')), ''].join('\n');
    };
    expectShown('browser/', await lines());
    const expired = rows.filter(({ status }) => status === 'EXPIRED').length;
    await page.getByLabel('Status').selectOption(`EXPIRED (${expired})`);
    await message.getByText(`5 of ${expired} subscriptions`).waitFor();
    await page.route('**/connect-api/**', (route) => route.fulfill({ status: 418, body: '' }));
    await page.getByLabel('Status').selectOption('all');
    await message.getByText(/cannot be read: .*correlation id \w{32}/).waitFor();
    await page.close();
  });
});
