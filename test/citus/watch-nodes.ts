import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';

/** A way to a coordinator on which it can be seen which nodes it sends statements to. */
export interface WatchedCoordinator {
  /** The URL of the coordinator through this way. */
  readonly url: string;
  /** Commands sent to nodes since the last call, by the address of the node. */
  take(): ReadonlyMap<string, readonly string[]>;
  close(): void;
}

/**
 * Opens a way to the coordinator `url`. It reads the notices by which Citus reports the commands
 * that it sends to nodes, so the role must have `citus.log_remote_commands`. The driver of the
 * client does not take part: some of ours pass notices on and some do not.
 */
export async function watchNodes(url: string): Promise<WatchedCoordinator> {
  const { hostname, port } = new URL(url);
  let seen = new Map<string, string[]>();
  const server = createServer((client) => {
    const coordinator = connect(Number(port), hostname);
    client.on('error', () => coordinator.destroy()).pipe(coordinator);
    coordinator.on('error', () => client.destroy()).pipe(client);
    let rest: Buffer = Buffer.alloc(0);
    coordinator.on('data', (bytes: Buffer) => {
      rest = Buffer.concat([rest, bytes]);
      for (let length = messageLength(rest); rest.length >= length; length = messageLength(rest)) {
        const node = noticed(rest.subarray(0, length));
        if (node !== undefined) seen.set(node.address, [...(seen.get(node.address) ?? []), node.command]);
        rest = rest.subarray(length);
      }
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const watched = new URL(url);
  watched.hostname = '127.0.0.1';
  watched.port = String((server.address() as AddressInfo).port);
  return {
    url: watched.href,
    take() {
      const taken = seen;
      seen = new Map();
      return taken;
    },
    close: () => server.close(),
  };
}

/** The bytes of the first message: its type, then its length, which includes itself. */
const messageLength = (bytes: Buffer): number =>
  bytes.length < 5 ? Number.POSITIVE_INFINITY : 1 + bytes.readInt32BE(1);

/** What a notice of Citus says of a command that it sends; other messages say nothing. */
function noticed(message: Buffer): { readonly address: string; readonly command: string } | undefined {
  if (String.fromCharCode(message[0] ?? 0) !== 'N') return undefined;
  const fields = new Map(
    message
      .toString('utf8', 5)
      .split('\0')
      .map((field) => [field.slice(0, 1), field.slice(1)]),
  );
  const address = /^on server (\S+)/.exec(fields.get('D') ?? '')?.[1];
  return address === undefined ? undefined : { address, command: fields.get('M') ?? '' };
}
