import type { DateColumn } from './subscription-filter.ts';

/** The second that a date's day begins at, in SQL; before 1970 too, as both engines give a remainder the sign of what was divided. */
export const dayOf = (column: DateColumn): string => `(${column} - ((${column} % 86400 + 86400) % 86400))`;
