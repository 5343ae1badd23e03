import { formatCount } from '../../ui/format-count.ts';

/** The texts of the page Changes. */
export const changesStrings = {
  since: 'Changes since',
  lastDays: (days: number) => (days === 1 ? 'Last 24 hours' : `Last ${days} days`),
  sinceChosen: (day: string) => `Since ${day}`,
  day: 'First day',
  dayRule: 'Enter a day that has begun, such as 2026-11-01',
  kind: { added: 'Added', changed: 'Changed', removed: 'Removed' },
  inLast: (days: number) => `in the last ${days === 1 ? '24 hours' : `${days} days`}`,
  sinceTime: (time: string) => `since ${time}`,
  sinceVisit: (time: string) => `since your last visit, ${time}`,
  counts: (count: Readonly<Record<'added' | 'changed' | 'removed', number>>, when: string) =>
    `${formatCount(count.added)} added, ${formatCount(count.changed)} changed, ${formatCount(count.removed)} removed ${when}`,
  /** What follows the number of each part of the changes. */
  part: {
    added: 'added',
    changed: 'changed',
    removed: 'removed',
    renewed: 'renewed',
    renews: (count: number) => (count === 1 ? 'now renews' : 'now renew'),
    ends: (count: number) => (count === 1 ? 'no longer renews' : 'no longer renew'),
    otherStatus: 'with another change of status',
  },
  field: { status: 'Status', 'product-id': 'Product', 'auto-renew': 'Renews', renewal: 'Renewed' },
  any: 'any',
  only: (what: string) => `Only: ${what}`,
  all: 'Show all changes',
  oneImport: (id: string) => `import ${id}`,
  byImport: (time: string) => `Import of ${time} UTC`,
  byOperator: (time: string) => `Without an import, ${time} UTC`,
  unknownTime: 'Before the history begins',
  noMatch: (when: string) => `No such change ${when}`,
  listed: (count: number, all: string | undefined) =>
    all !== undefined
      ? `The list has the newest ${formatCount(count)} of ${all}.`
      : count === 1
        ? 'The list has it.'
        : `The list has all ${formatCount(count)} of them.`,
  olderImports: (count: number) =>
    `${count === 1 ? '1 older import is' : `${formatCount(count)} older imports are`} not listed.`,
  noneIn: (when: string) => `Nothing has changed ${when}`,
  knownSince: 'The first report that the service keeps is of that time. Earlier changes are not counted.',
  noHistoryHint: 'The service keeps no history, or nothing has changed since it began.',
  firstVisit: (when: string) => `${when}; this is your first visit in this browser`,
  lost: (time: string) => `The service no longer knows what changed since ${time}`,
  lostHint: 'A backup was restored, or the last visit is too long ago. Counting starts again now.',
  markAsSeen: 'Mark as seen',
  seen: 'All changes are marked as seen',
  showMore: (count: number) => `Show ${formatCount(count)} more`,
} as const;
