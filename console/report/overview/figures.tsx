import type { SubscriptionSummary } from '../../../src/client/index.ts';
import { formatCount } from '../../ui/format-count.ts';
import { isOutdated } from '../../ui/loaded-part.tsx';
import { Link } from '../../ui/location.tsx';
import { Loading, Skeleton } from '../../ui/skeleton.tsx';
import type { Load } from '../../ui/use-load.ts';
import type { RecentChanges } from '../changes/read-changes.ts';
import { formatVisit } from '../changes/visit-time.ts';
import { strings } from '../strings.ts';
import { reportLink } from './report-link.ts';

const text = strings.overview;

interface FiguresProps {
  readonly totals: Load<SubscriptionSummary>;
  readonly soon: Load<SubscriptionSummary>;
  readonly changes: Load<RecentChanges>;
}

/** The four numbers that a reader looks for first; each one leads to what it counts. */
export const Figures = ({ totals, soon, changes }: FiguresProps) => (
  <ul class="figures">
    <Figure label={text.total} href={reportLink({})} load={totals} read={totalFigure} />
    <Figure label={text.active} href={reportLink({ status: 'ACTIVE' })} load={totals} read={activeFigure} />
    <Figure
      label={text.endingSoon}
      href={reportLink({ 'expires-within': '7d' })}
      noteHref={reportLink({ 'expires-within': '7d', 'auto-renew': 'false' })}
      load={soon}
      read={soonFigure}
    />
    <Figure label={text.changed} href="/console/changes" load={changes} read={changedFigure} />
  </ul>
);

interface FigureProps<Value> {
  readonly label: string;
  readonly href: string;
  /** What the note counts, if that is a part of what the number counts. */
  readonly noteHref?: string;
  readonly load: Load<Value>;
  /** The number, and a note on it. */
  readonly read: (value: Value) => readonly [number: string, note?: string];
}

function Figure<Value>({ label, href, noteHref, load, read }: FigureProps<Value>) {
  const [number, note] = load.kind === 'ready' ? read(load.value) : [text.unknownNumber];
  return (
    <li class="card figure" data-outdated={isOutdated(load) || undefined}>
      <Link class="figure-link" href={href}>
        <span class="figure-label">{label}</span>
        {load.kind === 'loading' ? (
          <Loading>
            <Skeleton width="4ch" />
          </Loading>
        ) : (
          <span class="figure-number">{number}</span>
        )}
        {noteHref === undefined && <span class="figure-note">{note}</span>}
      </Link>
      {noteHref !== undefined && (
        <span class="figure-note">{note !== undefined && <Link href={noteHref}>{note}</Link>}</span>
      )}
    </li>
  );
}

const countOf = (counts: readonly { value: string | null; count: number }[] = [], wanted: string): number =>
  counts.find(({ value }) => value === wanted)?.count ?? 0;

const totalFigure = ({ total, by }: SubscriptionSummary): [string, string] => [
  formatCount(total),
  text.ofProducts(by['product-id']?.length ?? 0),
];

const percent = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 1 });

function activeFigure({ total, by }: SubscriptionSummary): [string, string?] {
  const count = countOf(by.status, 'ACTIVE');
  return total === 0 ? [formatCount(count)] : [formatCount(count), text.activeShare(percent.format(count / total))];
}

const soonFigure = ({ total, by }: SubscriptionSummary): [string, string] => [
  formatCount(total),
  text.renewal(countOf(by['auto-renew'], 'false')),
];

function changedFigure({ since, isLost, changes, hasMore }: RecentChanges): [string, string] {
  if (since === undefined) return [formatCount(0), text.firstVisit];
  if (isLost) return [text.unknownNumber, text.lost];
  return [`${formatCount(changes.length)}${hasMore ? '+' : ''}`, text.changedSince(formatVisit(since))];
}
