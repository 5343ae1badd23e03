import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addTenant } from '../../../../test/support/add-tenant.ts';
import { adapted, hasCaddy, startCaddy } from '../../../../test/support/caddy.ts';
import { engines, type TestStore } from '../../../../test/support/engines.ts';
import { hasNginx, startNginx } from '../../../../test/support/nginx.ts';
import { subscriptionRow } from '../../../../test/support/rows.ts';
import { type RunningCommand, startCommand, untilWritten } from '../../../../test/support/run-command.ts';
import { freePort } from '../../../../tools/free-port.ts';
import { readSummaryLine } from '../../../contract/report.ts';
import { createClient } from '../../auth/clients/manage-clients.ts';

/** Kills of the service behind each proxy; each cuts off four reports. */
const kills = Number(process.env.PROXY_KILLS ?? '1');

/** Large enough that no buffer between the service and curl holds the report. */
const records = 4_000;

const withoutVersion = (site: string): string => site.replace(/^ *proxy_http_version .*\n/m, '');
const gzip = 'gzip on; gzip_proxied any; gzip_types *;';

const proxies = [
  ...(hasNginx
    ? [
        { proxy: 'nginx', start: startNginx, version: '1.1' },
        { proxy: 'nginx without proxy_http_version', start: startNginx, version: '1.0', edit: withoutVersion },
        {
          proxy: 'nginx that compresses',
          start: startNginx,
          version: '1.1',
          edit: (site: string) => `${gzip}\n${site}`,
        },
        {
          proxy: 'nginx that compresses, without proxy_http_version',
          start: startNginx,
          version: '1.0',
          edit: (site: string) => `${gzip}\n${withoutVersion(site)}`,
        },
      ]
    : []),
  ...(hasCaddy
    ? [
        { proxy: 'Caddy', start: startCaddy, version: '1.1' },
        {
          proxy: 'Caddy that compresses',
          start: startCaddy,
          version: '1.1',
          edit: (file: string) =>
            file.replace(
              '\treverse_proxy',
              '\tencode gzip {\n\t\tmatch {\n\t\t\tstatus 200\n\t\t}\n\t}\n\treverse_proxy',
            ),
        },
      ]
    : []),
];

const formats = [
  { format: 'csv', headers: [] },
  { format: 'csv', headers: ['Prefer: export-summary'] },
  { format: 'ndjson', headers: [] },
  { format: 'parquet', headers: [] },
] as const;

type Format = (typeof formats)[number];

/** What curl has of a report. */
interface Received {
  readonly code: number | null;
  readonly body: Buffer;
}

/** Whether the body is the whole report, by what its format shows. */
function isComplete({ format, headers }: Format, body: Buffer): boolean {
  if (format === 'parquet') return body.subarray(-4).toString() === 'PAR1';
  const lines = body.toString().trimEnd().split(/\r?\n/);
  if (format === 'csv' && headers.length === 0) return lines.length === records + 1;
  return readSummaryLine(lines.at(-1) ?? '') !== undefined;
}

const describeOutcome = (format: Format, { code, body }: Received): string => {
  const ending = code === 22 ? 'rejected' : code === 0 ? 'ended' : 'failed';
  return `${[format.format, ...format.headers]}: ${ending}, ${isComplete(format, body) ? 'complete' : 'part'}`;
};

/** A part is never `ended` unless its format shows that it is one. */
const expectedOver: Readonly<Record<string, readonly string[]>> = {
  '1.1': [
    'csv: failed, part',
    'csv,Prefer: export-summary: failed, part',
    'ndjson: failed, part',
    'parquet: failed, part',
  ],
  '1.0': [
    'csv: rejected, part',
    'csv,Prefer: export-summary: ended, part',
    'ndjson: ended, part',
    'parquet: rejected, part',
  ],
};

function startProcess(command: string, args: readonly string[]) {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'ignore'] });
  return { stdout: child.stdout, exited: once(child, 'exit').then(([code]) => code as number | null) };
}

describe.runIf(proxies.length > 0)('a whole report whose service is killed', () => {
  let opened: TestStore;
  let port: string;
  let credentials: Awaited<ReturnType<typeof createClient>>;
  let service: RunningCommand;

  const startService = async (): Promise<void> => {
    service = startCommand(['serve'], {
      environment: {
        ...opened.environment,
        PORT: port,
        EXPORTS_MAX: '8',
        ACCESS_TOKEN_SECONDS: '3600',
      },
    });
    await untilWritten(service, '"serving"');
  };
  const killService = async (): Promise<void> => {
    service.child.kill('SIGKILL');
    await service.ended;
  };
  const accessToken = async (): Promise<string> => {
    const body = new URLSearchParams({ grant_type: 'client_credentials', ...credentials });
    const response = await fetch(`http://127.0.0.1:${port}/oauth2/token`, { method: 'POST', body });
    return ((await response.json()) as { access_token: string }).access_token;
  };

  beforeAll(async () => {
    opened = await engines[0].openTestStore();
    port = String(await freePort());
    const tenant = await addTenant(opened.store, 'acme', 0);
    // random: neither Parquet nor a proxy can make it small
    const rows = Array.from({ length: records }, (_, n) => {
      const row = subscriptionRow({ id: `id-${n}` });
      const name = randomBytes(6_000).toString('base64');
      return { ...row, record: row.record.replace(/"name":"[^"]*"/, `"name":"${name}"`) };
    });
    for (let from = 0; from < records; from += 1_000)
      await opened.store.loadSubscriptions(tenant, rows.slice(from, from + 1_000));
    credentials = await createClient(opened.store, 0, { tenant });
  });
  afterAll(() => opened.close());

  /** Starts curl, whose output is not read until `finish`, so that it stops reading too. */
  function startCurl(url: string, token: string, { format, headers }: Format, options: readonly string[] = []) {
    const more = [`Authorization: Bearer ${token}`, ...headers].flatMap((header) => ['-H', header]);
    const target = `${url}/connect-api/v1/subscription?all=true&format=${format}`;
    const { stdout, ...child } = startProcess('curl', ['-sf', '--compressed', ...options, ...more, target]);
    return {
      begun: once(stdout, 'readable'),
      async finish(): Promise<Received> {
        const chunks: Buffer[] = [];
        for await (const chunk of stdout) chunks.push(chunk as Buffer);
        return { code: await child.exited, body: Buffer.concat(chunks) };
      },
    };
  }

  test.each(proxies)('behind $proxy never looks complete', async ({ start, version, edit }) => {
    await startService();
    const proxyPort = String(await freePort());
    const proxy = await start(proxyPort, port, edit);
    try {
      // a client that uses HTTP/1.0 itself: the proxy says so
      const old = startCurl(`http://127.0.0.1:${proxyPort}`, await accessToken(), formats[0], ['--http1.0']);
      expect(describeOutcome(formats[0], await old.finish())).toBe('csv: rejected, part');
      for (let kill = 0; kill < kills; kill += 1) {
        if (kill > 0) await startService();
        const token = await accessToken();
        const curls = formats.map((format) => startCurl(`http://127.0.0.1:${proxyPort}`, token, format));
        await Promise.all(curls.map(({ begun }) => begun));
        await killService();
        const received = await Promise.all(curls.map(({ finish }) => finish()));
        expect(received.map((each, n) => describeOutcome(formats[n] as Format, each))).toEqual(expectedOver[version]);
      }
    } finally {
      await killService();
      await proxy.stop();
    }
  });
});

test.runIf(adapted.error === undefined)(
  'a Caddy that would hide that a report breaks off rejects deploy/Caddyfile',
  () => {
    const version = spawnSync('caddy', ['version'], { encoding: 'utf8' }).stdout;
    const [major = 0, minor = 0] = (/(\d+)\.(\d+)/.exec(version)?.slice(1) ?? []).map(Number);
    const isOld = major < 2 || (major === 2 && minor < 8);
    expect([version, adapted.status === 0]).toEqual([version, !isOld]);
    if (isOld) expect(adapted.stderr).toContain('trusted_proxies_strict');
  },
);
