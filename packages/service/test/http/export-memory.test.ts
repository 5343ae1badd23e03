import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { addTenant } from '../../../../test/support/add-tenant.ts';
import { drawOne, isThorough } from '../../../../test/support/draw.ts';
import { engines } from '../../../../test/support/engines.ts';
import { finishExport, openExport } from '../../../../test/support/read-export.ts';
import { startCommand, untilWritten } from '../../../../test/support/run-command.ts';
import { freePort } from '../../../../tools/free-port.ts';
import { createClient } from '../../auth/clients/manage-clients.ts';
import { checkRow } from '../../import/check-row.ts';
import { syntheticRows } from '../../import/synthetic-rows.ts';

/** Peak memory of a process in MB. */
const peakMb = (pid: number | undefined): number =>
  Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;

/** Peak memory of a process in MB once it no longer grows. */
async function steadyPeakMb(pid: number | undefined): Promise<number> {
  for (let previous = 0; ; ) {
    const peak = peakMb(pid);
    if (peak - previous < 1) return peak;
    previous = peak;
    await sleep(1_500);
  }
}

const recordCount = 60_000;

// takes ten CPU seconds
test.runIf(isThorough && process.platform === 'linux').each(drawOne(engines, import.meta.url))(
  'on $engine three whole reports of 70 MB and more that nobody reads take a fraction of that in memory',
  async ({ openTestStore }) => {
    const opened = await openTestStore();
    const port = await freePort();
    const tenant = await addTenant(opened.store, 'acme');
    // long names instead of more rows, which take longer to load
    const rows = [...syntheticRows({ count: recordCount, seed: 5, until: 1_767_225_600 })].map((row) => {
      const checked = checkRow({
        ...row,
        product: { ...row.product, name: (row.product.name ?? '').padEnd(256, '.') },
      });
      if ('faults' in checked) throw new TypeError(JSON.stringify(checked.faults));
      return checked.row;
    });
    for (let start = 0; start < rows.length; start += 5_000)
      await opened.store.loadSubscriptions(tenant, rows.slice(start, start + 5_000));
    const client = await createClient(opened.store, 1, { tenant });
    const service = startCommand(['serve'], {
      environment: {
        ...opened.environment,
        PORT: String(port),
        EXPORTS_MAX: '6',
        // to measure live memory rather than garbage that is not collected yet
        NODE_OPTIONS: '--max-semi-space-size=2',
      },
    });
    try {
      await untilWritten(service, 'serving');
      const url = `http://127.0.0.1:${port}`;
      const form = new URLSearchParams({ grant_type: 'client_credentials', ...client });
      const answer = await fetch(`${url}/oauth2/token`, { method: 'POST', body: form });
      const { access_token: token } = (await answer.json()) as { access_token: string };
      const begin = (query: string) => openExport(`${url}/connect-api/v1/subscription?all=true&${query}`, token);
      // the first run of code takes memory once
      await finishExport(await begin('format=csv&created-to=2023-06-01T00:00:00Z'));
      const before = peakMb(service.child.pid);
      const begun = await Promise.all(['csv', 'ndjson', 'ndjson'].map((format) => begin(`format=${format}`)));
      // no client reads: a service without backpressure reads everything into memory now
      const growth = (await steadyPeakMb(service.child.pid)) - before;
      const received = await Promise.all(begun.map((response) => finishExport(response)));
      expect(received.map(({ trailers }) => trailers['x-export-rows'])).toEqual(Array(3).fill(String(recordCount)));
      expect(received[1]?.text.length).toBeGreaterThan(35_000_000);
      // 20 to 28 were measured; 110 to 138 without backpressure
      expect(growth).toBeLessThan(65);
    } finally {
      service.child.kill();
      await service.ended;
      await opened.close();
    }
  },
);
