// Receives the events of `subreport sync --to webhook:URL`, and prints what to do.
//
//   node express-receiver.ts SECRET_FILE
//
// SECRET_FILE has the signing secret; during a rotation, the old and the new one, a line each.
// Settings: PORT (3000)
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { Webhook } from 'standardwebhooks';

const [file] = process.argv.slice(2);
if (!file) {
  console.error('Usage: node express-receiver.ts SECRET_FILE');
  process.exit(2);
}
const webhooks = readFileSync(file, 'utf8')
  .split('\n')
  .filter((line) => line.trim() !== '')
  .map((secret) => new Webhook(secret.trim()));

type Event =
  | { id: string; type: 'subscription.expiring'; data: { id: string; expirationDate: string } }
  | { id: string; type: 'subscription.changes'; data: { reset: true } | { reset?: false; since: string } };

/** The event, or undefined if its signature is wrong or older than five minutes. */
function verify(body: Buffer, headers: Record<string, string>): Event | undefined {
  for (const webhook of webhooks) {
    try {
      return webhook.verify(body, headers) as Event;
    } catch {
      // another secret may have signed it
    }
  }
  return undefined;
}

const seen = new Set<string>(); // in a program that restarts: a table with a unique id

function handle({ id, ...event }: Event): void {
  if (seen.has(id)) return; // an event may come twice
  if (event.type === 'subscription.expiring') console.log(`${event.data.id} ends at ${event.data.expirationDate}`);
  else console.log(event.data.reset ? 'read everything again' : `read the changes since ${event.data.since}`);
  if (seen.size === 10_000) seen.clear();
  seen.add(id);
}

const app = express();
// the signature is of the bytes of the body, so express.json() must not come before
app.post('/hooks/subreport', express.raw({ type: '*/*', limit: '64kb' }), (request, response) => {
  const event = Buffer.isBuffer(request.body) && verify(request.body, request.headers as Record<string, string>);
  if (event) handle(event); // if it fails, the status is 500
  response.sendStatus(event ? 204 : 400); // after any but 2xx, the sender tries again later
});

const server = app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', (error) => {
  if (error) throw error;
  console.log(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks/subreport`);
});
