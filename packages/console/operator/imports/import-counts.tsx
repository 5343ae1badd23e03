import type { LoadSummary } from '../../../contract/load.ts';
import { formatCount } from '../../ui/format-count.ts';
import { Figures } from '../parts/figures.tsx';
import { strings } from '../strings.ts';

const { imports: texts } = strings;
const names = ['read', 'accepted', 'rejected', 'inserted', 'updated', 'unchanged', 'removed'] as const;
/** A dry run compares the rows with the records only for a replacement. */
const uncompared = ['read', 'accepted', 'rejected'] as const;

/** What an import or a dry run counted. */
export const ImportCounts = ({ counts }: { counts: LoadSummary }) => {
  const known = counts.dry_run && counts.removed === undefined ? uncompared : names;
  const figures = known.flatMap((name) =>
    counts[name] === undefined ? [] : [[texts[name], formatCount(counts[name])]],
  );
  return <Figures figures={Object.fromEntries(figures)} />;
};
