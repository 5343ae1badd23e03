import { Loading, Skeleton } from '../../ui/skeleton.tsx';
import type { LoadedReport } from '../store/report-store.ts';
import { tableWidthMin } from './columns.ts';
import { EmptyReport } from './empty-report.tsx';
import { RecordList } from './record-list.tsx';
import { ReportTable } from './report-table.tsx';
import { useRows } from './use-rows.ts';

interface ReportRowsProps {
  readonly report: LoadedReport;
  readonly width: number;
  readonly isLoading: boolean;
  readonly isStale: boolean;
  readonly openId: string | undefined;
}

/** The rows of the page: a table, or a list where it has no room. */
export function ReportRows({ report, width, isLoading, isStale, openId }: ReportRowsProps) {
  const { root, currentId, ...focus } = useRows(report);
  const { state, page } = report;
  const rows = { records: page.records, state, currentId, openId };
  return (
    <div
      ref={root}
      class="report-rows surface"
      data-loading={isLoading || undefined}
      data-outdated={isStale || undefined}
      aria-busy={isLoading}
      {...focus}
    >
      {page.records.length === 0 && <EmptyReport report={report} />}
      {page.records.length > 0 &&
        (width < tableWidthMin ? <RecordList {...rows} /> : <ReportTable {...rows} width={width} />)}
    </div>
  );
}

const skeletonRows = Array.from({ length: 12 }, (_, index) => index);

/** The place of the rows before the first page has arrived. */
export const RowsSkeleton = () => (
  <Loading>
    <div class="rows-skeleton surface">
      {skeletonRows.map((row) => (
        <div key={row} class="spread">
          <Skeleton width="72px" />
          <Skeleton width="40%" />
          <Skeleton width="96px" />
        </div>
      ))}
    </div>
  </Loading>
);
