import type { Import, LastImport } from '../../../src/contract/operator-import.ts';
import { DateTime } from '../../ui/date-time.tsx';
import { Link } from '../../ui/location.tsx';
import { importPath } from '../parts/paths.ts';
import { StateLabel } from '../parts/state-label.tsx';
import { strings } from '../strings.ts';

const tones = { running: 'pending', ok: 'active', failed: 'danger', interrupted: 'depleted' } as const;

/** How an import ended, as a dot and a word. */
export const ImportState = ({ result }: { result: Import['result'] }) => (
  <StateLabel tone={tones[result]}>{strings.imports.results[result]}</StateLabel>
);

/** How and when the last import of a tenant ended, with a link to it. */
export const LastImportResult = ({ last, focusable }: { last: LastImport | null; focusable: boolean }) =>
  last === null ? (
    <span class="soft">{strings.tenants.noImport}</span>
  ) : (
    <>
      <Link href={importPath(last.id)}>
        <ImportState result={last.result} />
      </Link>{' '}
      <DateTime value={last.ended_at ?? last.started_at} focusable={focusable} />
    </>
  );
