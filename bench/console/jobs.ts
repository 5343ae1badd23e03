import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Page } from 'playwright-core';
import { type SyntheticRow, syntheticRows } from '../../src/import/synthetic-rows.ts';
import { launchChromium } from '../../test/support/chromium.ts';
import { readWorkbook } from '../../test/support/read-workbook.ts';
import { buildConsoles, consolesFolder } from '../../tools/build-console.ts';
import { startDemoService } from '../../tools/screenshots/demo-service.ts';
import { settle, signIn } from '../../tools/screenshots/visit.ts';

// Does eight jobs of finance, support and operators in the consoles, in Chromium, and prints their
// steps: `npm run bench -- jobs`. A step is a click, a key, or something typed or pasted. Each
// job begins on the first page, signed in. `--pictures FOLDER` takes a picture of each result.

const { values } = parseArgs({ options: { pictures: { type: 'string' } } });

await buildConsoles(consolesFolder);
const service = await startDemoService();
const browser = await launchChromium();

/** A job of one person, who does it step by step. */
class Job {
  readonly page: Page;
  readonly steps: string[] = [];

  constructor(page: Page) {
    this.page = page;
  }

  async click(role: Parameters<Page['getByRole']>[0], name: string | RegExp): Promise<void> {
    await this.page
      .getByRole(role, { name, exact: typeof name === 'string' })
      .first()
      .click();
    this.steps.push(typeof name === 'string' ? name : name.source.replaceAll(/[\\^$]/g, ''));
  }

  async press(key: string): Promise<void> {
    await this.page.keyboard.press(key);
    this.steps.push(`\`${key}\``);
  }

  async type(text: string): Promise<void> {
    await this.page.keyboard.insertText(text);
    this.steps.push('type');
  }

  async sees(text: string | RegExp): Promise<string> {
    const found = this.page.getByText(text).first();
    await found.waitFor();
    return found.innerText();
  }
}

const table: string[] = [];

async function job(
  name: string,
  console: 'report' | 'operator',
  run: (job: Job) => Promise<string>,
  credentials = service.client,
): Promise<void> {
  const storageState = await signIn(browser, { ...service, client: credentials }, console);
  const context = await browser.newContext({
    storageState,
    viewport: { width: 1280, height: 800 },
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  const page = await context.newPage();
  // a file dialog belongs to the browser: without it, the file is downloaded
  await page.addInitScript(() => Object.assign(window, { showSaveFilePicker: undefined }));
  await page.goto(`${service.origins[console]}/console/`);
  await settle(page);
  const done = new Job(page);
  const result = await run(done);
  table.push(`| ${name} | ${done.steps.length} | ${done.steps.join(' → ')} | ${result} |`);
  if (values.pictures !== undefined) await page.screenshot({ path: join(values.pictures, `job-${table.length}.png`) });
  await context.close();
}

const auth = { authorization: `Bearer ${service.operatorToken}` };

async function operate<T>(method: string, path: string, body: string | object, type = 'application/json'): Promise<T> {
  const response = await fetch(`${service.origins.operator}/operator/v1${path}`, {
    method,
    headers: { ...auth, 'content-type': type, 'idempotency-key': crypto.randomUUID() },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return response.json() as Promise<T>;
}

const lines = (rows: readonly object[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join('');
const load = (tenant: string, rows: readonly object[]) =>
  operate('PUT', `/tenants/${tenant}/subscriptions`, lines(rows), 'application/x-ndjson');

/** Records of a report, by the API. */
async function read(query: string): Promise<SyntheticRow[]> {
  const grant = new URLSearchParams({ grant_type: 'client_credentials', ...service.client });
  const token = await fetch(`${service.origins.report}/oauth2/token`, { method: 'POST', body: grant });
  const { access_token } = (await token.json()) as { access_token: string };
  const response = await fetch(`${service.origins.report}/connect-api/v1/${query}`, {
    headers: { authorization: `Bearer ${access_token}` },
  });
  return response.json() as Promise<SyntheticRow[]>;
}

const found = (text: string, pattern: RegExp): string => pattern.exec(text)?.[0] ?? `not ${pattern}`;

try {
  const rows = [...syntheticRows({ count: 500, seed: 3, until: Math.floor(Date.now() / 1000) })];
  await operate('POST', '/tenants', { tenant: 'nameless' });
  await load(
    'nameless',
    rows.map(({ email: _, ...row }) => row),
  );
  const nameless = await operate<typeof service.client>('POST', '/clients', { tenant: 'nameless' });
  await operate('POST', '/tenants', { tenant: 'acme' });
  await operate('POST', '/clients', { tenant: 'acme', client_id: 'acme-old' });
  await operate('DELETE', '/clients/acme-old', {});
  await operate('POST', '/clients', { tenant: 'acme', client_id: 'acme-web' });
  // the history tells apart only what is a second apart
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  const active = await read('subscription?status=ACTIVE&size=31');
  await load(
    'demo',
    active.map((row) => ({ ...row, status: 'DEPLETED' })),
  );

  await job('without renewal, end within 7 days, as a workbook', 'report', async (j) => {
    const count = await j.page.locator('.figure-number').first().innerText();
    await j.click('link', /^End within 7 days/);
    await j.sees(`${count} subscription`);
    await j.press('e');
    const download = j.page.waitForEvent('download');
    await j.click('menuitem', /^Excel/);
    const sheet = readWorkbook(readFileSync(await (await download).path()));
    return `${count} on the page, ${sheet.length - 1} rows in the file`;
  });
  const ask = (name: string, typed: string, pattern: RegExp, client = service.client) =>
    job(
      name,
      'report',
      async (j) => {
        await j.press('Control+k');
        await j.page.getByRole('combobox').waitFor();
        await j.type(typed);
        await j.press('Enter');
        return (await j.sees(pattern)).replaceAll('\n', ' ');
      },
      client,
    );
  await ask('a subscriber who is not there: why?', 'nobody@example.com', /have an email address/);
  await ask('the same where no addresses were loaded', 'nobody@example.com', /No subscription has/, nameless);
  await ask('a subscriber who is there', 'user1@example.com', /^\d+ subscriptions?, newest first, subscriber/);
  await job('created last month, by product', 'report', async (j) => {
    const month = new Date();
    month.setUTCDate(0);
    await j.click('link', new RegExp(`^${month.toLocaleString('en', { month: 'long', year: 'numeric' })}`));
    await j.click('button', 'Count by');
    await j.click('menuitemradio', 'Product');
    const sentence = await j.sees(/subscriptions by product, created/);
    const counts = await j.page.locator('table.counts tbody td:nth-child(2)').allInnerTexts();
    const [from, to] = [`${month.toISOString().slice(0, 7)}-01T00:00:00Z`, new Date(month)];
    to.setUTCDate(to.getUTCDate() + 1);
    const query = `subscription/summary?by=product-id&created-from=${from}&created-to=${to.toISOString().slice(0, 10)}T00:00:00Z`;
    const summary = (await read(query)) as unknown as { total: number; by: { 'product-id': { count: number }[] } };
    const same =
      counts.map(Number).toSorted().join() ===
      summary.by['product-id']
        .map(({ count }) => count)
        .toSorted()
        .join();
    return `${sentence}; ${counts.length} counts, ${same ? 'equal to' : 'NOT'} those of the API, total ${summary.total}`;
  });
  await job('what changed since yesterday', 'report', async (j) => {
    await j.click('link', 'Changes');
    await j.click('link', 'Last 24 hours');
    // all records of the demo were added within this day, so that none of them has changed in it
    const heading = await j.sees(/^[\d,]+ added, \d+ changed, \d+ removed/);
    return heading.replace(/ since.*/, '');
  });
  await job('share a filtered view', 'report', async (j) => {
    await j.page.goto(`${service.origins.report}/console/subscriptions?status=ACTIVE`);
    await settle(j.page);
    await j.click('button', 'Views');
    await j.click('button', 'Copy link');
    await j.page.getByRole('button', { name: 'Copied' }).waitFor();
    return `copied ${found(await j.page.evaluate(() => navigator.clipboard.readText()), /\/console.*/)}`;
  });
  await job('a lost secret', 'operator', async (j) => {
    await j.click('link', 'Clients');
    await j.click('link', 'acme-web');
    await j.click('button', 'Rotate secret');
    await j.click('button', 'Rotate');
    await j.click('button', 'Copy both');
    await j.click('checkbox', 'I have stored it');
    await j.click('button', 'Done');
    return found(await j.page.evaluate(() => navigator.clipboard.readText()), /acme-web/);
  });
  await job('a file with 3 bad rows', 'operator', async (j) => {
    await j.click('link', 'Tenants');
    await j.click('link', 'acme');
    const text = lines([...rows.slice(0, 20), ...rows.slice(0, 3).map((row) => ({ ...row, iccid: 'x' }))]);
    const data = await j.page.evaluateHandle((content) => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([content], 'rows.ndjson'));
      return transfer;
    }, text);
    await j.page.getByText('Drop a CSV or NDJSON file here').dispatchEvent('drop', { dataTransfer: data });
    j.steps.push('drop');
    await j.click('button', 'Check the file');
    await j.click('button', 'Import 20 rows');
    const heading = await j.sees('20 loaded, 3 rejected');
    const download = j.page.waitForEvent('download');
    await j.click('button', 'Download rejected rows');
    const rejected = readFileSync(await (await download).path(), 'utf8')
      .trim()
      .split('\n');
    return `${heading}, ${rejected.length} lines in the file: ${found(rejected[0] ?? '', /"field":"\w+"/)}`;
  });
  await job('who deleted a client', 'operator', async (j) => {
    await j.click('link', 'Audit log');
    await j.click('button', 'Filter');
    await j.type('delete');
    await j.click('option', /^Action: Client deleted/);
    return (await j.page.getByRole('row', { name: /acme-old/ }).innerText()).replaceAll(/\s+/g, ' ');
  });
} finally {
  console.log('| job | steps | which | result |\n|---|---|---|---|');
  for (const row of table) console.log(row);
  await browser.close();
  await service.stop();
}
