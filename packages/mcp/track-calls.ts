import { EventEmitter, once } from 'node:events';
import type { StdioServerTransport } from '@modelcontextprotocol/server/stdio';

/** A message of JSON-RPC. */
interface Message {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>> | undefined;
}

/** Tracks the calls that a transport has received, and not yet answered. */
export function trackCalls(transport: StdioServerTransport) {
  const open = new Set<unknown>();
  const events = new EventEmitter();
  const end = (id: unknown): void => {
    if (open.delete(id)) events.emit('answer');
  };
  const { onmessage, onclose } = transport;
  const send = transport.send.bind(transport);
  transport.onmessage = (message) => {
    const { id, method, params }: Message = message;
    // a subscription has no answer, nor has a call that is cancelled
    if (id !== undefined && method !== undefined && method !== 'subscriptions/listen') open.add(id);
    if (method === 'notifications/cancelled') end(params?.requestId);
    onmessage?.(message);
  };
  transport.onclose = () => {
    open.clear();
    for (const event of ['answer', 'close']) events.emit(event);
    onclose?.();
  };
  transport.send = async (message) => {
    const { id, method }: Message = message;
    await send(message).finally(() => method === undefined && end(id));
  };
  return {
    /** Resolves when the transport has closed. */
    closed: once(events, 'close').then(() => 'closed' as const),
    /** Resolves when no call is open. Rejects if the signal is aborted. */
    async whenAnswered(signal: AbortSignal): Promise<void> {
      signal.throwIfAborted();
      while (open.size > 0) await once(events, 'answer', { signal });
    },
  };
}
