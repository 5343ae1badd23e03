// Lists the subscriptions that expire within some days and do not renew automatically.
//
//   node expiring-alert.ts [DAYS]
//
// Settings: SUBREPORT_URL, SUBREPORT_CLIENT_ID, SUBREPORT_CLIENT_SECRET
// Exit code: 0 none, 1 some, 2 failed; so `node expiring-alert.ts > list || mail …` sends an alert
import { createClient, SubreportError } from '@subreport/client';

const { SUBREPORT_URL: url, SUBREPORT_CLIENT_ID: clientId, SUBREPORT_CLIENT_SECRET: clientSecret } = process.env;
const [days = '7'] = process.argv.slice(2);
if (!url || !clientId || !clientSecret || !/^\d+$/.test(days)) {
  console.error(
    'Usage: node expiring-alert.ts [DAYS], with SUBREPORT_URL, SUBREPORT_CLIENT_ID, SUBREPORT_CLIENT_SECRET',
  );
  process.exit(2);
}

const client = createClient({
  baseUrl: `${url}/connect-api`,
  tokenUrl: `${url}/oauth2/token`,
  clientId,
  clientSecret,
});

try {
  const expiring = client.subscriptions(
    { 'expires-within': `${days}d`, 'auto-renew': false, sort: 'expirationDate', size: 1000 },
    { parse: true },
  );
  let count = 0;
  for await (const { expirationDate, iccid, device_id, product } of expiring) {
    const daysLeft = Math.floor((expirationDate.getTime() - Date.now()) / 86_400_000);
    console.log(
      `${expirationDate.toISOString().slice(0, 10)}  in ${daysLeft} days  ${iccid}  ${device_id}  ${product.name ?? product.id}`,
    );
    count += 1;
  }
  console.log(`expiring within ${days} days without renewal: ${count}`);
  process.exitCode = count === 0 ? 0 : 1;
} catch (error) {
  const isReported = error instanceof SubreportError;
  const reason = isReported ? `${error.message} (${error.code}, correlation id ${error.correlationId})` : error;
  console.error('expiring-alert:', reason);
  process.exitCode = 2;
}
