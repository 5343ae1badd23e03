import { useState } from 'preact/hooks';
import type { HealthPeriod, ServiceHealth } from '../../../contract/operator/health.ts';
import type { Import } from '../../../contract/operator/import.ts';
import type { TimeAxis } from '../../charts/line-chart.tsx';
import { nearestSlot } from '../../charts/slot-places.ts';
import { Link } from '../../ui/location.tsx';
import { call } from '../call.ts';
import { useResource } from '../parts/use-resource.ts';
import { strings } from '../strings.ts';
import { HealthTile } from './health-tile.tsx';
import { labelsOf, placeAt, timeOf, windowOf, wordOf } from './health-time.ts';

const { health: texts } = strings;

/** The newest imports. */
interface KnownImports {
  readonly items: readonly Pick<Import, 'tenant' | 'started_at'>[];
  readonly hasMore: boolean;
}

/** The state of the service as it was at a time, in milliseconds. */
export interface ReadHealth {
  readonly period: HealthPeriod;
  readonly health: ServiceHealth;
  readonly at: number;
}

/** Reads one page of imports, which the charts mark. */
const readImports = async (signal: AbortSignal, isBackground: boolean): Promise<KnownImports> => {
  const { data, next } = await call('listImports', { query: { limit: 100 }, signal, isBackground });
  return { items: data, hasMore: next !== null };
};

/** Milliseconds between two reads of the imports. */
const importsEveryMs = 60_000;

/** The charts of a period, with one cursor over all of them and the imports as marks. */
export function HealthCharts({ read: { period, health, at } }: { readonly read: ReadHealth }) {
  const { value, error } = useResource('imports', readImports, { everyMs: importsEveryMs });
  const imports = error === undefined ? value : undefined;
  const [cursor, setCursor] = useState<number>();
  const window = windowOf(period, at, health.last_seconds);
  const { slots, shift } = window;
  const slot = cursor === undefined ? undefined : Math.min(cursor, slots - 1);
  const marked = (imports?.items ?? [])
    .map(({ tenant, started_at: started }) => ({ tenant, place: placeAt(window, Date.parse(started)) }))
    .filter(({ place }) => place >= 0);
  const time: TimeAxis = {
    slots,
    shift,
    labels: labelsOf(window),
    marks: marked.map(({ place }) => Math.min(place, slots - 1)),
    cursor: slot,
    onCursor: setCursor,
  };
  const moment = slot === undefined ? texts.now : wordOf(window, timeOf(window, slot));
  const begun = slot === undefined ? [] : marked.filter(({ place }) => nearestSlot(window, place) === slot);
  const isCut = imports?.hasMore === true && marked.length === imports.items.length;
  return (
    <>
      <p class="health-moment">
        <strong>{moment}</strong>{' '}
        {begun.length > 0 ? (
          texts.begun(begun.map(({ tenant }) => tenant))
        ) : (
          <Link href="/console/imports">
            {error !== undefined
              ? texts.importsUnknown
              : imports === undefined
                ? texts.importsUnread
                : texts.marked(marked.length, isCut)}
          </Link>
        )}
      </p>
      <section class="health-charts" aria-label={texts.charts[period]}>
        {health.charts.map((chart) => (
          <HealthTile key={chart.id} chart={chart} time={time} moment={moment} />
        ))}
      </section>
    </>
  );
}
