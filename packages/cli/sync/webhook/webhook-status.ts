import { describeProxy } from '../../../terminal/outgoing/proxy.ts';
import { requireConnection } from '../../../terminal/outgoing/request.ts';
import { SyncError } from '../source/error.ts';
import type { SourceIdentity } from '../source/read-source.ts';
import { shownEndpoint, type Webhook } from './webhook-options.ts';
import { type WebhookPlace, WebhookState } from './webhook-state.ts';

/** A webhook between its runs. */
interface WebhookStatus extends WebhookPlace {
  /** Events that the endpoint has not accepted. */
  readonly pending: number;
}

/** Reads the state of a webhook; `undefined` before its first run. */
export function readWebhookStatus(
  webhook: Pick<Webhook, 'url' | 'state'>,
  source: SourceIdentity,
  now: number,
): WebhookStatus | undefined {
  return WebhookState.read(webhook.state, (state) => {
    const place = state.place();
    if (place === undefined) return undefined;
    requireSame(place, webhook, source);
    return { ...place, pending: state.pending(now) };
  });
}

/**
 * Throws `SyncError` unless a run could begin: its state is that of this webhook, the endpoint has
 * not ended the deliveries, and its host accepts a connection. Sends nothing, and writes nothing.
 */
export async function checkWebhook(webhook: Webhook, source: SourceIdentity): Promise<void> {
  const { disabledAt = 0 } = readWebhookStatus(webhook, source, Date.now()) ?? {};
  if (disabledAt > 0) throw endpointGone(webhook.url, disabledAt);
  await connectTo(webhook.url);
}

/** Throws `SyncError` `OTHER_SOURCE` unless a state is that of this webhook and client. */
export function requireSame(
  { url, service, clientId }: WebhookPlace,
  { url: given, state }: Pick<Webhook, 'url' | 'state'>,
  source: SourceIdentity,
): void {
  if (url === given.href && service === source.service && clientId === source.clientId) return;
  throw new SyncError(
    'OTHER_SOURCE',
    `Cannot continue from '${state}': it must be the state of the same webhook, client and service; name another file, such as --state webhook-2.db: current value is that of ${shownEndpoint(new URL(url))} for '${clientId}' of ${service}`,
  );
}

/** The error of an endpoint that has responded with 410. */
export const endpointGone = (url: URL, at: number): SyncError =>
  new SyncError(
    'DESTINATION_GONE',
    `Cannot deliver to ${shownEndpoint(url)}: it must not have responded with 410, which ends the deliveries; --enable begins them again where they ended: current value is 410 at ${new Date(at).toISOString()}`,
  );

/** Time limit of a connection, in milliseconds. */
const connectMsMax = 10_000;

async function connectTo(url: URL): Promise<void> {
  try {
    await requireConnection(url, AbortSignal.timeout(connectMsMax));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new SyncError(
      'DESTINATION_FAILED',
      `Cannot connect to ${shownEndpoint(url)}: it must accept connections (${code ?? message})${describeProxy(url.href)}`,
      { cause: error },
    );
  }
}
