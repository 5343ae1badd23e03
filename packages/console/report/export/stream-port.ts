type Bytes = Uint8Array<ArrayBuffer>;

/** What the receiver of a stream asks for, and what the sender replies. */
type Request = 'pull' | 'cancel';
type Reply = { readonly value: Bytes } | { readonly end: true } | { readonly error: string };

/** A stream that is being sent. */
export interface Sending {
  cancel(reason: unknown): Promise<void>;
}

/**
 * Sends a stream through a message port, one part for each request of the receiver, so that a slow
 * receiver slows down the sender. Not every browser can transfer a stream itself to a worker.
 * `onError` gets the error itself; the receiver only its message.
 */
export function sendStream(
  stream: ReadableStream<Bytes>,
  port: MessagePort,
  onError: (error: unknown) => void = () => undefined,
): Sending {
  const reader = stream.getReader();
  const reply = (message: Reply, parts: Transferable[] = []) => port.postMessage(message, parts);
  port.onmessage = async ({ data }: MessageEvent<Request>) => {
    try {
      if (data === 'cancel') return await reader.cancel();
      const { done, value } = await reader.read();
      if (done) reply({ end: true });
      // a part of a larger buffer is copied: transferring it would take the rest along
      else reply({ value }, value.byteLength === value.buffer.byteLength ? [value.buffer] : []);
    } catch (error) {
      onError(error);
      reply({ error: error instanceof Error ? error.message : String(error) });
    }
  };
  return { cancel: (reason) => reader.cancel(reason) };
}

/** Receives the stream that `sendStream` sends to the other port. */
export function receiveStream(port: MessagePort): ReadableStream<Bytes> {
  let received: () => void = () => undefined;
  const request = (message: Request): void => port.postMessage(message);
  return new ReadableStream<Bytes>({
    start(controller) {
      port.onmessage = ({ data }: MessageEvent<Reply>) => {
        if ('value' in data) controller.enqueue(data.value);
        else if ('end' in data) controller.close();
        else controller.error(new Error(data.error));
        received();
      };
    },
    pull: () =>
      new Promise<void>((resolve) => {
        received = resolve;
        request('pull');
      }),
    cancel: () => request('cancel'),
  });
}
