// Serves index.html, which reads reports in a browser with the client library.
//
// Never send the client secret to a browser: everyone who opens the page could read it. This server
// keeps the secret and gives the page access tokens, which are valid for five minutes. Each token
// reads all subscriptions of the tenant: add your own authentication to these routes.
//
//   node browser/server.ts
//
// Settings: SUBREPORT_URL, SUBREPORT_CLIENT_ID, SUBREPORT_CLIENT_SECRET, PORT (3000)
import { readFile } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';
import type { AddressInfo } from 'node:net';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createClient } from '@subreport/client';
import express, { type ErrorRequestHandler } from 'express';

const { SUBREPORT_URL: url, SUBREPORT_CLIENT_ID: clientId, SUBREPORT_CLIENT_SECRET: clientSecret } = process.env;
if (!url || !clientId || !clientSecret) {
  console.error('Cannot start: SUBREPORT_URL, SUBREPORT_CLIENT_ID and SUBREPORT_CLIENT_SECRET must be set');
  process.exit(2);
}

const tokenUrl = `${url}/oauth2/token`;
const client = createClient({ baseUrl: `${url}/connect-api`, tokenUrl, clientId, clientSecret });
const app = express();

app.get('/', (_request, response) => response.sendFile(fileURLToPath(new URL('index.html', import.meta.url))));

app.post('/token', async (_request, response) => {
  const { accessToken, expiresAt } = await client.token();
  const expires_in = Math.floor((expiresAt.getTime() - Date.now()) / 1000);
  response.set('cache-control', 'no-store').json({ access_token: accessToken, token_type: 'Bearer', expires_in });
});

/** Pages of other origins cannot call the service, so this one forwards their requests. */
app.get('/connect-api/*path', async (request, response, next) => {
  const target = new URL(url + request.originalUrl);
  if (!target.pathname.startsWith('/connect-api/v1/')) return next(); // the path had `..`
  const names = ['accept', 'authorization', 'x-correlation-id'] as const;
  const headers = names.map((name): [string, string] => [name, request.get(name) ?? '']);
  const upstream = await fetch(target, { headers, signal: AbortSignal.timeout(30_000) });
  for (const [name, value] of upstream.headers)
    if (/^(content-type|retry-after|x-.*)$/.test(name)) response.set(name, value);
  response.set('cache-control', 'no-store');
  response.status(upstream.status).send(Buffer.from(await upstream.arrayBuffer()));
});

/** The modules of the client; a bundler would make one file of them. */
const entry = import.meta.resolve('@subreport/client');
app.get('/client', (_request, response) => response.redirect(`/modules/client/${basename(entry)}`));
app.get('/modules/:folder/:file', async (request, response, next) => {
  const { folder, file } = request.params;
  if (!/^(client|contract)$/.test(folder) || !/^[\w-]+\.[jt]s$/.test(file)) return next();
  const source = await readFile(new URL(`../${folder}/${file}`, entry), 'utf8');
  // in a clone of subreport, the client is TypeScript; the published package is JavaScript
  response.type('js').send(file.endsWith('.ts') ? stripTypeScriptTypes(source) : source);
});

const handleError: ErrorRequestHandler = (error, _request, response, _next) => {
  console.error(error); // a SubreportError has the correlation id
  response.status(502).json({ error: 'The service is not available now' });
};
app.use(handleError);

const server = app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', (error) => {
  if (error) throw error;
  console.log(`open http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
