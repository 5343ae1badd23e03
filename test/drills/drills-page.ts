import type { Outcome } from './drill.ts';
export const drillsPage = (outcomes: readonly Outcome[]): string => JSON.stringify(outcomes);
