import type { LoadFlag } from '../../../contract/load.ts';

/** What an import does with the records of the tenant. */
export const importModes = ['load', 'strict', 'replace'] as const;
export type ImportMode = (typeof importModes)[number];

/** The parameters of a load in this mode. */
export const flagsOf = (mode: ImportMode): readonly LoadFlag[] => (mode === 'load' ? [] : [mode]);

/** The parameters of its dry run: a strict one would be a failure in the history. */
export const dryRunFlagsOf = (mode: ImportMode): readonly LoadFlag[] => [
  ...flagsOf(mode === 'strict' ? 'load' : mode),
  'dry-run',
];
