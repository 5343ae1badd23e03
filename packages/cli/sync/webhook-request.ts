import { createHmac } from 'node:crypto';
import type { Agent, ClientRequest, IncomingMessage } from 'node:http';
import { readRetryAfter } from '../../contract/retry-after.ts';
import { describeProxy } from '../../terminal/outgoing/proxy.ts';
import { keepConnection, openRequest } from '../../terminal/outgoing/request.ts';
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

/** Limits of reading the body of a response, to reuse the connection. */
const answerMsMax = 500;
const answerBytesMax = 65_536;
export const receiverLimits = { tryMsMax, answerBytesMax } as const;

/** The value of `webhook-signature`: one signature for each key. */
const signaturesOf = ({ id, timestamp, body }: Message, keys: readonly Buffer[]): string =>
  keys.map((key) => `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`).join(' ');

/** Sends events to one endpoint, one at a time. Follows no redirect. */
export class WebhookEndpoint {
  readonly #url: URL;
  readonly #keys: readonly Buffer[];
  readonly #contentType: string;
  readonly #tryMsMax: number;
  readonly #agent: Agent;

  /** @param tryMs how long one try may take, in milliseconds */
  constructor({ url, keys, contentType }: Pick<Webhook, 'url' | 'keys' | 'contentType'>, tryMs = tryMsMax) {
    this.#url = url;
    this.#keys = keys;
    this.#contentType = contentType;
    this.#tryMsMax = tryMs;
    this.#agent = keepConnection(url);
  }

  /** Sends an event once. Rejects only if the signal is aborted. */
  async send(message: Message, signal?: AbortSignal): Promise<DeliveryResult> {
    const limit = AbortSignal.timeout(this.#tryMsMax);
    try {
      const response = await this.#post(message, signal === undefined ? limit : AbortSignal.any([limit, signal]));
      return resultOf(response);
    } catch (error) {
      signal?.throwIfAborted();
      const { code, message: text } = error as NodeJS.ErrnoException;
      const shown = limit.aborted ? `no response within ${this.#tryMsMax / 1_000} s` : (code ?? text);
      return { shown: shown + describeProxy(this.#url.href) };
    }
  }

  close(): void {
    this.#agent.destroy();
  }

  #post(message: Message, signal: AbortSignal): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const request = this.#open(message, signal);
      let hasStatus = false;
      request.on('error', (error: NodeJS.ErrnoException) => {
        if (hasStatus) return;
        // the endpoint may close an idle connection just when it is used again
        if (request.reusedSocket && error.code === 'ECONNRESET') resolve(this.#post(message, signal));
        else reject(error);
      });
      request.on('response', (response) => {
        hasStatus = true;
        void discard(response).then(() => resolve(response));
      });
      request.on('close', () => {
        if (!hasStatus) reject(new Error('the connection was closed'));
      });
      request.end(message.body);
    });
  }

  #open(message: Message, signal: AbortSignal): ClientRequest {
    return openRequest(this.#url, {
      method: 'POST',
      agent: this.#agent,
      signal,
      headers: {
        'content-type': this.#contentType,
        'content-length': Buffer.byteLength(message.body),
        'user-agent': 'subreport-sync',
        'webhook-id': message.id,
        'webhook-timestamp': String(message.timestamp),
        'webhook-signature': signaturesOf(message, this.#keys),
      },
    });
  }
}

/** Reads the rest of a short response, and closes the connection of a long or slow one. */
function discard(response: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    let bytes = 0;
    const timer = setTimeout(() => response.destroy(), answerMsMax);
    response.on('data', (part: Buffer) => {
      bytes += part.length;
      if (bytes > answerBytesMax) response.destroy();
    });
    response.on('error', () => undefined); // the status has arrived, and is the result
    response.on('close', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

function resultOf({ statusCode: status = 0, headers }: IncomingMessage): DeliveryResult {
  const retryAfterMs = readRetryAfter(headers['retry-after']);
  return { status, shown: `HTTP ${status}`, ...(retryAfterMs !== undefined && { retryAfterMs }) };
}
