import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../support/eventually.ts';
import type { Drill } from './drill.ts';
import { faketime } from './faketime.ts';
import type { Stage } from './stage.ts';

const hour = 3_600;

/** A service whose wall clock the drill can set; its monotonic clock runs on. */
async function serveWithClock(stage: Stage, environment: Record<string, string> = {}) {
  const file = join(stage.folder, 'clock');
  const setClock = (seconds: number): void => writeFileSync(file, `${seconds < 0 ? '' : '+'}${seconds}s\n`);
  setClock(0);
  const clock = {
    LD_PRELOAD: faketime,
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_NO_CACHE: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
    DONT_FAKE_MONOTONIC: '1',
  };
  const service = await stage.serve(await stage.sqlite(), { environment: { ...clock, ...environment } });
  await service.logIn();
  return { service, setClock };
}

export const processDrills: readonly Drill[] = [
  {
    name: 'stop-under-load',
    fault: 'SIGTERM while 8 clients send reports, behind a balancer that reads /readyz',
    expected: '/readyz 503 with Retry-After; reports 200; exit code 0',
    async run(stage) {
      const service = await stage.serve(await stage.sqlite(), { environment: { SHUTDOWN_DELAY_SECONDS: '5' } });
      await service.logIn();
      const running = service.keepReporting(8);
      await eventually(() => {
        if (running.sent() < 100) throw new Error('100 reports must be sent before the signal');
      });
      const exit = service.stop();
      const ready = await service.until('503 with Retry-After', () => service.status('/readyz'));
      const statuses = await running.stop();
      return `/readyz ${ready}; reports ${[...statuses]}; exit code ${await exit}`;
    },
  },
  {
    name: 'worker-hung',
    fault: 'one of two workers hangs (SIGSTOP)',
    expected: 'the worker is killed and replaced; reports 200',
    needs: ['Linux'],
    async run(stage) {
      const service = await stage.serve(await stage.sqlite(), { args: ['--workers', '2'] });
      await eventually(() => {
        if (service.workers.length < 2) throw new Error('both workers must listen');
      });
      const hung = stage.random.pick(service.workers);
      // its standard output would keep the drill from ending
      stage.defer(() => {
        try {
          process.kill(hung, 'SIGKILL');
        } catch {
          // the service has killed it
        }
      });
      process.kill(hung, 'SIGSTOP');
      await eventually(() => {
        if (service.workers.length < 3) throw new Error('the worker must be replaced');
      });
      await service.logIn();
      const statuses = new Set<string>();
      for (let n = 0; n < 20; n += 1) statuses.add(await service.report());
      const isKilled = service.log.some(({ msg }) => msg === 'a worker no longer responds; it is killed');
      return `the worker is ${isKilled ? 'killed and ' : ''}replaced; reports ${[...statuses]}`;
    },
  },
  {
    name: 'keys-rotated',
    fault: 'the signing key is rotated while 8 clients send reports, then rotated as compromised',
    expected: 'rotated: reports 200, keys published 2; as compromised: old token 401, new token 200',
    async run(stage) {
      const place = await stage.sqlite();
      const service = await stage.serve(place);
      await service.logIn();
      const running = service.keepReporting(8);
      await stage.succeed(['keys', 'rotate'], { environment: place.environment });
      const enough = running.sent() + 100;
      await eventually(() => {
        if (running.sent() < enough) throw new Error('100 reports must be sent after the rotation');
      });
      const statuses = [...(await running.stop())];
      const { keys } = (await (await fetch(`${service.url}/oauth2/jwks`)).json()) as { keys: unknown[] };
      await stage.succeed(['keys', 'rotate', '--compromised'], { environment: place.environment });
      const old = await service.report();
      await service.logIn();
      return `rotated: reports ${statuses}, keys published ${keys.length}; as compromised: old token ${old}, new token ${await service.report()}`;
    },
  },
  {
    name: 'clock-jumps',
    fault: 'the clock jumps: +1 hour, back by 2 hours, +400 days',
    expected: `+1 h: old token 401, new token 200; -1 h: new token 200; +400 d: new token 200; /readyz 200`,
    needs: ['Linux', 'libfaketime'],
    async run(stage) {
      const { service, setClock } = await serveWithClock(stage);
      const renew = async (): Promise<string> =>
        (await service.requestToken()) === '200' ? service.report() : 'is not issued';
      setClock(hour);
      const old = await service.report();
      const forward = await renew();
      setClock(-hour);
      const back = await renew();
      setClock(400 * 24 * hour);
      const far = await renew();
      const ready = await service.status('/readyz');
      return `+1 h: old token ${old}, new token ${forward}; -1 h: new token ${back}; +400 d: new token ${far}; /readyz ${ready}`;
    },
  },
  {
    name: 'clock-back-at-limit',
    fault: 'the clock jumps back by 2 hours while a client is at its rate limit',
    expected: 'report 429 with Retry-After of at most 60 seconds',
    needs: ['Linux', 'libfaketime'],
    async run(stage) {
      const { service, setClock } = await serveWithClock(stage, { RATE_LIMIT_PER_MINUTE: '3' });
      for (let n = 0; n < 3; n += 1) await service.report();
      setClock(-2 * hour);
      const headers = { authorization: `Bearer ${service.token}` };
      const response = await fetch(`${service.url}/connect-api/v1/subscription`, { headers });
      await response.arrayBuffer();
      const wait = Number(response.headers.get('retry-after'));
      return `report ${response.status} with Retry-After of ${wait <= 60 ? 'at most 60' : wait} seconds`;
    },
  },
];
