import type { SubscriptionSort } from '../../../client/index.ts';
import { fieldHeading } from '../words/field-heading.ts';

interface Column {
  /** The least width in pixels at which no cell is cut, except for long names and ids. */
  readonly width: number;
  /**
   * The lower, the more it is wanted: 0 always, 2 even if the name of the product is cut, 3 and 4
   * if that name has room, 5 only if it is chosen. A chosen one has 1.
   */
  readonly rank: 0 | 2 | 3 | 4 | 5;
  /** The field of the record that it shows, as `fields` of a link names it. */
  readonly field: string;
  /** Its heading, if that is not the name of the field. */
  readonly label?: string;
  /** The date by which its heading sorts. */
  readonly date?: SubscriptionSort;
}

const rows = {
  status: { width: 116, rank: 0, field: 'status' },
  product: { width: 164, rank: 0, field: 'product.name' },
  iccid: { width: 172, rank: 2, field: 'iccid' },
  device: { width: 132, rank: 3, field: 'device_id' },
  plan: { width: 132, rank: 4, field: 'product.plan_id', label: 'Plan' },
  created: { width: 124, rank: 2, field: 'createdDate', date: 'createdDate' },
  activated: { width: 124, rank: 3, field: 'activationDate', date: 'activationDate' },
  ends: { width: 120, rank: 2, field: 'expirationDate', date: 'expirationDate' },
  renews: { width: 72, rank: 2, field: 'auto_renew' },
  id: { width: 150, rank: 5, field: 'id' },
} as const satisfies Readonly<Record<string, Column>>;

export type ColumnId = keyof typeof rows;

/** The columns of the table, from left to right. */
export const columns: { readonly [Id in ColumnId]: Column } = rows;
export const columnIds = Object.keys(rows) as readonly ColumnId[];

/** The heading of a column. */
export const labelOf = (id: ColumnId): string => columns[id].label ?? fieldHeading(columns[id].field);

/** The width that columns which are only welcome leave to the name of the product. */
const productWidth = 190;
/** The width of the product from which an ICCID has all its digits: names of usual length fit. */
const wideProductWidth = 240;
/** The width of the product above which the other columns share the room: long names fit. */
const ampleProductWidth = 420;
/** The width of an ICCID with all its digits. */
const fullIccidWidth = 244;

/** Columns that the user has shown or hidden; the others are shown while there is room. */
export type ColumnChoices = { readonly [Id in ColumnId]?: boolean };

/** The choice that shows these fields, and no other column that can be hidden. */
export const choicesOf = (fields: readonly string[]): ColumnChoices =>
  Object.fromEntries(columnIds.map((id) => [id, fields.includes(columns[id].field)]));

/** Whether a column is shown if there is room. */
export const isWanted = (id: ColumnId, choices: ColumnChoices): boolean => choices[id] ?? columns[id].rank < 5;

interface FittedColumns {
  /** In the order of the table, with their widths; the product has what they leave. */
  readonly widths: ReadonlyMap<ColumnId, number>;
  /** Whether an ICCID has room for all its digits. */
  readonly isIccidFull: boolean;
}

/** The columns that a table of this width has room for: the chosen ones first. */
export function fitColumns(width: number, choices: ColumnChoices): FittedColumns {
  const rank = (id: ColumnId): number => (columns[id].rank > 0 && choices[id] === true ? 1 : columns[id].rank);
  const visible = new Set<ColumnId>();
  let room = width;
  for (const id of columnIds.toSorted((a, b) => rank(a) - rank(b))) {
    const needed = columns[id].width + (rank(id) >= 3 ? productWidth - columns.product.width : 0);
    if (rank(id) > 0 && (needed > room || !isWanted(id, choices))) continue;
    visible.add(id);
    room -= columns[id].width;
  }
  const iccidSpare = fullIccidWidth - columns.iccid.width;
  const isIccidFull = visible.has('iccid') && room >= iccidSpare + wideProductWidth - columns.product.width;
  const left = room - (isIccidFull ? iccidSpare : 0) - (ampleProductWidth - columns.product.width);
  const share = Math.max(0, Math.floor(left / Math.max(visible.size - 1, 1)));
  const widthOf = (id: ColumnId): number =>
    columns[id].width + (id === 'iccid' && isIccidFull ? iccidSpare : 0) + (id === 'product' ? 0 : share);
  return {
    widths: new Map(columnIds.filter((id) => visible.has(id)).map((id) => [id, widthOf(id)])),
    isIccidFull,
  };
}

/** Below this width, a record takes two lines instead of a table row. */
export const tableWidthMin = 640;
