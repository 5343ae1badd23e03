import { signal } from '@preact/signals';
import { WifiOff } from 'lucide';
import { Icon } from './icon.tsx';
import { announce } from './live-region.tsx';
import { strings } from './strings.ts';

/** Whether requests reach the service: no network, or no response. */
type Connection = 'up' | 'offline' | 'down';

export const connection = signal<Connection>(navigator.onLine ? 'up' : 'offline');

const probeMs = { first: 2_000, last: 30_000 };

let probing = false;

/** Records that a request had no response, and polls the service until it responds. */
export function noteFailure(): void {
  connection.value = navigator.onLine ? 'down' : 'offline';
  if (probing) return;
  probing = true;
  probe(probeMs.first);
}

/** Records that the service has responded. */
export function noteResponse(): void {
  if (connection.peek() === 'up') return;
  connection.value = 'up';
  announce(strings.back);
}

function probe(delayMs: number): void {
  setTimeout(async () => {
    const response = await fetch('/healthz', { headers: { 'x-background': '1' } }).catch(() => undefined);
    if (response === undefined || isGatewayFailure(response)) return probe(Math.min(delayMs * 2, probeMs.last));
    probing = false;
    noteResponse();
  }, delayMs);
}

/** Whether a proxy could not reach the service. */
export const isGatewayFailure = ({ status }: Response): boolean => status === 502 || status === 504;

window.addEventListener('offline', () => {
  connection.value = 'offline';
});
// the network is back; whether the service responds is not known yet
window.addEventListener('online', noteFailure);

/** A bar above the page while the service cannot be reached. */
export function ConnectionBar() {
  if (connection.value === 'up') return null;
  return (
    <p class="connection-bar no-print" role="status">
      <Icon icon={WifiOff} />
      {connection.value === 'offline' ? strings.offline : strings.down}
    </p>
  );
}
