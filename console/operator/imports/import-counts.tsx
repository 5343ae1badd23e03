import { formatCount } from '../../ui/format-count.ts';
import { Figures } from '../parts/figures.tsx';
import { strings } from '../strings.ts';
import type { ImportOutcome } from './use-import.ts';

const { imports: texts } = strings;
const names = ['read', 'rejected', 'inserted', 'updated', 'unchanged', 'removed'] as const;

/** What an import or a dry run counted. */
export const ImportCounts = ({ counts }: Pick<ImportOutcome, 'counts'>) => (
  <Figures
    figures={names.flatMap((name) => {
      const count = counts[name];
      return count === undefined ? [] : [{ label: texts[name], value: formatCount(count) }];
    })}
  />
);
