import { Type } from './type.ts';

/**
 * A moment of the past: an instant, or a revision of the tenant's records. An instant means the
 * last revision that was committed before its second.
 */
export const asOf = (subject: string, more = '') =>
  Type.String({
    pattern: '^([0-9]{1,16}|[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[Tt ].*)?)$',
    maxLength: 40,
    description: `${subject} at this instant or revision, without changes committed within the second of the instant${more}`,
    'x-rule': 'a past ISO 8601 date-time with Z, UTC or an offset, or a revision',
    examples: ['2026-10-31T00:00:00Z', '42'],
  });

/** The parameter `as-of` of a whole report. */
export const exportAsOf = asOf('The report as the service knew it', '; only with all=true, and without expires-within');

/** The parameter `as-of` of a summary, which has no pages. */
export const summaryAsOf = asOf('The counts as the service knew them');
