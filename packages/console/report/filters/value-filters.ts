import type { FilterName } from '../link/report-state.ts';
import { groupIccid } from '../words/iccid.ts';

/** A filter by one value that is typed. */
interface ValueFilter {
  readonly parameter: FilterName;
  /** `Device` */
  readonly label: string;
  /** `device D-17`, within a sentence. */
  readonly phrase: (shown: string) => string;
  /** Help below the field. */
  readonly hint?: string;
  /** The value as people read it. */
  readonly show?: (value: string) => string;
  /** The value of what was typed or pasted; without its outer spaces by default. */
  readonly read?: (typed: string) => string;
}

/**
 * All filters by one typed value, in the order of the list: a new one is a row here. Chips,
 * suggestions and the editor use it.
 */
const rows = {
  iccid: {
    parameter: 'iccid',
    label: 'ICCID',
    phrase: (iccid) => `ICCID ${iccid}`,
    hint: '15 to 22 digits',
    show: groupIccid,
    read: (typed) => typed.replaceAll(/[\s-]/g, ''),
  },
  subscriber: {
    parameter: 'email',
    label: 'Email or subscriber',
    phrase: (address) => `subscriber ${address}`,
    hint: 'The address is never part of the link.',
  },
  device: { parameter: 'device-id', label: 'Device', phrase: (id) => `device ${id}` },
  plan: { parameter: 'plan-id', label: 'Plan', phrase: (id) => `plan ${id}` },
} as const satisfies Record<string, ValueFilter>;

export type ValueKind = keyof typeof rows;
export const valueFilters: { readonly [Kind in ValueKind]: ValueFilter } = rows;
export const valueKinds = Object.keys(rows) as readonly ValueKind[];

export const isValueKind = (kind: string): kind is ValueKind => kind in rows;

/** An object with a member for each of them. */
export const forValueKinds = <T>(make: (filter: ValueFilter) => T): { readonly [Kind in ValueKind]: T } =>
  Object.fromEntries(valueKinds.map((kind) => [kind, make(valueFilters[kind])])) as { [Kind in ValueKind]: T };
