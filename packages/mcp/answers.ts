import type { ChangesSummary, Product, SubscriptionFindings, SubscriptionSummary } from '../client/index.ts';
import { printableJson } from '../terminal/printable.ts';

/** The answer to a question. */
export type Answer = Readonly<Record<string, unknown>>;

/** Most bytes of a response: some assistants cut longer ones, and all pay for them. */
const responseBytesMax = 20_000;

/** JSON-RPC around an answer. */
const frameBytes = 500;

/** Whether the answer fits once MCP has encoded it as JSON twice. */
export const isShort = (answer: Answer): boolean =>
  Buffer.byteLength(JSON.stringify(printableJson(JSON.stringify(answer)))) + frameBytes <= responseBytesMax;

/** Records as a table: their names once, and each product once. */
interface Table {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly unknown[])[];
  readonly products?: Omit<Table, 'products'>;
}

/** A record with or without something about it, such as a change. */
interface Item {
  readonly product?: Product;
  readonly before?: object;
}

/**
 * Makes a table of records. The cell of a product is its id, or the whole product if it differs
 * from that of another row; that of `before` has the members that were different.
 */
export function tableOf(items: readonly object[]): Table {
  const products = new Map<string, string>();
  const productCell = (product: Product): unknown => {
    const { id, ...rest } = product;
    // some fields of a product do not name it
    if (id === undefined) return product;
    const json = JSON.stringify(rest);
    if (!products.has(id)) products.set(id, json);
    return products.get(id) === json ? id : product;
  };
  const cellsOf = ({ product, ...item }: Item & Record<string, unknown>): Record<string, unknown> => {
    const all = Object.entries({ ...item, ...(product !== undefined && { product: productCell(product) }) });
    return Object.fromEntries(
      all.map(([name, value]) => [
        name,
        name === 'before' ? differences(value as object, { ...item, product }) : value,
      ]),
    );
  };
  const differences = (before: object, now: Readonly<Record<string, unknown>>): object => {
    // a record without a status has no member of it
    const different = Object.entries({ ...('status' in now && { status: null }), ...before }).filter(
      ([name, value]) => JSON.stringify(value) !== JSON.stringify(now[name]),
    );
    return cellsOf(Object.fromEntries(different));
  };
  const table = rowsOf(items.map((item) => cellsOf(item as Item & Record<string, unknown>)));
  const known = [...products].map(([id, json]) => ({ id, ...(JSON.parse(json) as object) }));
  return { ...table, ...(known.length > 0 && { products: rowsOf(known) }) };
}

function rowsOf(objects: readonly object[]): Omit<Table, 'products'> {
  const columns = [...new Set(objects.flatMap((each) => Object.keys(each)))];
  const rows = objects.map((each) => columns.map((column) => (each as Record<string, unknown>)[column] ?? null));
  return { columns, rows };
}

/** The answer with as many rows as are short enough, at least one. */
export function longest<Row>(rows: readonly Row[], answerOf: (kept: readonly Row[]) => Answer): Answer {
  for (let count = rows.length; count > 1; count -= 1) {
    const answer = answerOf(rows.slice(0, count));
    if (isShort(answer)) return answer;
  }
  return answerOf(rows.slice(0, 1));
}

type Counts = readonly { readonly value: string | null; readonly count: number; readonly name?: string }[];

/** The summary, with fewer values of each dimension until it is short enough. */
export function largestCounts(
  { total, by }: SubscriptionSummary,
  more: Answer,
  most = Number.POSITIVE_INFINITY,
): Answer {
  const dimensions: readonly [string, Counts][] = Object.entries(by);
  const kept = dimensions.map(([name, counts]) => [name, largest(counts, most)] as const);
  const left = dimensions.flatMap(([name, { length }]) => (length > most ? [[name, length - most]] : []));
  const rows = kept.map(
    ([dimension, counts]) =>
      [
        dimension,
        counts.map(({ value, count, name }) => [value, count, ...(name === undefined ? [] : [name])]),
      ] as const,
  );
  const omitted = left.length === 0 ? {} : { omitted: Object.fromEntries(left) };
  const answer = { total, by: Object.fromEntries(rows), ...omitted, ...more };
  if (isShort(answer) || most < 1) return answer;
  const length = Math.max(...kept.map(([, counts]) => counts.length));
  return largestCounts({ total, by }, more, Math.floor(length / 2));
}

/** The largest counts in their former order. */
function largest(counts: Counts, most: number): Counts {
  if (counts.length <= most) return counts;
  const least = new Set(counts.toSorted((a, b) => b.count - a.count).slice(0, most));
  return counts.filter((entry) => least.has(entry));
}

/**
 * The summary of changes, with shorter lists until it is short enough; `omitted` says what is
 * missing.
 */
export function fewerTransitions(summary: ChangesSummary, more: Answer, most = Number.POSITIVE_INFINITY): Answer {
  const { by, omitted } = summary;
  const left = (list: readonly { readonly count: number }[]): number =>
    list.slice(most).reduce((sum, { count }) => sum + count, 0);
  // the newest days
  const days = by.day.slice(Math.max(0, by.day.length - most));
  const lists = { ...by, status: by.status.slice(0, most), 'product-id': by['product-id'].slice(0, most), day: days };
  const imports = by.import
    .slice(0, most)
    .map(({ status, ...rest }) => ({ ...rest, status: status.slice(0, most), omitted: rest.omitted + left(status) }));
  const answer = {
    ...summary,
    by: { ...lists, import: imports },
    omitted: {
      status: omitted.status + left(by.status),
      'product-id': omitted['product-id'] + left(by['product-id']),
      import: omitted.import + by.import.length - imports.length,
      ...(days.length < by.day.length && { day: by.day.length - days.length }),
    },
    ...more,
  };
  if (isShort(answer) || most <= 1) return answer;
  const length = Math.max(by.status.length, by['product-id'].length, by.day.length, by.import.length, 2);
  return fewerTransitions(summary, more, Math.floor(Math.min(most, length) / 2));
}

/** The findings, with fewer examples of each kind until they are short enough. */
export function fewerExamples({ findings, ...rest }: SubscriptionFindings, more: Answer, most = 10): Answer {
  const fewer = findings.map(({ examples, ...finding }) => ({
    ...finding,
    examples: examples.slice(0, most).map(({ ids, ...example }) => ({ ...example, ids: ids.slice(0, most) })),
  }));
  const answer = { ...rest, findings: fewer, ...more };
  return isShort(answer) || most === 1 ? answer : fewerExamples({ findings, ...rest }, more, Math.floor(most / 2));
}
