import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isWhole } from '../../../../test/support/draw.ts';
import { WebhookState } from '../../sync/webhook/webhook-state.ts';
import { type Hostility, hostilities, secretForms, startHostile, trap } from './hostile-server.ts';
import { type Program, requireCalm, requireSmall, runWatched } from './programs.ts';

/** Sends the signature back, in all that a receiver chooses. */
const echo: Hostility = (response, { headers }) => {
  const text = `${headers['webhook-signature']} ${headers['webhook-id']} FORGED`;
  response.writeHead(500, text, { 'retry-after': text, 'x-echo': text }).end(`\u001b[2J\r\nFORGED ${text}`);
};

/** What only a receiver can do. */
const ofReceivers: Readonly<Record<string, Hostility>> = {
  'an echo of the signature': echo,
  'a wait without end': (response) => {
    response.writeHead(503, { 'retry-after': '9'.repeat(300) }).end();
  },
  'control characters in its status': (response) => {
    response.socket?.end('HTTP/1.1 500 \u001b[2J\u009b31mFORGED\r\nretry-after: \u001b[2J\r\n\r\n');
  },
};
const cases = Object.entries({ ...hostilities, ...ofReceivers });

/** Those that respond with 200: the event is delivered, whatever the body is. */
const accepting = cases
  .map(([name]) => name)
  .filter((name) =>
    /^(60|7) MB|^nested arrays|^an endless body|body that drips|^no JSON|without members|values of other types|next link/.test(
      name,
    ),
  );

/** Cases of a run of CI. */
const chosen = ['an endless body', 'a head that drips', 'a redirect with credentials', ...Object.keys(ofReceivers)];

let service: Awaited<ReturnType<typeof startHostile>>;
let sourceUrl: string;
const signatures: string[] = [];
const receiver = createServer((request, response) => {
  request.resume();
  const [, hostility] = cases[Number(request.url?.slice(1))] ?? [];
  signatures.push(String(request.headers['webhook-signature']));
  hostility?.(response, request);
});
let receiverUrl: string;

beforeAll(async () => {
  service = await startHostile();
  sourceUrl = `${service.urlOf('an endless body')}/honest`;
  await once(receiver.listen(0, '127.0.0.1'), 'listening');
  receiverUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
});
afterAll(() => {
  service.close();
  receiver.closeAllConnections();
  receiver.close();
});

/** A sync to a webhook that has taken its place before, and finds one change. */
const syncTo = (to: string): Program => ({
  args: ({ folder }) => `sync --to webhook:${to} --state ${folder}/hook.db --secret-file ${folder}/whsec`.split(' '),
  async prepare({ folder, url }) {
    const state = WebhookState.open(join(folder, 'hook.db'));
    const place = { url: to, service: `${url}/connect-api`, clientId: 'acme', token: 'abc', revision: 1 };
    await state.transact(() => state.takePlace(place));
    state.close();
  },
});

test.concurrent.each(
  cases.map(([name], index) => ({ name, index })).filter(({ name }) => isWhole || chosen.includes(name)),
)('sync bears a receiver that sends $name', async ({ name, index }) => {
  const outcome = await runWatched(syncTo(`${receiverUrl}/${index}`), sourceUrl, { tokenUrl: `${sourceUrl}/token` });
  requireCalm(outcome, [0]);
  const isDelivered = accepting.includes(name);
  // a fast clock may end the try first
  expect(isDelivered ? [0, 75] : [75], outcome.stderr).toContain(outcome.code);
  if (outcome.code !== 0)
    expect(outcome.stderr).toMatch(/^Cannot deliver all events to .*, 0 events delivered, 1 pending$/m);
  for (const text of [...secretForms, ...signatures]) expect(outcome.stderr).not.toContain(text);
  await requireSmall(outcome);
});

test('the receivers have got events, and no redirect was followed', () => {
  expect(signatures.length).toBeGreaterThanOrEqual(chosen.length);
  expect(signatures.join()).toMatch(/^v1,/);
  expect(trap.requests).toBe(0);
});
