import { countOf, formatCount } from '../../ui/format-count.ts';

/** The texts of the page of a SIM. */
export const simStrings = {
  titleOf: (iccid: string) => `SIM ${iccid}`,
  subscriptions: (iccid: string, count: number) =>
    `${iccid}: ${count === 1 ? '1 subscription' : `${formatCount(count)} subscriptions`}`,
  asList: 'Show as list',
  none: 'No subscription of this SIM',
  noneHint: (iccid: string) => `None of your subscriptions has the ICCID ${iccid}.`,
  period: (from: string, to: string) => `${from} – ${to}`,
  listed: (count: number) => `The newest ${formatCount(count)} are listed.`,
  hint: (zone: string) => (zone === 'UTC' ? 'Days and times are in UTC.' : `Days are in ${zone}, times in UTC.`),
  histories: (count: number) => `Changes are those of the newest ${countOf(count, 'subscription', 'subscriptions')}.`,
  date: { created: 'Created', activated: 'Activated', ends: 'Ends', ended: 'Ended' },
} as const;
