import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import type { ImportFormat } from '../../packages/service/import/read-valid-rows.ts';

/** A file as somebody's program writes it, and what must become of it. */
export interface CorpusFile {
  readonly imitates: string;
  readonly format: ImportFormat;
  readonly bytes: Buffer;
  /** The mapping of its columns. */
  readonly columns?: string;
  readonly expected: Loaded | Refused;
}

/** The records that are stored, the number of skipped rows, the notes, and faults of other rows. */
interface Loaded {
  readonly records: readonly FileRecord[];
  readonly skipped?: number;
  readonly notes?: readonly string[];
  readonly rejected?: readonly string[];
}

/** Part of the one sentence that says why nothing is loaded. */
interface Refused {
  readonly refused: string;
}

export type FileRecord = typeof ada;

const ada = {
  id: 'c3Vi-1001',
  status: 'ACTIVE',
  activationDate: '2024-05-01T08:00:04Z',
  expirationDate: '2024-05-31T08:00:04Z',
  createdDate: '2024-05-01T08:00:00Z',
  product: { id: 'p30', name: 'Europa 5 GB, 30 Tage', period: 30, period_unit: 'DAYS', plan_id: 'eu' },
  iccid: '8944500102198304826',
  device_id: 'device-000417',
  auto_renew: 'true',
};
const bo = { ...ada, id: 'c3Vi-1002', iccid: '8944500102198304834', device_id: '', status: 'Not started' };
const cy = {
  ...ada,
  id: 'c3Vi-1003',
  iccid: '8944500102198304842',
  product: { ...ada.product, name: 'Zürich – Łódź 日本' },
};
export const all = [ada, bo, cy];

/** The columns, and the cells of a record. */
const cellsOf = ({ product, ...record }: FileRecord): Record<string, string> => ({
  ...record,
  ...Object.fromEntries(Object.entries(product).map(([name, value]) => [`product.${name}`, String(value)])),
});
const names = Object.keys(cellsOf(ada));

interface Style {
  readonly separator?: string;
  readonly end?: string;
  /** Whether all cells are quoted. */
  readonly quotesAll?: boolean;
  readonly header?: readonly string[];
  readonly change?: (cells: Record<string, string>) => Record<string, string>;
  readonly records?: readonly FileRecord[];
}

/** The lines of a table, the header first. */
function linesOf({ separator = ',', quotesAll = false, change = (cells) => cells, ...style }: Style = {}): string[] {
  const quote = (cell: string): string =>
    quotesAll || cell.includes(separator) || /["\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
  const rows = (style.records ?? all).map((record) => {
    const cells = change(cellsOf(record));
    return names.map((name) => quote(cells[name] ?? '')).join(separator);
  });
  return [(style.header ?? names).map(quote).join(separator), ...rows];
}

export const csvOf = (style: Style = {}): string => `${linesOf(style).join(style.end ?? '\n')}${style.end ?? '\n'}`;
export const ndjsonOf = (records: readonly object[]): string =>
  records.map((record) => `${JSON.stringify(record)}\n`).join('');

export const csv = (
  imitates: string,
  content: string | Buffer,
  expected: CorpusFile['expected'],
  columns?: string,
): CorpusFile => ({
  imitates,
  format: 'csv',
  bytes: Buffer.from(content as string),
  expected,
  ...(columns !== undefined && { columns }),
});
export const ndjson = (imitates: string, content: string | Buffer, expected: CorpusFile['expected']): CorpusFile => ({
  imitates,
  format: 'ndjson',
  bytes: Buffer.from(content as string),
  expected,
});

const loaded: Loaded = { records: all };
const withLines = (edit: (lines: string[]) => string[], style: Style = {}): string =>
  `${edit(linesOf(style)).join(style.end ?? '\r\n')}\r\n`;
const blank = ','.repeat(names.length - 1);
/** A row with a word in its first cell, and a sum of the periods. */
const totals = (word: string, separator: string, sum: string): string =>
  names.map((name, at) => (at === 0 ? word : name === 'product.period' ? sum : '')).join(separator);
const dates = ['activationDate', 'expirationDate', 'createdDate'];
/** All records with their dates in another form. */
const dated = (form: (date: string) => string): string =>
  csvOf({
    change: (cells) => ({ ...cells, ...Object.fromEntries(dates.map((name) => [name, form(cells[name] ?? '')])) }),
  });
const three = (rule: string): Loaded => ({ records: [], rejected: [rule, rule, rule] });
export const mapping = (name: string): string =>
  readFileSync(new URL(`../../examples/columns/${name}.json`, import.meta.url), 'utf8');
const rounded = Array.from({ length: 40 }, (_, n) => ({ ...ada, id: `r${n}`, iccid: `89445001021${1_000 + n}0000` }));

const spreadsheets: readonly CorpusFile[] = [
  csv('a spreadsheet in English: commas, CRLF', csvOf({ end: '\r\n' }), loaded),
  csv(
    'a spreadsheet in German, CSV UTF-8: a mark, semicolons',
    `\ufeff${csvOf({ separator: ';', end: '\r\n' })}`,
    loaded,
  ),
  csv('a spreadsheet in French with sep=;', `sep=;\r\n${csvOf({ separator: ';', end: '\r\n' })}`, loaded),
  csv(
    'a spreadsheet in Polish with a mark and "sep=;"',
    `\ufeff"sep=;"\r\n${csvOf({ separator: ';', end: '\r\n' })}`,
    loaded,
  ),
  csv('a spreadsheet with sep=, and semicolons within cells', `sep=,\r\n${csvOf({ end: '\r\n' })}`, loaded),
  csv('text separated by tabs', csvOf({ separator: '\t' }), loaded),
  csv('text separated by bars', csvOf({ separator: '|' }), loaded),
  csv('Unicode text of a spreadsheet (UTF-16LE, tabs)', Buffer.from(`\ufeff${csvOf({ separator: '\t' })}`, 'utf16le'), {
    refused: 'iconv -f UTF-16LE',
  }),
  csv('UTF-16BE', Buffer.from(`\ufeff${csvOf()}`, 'utf16le').swap16(), { refused: 'iconv -f UTF-16BE' }),
  csv('UTF-16 without a mark', Buffer.from(csvOf(), 'utf16le'), { refused: 'iconv -f UTF-16LE' }),
  csv(
    'a spreadsheet in German, CSV (Windows-1252)',
    Buffer.from(csvOf({ records: [ada, { ...bo, status: 'Gekündigt' }] }), 'latin1'),
    {
      records: [ada],
      rejected: ['Gekündigt (windows-1252)'],
    },
  ),
  csv('a header in Latin-1', Buffer.from(csvOf().replace('id,', 'größe,'), 'latin1'), {
    refused: 'größe (windows-1252)',
  }),
  csv('rows of commas that a spreadsheet leaves below the table', csvOf() + `${blank}\n`.repeat(40), {
    ...loaded,
    skipped: 40,
  }),
  csv(
    'a row of commas between rows',
    withLines(([first = '', ...rows]) => [first, blank, ...rows]),
    { ...loaded, skipped: 1 },
  ),
  csv('rows of commas above the header', `${blank}\n${csvOf()}`, loaded),
  csv(
    'a trailing comma in every line',
    withLines((lines) => lines.map((line) => `${line},`)),
    loaded,
  ),
  csv(
    'a trailing comma in the header only',
    withLines(([first = '', ...rows]) => [`${first},`, ...rows]),
    loaded,
  ),
  csv(
    'trailing commas in the rows only',
    withLines(([first = '', ...rows]) => [first, ...rows.map((row) => `${row},,`)]),
    loaded,
  ),
  csv(
    'a blank column in the middle',
    withLines((lines) => lines.map((line) => line.replace(',', ',,'))),
    loaded,
  ),
  csv(
    'a blank column with a note',
    withLines((lines) => lines.map((line, n) => line.replace(',', n === 2 ? ',see ticket,' : ',,'))),
    {
      records: [ada, cy],
      rejected: ['without a value in cell 2, as its column has no name'],
    },
  ),
  csv(
    'a row with a cell more',
    withLines((lines) => lines.map((line, n) => (n === 2 ? `${line},x` : line))),
    {
      records: [ada, cy],
      rejected: ['as many cells as the first line has'],
    },
  ),
  csv(
    'a row that was cut',
    withLines((lines) => lines.map((line, n) => (n === 2 ? line.slice(0, 30) : line))),
    {
      records: [ada, cy],
      rejected: ['as many cells as the first line has'],
    },
  ),
  csv('totals in the last row', `${csvOf()}${totals('Total', ',', '90')}\n`, {
    ...loaded,
    rejected: ['required cells are empty; remove it if it has totals or a note'],
  }),
  csv('totals in the last row, in German', `${csvOf({ separator: ';' })}${totals('Summe', ';', '90,00')}\n`, {
    ...loaded,
    rejected: ['required cells are empty'],
  }),
  csv('a title above the header', `Report of May${blank}\n${csvOf()}`, {
    refused: 'it has none of them; add a header',
  }),
  csv('files joined by cat, each with its header', csvOf() + csvOf({ records: [{ ...ada, id: 'd' }] }), {
    records: [...all, { ...ada, id: 'd' }],
    skipped: 1,
  }),
  csv('files joined by cat, each with its mark', `\ufeff${csvOf()}\ufeff${csvOf({ records: [{ ...ada, id: 'd' }] })}`, {
    records: [...all, { ...ada, id: 'd' }],
    skipped: 1,
  }),
  csv(
    'a header every 2 rows, as a printed report',
    withLines(([first = '', a = '', b = '', c = '']) => [first, a, b, first, c]),
    { ...loaded, skipped: 1 },
  ),
  csv('a workbook that was renamed', Buffer.from('PK\x03\x04\x14\0\x06\0\x08\0\0\0!\0', 'latin1'), {
    refused: 'save the sheet as CSV UTF-8',
  }),
  csv('an old workbook that was renamed', Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]), {
    refused: 'save the sheet as CSV UTF-8',
  }),
  csv(
    'a workbook that is HTML',
    '<html xmlns:x="urn:schemas-microsoft-com:office:excel"><table><tr><td>id</td></tr></table>',
    { refused: 'HTML or XML' },
  ),
  csv('an empty file', '', { refused: 'it is empty' }),
  csv('a file of line ends', '\r\n\r\n\n', { refused: 'it is empty' }),
  csv(
    'no header',
    withLines(([, ...rows]) => rows),
    { refused: 'add a header' },
  ),
  csv('headings in capitals', csvOf({ header: names.map((name) => name.toUpperCase().replace('.', ' ')) }), loaded),
  csv(
    'two columns of one name',
    withLines((lines) => lines.map((line, n) => `${line},${n === 0 ? 'iccid' : ada.iccid}`)),
    { refused: "'iccid' stands twice" },
  ),
];

const lineEnds: readonly CorpusFile[] = [
  csv('line ends of old Macs', csvOf({ end: '\r' }), loaded),
  csv(
    'mixed line ends',
    linesOf()
      .map((line, n) => line + (['\r\n', '\n', '\r'][n % 3] ?? ''))
      .join(''),
    loaded,
  ),
  csv('no line end at the end', csvOf().trimEnd(), loaded),
  csv('all cells quoted', csvOf({ quotesAll: true, end: '\r\n' }), loaded),
  csv('a quote that never ends', csvOf().replace('Not started', '"Not started'), {
    refused: 'quotes doubled inside quotes',
  }),
  csv('an inch sign in a cell', csvOf().replace('device-000417', '5" modem'), {
    refused: 'quotes doubled inside quotes',
  }),
  csv(
    'quotes escaped by backslashes (mysqldump)',
    csvOf({ quotesAll: true }).replace('Europa 5 GB', 'Europa \\"5\\" GB'),
    { refused: 'quotes doubled inside quotes' },
  ),
  csv('a line break within a cell', csvOf({ quotesAll: true }).replace('"p30"', '"p\n30"'), {
    records: [bo, cy],
    rejected: ['product.id must be'],
  }),
  csv('a NUL within a cell', csvOf().replace('device-000417', 'device\0'), {
    records: [bo, cy],
    rejected: ['device_id must be'],
  }),
  csv('fixed width left of a database: NULs at the end', `${csvOf()}\0\0\0\0`, {
    ...loaded,
    rejected: ['as many cells'],
  }),
  csv('gzip under the name of CSV', gzipSync(csvOf()), loaded),
  csv('gzip within gzip', gzipSync(gzipSync(csvOf())), { refused: 'unpack it once' }),
];

const databases: readonly CorpusFile[] = [
  csv('COPY … (FORMAT text): no header', linesOf({ separator: '\t' }).slice(1).join('\n'), { refused: 'add a header' }),
  csv(
    'PowerShell 5 with its line of types',
    `#TYPE Selected.System.Management.Automation.PSCustomObject\r\n${csvOf({ quotesAll: true, end: '\r\n' })}`,
    loaded,
  ),
  csv(
    'SAP: semicolons, its own columns, decimal commas in one of them',
    `VTREF;STATUS_CODE;ERDAT_UTC;BEGDA_UTC;ENDDA_UTC;MATNR;MAKTX;ICCID;EQUNR;NETWR\r\n${all
      .map((each) =>
        [
          each.id,
          each === bo ? 'E0001' : 'E0002',
          each.createdDate,
          each.activationDate,
          each.expirationDate,
          each.product.id,
          each.product.name,
          each.iccid,
          each.device_id,
          '1.234,50',
        ].join(';'),
      )
      .join('\r\n')}\r\n`,
    {
      records: all.map(
        ({ product: { plan_id: _, ...product }, ...record }) =>
          ({ ...record, product, status: record.id === bo.id ? 'PENDING' : 'ACTIVE' }) as FileRecord,
      ),
    },
    mapping('sap-export'),
  ),
  csv(
    'Oracle: capitals, quoted, its own columns',
    `"SUBSCR_NO","SUBSCR_STATUS","CREATE_DT","ACTIVE_DT","INACTIVE_DT","OFFER_ID","OFFER_NAME","OFFER_PERIOD","PERIOD_UNIT","ICC_ID","IMEI","RENEW_FLAG","BALANCE"\n"7","A","${ada.createdDate}","${ada.activationDate}","${ada.expirationDate}","o1","Gold","1","M","${ada.iccid}","","Y","12,5"\n`,
    {
      records: [
        {
          ...ada,
          id: '7',
          device_id: '',
          product: { id: 'o1', name: 'Gold', period: 1, period_unit: 'MONTHS' } as FileRecord['product'],
        },
      ],
    },
    mapping('oracle-billing'),
  ),
  csv(
    'NULL of mysqldump in one row',
    csvOf({ change: (cells) => ({ ...cells, status: cells.id === bo.id ? '\\N' : (cells.status ?? '') }) }),
    { records: [ada, cy], rejected: ['without a cell \\N, which MySQL writes for NULL'] },
  ),
  csv('a mapping of another file', csvOf(), { refused: "there is no column 'VTREF'" }, mapping('sap-export')),
];

const numbers: readonly CorpusFile[] = [
  csv(
    'ICCIDs as a spreadsheet shows them',
    csvOf({ change: (cells) => ({ ...cells, iccid: '8.94E+18' }) }),
    three('iccid must be'),
  ),
  csv('ICCIDs that a spreadsheet rounded', csvOf({ records: rounded }), { records: rounded }),
  csv(
    'a period with a decimal comma',
    csvOf({ separator: ';', change: (cells) => ({ ...cells, 'product.period': '30,0' }) }),
    three('product.period must be'),
  ),
  csv(
    'a period with a separator of thousands',
    csvOf({ change: (cells) => ({ ...cells, 'product.period': '1.000' }) }),
    three('product.period must be'),
  ),
  csv(
    'dates of Germany',
    dated(() => '01.05.2024 08:00'),
    three('activationDate must be'),
  ),
  csv(
    'dates of the USA',
    dated(() => '5/1/2024 8:00 AM'),
    three('activationDate must be'),
  ),
  csv(
    'dates as serial numbers of a spreadsheet',
    dated(() => '45413.3333'),
    three('activationDate must be'),
  ),
  csv(
    'dates as epochs',
    dated((date) => String(Date.parse(date) / 1000)),
    three('activationDate must be'),
  ),
  csv(
    'dates without a zone',
    dated((date) => date.replace('Z', '')),
    three('activationDate must be'),
  ),
  csv(
    'dates in lower case',
    dated((date) => date.toLowerCase()),
    loaded,
  ),
  csv(
    'dates with milliseconds and an offset without a colon',
    dated((date) => date.replace('Z', '.123+0000')),
    loaded,
  ),
];

const json: readonly CorpusFile[] = [
  ndjson('NDJSON', ndjsonOf(all), loaded),
  ndjson('NDJSON with a mark and CRLF', `\ufeff${ndjsonOf(all).replaceAll('\n', '\r\n')}`, loaded),
  ndjson(
    'a row with an id twice',
    ndjsonOf(all).replace('"status":"Not started"', '"status":"Not started","id":"other"'),
    { records: [ada, cy], rejected: ['id must be given once'] },
  ),
  ndjson(
    'a product with a name twice, once escaped',
    ndjsonOf(all).replace('"period":30', '"n\\u0061me":"x","period":30'),
    { records: [bo, cy], rejected: ['product.name must be given once'] },
  ),
  ndjson('an ICCID that is a number', ndjsonOf(all).replace(`"${ada.iccid}"`, ada.iccid), {
    records: [bo, cy],
    rejected: ['iccid must be 15 to 22 digits'],
  }),
  ndjson('a period of a program with floating points', ndjsonOf(all).replaceAll(':30,', ': 30.0,'), loaded),
  ndjson('an array', JSON.stringify(all), { refused: "jq -c '.[]'" }),
  ndjson('UTF-16', Buffer.from(ndjsonOf(all), 'utf16le'), { refused: 'iconv -f UTF-16LE' }),
  ndjson('Windows-1252', Buffer.from(ndjsonOf([ada, { ...bo, status: 'Gekündigt' }]), 'latin1'), {
    records: [ada],
    rejected: ['Gekündigt (windows-1252)'],
  }),
  ndjson('a line that was cut', ndjsonOf(all).slice(0, -40), {
    records: [ada, bo],
    rejected: ['the row must be a JSON object on one line'],
  }),
  ndjson('times of PostgreSQL in row_to_json', ndjsonOf(all).replaceAll(/T(08:00:0\d)Z/g, ' $1+00'), loaded),
  ndjson('CSV under the name of NDJSON', csvOf(), {
    records: [],
    rejected: Array.from({ length: 4 }, () => 'a JSON object on one line'),
  }),
];

/** Every file, whose bytes this program makes. */
export const corpus: readonly CorpusFile[] = [...spreadsheets, ...lineEnds, ...databases, ...numbers, ...json];
