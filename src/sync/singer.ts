import { type Protocol, streamName } from './protocol-output.ts';

const text = { type: ['string', 'null'] };
const instant = { type: ['string', 'null'], format: 'date-time' };

/**
 * The JSON schema of a record. All but the id may be null: of a removed record only the id is
 * known.
 */
export const recordProperties = {
  id: { type: 'string' },
  status: text,
  activationDate: instant,
  expirationDate: instant,
  createdDate: instant,
  product: {
    type: ['object', 'null'],
    properties: { id: text, name: text, period: { type: ['integer', 'null'] }, period_unit: text, plan_id: text },
  },
  iccid: text,
  device_id: text,
  auto_renew: text,
} as const;

/** The Singer specification, as Meltano's targets read it: https://hub.meltano.com/singer/spec. */
export class SingerProtocol implements Protocol {
  readonly name = 'singer';
  readonly emptyBy = "empty the target's table, or use --activate-version if the target understands ACTIVATE_VERSION";
  readonly replaces: boolean;

  /** @param replaces whether to write ACTIVATE_VERSION after a whole report */
  constructor(replaces: boolean) {
    this.replaces = replaces;
  }

  stateIn(file: unknown): unknown {
    const { type, value } = file as { type?: string; value?: unknown };
    const state = (type === 'STATE' ? value : file) as { bookmarks?: Record<string, unknown> } | null;
    return state?.bookmarks?.[streamName];
  }

  begin(): string {
    const properties = { ...recordProperties, _sdc_deleted_at: instant };
    const schema = { type: 'object', properties };
    return lineFor({ type: 'SCHEMA', stream: streamName, schema, key_properties: ['id'] });
  }

  records(lines: readonly string[], _revision: number, version: number | undefined): string {
    const start = `{"type":"RECORD","stream":"${streamName}",${versionMember(version)}"record":`;
    return lines.map((line) => `${start}${line.slice(0, -1)},"_sdc_deleted_at":null}}\n`).join('');
  }

  removals(ids: readonly string[], _revision: number, version: number | undefined): string {
    const start = `{"type":"RECORD","stream":"${streamName}",${versionMember(version)}"record":`;
    const at = new Date().toISOString();
    return ids.map((id) => `${start}{"id":${JSON.stringify(id)},"_sdc_deleted_at":"${at}"}}\n`).join('');
  }

  replaced(version: number): string {
    return lineFor({ type: 'ACTIVATE_VERSION', stream: streamName, version });
  }

  state(state: object): string {
    return lineFor({ type: 'STATE', value: { bookmarks: { [streamName]: state } } });
  }

  end(): string {
    return '';
  }

  failed(): string {
    return '';
  }
}

const versionMember = (version: number | undefined): string => (version === undefined ? '' : `"version":${version},`);

const lineFor = (message: object): string => `${JSON.stringify(message)}\n`;
