import { strings } from './strings.ts';

const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });

/** When the values were loaded that are shown although they may be out of date. */
export const AsOf = ({ at }: { readonly at: Date }) => <span class="as-of">{strings.asOf(clock.format(at))}</span>;
