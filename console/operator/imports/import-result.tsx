import type { Import } from '../../../src/contract/operator-import.ts';
import { Link } from '../../ui/location.tsx';
import { importPath } from '../parts/paths.ts';
import { StateLabel } from '../parts/state-label.tsx';
import { strings } from '../strings.ts';

const tones = { running: 'pending', ok: 'active', failed: 'danger', interrupted: 'depleted' } as const;

type Result = Import['result'] | null;

/** How an import ended, as a dot and a word. */
export const ImportState = ({ result }: { result: Result }) => (
  <StateLabel tone={result === null ? 'expired' : tones[result]}>
    {result === null ? strings.imports.forgotten : strings.imports.results[result]}
  </StateLabel>
);

/** The same as a link to the import; one that is no longer in the history has no page. */
export const ImportResult = ({ id, result }: { id: string; result: Result }) =>
  result === null ? (
    <ImportState result={result} />
  ) : (
    <Link href={importPath(id)}>
      <ImportState result={result} />
    </Link>
  );
