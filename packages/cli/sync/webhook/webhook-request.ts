import { createHmac } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { readRetryAfter } from '../../../contract/retry-after.ts';
import { describeProxy } from '../../../outgoing/proxy.ts';
import { openRequest } from '../../../outgoing/request.ts';
import type { Webhook } from './webhook-options.ts';

/** How an endpoint took an event. */
interface DeliveryResult {
  /** Status of the response; absent if there was none. */
  readonly status?: number;
  /** What happened, for messages. */
  readonly shown: string;
  /** `Retry-After` of the response, in milliseconds from now. */
  readonly retryAfterMs?: number;
}

/** An event as it is sent: Standard Webhooks 1.0. */
interface Message {
  readonly id: string;
  /** Seconds since 1970, of this try. */
  readonly timestamp: number;
  readonly body: string;
}

/** Time limit of one try until the response has a status, in milliseconds. */
const tryMsMax = 15_000;

export const receiverLimits = { tryMsMax } as const;

/** The value of `webhook-signature`: one signature for each key. */
const signaturesOf = ({ id, timestamp, body }: Message, keys: readonly Buffer[]): string =>
  keys.map((key) => `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`).join(' ');

/**
 * Sends an event once, and reads no more of the response than its head. Follows no redirect.
 * Rejects only if the signal is aborted.
 *
 * @param tryMs how long the try may take, in milliseconds
 */
export async function sendEvent(
  webhook: Pick<Webhook, 'url' | 'keys'>,
  message: Message,
  signal?: AbortSignal,
  tryMs = tryMsMax,
): Promise<DeliveryResult> {
  const limit = AbortSignal.timeout(tryMs);
  try {
    return resultOf(await post(webhook, message, signal === undefined ? limit : AbortSignal.any([limit, signal])));
  } catch (error) {
    signal?.throwIfAborted();
    const { code, message: text } = error as NodeJS.ErrnoException;
    const shown = limit.aborted ? `no response within ${tryMs / 1_000} s` : (code ?? text);
    return { shown: shown + describeProxy(webhook.url.href) };
  }
}

function post(
  { url, keys }: Pick<Webhook, 'url' | 'keys'>,
  message: Message,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const headers = {
    // most receivers drop the body of application/cloudevents+json, and still respond with 2xx
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(message.body),
    'user-agent': 'subreport-sync',
    'webhook-id': message.id,
    'webhook-timestamp': String(message.timestamp),
    'webhook-signature': signaturesOf(message, keys),
  };
  return new Promise((resolve, reject) => {
    openRequest(url, { method: 'POST', signal, headers })
      .on('error', reject)
      .on('response', (response) => {
        resolve(response);
        response.on('error', () => undefined).destroy();
      })
      .on('close', () => reject(new Error('the connection was closed')))
      .end(message.body);
  });
}

function resultOf({ statusCode: status = 0, headers }: IncomingMessage): DeliveryResult {
  const retryAfterMs = readRetryAfter(headers['retry-after']);
  return { status, shown: `HTTP ${status}`, ...(retryAfterMs !== undefined && { retryAfterMs }) };
}
