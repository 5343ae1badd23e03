import type { Subscription } from '../../../client/index.ts';
import { copyText } from '../../ui/copy-button.tsx';
import { DateTime } from '../../ui/date-time.tsx';
import { announceShown } from '../../ui/live-region.tsx';
import { Link } from '../../ui/location.tsx';
import { strings as shared } from '../../ui/strings.ts';
import { describeEnd } from '../words/describe-end.ts';
import { groupIccid, shortenIccid } from '../words/iccid.ts';
import { nameOf } from '../words/product-names.ts';
import { tableStrings } from './table-strings.ts';

const text = tableStrings;

interface PartProps {
  readonly record: Subscription;
  /** Whether Tab stops here: only in one row at a time. */
  readonly isCurrent: boolean;
}

/** The product's name as the link of the record. */
export const RecordLink = ({ record, href, isCurrent }: PartProps & { href: string }) => (
  <Link
    class="record-link plain cut"
    href={href}
    data-record={record.id}
    tabIndex={isCurrent ? 0 : -1}
    aria-label={text.recordName(nameOf(record.product), record.iccid)}
    title={record.product.name}
  >
    <bdi>{nameOf(record.product)}</bdi>
  </Link>
);

/** The ICCID; a click copies all its digits. Its end names the card: only what is before it may be cut. */
export function IccidButton({ record: { iccid }, isCurrent, isFull }: PartProps & { isFull: boolean }) {
  const shown = isFull ? groupIccid(iccid) : shortenIccid(iccid);
  return (
    <button
      type="button"
      class="iccid bare"
      data-copied={iccid}
      data-full={isFull ? undefined : groupIccid(iccid)}
      tabIndex={isCurrent ? 0 : -1}
      title={text.copyIccid(iccid)}
      onClick={async () => announceShown((await copyText(iccid)) ? 'ICCID copied' : shared.notCopied)}
    >
      <span class="iccid-start cut">{shown.slice(0, -endLength)}</span>
      <span>{shown.slice(-endLength)}</span>
    </button>
  );
}

/** A space and four digits. */
const endLength = 5;

/** The end: counted in days when it is near, otherwise the date. */
export const EndDate = ({ record, isCurrent, now }: PartProps & { now: number }) => (
  <DateTime value={record.expirationDate} text={describeEnd(record.expirationDate, now)} focusable={isCurrent} />
);

/** Whether a record renews: the word may be written in any case. */
export const isRenewed = ({ auto_renew }: Subscription): boolean => auto_renew.toLowerCase() === 'true';
