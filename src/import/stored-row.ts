import type { StoredRecord } from '../storage/tables/stored-record.ts';
import type { SourceRow } from './source-row.ts';

/** The beginning of a row as our reports and exports write it. */
const leadingId = /^\{"id":"([A-Za-z0-9_=-]{1,257})"/;
const id = /^[A-Za-z0-9_=-]{1,257}$/;

/** The id of a row that has not been checked; `undefined` if no stored record can have it. */
export function idOf(row: SourceRow): string | undefined {
  const [, leading] = leadingId.exec(row.raw) ?? [];
  if (leading !== undefined) return leading;
  const { content } = row;
  const { id: value } = ('value' in content ? (content.value ?? {}) : {}) as { id?: unknown };
  return typeof value === 'string' && id.test(value) ? value : undefined;
}

/**
 * Whether the text of a row is exactly a stored record, followed by its e-mail address if it has
 * one. This takes a tenth of the time of parsing and checking the row.
 */
export function isStoredText(raw: string, { record, email }: StoredRecord): boolean {
  const rest = email === null ? '}' : `,"email":${JSON.stringify(email)}}`;
  const fields = record.slice(0, -1);
  return raw.length === fields.length + rest.length && raw.startsWith(fields) && raw.endsWith(rest);
}
