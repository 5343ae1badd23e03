import { signal } from '@preact/signals';
import { Button } from './button.tsx';
import { Icon } from './icon.tsx';
import { WifiOff } from './icons.ts';
import { announce } from './live-region.tsx';
import { isGatewayFailure } from './request.ts';
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

let timer: ReturnType<typeof setTimeout> | undefined;

/** Polls the service after a delay; a new call replaces the one that waits. */
function probe(delayMs: number): void {
  clearTimeout(timer);
  timer = setTimeout(async () => {
    const response = await fetch('/healthz', { headers: { 'x-background': '1' } }).catch(() => undefined);
    const isDown = response === undefined || isGatewayFailure(response);
    if (isDown) return probe(Math.max(probeMs.first, Math.min(delayMs * 2, probeMs.last)));
    probing = false;
    noteResponse();
  }, delayMs);
}

window.addEventListener('offline', () => {
  connection.value = 'offline';
});
// the network is back; whether the service responds is not known yet
window.addEventListener('online', noteFailure);

/** A bar above the page while the service cannot be reached. */
export function ConnectionBar() {
  if (connection.value === 'up') return null;
  return (
    <div class="connection-bar note row no-print">
      <p class="row" role="status">
        <Icon icon={WifiOff} /> {connection.value === 'offline' ? strings.offline : strings.down}
      </p>
      {connection.value === 'down' && (
        <Button variant="quiet" onClick={() => probe(0)}>
          {strings.tryNow}
        </Button>
      )}
    </div>
  );
}
