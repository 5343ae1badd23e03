import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { eventually } from '../../../../test/support/eventually.ts';
import { subscriptionRow } from '../../../../test/support/rows.ts';
import { runCommand, startCommand } from '../../../../test/support/run-command.ts';
import { runHere } from '../../../../test/support/run-here.ts';
import type { SyncError } from '../../sync/source/error.ts';
import { runWebhook } from '../../sync/webhook/run-webhook.ts';
import { readWebhook } from '../../sync/webhook/webhook-options.ts';
import { type ChangingReport, createChangingReport, environmentOf } from './changing-report.ts';
import { startBesideFolder } from './start-beside-folder.ts';
import { type Received, type Receiver, startReceiver } from './webhook-receiver.ts';

const hour = 3_600_000;
const day = 24 * hour;

const { folder, service } = await startBesideFolder('webhook');
let report: ChangingReport;
let receiver: Receiver;
let count = 0;
beforeEach(async () => {
  count += 1;
  report = await createChangingReport(service, `tenant-${count}`, count);
  receiver = await startReceiver();
});
afterEach(() => receiver.close());

const newSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;

/** Options of a webhook whose secret file has these lines. */
function optionsOf(...secrets: string[]) {
  const secretFile = join(folder, `secret-${count}`);
  writeFileSync(secretFile, `${secrets.join('\n')}\n`);
  return { to: receiver.to, state: join(folder, `state-${count}.db`), secretFile };
}

const argumentsOf = ({ to, state, secretFile }: ReturnType<typeof optionsOf>): string[] => [
  ...['sync', '--to', to, '--state', state, '--secret-file', secretFile],
];

const run = (options: ReturnType<typeof optionsOf>, ...more: string[]) =>
  runHere([...argumentsOf(options), ...more], environmentOf(service, report.credentials));

/** Runs once at a time of a fake clock; returns the code of the error, or what was done. */
const runAt = (options: Parameters<typeof readWebhook>[0], now: number, tryMsMax?: number) =>
  runWebhook(report.source, readWebhook(options), {
    now: () => now,
    ...(tryMsMax !== undefined && { tryMsMax }),
  }).catch((error: SyncError) => error.code);

const load = (id: string, more: object = {}) => report.load([subscriptionRow({ id, ...more })]);

describe('the requests of a webhook, as standardwebhooks sees them', () => {
  const [current, former, other] = [newSecret(), newSecret(), newSecret()];
  let received: Received;
  beforeEach(async () => {
    const options = optionsOf(current, former);
    await load('a');
    await run(options);
    await load('b');
    expect((await run(options)).code).toBe(0);
    [received] = receiver.received as [Received];
  });

  test.each([
    ['current', current],
    ['former', former],
  ])('are accepted with the %s secret during a rotation', (_which, secret) => {
    expect(() => new Webhook(secret).verify(received.body, received.headers)).not.toThrow();
  });

  test('are refused with an altered byte, an altered id, the secret of another endpoint, or an old time', () => {
    const { body, headers } = received;
    const altered = `${body.slice(0, -2)} }`;
    const verifier = new Webhook(current);
    expect(() => verifier.verify(altered, headers)).toThrow('No matching signature');
    expect(() => verifier.verify(body, { ...headers, 'webhook-id': 'msg_1' })).toThrow('No matching signature');
    expect(() => new Webhook(other).verify(body, headers)).toThrow('No matching signature');
    const later = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 6 * 60_000);
    expect(() => verifier.verify(body, headers)).toThrow('too old');
    later.mockRestore();
  });
});

test('a webhook first takes its place in the changes, and then tells of each change once, without personal data', async () => {
  const options = optionsOf(newSecret());
  await load('a');
  expect(await run(options)).toEqual({
    code: 0,
    stdout: 'The webhook begins with the changes after revision 1\n',
    stderr: '',
  });
  expect((await run(options)).code).toBe(0);
  expect(receiver.received).toEqual([]);
  await load('b', { iccid: '8944500102198300001', email: 'ada@example.com' });
  await load('c');
  await report.erase(['a']);
  const delivered = { code: 0, stdout: '{"delivered":1,"pending":0,"revision":4,"first":false}\n' };
  expect(await run(options, '--json')).toMatchObject(delivered);
  expect((await run(options)).stdout).toBe('0 events delivered, up to revision 4\n');
  const [{ event, body, headers }] = receiver.received as [Received];
  expect(receiver.received.length).toBe(1);
  expect(headers['content-type']).toBe('application/json');
  expect(event).toMatchObject({
    specversion: '1.0',
    id: headers['webhook-id'],
    type: 'subscription.changes',
    source: service.baseUrl,
    data: { upserted: 2, removed: 1, revision: 4 },
  });
  expect(body.length).toBeLessThan(20_000);
  expect(body).not.toMatch(/89445|ada@|"b"/);
  const pages = await Array.fromAsync(report.source.client.changes(event.data.since as string));
  expect(pages.flatMap(({ changes }) => changes.map(({ id }) => id)).sort()).toEqual(['a', 'b', 'c']);
});

test('a token that is no longer valid becomes an event that says to read everything again', async () => {
  const options = optionsOf(newSecret());
  await load('a');
  await run(options);
  await report.erase(['a']);
  await report.loseTombstones();
  expect((await run(options)).code).toBe(0);
  expect(receiver.received.map(({ event }) => event.data)).toEqual([
    { reset: true, upserted: 0, removed: 0, next: expect.any(String), revision: 3 },
  ]);
});

test('an endpoint that is down for 75 hours loses no change, and sees one id for all tries of an event', async () => {
  const options = optionsOf(newSecret());
  const begin = Date.now();
  await runAt(options, begin);
  receiver.respond = (response) => response.writeHead(503).end();
  for (let at = begin; at < begin + 75 * hour; at += hour / 2) {
    if ((at - begin) % (5 * hour) === 0) await report.change();
    if (at === begin) await load('first');
    const before = receiver.received.length;
    const found = await runAt(options, at);
    if (receiver.received.length > before) expect(found).toBe('DELIVERY_PENDING');
    else expect(found).toMatchObject({ delivered: 0, pending: 1 });
  }
  const tries = receiver.received.splice(0);
  expect(tries.length).toBeGreaterThan(6);
  expect(tries.length).toBeLessThan(14);
  expect(new Set(tries.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  expect(new Set(tries.map(({ body }) => body)).size).toBe(1);
  expect(new Set(tries.map(({ headers }) => headers['webhook-timestamp'])).size).toBe(tries.length);
  expect(new Set(tries.map(({ headers }) => headers['webhook-signature'])).size).toBe(tries.length);
  receiver.respond = (response) => response.writeHead(200).end('ok');
  await runAt(options, begin + 120 * hour);
  const events = receiver.received.map(({ event }) => event);
  expect(events[0]?.id).toBe(tries[0]?.headers['webhook-id']);
  expect(events[1]?.data.since ?? 'reset').toBe(events[1]?.data.reset === true ? 'reset' : events[0]?.data.next);
  const now = await Array.fromAsync(report.source.client.changes(events.at(-1)?.data.next as string));
  expect(now.flatMap(({ changes }) => changes)).toEqual([]);
});

test.each([
  ['a redirect', 301, { location: 'http://127.0.0.1:1/' }, 60],
  ['Retry-After in seconds', 429, { 'retry-after': '120' }, 120],
  ['Retry-After of a month, which is bounded by a day', 503, { 'retry-after': '2592000' }, 86_400],
  ['an error', 500, {}, 60],
  ['Retry-After that is neither seconds nor a date', 503, { 'retry-after': '-5' }, 60],
])('%s is a failure that is tried again', async (_what, status, headers, seconds) => {
  const options = optionsOf(newSecret());
  const begin = Date.now();
  await runAt(options, begin);
  await load('a');
  receiver.respond = (response) => response.writeHead(status, headers).end();
  const { code, stdout, stderr } = await run(options);
  expect([code, stdout]).toEqual([75, '']);
  expect(stderr).toMatch(
    new RegExp(
      `must respond with 2xx; run the sync again at .*Z or later: current value is HTTP ${status}, 0 events delivered, 1 pending`,
    ),
  );
  expect(stderr).not.toContain('hidden');
  const next = Date.parse(/again at (\S+) or/.exec(stderr)?.[1] ?? '');
  receiver.respond = (response) => response.writeHead(204).end();
  const waits = { code: 0, stdout: '0 events delivered and 1 waiting for the next try, up to revision 1\n' };
  if (seconds > 60) expect(await run(options)).toMatchObject(waits);
  if (seconds > 60) expect(await runAt(options, next - 10_000)).toMatchObject({ delivered: 0, pending: 1 });
  expect(next).toBeLessThanOrEqual(Date.now() + seconds * 1_000);
  // without Retry-After, 5 s less a fifth
  expect(next).toBeGreaterThanOrEqual(begin + (seconds > 60 ? seconds : 4) * 1_000);
  expect(receiver.received.length).toBe(1);
  expect(await runAt(options, next)).toMatchObject({ delivered: 1 });
});

test('a try by a clock that was ahead delays no further one', async () => {
  const options = optionsOf(newSecret());
  const begin = Date.now();
  await runAt(options, begin);
  await load('a');
  receiver.respond = (response) => response.writeHead(500).end();
  expect(await runAt(options, begin + 365 * day)).toBe('DELIVERY_PENDING');
  receiver.respond = (response) => response.writeHead(204).end();
  expect(await runAt(options, begin + hour)).toMatchObject({ delivered: 1 });
});

test('410 ends the deliveries until --enable, which continues where they ended', async () => {
  const options = optionsOf(newSecret());
  await run(options);
  await load('a');
  receiver.respond = (response) => response.writeHead(410).end();
  const first = await run(options);
  expect([first.code, first.stderr]).toEqual([2, expect.stringContaining('it must not have responded with 410')]);
  receiver.respond = (response) => response.writeHead(204).end();
  await load('b');
  expect((await run(options)).code).toBe(2);
  expect(receiver.received.length).toBe(1);
  expect((await run(options, '--enable')).stdout).toBe('2 events delivered, up to revision 2\n');
  expect(receiver.received.map(({ event }) => event.data.upserted)).toEqual([1, 1, 1]);
  expect(receiver.received[1]?.headers['webhook-id']).toBe(receiver.received[0]?.headers['webhook-id']);
});

test('an endpoint that fails has a pause after each failure, of which the next is longer, also before another event', async () => {
  const options = { ...optionsOf(newSecret()), expiring: '7d' };
  let now = Date.now();
  await runAt(options, now);
  const expirationDate = Math.floor((now + 2 * day) / 1_000);
  await report.load(['a', 'b', 'c', 'd'].map((id) => subscriptionRow({ id, expirationDate, autoRenew: 'false' })));
  receiver.respond = (response) => response.writeHead(503).end();
  const triedAt = async (at: number): Promise<number> => {
    await runAt(options, at);
    return receiver.received.length;
  };
  expect(await triedAt(now)).toBe(1);
  for (const [failures, seconds] of [5, 300, 1_800].entries()) {
    // less or more a fifth
    expect(await triedAt(now + 0.79 * seconds * 1_000)).toBe(failures + 1);
    now += 1.21 * seconds * 1_000;
    expect(await triedAt(now)).toBe(failures + 2);
  }
  expect(new Set(receiver.received.map(({ event }) => event.id)).size).toBe(4);
});

test('one event that is refused for ever holds up no other', async () => {
  const options = { ...optionsOf(newSecret()), expiring: '7d' };
  const begin = Date.now();
  await runAt(options, begin);
  const expirationDate = Math.floor((begin + 2 * day) / 1_000);
  await report.load(['x', 'poison', 'z'].map((id) => subscriptionRow({ id, expirationDate, autoRenew: 'false' })));
  receiver.respond = (response, { event }) => response.writeHead(event.subject === 'poison' ? 400 : 204).end();
  for (let minutes = 1; minutes < 4; minutes += 1) await runAt(options, begin + minutes * 60_000);
  const accepted = receiver.received.filter(({ event }) => event.subject !== 'poison');
  expect(accepted.map(({ event }) => event.subject ?? event.type)).toEqual(
    expect.arrayContaining(['x', 'z', 'subscription.changes']),
  );
});

describe('an answer that is not a response in time', () => {
  test.each<[string, Receiver['respond'], string | object]>([
    ['none at all', () => undefined, 'DELIVERY_PENDING'],
    ['not HTTP', (response) => response.socket?.end('hello\r\n\r\n'), 'DELIVERY_PENDING'],
    ['a closed connection', (response) => response.socket?.destroy(), 'DELIVERY_PENDING'],
    ['101', (response) => response.writeHead(101, { connection: 'upgrade', upgrade: 'x' }).end(), 'DELIVERY_PENDING'],
    ['200 with a body that never ends', (response) => response.write('.'), { delivered: 1 }],
  ])('%s', async (_what, respond, expected) => {
    const options = optionsOf(newSecret());
    await runAt(options, Date.now());
    await load('a');
    receiver.respond = respond;
    const found = await runAt(options, Date.now(), 2_000);
    if (typeof expected === 'string') expect(found).toBe(expected);
    else expect(found).toMatchObject(expected);
  });
});

test('a delivery that fails names the proxy that it went through', async () => {
  const options = { ...optionsOf(newSecret()), to: 'webhook:https://hook.invalid/x' };
  const environment = { ...environmentOf(service, report.credentials), HTTPS_PROXY: 'http://ada:hunter22@127.0.0.1:9' };
  expect(await runCommand(argumentsOf(options), { environment })).toMatchObject({ code: 0 });
  await load('proxied');
  const { code, stderr } = await runCommand(argumentsOf(options), { environment });
  expect(code).toBe(75);
  expect(stderr).toContain('go through the proxy 127.0.0.1:9 of HTTPS_PROXY');
  expect(stderr).not.toContain('hunter22');
});

test('a sync that is killed while it delivers sends the same event again, and one beside it is refused', async () => {
  const options = optionsOf(newSecret());
  await run(options);
  await load('a');
  receiver.respond = () => undefined;
  const running = startCommand(argumentsOf(options), { environment: environmentOf(service, report.credentials) });
  await eventually(() => expect(receiver.received.length).toBe(1));
  const beside = await run(options);
  expect([beside.code, beside.stderr]).toEqual([
    75,
    expect.stringContaining('no other sync of this webhook may be running'),
  ]);
  running.child.kill('SIGKILL');
  await running.ended;
  await load('b');
  receiver.respond = (response) => response.writeHead(204).end();
  expect((await run(options)).code).toBe(0);
  const [before, again, next] = receiver.received.map(({ event }) => event);
  expect(again).toEqual(before);
  expect(next?.data.since).toBe(before?.data.next);
});

describe('subscription.expiring', () => {
  const begin = Date.now();
  const at = (days: number): number => begin + days * day;
  const ending = (id: string, days: number, more: object = {}) =>
    load(id, { expirationDate: Math.floor(at(days) / 1_000), autoRenew: 'false', ...more });
  const told = (): unknown[] =>
    receiver.received
      .splice(0)
      .filter(({ event }) => event.type === 'subscription.expiring')
      .map(({ event: { data } }) => [data.id, data.threshold, Math.round((data.remainingSeconds as number) / 3_600)]);
  let options: Parameters<typeof readWebhook>[0];
  beforeEach(async () => {
    options = { ...optionsOf(newSecret()), expiring: '7d,3d,1d' };
    await runAt(options, begin);
  });

  test('is sent once at each threshold, with the id, the date and the remaining time, and no personal data', async () => {
    await ending('a', 8, { iccid: '8944500102198300001', email: 'ada@example.com' });
    await ending('renews', 8, { autoRenew: 'true' });
    const all: unknown[] = [];
    const ids = new Set<string>();
    for (let days = 0.5; days < 10; days += 0.25) {
      await runAt(options, at(days));
      for (const { body, event } of receiver.received) {
        expect(body).not.toMatch(/89445|ada@/);
        if (event.type === 'subscription.expiring') ids.add(event.id);
      }
      all.push(...told());
    }
    expect(all).toEqual([
      ['a', '7d', 168],
      ['a', '3d', 72],
      ['a', '1d', 24],
    ]);
    expect(ids.size).toBe(3);
  });

  test('is sent at the very millisecond of a threshold', async () => {
    await ending('exact', 8);
    await runAt(options, Math.floor(at(8) / 1_000) * 1_000 - 7 * day);
    expect(told()).toEqual([['exact', '7d', 168]]);
  });

  test('is told late once after a downtime, with what truly remains, and never for what has passed', async () => {
    await ending('late', 8);
    await ending('passed', 2);
    await runAt(options, at(5.5));
    expect(told()).toEqual([['late', '3d', 60]]);
    await runAt(options, at(6));
    expect(told()).toEqual([]);
  });

  test('has what remains at the time of the try, and is dropped when it was renewed, erased or has passed', async () => {
    await ending('kept', 7);
    await ending('renewed', 7);
    await ending('erased', 7);
    await ending('automatic', 7);
    await ending('passed', 1);
    receiver.respond = (response) => response.writeHead(500).end();
    expect(await runAt(options, at(0.5))).toBe('DELIVERY_PENDING');
    receiver.received.splice(0);
    await ending('renewed', 37);
    await ending('automatic', 7, { autoRenew: 'true' });
    await report.erase(['erased']);
    receiver.respond = (response) => response.writeHead(204).end();
    await runAt(options, at(2));
    expect(told()).toEqual([['kept', '7d', 120]]);
  });

  test('has the same event id after the state file was lost', async () => {
    const state = `${options.state}-2`;
    await runAt({ ...options, state }, begin);
    await ending('a', 2);
    await runAt(options, at(0.5));
    await runAt({ ...options, state }, at(0.5));
    const ids = receiver.received
      .filter(({ event }) => event.type !== 'subscription.changes')
      .map(({ event }) => event.id);
    expect(ids.length).toBe(2);
    expect(new Set(ids).size).toBe(1);
  });

  test('is not told in the first run for what is within a threshold already', async () => {
    await ending('a', 8);
    const first = { ...options, state: `${options.state}-3` };
    await runAt(first, at(2));
    expect(told()).toEqual([]);
    await runAt(first, at(5.5));
    expect(told()).toEqual([['a', '3d', 60]]);
  });
});

describe('between the runs', () => {
  const status = ({ to, state }: ReturnType<typeof optionsOf>) =>
    runHere(['sync', 'status', '--to', to, '--state', state], environmentOf(service, report.credentials));

  test.each<[string, (options: ReturnType<typeof optionsOf>) => object, string]>([
    ['is that of another URL', () => ({ to: 'webhook:http://localhost:1/' }), 'must be the state of the same webhook'],
    ['is no state', ({ secretFile }) => ({ state: secretFile }), 'it must be a state file that a sync of this'],
    ['cannot be read', ({ secretFile }) => ({ state: `${secretFile}/a/b.db` }), 'it must be a state file that a'],
  ])('status refuses a webhook whose state %s', async (_what, change, sentence) => {
    const options = optionsOf(newSecret());
    await run(options);
    const { code, stdout, stderr } = await status({ ...options, ...change(options) });
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(sentence);
    expect(stderr).not.toContain('hidden');
  });

  test('status tells of the revision, what is pending and why, and of the end after 410', async () => {
    const options = optionsOf(newSecret());
    expect(await status(options)).toMatchObject({ code: 1, stdout: '' });
    await run(options);
    await load('a');
    expect((await status(options)).stdout).toBe(
      '0 events pending; changes told up to revision 0: the report is at revision 1\n',
    );
    receiver.respond = (response) => response.writeHead(503).end();
    await run(options);
    expect((await status(options)).stdout).toMatch(
      /^1 event pending, 1 failed tries, the last with HTTP 503, the next at .*Z; changes told up to revision 1: in step/,
    );
    receiver.respond = (response) => response.writeHead(410).end();
    await runAt(options, Date.now() + hour);
    const { code, stderr } = await status(options);
    expect([code, stderr]).toEqual([2, expect.stringContaining('it must not have responded with 410')]);
  });
});

test('what is wrong with the options is said at once, with exit code 2 and no secret', async () => {
  const secretFile = join(folder, 'wrong-secret');
  writeFileSync(secretFile, 'whsk_aGlkZGVu\n');
  const { code, stdout, stderr } = await runHere([
    ...['sync', '--to', 'webhook:http://user:hidden@example.com/x?key=hidden', '--secret-file', secretFile],
    ...['--expiring', '7d,7 days'],
  ]);
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr.split('\n').map((line) => line.replace(/:.*/, ''))).toEqual([
    'Cannot use --to',
    'Cannot use --state',
    'Cannot use --secret-file',
    'Cannot use --expiring',
    '',
  ]);
  expect(stderr).not.toMatch(/hidden|aGlk/);
});

test.each([
  ['another client', async () => createChangingReport(service, `other-${count}`, 1), {}],
  ['another URL', async () => report, { to: 'webhook:http://localhost:1/' }],
])('the state of %s is refused', async (_what, reportOf, more) => {
  const options = optionsOf(newSecret());
  await run(options);
  const { credentials } = await reportOf();
  const { code, stderr } = await runHere(argumentsOf({ ...options, ...more }), environmentOf(service, credentials));
  expect([code, stderr]).toEqual([2, expect.stringContaining('it must be the state of the same webhook')]);
});
