import type { ServiceHealth } from '../../../contract/operator/health.ts';
import { ErrorNote } from '../../ui/error-note.tsx';
import { formatCount } from '../../ui/format-count.ts';
import { Loading, Skeleton } from '../../ui/skeleton.tsx';
import { call } from '../call.ts';
import { Figures } from '../parts/figures.tsx';
import { useResource } from '../parts/use-resource.ts';
import { strings } from '../strings.ts';
import { DoctorCard } from './doctor-card.tsx';
import { HealthVerdict } from './health-verdict.tsx';

/** Milliseconds between two reads. */
const everyMs = 10_000;

/** Whether the service is well: its state, its figures and its last check. */
export function HealthPage() {
  const { value, error, reload } = useResource(
    'health',
    (signal, isBackground) => call('getServiceHealth', { signal, isBackground }),
    { everyMs },
  );
  return (
    <>
      {error !== undefined && <ErrorNote error={error} onRetry={reload} />}
      {value === undefined && error === undefined && (
        <Loading>
          <Skeleton height="5em" />
        </Loading>
      )}
      {value !== undefined && (
        <div class="stack" data-stale={error !== undefined || undefined}>
          <HealthVerdict health={value} />
          <ServiceFigures health={value} />
        </div>
      )}
      {(value !== undefined || error !== undefined) && <DoctorCard lastCheckAt={lastCheckOf(value)} onRun={reload} />}
    </>
  );
}

/** When the store was last checked; `undefined` if that could not be read. */
const lastCheckOf = (health: ServiceHealth | undefined): string | null | undefined =>
  health?.problems.some(({ id }) => id === 'unread') ? undefined : health?.last_check_at;

const ServiceFigures = ({ health }: { health: ServiceHealth }) => (
  <Figures
    figures={{
      Ready: health.ready ? strings.yes : strings.no,
      Version: health.version,
      Processes: formatCount(health.processes),
      [strings.tenants.title]: health.tenants === null ? strings.noValue : formatCount(health.tenants),
      'Requests waiting': formatCount(health.requests_waiting),
      'Exports running': formatCount(health.exports_in_progress),
      'Imports running': formatCount(health.loads_in_progress),
    }}
  />
);
