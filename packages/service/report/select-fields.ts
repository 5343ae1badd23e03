import { recordFields, recordWith, valueAt } from '../../contract/record-fields.ts';
import { CsvLines, recordLine } from './csv-lines.ts';
import type { ReportQuery } from './report-query.ts';

/** How records are shown. */
export type Shown = Pick<ReportQuery, 'format' | 'fields' | 'datesIn'>;

/**
 * Returns a function that writes stored records, each followed by a line feed, in a format of
 * lines. Its result is valid until the next call.
 */
export function createLineWriter({ format, fields, datesIn }: Shown): (records: Buffer) => Buffer {
  if (format !== 'csv') return fields === undefined ? (records) => records : (records) => selectLines(records, fields);
  if (fields === undefined && datesIn === undefined) {
    const csv = new CsvLines();
    return (records) => csv.convert(records);
  }
  const columns = fields && columnsOf(fields);
  return (records) =>
    Buffer.from(
      parseLines(records)
        .map((each) => recordLine(each, columns, datesIn))
        .join(''),
    );
}

/** Selects fields of records, each followed by a line feed. */
function selectLines(records: Buffer, fields: readonly string[]): Buffer {
  const select = selectorOf(fields);
  return Buffer.from(
    parseLines(records)
      .map((record) => `${JSON.stringify(select(record))}\n`)
      .join(''),
  );
}

/** Selects fields of the records of a JSON array. */
export function selectArray(records: Buffer, fields: readonly string[]): Buffer {
  const parsed: readonly object[] = JSON.parse(records.toString());
  return Buffer.from(JSON.stringify(parsed.map(selectorOf(fields))));
}

/** Returns a function that selects fields of the JSON of a record. */
export function createSelection(fields: readonly string[]): (record: string) => string {
  const select = selectorOf(fields);
  return (record) => JSON.stringify(select(JSON.parse(record)));
}

/** Selects fields of a record, which stay in its order. */
function selectorOf(fields: readonly string[]): (record: object) => object {
  const isAsked = new Set(fields);
  const asked = recordFields.filter(({ name }) => isAsked.has(name));
  return (record) => recordWith((field) => valueAt(record, field), asked);
}

const columnsOf = (names: readonly string[]) =>
  names.flatMap((name) => recordFields.find((field) => field.name === name) ?? []);

/** Stored JSON has line feeds between records only. */
const parseLines = (records: Buffer): readonly object[] =>
  JSON.parse(`[${records.toString().trimEnd().replaceAll('\n', ',')}]`);
