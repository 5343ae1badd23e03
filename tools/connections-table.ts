import { serverLimits } from '../packages/cli/remote/server-operations.ts';
import { lineLengthMax } from '../packages/cli/sync/source/read-source.ts';
import { databaseConnectMs } from '../packages/cli/sync/table/postgres-table.ts';
import { receiverLimits } from '../packages/cli/sync/webhook/webhook-request.ts';
import { timeoutMsDefault } from '../packages/client/sender.ts';
import { responseBounds, responseBytesMax } from '../packages/outgoing/bounds.ts';
import { dripLimits } from '../packages/outgoing/fetch.ts';

/** Connections that programs of readers open. */
interface Connections {
  /** The modules that open them. */
  readonly modules: readonly string[];
  readonly programs: string;
  /** The peer, and what names it. */
  readonly peer: string;
  readonly sends: string;
  readonly tls: string;
  /** Bounds of a response, and time limits. */
  readonly bounds: string;
  readonly redirects: string;
  readonly proxy: string;
}

const size = (bytes: number): string => (bytes < 2 ** 20 ? `${bytes / 1_024} KiB` : `${bytes / 2 ** 20} MiB`);
const seconds = (ms: number): string => `${(ms / 1_000).toLocaleString('en')} s`;

const { valuesMax, depthMax } = responseBounds;
const parsed = `${valuesMax.toLocaleString('en')} values, ${depthMax} levels`;
const lines = `a whole report: ${size(lineLengthMax)} a line, after ${seconds(dripLimits.waitMsMax)} at least ${1_000 / dripLimits.waitMsPerKilobyte} KiB/s`;
const https = 'https; http to this machine';
const proxied = '`HTTPS_PROXY`, not to this machine';

/** Each module that opens connections is in one row. */
export const connections: readonly Connections[] = [
  {
    modules: ['packages/terminal/connection.ts'],
    programs: '`list`, `export`, `sync`, …; `subreport-mcp`',
    peer: 'the service, and its token endpoint: the profile, `SUBREPORT_URL`',
    sends: 'client secret, to the token endpoint only; access token',
    tls: `${https}, elsewhere with \`--allow-http\``,
    bounds: `${size(responseBytesMax)}, ${parsed}; ${seconds(timeoutMsDefault)}; ${lines}`,
    redirects: 'an error',
    proxy: proxied,
  },
  {
    modules: ['packages/cli/remote/server-operations.ts'],
    programs: 'commands with `--server`',
    peer: "the operator's API: `--server`, `SUBREPORT_SERVER`",
    sends: 'operator token',
    tls: https,
    bounds: `${size(responseBytesMax)}, ${parsed}; ${seconds(serverLimits.connectMs)} for a tunnel, ${seconds(serverLimits.shortMs)}, ${seconds(serverLimits.longMs)} for deletions and \`doctor\``,
    redirects: 'an error',
    proxy: proxied,
  },
  {
    modules: ['packages/cli/sync/webhook/webhook-request.ts'],
    programs: '`sync --to webhook:URL`',
    peer: 'the receiver',
    sends: 'a signature of each request; counts, ids, dates and change tokens',
    tls: https,
    bounds: `none of the body is read; ${seconds(receiverLimits.tryMsMax)}`,
    redirects: 'a failed try',
    proxy: proxied,
  },
  {
    modules: ['packages/cli/sync/table/postgres-table.ts'],
    programs: '`sync --to postgres://…`',
    peer: 'the database of the copy',
    sends: 'records; its password, never in clear text without TLS',
    tls: '`sslmode=verify-full`, unless `--allow-plain`',
    bounds: `${seconds(databaseConnectMs)} to connect`,
    redirects: '–',
    proxy: 'none',
  },
  {
    modules: [],
    programs: '`sync --to rclone:REMOTE:PATH`',
    peer: 'the store of files',
    sends: 'records; credentials of rclone, in its configuration, its variables or the role of the machine',
    tls: 'that of the remote; SSH checks the host key only with a file of known hosts, and each run warns without one',
    bounds: 'those of rclone',
    redirects: 'those of rclone',
    proxy: 'that of rclone',
  },
];

/** The connections of the programs, by peer. */
export function connectionsTable(): string {
  const rows = connections.map(
    ({ programs, peer, sends, tls, bounds, redirects, proxy }) =>
      `| ${[programs, peer, sends, tls, bounds, redirects, proxy].join(' | ')} |`,
  );
  return [
    '| programs | peer | they send | TLS | bounds of a response | redirects | proxy |',
    '|---|---|---|---|---|---|---|',
    ...rows,
  ].join('\n');
}
