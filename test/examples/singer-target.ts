import Type from 'typebox';
import { Compile } from 'typebox/schema';

/** The messages of the Singer specification 0.3, and ACTIVATE_VERSION, which most targets know. */
const stream = Type.String({ minLength: 1 });
const version = Type.Integer({ minimum: 1 });
const members = {
  SCHEMA: { stream, schema: Type.Object({ type: Type.Literal('object') }), key_properties: Type.Array(Type.String()) },
  RECORD: {
    stream,
    record: Type.Object({}),
    time_extracted: Type.Optional(Type.String({ format: 'date-time' })),
    version: Type.Optional(version),
  },
  ACTIVATE_VERSION: { stream, version },
  STATE: { value: Type.Object({}) },
};
const messages = Compile(
  Type.Union(
    Object.entries(members).map(([type, properties]) =>
      Type.Object({ type: Type.Literal(type), ...properties }, { additionalProperties: false }),
    ),
  ),
);

type Message =
  | { readonly type: 'SCHEMA'; readonly schema: object; readonly key_properties: readonly string[] }
  | { readonly type: 'RECORD'; readonly record: StoredRecord; readonly version?: number }
  | { readonly type: 'ACTIVATE_VERSION'; readonly version: number }
  | { readonly type: 'STATE'; readonly value: object };

interface StoredRecord {
  readonly id: string;
  readonly createdDate?: string;
  readonly _sdc_deleted_at: string | null;
}

/**
 * A Singer target: validates each message by the specification and each record by the schema that
 * the tap sent, keeps the records, and commits them with each state.
 */
export class SingerTarget {
  /** The states whose records are committed, each as JSON. */
  readonly states: string[] = [];
  /** Number of activated versions, and of removals. */
  versions = 0;
  removals = 0;
  #validate: { Check(value: unknown): boolean; Errors(value: unknown): unknown } | undefined;
  #records = new Map<string, { readonly record: StoredRecord; readonly version: number | undefined }>();
  #committed = new Map(this.#records);

  /** Reads a line. Throws if it is not a valid message. */
  read(line: string): void {
    const given: unknown = JSON.parse(line);
    if (!messages.Check(given)) throw new Error(`invalid message: ${line}`);
    const message = given as Message;
    if (message.type === 'SCHEMA') this.#validate = Compile({ ...message.schema, additionalProperties: false });
    else if (message.type === 'RECORD') this.#keep(message);
    else if (message.type === 'STATE') {
      this.states.push(JSON.stringify(message.value));
      this.#committed = new Map(this.#records);
    } else {
      this.versions += 1;
      for (const [id, { version }] of this.#records) if (version !== message.version) this.#records.delete(id);
    }
  }

  /** Ends a run. */
  end(): void {
    this.#committed = new Map(this.#records);
  }

  /** Ends a run whose records after the last state are lost. */
  lose(): void {
    this.#records = new Map(this.#committed);
  }

  /** The records that were not removed, as lines of the export in its order. */
  lines(): string[] {
    return [...this.#records.values()]
      .map(({ record }) => record)
      .filter(({ _sdc_deleted_at }) => _sdc_deleted_at === null)
      .sort(
        (one, other) => instantOf(one) - instantOf(other) || Buffer.compare(Buffer.from(one.id), Buffer.from(other.id)),
      )
      .map(({ _sdc_deleted_at: _, ...record }) => JSON.stringify(record));
  }

  #keep({ record, version }: Extract<Message, { type: 'RECORD' }>): void {
    if (this.#validate?.Check(record) !== true)
      throw new Error(`invalid record: ${JSON.stringify([record, this.#validate?.Errors(record)])}`);
    if (record._sdc_deleted_at !== null) this.removals += 1;
    this.#records.set(record.id, { record, version });
  }
}

const instantOf = ({ createdDate = '' }: StoredRecord): number => Date.parse(createdDate);
