// Vite keeps the client's secret: it adds an access token to the requests of the page. A token
// reads all subscriptions of the tenant: add your own authentication to what you deploy.
//
// Settings: SUBREPORT_URL, SUBREPORT_CLIENT_ID, SUBREPORT_CLIENT_SECRET, PORT (5173)
import { createClient } from '@subreport/client';

const { SUBREPORT_URL: url, SUBREPORT_CLIENT_ID: clientId, SUBREPORT_CLIENT_SECRET: clientSecret } = process.env;
if (!url || !clientId || !clientSecret)
  throw new Error('Cannot start: SUBREPORT_URL, SUBREPORT_CLIENT_ID and SUBREPORT_CLIENT_SECRET must be set');

const client = createClient({
  baseUrl: `${url}/connect-api`,
  tokenUrl: `${url}/oauth2/token`,
  clientId,
  clientSecret,
});

const report = {
  target: url,
  async bypass(request) {
    request.headers.authorization = `Bearer ${(await client.token()).accessToken}`;
  },
};

export default {
  server: { host: '127.0.0.1', port: Number(process.env.PORT ?? 5173), proxy: { '/connect-api/v1/': report } },
};
