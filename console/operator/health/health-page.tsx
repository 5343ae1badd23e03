import { ErrorNote } from '../../ui/error-note.tsx';
import { formatCount } from '../../ui/format-count.ts';
import { Loading, Skeleton } from '../../ui/skeleton.tsx';
import { type Metrics, sumOf } from '../parse-metrics.ts';
import { Figures } from '../parts/figures.tsx';
import { strings } from '../strings.ts';
import { DoctorCard } from './doctor-card.tsx';
import { healthCharts } from './health-charts.ts';
import { HealthTile } from './health-tile.tsx';
import { HealthVerdict } from './health-verdict.tsx';
import { useReadings } from './use-readings.ts';

const { health: texts } = strings;

/** Whether the service is well: its state, its last check and its main metrics. */
export function HealthPage() {
  const { readings, error, readNow } = useReadings();
  const last = readings.at(-1);
  return (
    <>
      {error !== undefined && <ErrorNote error={error} onRetry={readNow} />}
      {last === undefined && error === undefined && (
        <Loading>
          <Skeleton height="5em" />
          <Skeleton height="20em" />
        </Loading>
      )}
      {last !== undefined && (
        <div class="stack" data-stale={error !== undefined || undefined}>
          <HealthVerdict metrics={last.metrics} />
          <ServiceFigures metrics={last.metrics} />
          <section class="health-charts" aria-label={texts.charts}>
            {healthCharts(last.metrics).map((chart) => (
              <HealthTile key={chart.id} chart={chart} readings={readings} />
            ))}
          </section>
        </div>
      )}
      {(last !== undefined || error !== undefined) && <DoctorCard onRun={readNow} />}
    </>
  );
}

function ServiceFigures({ metrics }: { metrics: Metrics }) {
  const count = (name: string): string => formatCount(sumOf(metrics, name) ?? 0);
  const [build] = metrics.get('subreport_build_info') ?? [];
  return (
    <Figures
      figures={[
        { label: texts.ready, value: sumOf(metrics, 'subreport_ready') === 0 ? strings.no : strings.yes },
        { label: texts.version, value: build?.labels.version ?? strings.noValue },
        { label: texts.processes, value: count('subreport_processes') },
        { label: strings.tenants.title, value: count('subreport_tenants') },
        { label: texts.requestsWaiting, value: count('subreport_requests_waiting') },
        { label: texts.exports, value: count('subreport_exports_in_progress') },
        { label: texts.loads, value: count('subreport_loads_in_progress') },
      ]}
    />
  );
}
