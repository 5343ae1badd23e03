// An Express application that shows the subscriptions of customers, by ICCID and by email address.
//
//   node express-app.ts
//   curl http://127.0.0.1:3000/sims/8944500102198304826
//   curl http://127.0.0.1:3000/customers -d email=ada@example.com
//
// Settings: SUBREPORT_URL, SUBREPORT_CLIENT_ID, SUBREPORT_CLIENT_SECRET, PORT (3000)
// Add your own authentication: anyone who can call these routes can read every subscription.
import type { AddressInfo } from 'node:net';
import { ApiError, createClient, SubreportError } from '@subreport/client';
import express, { type ErrorRequestHandler, type Request } from 'express';

const { SUBREPORT_URL: url, SUBREPORT_CLIENT_ID: clientId, SUBREPORT_CLIENT_SECRET: clientSecret } = process.env;
if (!url || !clientId || !clientSecret) {
  console.error('Cannot start: SUBREPORT_URL, SUBREPORT_CLIENT_ID and SUBREPORT_CLIENT_SECRET must be set');
  process.exit(2);
}

// one client for all requests: it keeps the access token and renews it
const client = createClient({
  baseUrl: `${url}/connect-api`,
  tokenUrl: `${url}/oauth2/token`,
  clientId,
  clientSecret,
  timeoutMs: 5_000,
});

/** Forwards the correlation id of the request, so that both logs contain it. */
const callOptions = (request: Request) => ({ correlationId: request.get('x-correlation-id') });

const app = express();
app.use((_request, response, next) => {
  response.set('cache-control', 'no-store'); // personal data
  next();
});

app.get('/sims/:iccid', async (request, response) => {
  const query = { iccid: request.params.iccid, sort: '-expirationDate' } as const;
  const newest = await client.subscriptions(query, callOptions(request)).first();
  if (newest === undefined) return response.status(404).json({ error: 'No subscription has this ICCID' });
  const { iccid, status, expirationDate, product } = newest;
  return response.json({ iccid, status, expirationDate, product: product.name });
});

app.post('/customers', express.urlencoded({ extended: false }), async (request, response) => {
  const { email } = request.body ?? {};
  if (typeof email !== 'string' || email === '')
    return response.status(400).json({ error: 'The form must have one email, such as email=ada@example.com' });
  // sends the address only in request bodies, never in a URL
  const query = { email, sort: '-expirationDate', size: 100 } as const;
  const { records, totalCount } = await client.search(query, callOptions(request)).page();
  return response.json({ total: totalCount, subscriptions: records });
});

/** Maps errors of the client to responses; details of the service are only logged. */
const handleError: ErrorRequestHandler = (error, _request, response, next) => {
  if (!(error instanceof SubreportError)) return next(error);
  const { name, code, message, correlationId: correlation_id } = error;
  console.error(JSON.stringify({ name, code, message, correlation_id }));
  if (error instanceof ApiError && error.code === 'INVALID_REQUEST_PARAMS')
    return response.status(400).json({ error: error.problem.messages.join('\n'), correlation_id });
  if (error instanceof ApiError && error.retryAfterMs !== undefined)
    response.set('retry-after', String(Math.ceil(error.retryAfterMs / 1000)));
  response.status(503).json({ error: 'The subscriptions are not available now', correlation_id });
};
app.use(handleError);

const server = app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', (error) => {
  if (error) throw error;
  console.log(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
