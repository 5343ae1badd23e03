import { Card } from '../../ui/card.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { formatCount } from '../../ui/format-count.ts';
import { formatZonedDay } from '../../ui/format-date.ts';
import { History } from '../../ui/icons.ts';
import { LoadedPart } from '../../ui/loaded-part.tsx';
import { useLoad } from '../../ui/use-load.ts';
import { changesUntil } from '../api.ts';
import { describeTime } from '../past/describe-time.ts';
import { pastStrings } from '../past/past-strings.ts';
import type { PastTime } from '../past/read-as-of.ts';
import { changesStrings } from './change-strings.ts';
import { partsOf } from './parts-of-changes.ts';
import { countUntil } from './read-period.ts';
import type { Since } from './since.ts';

const text = changesStrings;

interface PastCountsProps {
  readonly since: Exclude<Since, { kind: 'visit' }>;
  readonly past: PastTime;
}

type Counted = Awaited<ReturnType<typeof countUntil>>;

/** What changed until a past time, in numbers. */
export function PastCounts({ since, past }: PastCountsProps) {
  const load = useLoad((signal) => countUntil(changesUntil(signal), new Date(since.instant), past.instant));
  return (
    <LoadedPart load={load} height={160}>
      {(counted) =>
        counted === undefined ? (
          <EmptyState icon={History} title={text.noHistory} text={text.noHistoryHint} />
        ) : (
          <Counts counted={counted} since={since} past={past} />
        )
      }
    </LoadedPart>
  );
}

function Counts({ counted, since, past }: PastCountsProps & { readonly counted: NonNullable<Counted> }) {
  const { summary, knownSince } = counted;
  const begin = knownSince ?? new Date(since.instant);
  const when = text.between(formatZonedDay(begin), describeTime(past));
  const hint = knownSince === undefined ? undefined : text.knownSince;
  if (summary.total === 0) return <EmptyState icon={History} title={text.noneIn(when)} text={hint} />;
  return (
    <Card title={text.counts(summary, when)}>
      <ul class="change-parts row">
        {partsOf(summary).map(({ count, words }) => (
          <li key={words}>
            {formatCount(count)} {words}
          </li>
        ))}
      </ul>
      {hint !== undefined && <p class="soft">{hint}</p>}
      <p class="soft">{pastStrings.changesOnly}</p>
    </Card>
  );
}
