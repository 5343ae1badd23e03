import type { Import } from '../../../contract/operator/import.ts';
import { DateTime } from '../../ui/date-time.tsx';
import { formatCount } from '../../ui/format-count.ts';
import { formatMinute } from '../../ui/format-date.ts';
import { Link } from '../../ui/location.tsx';
import type { Column } from '../parts/data-table.tsx';
import { importPath, tenantPath } from '../parts/paths.ts';
import { strings } from '../strings.ts';
import { ImportState } from './import-result.tsx';

const { imports: texts } = strings;

/** A count of rows; an import that has not ended has none. */
const count = (value: number | null) =>
  value === null ? <span class="soft">{strings.noValue}</span> : formatCount(value);

/** Who started an import. */
export const starterOf = ({ actor }: Pick<Import, 'actor'>): string => actor.name ?? actor.id;

/** The columns of a list of imports. */
export const importColumns: readonly Column<Import>[] = [
  {
    label: texts.started,
    cell: ({ id, started_at: at }) => (
      <Link href={importPath(id)}>
        <DateTime value={at} text={formatMinute(at)} focusable={false} />
      </Link>
    ),
  },
  { label: strings.tenant, cell: ({ tenant }) => <Link href={tenantPath(tenant)}>{tenant}</Link> },
  {
    label: texts.result,
    isWide: true,
    cell: (value) => (
      <>
        <ImportState value={value} />
        {value.options.length > 0 && <span class="soft"> {value.options.join(', ')}</span>}
      </>
    ),
  },
  { label: texts.read, isNumber: true, cell: ({ read }) => count(read) },
  { label: texts.rejected, isNumber: true, cell: ({ rejected }) => count(rejected) },
  { label: texts.inserted, isNumber: true, cell: ({ inserted }) => count(inserted) },
  { label: texts.updated, isNumber: true, cell: ({ updated }) => count(updated) },
  { label: texts.starter, cell: (each) => starterOf(each) },
];
