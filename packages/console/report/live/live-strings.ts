import { formatCount } from '../../ui/format-count.ts';

/** The texts of what changes while a page is open. */
export const liveStrings = {
  changed: (count: number, more: boolean) =>
    `${more ? 'More than ' : ''}${formatCount(count)} changed since you opened this`,
  replaced: 'The service no longer knows what changed since you opened this',
} as const;
