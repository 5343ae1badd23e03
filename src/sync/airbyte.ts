import { type Protocol, type ProtocolState, streamName } from './protocol-output.ts';
import type { Source } from './run-sync.ts';
import { recordProperties } from './singer.ts';

/** The commands of an Airbyte source. */
export type AirbyteCommand = 'spec' | 'check' | 'discover' | 'read';

const stream = { name: streamName };

/** The Airbyte protocol 0.3.2 of `read`; removals as connectors with change capture write them. */
export class AirbyteProtocol implements Protocol {
  readonly name = 'airbyte';
  readonly emptyBy = 'clear the data of the stream';
  readonly replaces = false;

  stateIn(file: unknown): unknown {
    const { type, state } = file as { type?: string; state?: unknown };
    const given = type === 'STATE' ? state : file;
    const all = (Array.isArray(given) ? given : [given]) as { stream?: AirbyteStreamState }[];
    return all.find((each) => each?.stream?.stream_descriptor?.name === streamName)?.stream?.stream_state;
  }

  begin(): string {
    return statusOf('STARTED') + statusOf('RUNNING');
  }

  records(lines: readonly string[], revision: number): string {
    const start = `{"type":"RECORD","record":{"stream":"${streamName}","emitted_at":${Date.now()},"data":`;
    const end = `,"_ab_cdc_cursor":${revision},"_ab_cdc_deleted_at":null}}}\n`;
    return lines.map((line) => start + line.slice(0, -1) + end).join('');
  }

  removals(ids: readonly string[], revision: number): string {
    const now = new Date();
    const start = `{"type":"RECORD","record":{"stream":"${streamName}","emitted_at":${now.getTime()},"data":{"id":`;
    const end = `,"_ab_cdc_cursor":${revision},"_ab_cdc_deleted_at":"${now.toISOString()}"}}}\n`;
    return ids.map((id) => start + JSON.stringify(id) + end).join('');
  }

  replaced(): string {
    return '';
  }

  state(state: ProtocolState, count: number): string {
    const message = { type: 'STREAM', stream: { stream_descriptor: stream, stream_state: state } };
    // the protocol wants a decimal point, for readers whose integers are short
    return `{"type":"STATE","state":${JSON.stringify(message).slice(0, -1)},"sourceStats":{"recordCount":${count}.0}}}\n`;
  }

  end(): string {
    return statusOf('COMPLETE');
  }

  failed({ message }: Error, isUsage: boolean): string {
    const failure_type = isUsage ? 'config_error' : 'system_error';
    const trace = {
      type: 'ERROR',
      emitted_at: Date.now(),
      error: { message, failure_type, stream_descriptor: stream },
    };
    return lineFor({ type: 'TRACE', trace }) + statusOf('INCOMPLETE');
  }
}

interface AirbyteStreamState {
  readonly stream_descriptor?: { readonly name?: string };
  readonly stream_state?: unknown;
}

/** The message that answers a command other than `read`. */
export async function answerAirbyte(command: Exclude<AirbyteCommand, 'read'>, connect: () => Source): Promise<string> {
  if (command === 'spec') return lineFor({ type: 'SPEC', spec });
  if (command === 'discover') return lineFor({ type: 'CATALOG', catalog: { streams: [streamDescription] } });
  return lineFor({ type: 'CONNECTION_STATUS', connectionStatus: await check(connect) });
}

async function check(connect: () => Source): Promise<{ status: 'SUCCEEDED' | 'FAILED'; message?: string }> {
  try {
    for await (const _page of connect().client.changes('now')) break;
    return { status: 'SUCCEEDED' };
  } catch (error) {
    return { status: 'FAILED', message: (error as Error).message };
  }
}

const spec = {
  protocol_version: '0.3.2',
  supportsIncremental: true,
  supported_destination_sync_modes: ['append', 'append_dedup'],
  connectionSpecification: {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'subreport',
    type: 'object',
    required: ['url', 'client_id', 'client_secret'],
    properties: {
      url: { type: 'string', title: 'Service', examples: ['https://reports.example.com'], order: 0 },
      client_id: { type: 'string', title: 'Client id', order: 1 },
      client_secret: { type: 'string', title: 'Client secret', airbyte_secret: true, order: 2 },
    },
  },
};

const streamDescription = {
  name: streamName,
  json_schema: {
    $schema: 'http://json-schema.org/draft-07/schema#',
    type: 'object',
    properties: {
      ...recordProperties,
      _ab_cdc_cursor: { type: ['integer', 'null'] },
      _ab_cdc_deleted_at: { type: ['string', 'null'], format: 'date-time' },
    },
  },
  supported_sync_modes: ['incremental'],
  source_defined_cursor: true,
  default_cursor_field: ['_ab_cdc_cursor'],
  source_defined_primary_key: [['id']],
};

function statusOf(status: 'STARTED' | 'RUNNING' | 'COMPLETE' | 'INCOMPLETE'): string {
  const trace = { type: 'STREAM_STATUS', emitted_at: Date.now(), stream_status: { stream_descriptor: stream, status } };
  return lineFor({ type: 'TRACE', trace });
}

const lineFor = (message: object): string => `${JSON.stringify(message)}\n`;
