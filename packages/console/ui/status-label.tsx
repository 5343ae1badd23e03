import { readStatusFilter } from '../../contract/subscription.ts';
import { strings } from './strings.ts';

const tones = { PENDING: 'pending', ACTIVE: 'active', DEPLETED: 'depleted', EXPIRED: 'expired' } as const;

type KnownStatus = keyof typeof tones;

const isKnown = (status: string): status is KnownStatus => Object.hasOwn(tones, status);

/** The word of a status; one that is not known is shown as it is. */
export function statusWord(status: string | null): string {
  if (status === null) return strings.status.none;
  return isKnown(status) ? strings.status[status] : status;
}

/** The word of a value of the filter `status`. */
export const filterStatusWord = (value: string): string => statusWord(readStatusFilter(value));

/** The name of a status in the custom properties `--…-text` and `--…-mark`. */
export const statusTone = (status: string | null): string =>
  status !== null && isKnown(status) ? tones[status] : 'unknown';

/** A status as a dot and a word. */
export const StatusLabel = ({ status }: { status: string | null }) => (
  // a status is any text: a long one is cut, and its title has all of it
  <span
    class="status-label"
    data-tone={statusTone(status)}
    title={status === null || isKnown(status) ? undefined : status}
  >
    <span class="status-dot mark" aria-hidden="true" />
    <bdi class="cut">{statusWord(status)}</bdi>
  </span>
);
