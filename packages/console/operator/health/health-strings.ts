import { countOf } from '../../ui/format-count.ts';

/** The texts of the page Health. */
export const healthStrings = {
  attention: { error: 'The service has a problem', warning: 'Something needs attention' },
  problems: {
    'not-ready': () => 'The service cannot serve reports.',
    doctor: (count: number) => `${countOf(count, 'check', 'checks')} of the store failed.`,
    'lost-audit': (count: number) => `The database did not accept ${countOf(count, 'audit entry', 'audit entries')}.`,
    certificate: (count: number) => `${countOf(count, 'certificate expires', 'certificates expire')} within 14 days.`,
    'failed-imports': (count: number) =>
      `${countOf(count, 'import', 'imports')} failed or ${count === 1 ? 'was' : 'were'} interrupted in the last 24 hours.`,
    'rejected-rows': (count: number) =>
      `${countOf(count, 'row was rejected', 'rows were rejected')} by imports in the last 24 hours.`,
    'stale-tenants': (count: number) =>
      `${countOf(count, 'tenant has', 'tenants have')} had no import without rejected rows for a week.`,
    unread: () => 'The store could not be read in part: how imports and checks ended is not known.',
    waiting: (count: number) => `${countOf(count, 'request waits', 'requests wait')} for their turn.`,
    'dropped-log': (count: number) => `${countOf(count, 'log line was', 'log lines were')} dropped.`,
  },
  doctor: {
    title: 'Check of the store',
    running: 'Checking',
    verdict: (problems: number) => (problems === 0 ? 'No problem found' : countOf(problems, 'problem', 'problems')),
    by: (host: string, version: string, checked: number) =>
      `${countOf(checked, 'check', 'checks')} on ${host}, version ${version}`,
    checks: (count: number) => `Show ${countOf(count, 'check', 'checks')}`,
  },
} as const;
