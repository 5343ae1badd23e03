import { useState } from 'preact/hooks';
import type { HealthPeriod, ServiceHealth } from '../../../contract/operator/health.ts';
import { Button } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { formatCount } from '../../ui/format-count.ts';
import { Loading, Skeleton } from '../../ui/skeleton.tsx';
import { call } from '../call.ts';
import { Figures } from '../parts/figures.tsx';
import { useResource } from '../parts/use-resource.ts';
import { strings } from '../strings.ts';
import { DoctorCard } from './doctor-card.tsx';
import { HealthCharts, type ReadHealth } from './health-charts.tsx';
import { HealthVerdict } from './health-verdict.tsx';

const { health: texts } = strings;

const periods: readonly HealthPeriod[] = ['hour', 'day'];

/** Milliseconds between two reads; a check of the store is followed more closely. */
const everyMs = { usual: 10_000, checking: 1_000 } as const;

/** Whether the service is well: its state, its last check and its main metrics. */
export function HealthPage() {
  const [chosen, setChosen] = useState<HealthPeriod>();
  const [isChecking, setChecking] = useState(false);
  const { value, error, reload } = useResource(
    'health',
    (signal, isBackground) => readHealth(chosen, signal, isBackground),
    { everyMs: isChecking ? everyMs.checking : everyMs.usual },
  );
  const period = value?.period ?? 'day';
  const choose = (next: HealthPeriod): void => {
    setChosen(next);
    reload();
  };
  return (
    <>
      {error !== undefined && <ErrorNote error={error} onRetry={reload} />}
      {value === undefined && error === undefined && (
        <Loading>
          <Skeleton height="5em" />
          <Skeleton height="20em" />
        </Loading>
      )}
      {value !== undefined && (
        <div class="stack" data-stale={error !== undefined || undefined}>
          <HealthVerdict health={value.health} />
          <ServiceFigures health={value.health} />
          <PeriodChoice period={period} keptSeconds={value.health.kept_seconds} onChoose={choose} />
          <HealthCharts read={value} />
        </div>
      )}
      {(value !== undefined || error !== undefined) && (
        <DoctorCard
          lastCheckAt={lastCheckOf(value?.health)}
          progress={value?.health.check ?? null}
          onChecking={setChecking}
          onRun={reload}
        />
      )}
    </>
  );
}

/** When the store was last checked; `undefined` if that could not be read. */
const lastCheckOf = (health: ServiceHealth | undefined): string | null | undefined =>
  health?.problems.some(({ id }) => id === 'unread') ? undefined : health?.last_check_at;

/** Reads the period that the reader chose; the hour until more than an hour of values is kept. */
async function readHealth(
  chosen: HealthPeriod | undefined,
  signal: AbortSignal,
  isBackground: boolean,
): Promise<ReadHealth> {
  const read = (period: HealthPeriod) => call('getServiceHealth', { query: { period }, signal, isBackground });
  const health = await read(chosen ?? 'day');
  const period = chosen ?? (health.kept_seconds > 3_600 ? 'day' : 'hour');
  const shown = period === 'hour' && chosen === undefined ? await read('hour') : health;
  return { period, health: shown, at: Date.now() };
}

interface PeriodChoiceProps {
  readonly period: HealthPeriod;
  readonly keptSeconds: number;
  readonly onChoose: (period: HealthPeriod) => void;
}

const PeriodChoice = ({ period, keptSeconds, onChoose }: PeriodChoiceProps) => (
  <fieldset class="toolbar period-choice" aria-label={texts.period}>
    {periods.map((each) => (
      <Button key={each} variant="quiet" aria-pressed={each === period} onClick={() => onChoose(each)}>
        {texts.periods[each]}
      </Button>
    ))}
    {keptSeconds < (period === 'hour' ? 3_600 : 86_400) && (
      <p class="soft">{texts.kept(Math.round(keptSeconds / 60))}</p>
    )}
  </fieldset>
);

const ServiceFigures = ({ health }: { health: ServiceHealth }) => (
  <Figures
    figures={[
      { label: texts.ready, value: health.ready ? strings.yes : strings.no },
      { label: texts.version, value: health.version },
      { label: texts.processes, value: formatCount(health.processes) },
      { label: strings.tenants.title, value: health.tenants === null ? strings.noValue : formatCount(health.tenants) },
      { label: texts.requestsWaiting, value: formatCount(health.requests_waiting) },
      { label: texts.exports, value: formatCount(health.exports_in_progress) },
      { label: texts.loads, value: formatCount(health.loads_in_progress) },
    ]}
  />
);
