import { type ListParameter, listedMax } from '../../../contract/listed-values.ts';
import { readColumn, rounded } from '../../../contract/read-column.ts';
import { capital } from '../../ui/capital.ts';
import { filterStrings } from './filter-strings.ts';

const text = filterStrings.list;

/** Most characters that are read: more than 1,000 of the longest values have. */
const charactersMax = 300_000;

type ReadList = { readonly values: readonly string[]; readonly skipped?: string } | { readonly fault: string };

/** Reads the values of a filter: one on each line, or any number of ICCIDs. */
export function readList(name: ListParameter, content: string): ReadList {
  if (content.length > charactersMax) return { fault: text.tooLong(listedMax) };
  if (rounded.test(content)) return { fault: text.rounded };
  const { values, repeated, faults } = readColumn(name, content);
  const [fault] = faults;
  if (fault !== undefined)
    return {
      fault: /\S\t.*\S/.test(content) ? 'These are several columns. Copy one of them.' : text.fault(capital(fault)),
    };
  return { values, ...(repeated > 0 && { skipped: text.repeated(repeated) }) };
}

/** ICCIDs that cannot be read; the EID of a device has more digits. */
const unreadable = new RegExp(
  [
    rounded.source,
    String.raw`^[^\w\r\n]*89[\d\s]{2,}(?:…|\.{3})`, // shortened as in our tables
    String.raw`\b89(?:[ \u00a0-]?\d){13,20}(?![ \u00a0-]?\d)`, // beside other words
    String.raw`\b89[\d \u00a0]{13,40} 89\d`, // several in groups, with spaces alone
  ].join('|'),
  'im',
);

/**
 * Recognises several values, such as a column that was copied from a spreadsheet, by the header or
 * by the form of the values: ICCIDs, ids of subscriptions, or of devices. Returns the filters that
 * they can mean, or what is wrong with them; `undefined` for a single line, unless it has ICCIDs
 * and is not one.
 */
export function readPasted(content: string) {
  if (content.length > charactersMax) return { fault: text.tooLong(listedMax) };
  const lines = content.trim();
  const column = readColumn('iccid', lines);
  const names = namesOf(lines, column);
  const { header, values, repeated, faults } = column;
  const isOne = header !== undefined || (values.length + repeated === 1 && faults.length === 0);
  if (!/[\r\n]/.test(lines) && (names.length > 1 || isOne)) return undefined;
  const read = names.map((name) => ({ name, list: readList(name, lines) }));
  const choices = read.flatMap(({ name, list }) =>
    'fault' in list
      ? []
      : [
          {
            label: text.of(text.count[name](list.values.length)),
            detail: list.skipped,
            apply: { listed: { name, values: list.values } },
          },
        ],
  );
  const [first] = read;
  return choices.length === 0 && first !== undefined && 'fault' in first.list ? first.list : { choices };
}

/** The filters that a column may be for. Digits that do not begin as an ICCID may be IMEIs. */
function namesOf(lines: string, { header = '', values, faults }: ReturnType<typeof readColumn>) {
  if (/iccid/i.test(header)) return ['iccid'] as const;
  if (/^device/i.test(header)) return ['device-id'] as const;
  if (/^(subscription|id$)/i.test(header)) return ['id'] as const;
  const sure = values.filter((value) => value.startsWith('89')).length;
  if (unreadable.test(lines) || (sure > 0 && sure >= faults.length)) return ['iccid'] as const;
  return values.length > faults.length ? (['iccid', 'device-id'] as const) : (['id', 'device-id'] as const);
}
