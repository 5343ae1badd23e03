import type { SubscriptionPage } from '../../../client/index.ts';
import { Card } from '../../ui/card.tsx';
import { DateTime } from '../../ui/date-time.tsx';
import { Icon } from '../../ui/icon.tsx';
import { CalendarCheck } from '../../ui/icons.ts';
import { LoadedPart } from '../../ui/loaded-part.tsx';
import { Link } from '../../ui/location.tsx';
import type { Load } from '../../ui/use-load.ts';
import { reportLink } from '../link/report-link.ts';
import { describeEnd } from '../words/describe-end.ts';
import { nameOf } from '../words/product-names.ts';
import { daysShown, nextEndsMax, nextEndsQuery } from './overview-data.ts';
import { overviewStrings } from './overview-strings.ts';

const text = overviewStrings;
const rowHeight = 32;

interface NextEndsProps {
  readonly load: Load<SubscriptionPage>;
  readonly now: Date;
  readonly isPast: boolean;
}

/** The subscriptions that end next and do not renew: what somebody may have to act on. */
export const NextEndsCard = ({ load, now, isPast }: NextEndsProps) => (
  <Card
    title="Will not renew"
    actions={
      load.kind === 'ready' &&
      load.value.totalCount > 0 && (
        <Link class="button quiet" href={reportLink(nextEndsQuery(now, isPast))}>
          {text.allNextEnds(load.value.totalCount, daysShown)}
        </Link>
      )
    }
  >
    <LoadedPart load={load} height={rowHeight * nextEndsMax} isNoted>
      {({ records }) => (records.length === 0 ? <NoEnds /> : <Ends records={records} now={now} isPast={isPast} />)}
    </LoadedPart>
  </Card>
);

const NoEnds = () => (
  <div class="no-ends placeholder">
    <Icon icon={CalendarCheck} size={28} />
    <p>{text.noNextEnds(daysShown)}</p>
  </div>
);

const Ends = ({ records, now, isPast }: Pick<SubscriptionPage, 'records'> & Omit<NextEndsProps, 'load'>) => (
  <ol class="next-ends lines">
    {records.map(({ id, product, iccid, expirationDate }) => (
      <li key={id}>
        <Link
          class="plain cut target medium"
          href={`/console/subscriptions/${encodeURIComponent(id)}${reportLink(nextEndsQuery(now, isPast)).replace(/^[^?]*/, '')}`}
          aria-label={text.nameOfEnd(nameOf(product), iccid)}
        >
          {nameOf(product)}
        </Link>
        <span class="soft">{`…${iccid.slice(-4)}`}</span>
        <DateTime value={expirationDate} text={describeEnd(expirationDate, now.getTime())} focusable={false} />
      </li>
    ))}
  </ol>
);
