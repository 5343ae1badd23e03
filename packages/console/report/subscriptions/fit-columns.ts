/** The columns of the table, the most wanted first. */
export const columnIds = [
  'status',
  'product',
  'iccid',
  'created',
  'ends',
  'renews',
  'device',
  'activated',
  'plan',
  'id',
] as const;
export type ColumnId = (typeof columnIds)[number];

/** Least widths in pixels at which no cell is cut, except for long names and ids. */
export const columnWidths: { readonly [Id in ColumnId]: number } = {
  status: 116,
  product: 164,
  iccid: 172,
  created: 124,
  ends: 120,
  renews: 72,
  activated: 124,
  device: 132,
  plan: 132,
  id: 150,
};

/** The width that columns which are only welcome leave to the name of the product. */
const productWidth = 190;
/** The width of the product from which an ICCID has all its digits: names of usual length fit. */
const wideProductWidth = 240;
/** The columns that are shown even if the name of the product is cut. */
const mainColumns: readonly ColumnId[] = ['status', 'product', 'iccid', 'created', 'ends', 'renews'];

/** The width of an ICCID with all its digits. */
const fullIccidWidth = 244;
/** The width of the product above which the other columns share the room: long names fit. */
const ampleProductWidth = 420;

/** Columns that the user has shown or hidden; the others are shown while there is room. */
export type ColumnChoices = { readonly [Id in ColumnId]?: boolean };

/** The column that shows a field of the record. */
const columnOfField: Readonly<Record<string, ColumnId>> = {
  device_id: 'device',
  'product.plan_id': 'plan',
  createdDate: 'created',
  activationDate: 'activated',
  expirationDate: 'ends',
  auto_renew: 'renews',
  iccid: 'iccid',
  id: 'id',
};

/** The choice that shows these fields, and no other column that can be hidden. */
export function choicesOf(fields: readonly string[]): ColumnChoices {
  const shown = fields.map((name) => columnOfField[name]);
  return Object.fromEntries(columnIds.map((id) => [id, shown.includes(id)]));
}

/** The columns that name the record: always shown. */
export const requiredColumns: readonly ColumnId[] = ['status', 'product'];

interface FittedColumns {
  /** In the order of the table, with their widths; the product has what they leave. */
  readonly widths: ReadonlyMap<ColumnId, number>;
  /** Whether an ICCID has room for all its digits. */
  readonly isIccidFull: boolean;
}

/** The columns that a table of this width has room for: the chosen ones first. */
export function fitColumns(width: number, choices: ColumnChoices): FittedColumns {
  const rank = (id: ColumnId): number => (requiredColumns.includes(id) ? 0 : choices[id] === true ? 1 : 2);
  const wanted = columnIds
    .filter((id) => rank(id) === 0 || (choices[id] ?? id !== 'id'))
    .sort((a, b) => rank(a) - rank(b));
  const visible = new Set<ColumnId>();
  let room = width;
  const spare = productWidth - columnWidths.product;
  for (const id of wanted) {
    const isWelcome = choices[id] === undefined && !mainColumns.includes(id);
    const needed = columnWidths[id] + (isWelcome ? spare : 0);
    if (needed > room && !requiredColumns.includes(id)) continue;
    visible.add(id);
    room -= columnWidths[id];
  }
  const iccidSpare = fullIccidWidth - columnWidths.iccid;
  const isIccidFull = visible.has('iccid') && room >= iccidSpare + wideProductWidth - columnWidths.product;
  const left = room - (isIccidFull ? iccidSpare : 0) - (ampleProductWidth - columnWidths.product);
  const share = Math.max(0, Math.floor(left / Math.max(visible.size - 1, 1)));
  const widthOf = (id: ColumnId): number =>
    columnWidths[id] + (id === 'iccid' && isIccidFull ? iccidSpare : 0) + (id === 'product' ? 0 : share);
  return {
    widths: new Map(tableOrder.filter((id) => visible.has(id)).map((id) => [id, widthOf(id)])),
    isIccidFull,
  };
}

/** From left to right. */
const tableOrder: readonly ColumnId[] = [
  'status',
  'product',
  'iccid',
  'device',
  'plan',
  'created',
  'activated',
  'ends',
  'renews',
  'id',
];

/** Below this width, a record takes two lines instead of a table row. */
export const tableWidthMin = 640;
