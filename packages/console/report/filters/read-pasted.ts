import { type ListParameter, listedMax } from '../../../contract/listed-values.ts';
import { readColumn } from '../../../contract/read-column.ts';
import { capital } from '../../ui/capital.ts';
import type { FilterChanges } from '../link/report-state.ts';
import { filterStrings } from './filter-strings.ts';

const text = filterStrings.list;

/** Most characters that are read: more than 1,000 of the longest values have. */
const charactersMax = 300_000;

type ReadList = { readonly values: readonly string[]; readonly skipped?: string } | { readonly fault: string };

/** Reads the values of a filter, one on each line. */
export function readList(name: ListParameter, content: string): ReadList {
  if (content.length > charactersMax) return { fault: text.tooLong(listedMax) };
  const { values, repeated, faults } = readColumn(name, content);
  const [fault] = faults;
  if (fault !== undefined) return { fault: text.fault(capital(fault)) };
  return { values, ...(repeated > 0 && { skipped: text.repeated(repeated) }) };
}

/** The filters that a pasted column can mean, or what is wrong with it. */
export type Pasted =
  | { readonly fault: string }
  | {
      readonly choices: readonly {
        readonly label: string;
        readonly detail?: string | undefined;
        readonly apply: FilterChanges;
      }[];
    };

/** A line as of digits that a spreadsheet has rounded: `8.94E+18`. */
const rounded = /^["']?\d[.,]\d+E\+\d+["']?$/im;

/**
 * Recognises a column that was copied from a spreadsheet, by its header, or by the form of its
 * values: ICCIDs, ids of subscriptions, or of devices. `undefined` for a single line.
 */
export function readPasted(content: string): Pasted | undefined {
  if (content.length > charactersMax) return { fault: text.tooLong(listedMax) };
  const lines = content.trim();
  if (!/[\r\n]/.test(lines)) return undefined;
  if (lines.includes('\t')) return { fault: text.oneColumn };
  if (rounded.test(lines)) return { fault: text.rounded };
  const read = namesOf(lines).map((name) => ({ name, list: readList(name, lines) }));
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
function namesOf(lines: string): readonly ListParameter[] {
  const [header = ''] = lines.split(/[\r\n]/, 1);
  if (/iccid/i.test(header)) return ['iccid'];
  if (/^["']?device/i.test(header)) return ['device-id'];
  if (/^["']?(subscription|id["']?$)/i.test(header)) return ['id'];
  const isMostly = (form: RegExp): boolean => (lines.match(form) ?? []).length * 2 > lines.split(/[\r\n]+/).length - 1;
  if (isMostly(/^["']?89\d{13,20}["']?\s*$/gm)) return ['iccid'];
  return isMostly(/^["']?\d{15,22}["']?\s*$/gm) ? ['iccid', 'device-id'] : ['id', 'device-id'];
}
