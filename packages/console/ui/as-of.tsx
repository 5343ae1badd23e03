import { strings } from './strings.ts';

const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });

/** The time at which values that may be out of date were loaded. */
export const AsOf = ({ at }: { readonly at: Date }) => (
  <span class="as-of small">{strings.asOf(clock.format(at))}</span>
);
