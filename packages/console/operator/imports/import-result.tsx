import type { Import, LastImport } from '../../../contract/operator/import.ts';
import { DateTime } from '../../ui/date-time.tsx';
import { Link } from '../../ui/location.tsx';
import { importPath } from '../parts/paths.ts';
import { StateLabel } from '../parts/state-label.tsx';
import { strings } from '../strings.ts';

const tones = {
  running: 'pending',
  loaded: 'active',
  'loaded-with-rejects': 'depleted',
  checked: 'active',
  'checked-with-rejects': 'depleted',
  failed: 'danger',
  interrupted: 'depleted',
} as const;

interface ImportStateProps {
  readonly value: Pick<Import, 'outcome' | 'accepted' | 'rejected'> & Partial<Pick<Import, 'options'>>;
}

/** What became of an import, as a dot and words. A dry run that failed has done no harm. */
export function ImportState({ value: { outcome, accepted, rejected, options = [] } }: ImportStateProps) {
  if (outcome === 'failed' && options.includes('dry-run')) return <StateLabel tone="depleted">Check failed</StateLabel>;
  return (
    <StateLabel tone={tones[outcome]}>{strings.imports.outcomeOf(outcome, accepted ?? 0, rejected ?? 0)}</StateLabel>
  );
}

/** How and when the last import of a tenant ended, with a link to it. */
export const LastImportResult = ({ last, focusable }: { last: LastImport | null; focusable: boolean }) =>
  last === null ? (
    <span class="soft">none</span>
  ) : (
    <>
      <Link href={importPath(last.id)}>
        <ImportState value={last} />
      </Link>{' '}
      <DateTime value={last.ended_at ?? last.started_at} focusable={focusable} />
    </>
  );
