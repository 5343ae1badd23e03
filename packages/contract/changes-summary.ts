import type { Static } from 'typebox';
import { summaryAsOf } from './as-of.ts';
import { ChangeToken, changeParameters } from './change.ts';
import { CommittedAt, MadeByImport } from './history.ts';
import { Product, ProductId } from './product.ts';
import { defaultPageLimits } from './report.ts';
import { closed, wholeNumber } from './schema.ts';
import { AutoRenew, Status } from './subscription.ts';
import { Type } from './type.ts';
import { answeredZone, zoneOf } from './zone.ts';

const { since } = changeParameters(defaultPageLimits);

/** The query parameters of the summary of changes. */
export const changesSummaryParameters = {
  since: Type.String({
    ...since,
    description: 'Counts the changes after this change token, or in and after the second of this instant; required',
    'x-rule': 'given: a change token, or a past ISO 8601 date-time with Z, UTC or an offset',
  }),
  until: Type.String({
    ...summaryAsOf,
    description:
      'The end of the period, an instant or a revision; what was committed within its second is not counted. Now if it is absent',
    'x-rule': "a past ISO 8601 date-time with Z, UTC or an offset, or a revision, after 'since'",
  }),
  zone: zoneOf('The time zone of the days, and of dates without an offset'),
} as const;

/** Most transitions, most imports, and most transitions of an import that a summary lists. */
export const listedMax = { transitions: 500, imports: 100, perImport: 20 } as const;

const count = (description: string) => wholeNumber(description, 57_961);

const kinds = {
  added: count('Records that were added'),
  changed: count('Records that were changed'),
  removed: count('Records that were removed'),
};

const statusOrNone = (description: string) => Type.Union([Status, Type.Null()], { description });
const statuses = (maxItems: number, description: string) =>
  Type.Array(
    closed('A transition of the status', {
      from: statusOrNone('The former status; null: none'),
      to: statusOrNone('The new status; null: none'),
      count: count('Changed records whose status went from the one to the other'),
    }),
    { maxItems, description },
  );

const productName = Type.Optional(
  Type.String({ ...Product.properties.name, description: 'Its name in the record that was created last' }),
);

const ImportChanges = closed('What one import changed', {
  import_id: Type.Optional({
    ...MadeByImport,
    description: 'The import; absent for all that was changed without one',
  }),
  first_at: Type.Optional({ ...CommittedAt, description: 'When its first change was committed' }),
  last_at: Type.Optional({ ...CommittedAt, description: 'When its last change was committed' }),
  ...kinds,
  renewed: count('Changed records whose expirationDate became later'),
  status: statuses(listedMax.perImport, 'Its transitions of the status, the most frequent ones first'),
  omitted: count('Changed records whose status changed in a way that is not listed'),
});

/** The counts of changes. */
export const ChangesSummary = closed('Counts of the changes of a period, all from one snapshot', {
  total: count('Records that were added, changed or removed, each counted once'),
  ...kinds,
  renewed: count('Changed records whose expirationDate became later'),
  by: closed('The counts by dimension', {
    status: statuses(listedMax.transitions, 'By transition of the status, the most frequent ones first'),
    'product-id': Type.Array(
      closed('A move to another product', {
        from: ProductId,
        from_name: productName,
        to: ProductId,
        to_name: productName,
        count: count('Changed records that moved from the one product to the other'),
      }),
      { maxItems: listedMax.transitions, description: 'By move to another product, the most frequent ones first' },
    ),
    'auto-renew': Type.Array(
      closed('A change of auto_renew', {
        from: AutoRenew,
        to: AutoRenew,
        count: count('Changed records whose auto_renew changed'),
      }),
      { maxItems: 2, description: 'By change of auto_renew' },
    ),
    day: Type.Array(
      closed('A day, and what was changed on it', {
        value: Type.Union(
          [
            Type.String({
              pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}$',
              maxLength: 10,
              description: 'In the time zone of the query',
              examples: ['2026-10-31'],
            }),
            Type.Null(),
          ],
          { description: 'null: before the kept history' },
        ),
        ...kinds,
      }),
      { maxItems: Number.MAX_SAFE_INTEGER, description: 'By day of the commit, in order' },
    ),
    import: Type.Array(ImportChanges, {
      maxItems: listedMax.imports,
      description: 'By import, the newest one first',
    }),
  }),
  zone: answeredZone,
  omitted: closed('What the lists leave out', {
    status: count('Changed records whose status changed in a way that is not listed'),
    'product-id': count('Changed records whose move to another product is not listed'),
    import: count('Imports that are not listed'),
  }),
  since_revision: wholeNumber('The revision before the period', 41),
  revision: wholeNumber('The last revision of the period', 42),
  next: { ...ChangeToken, description: 'The change token of the end of the period: no later change is counted' },
});
export type ChangesSummary = Static<typeof ChangesSummary>;
