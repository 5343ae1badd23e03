import type { TenantMirror } from '../../../src/contract/operator/tenant.ts';
import { Card } from '../../ui/card.tsx';
import { DateTime } from '../../ui/date-time.tsx';
import { DefinitionList } from '../parts/definition-list.tsx';
import { strings } from '../strings.ts';

const {
  tenants: { mirror: texts },
} = strings;

/** What a tenant mirrors, and how old its records are. A mirror has no other imports. */
export const MirrorCard = ({ mirror }: { mirror: TenantMirror }) => (
  <Card title={texts.title}>
    <DefinitionList
      rows={[
        [texts.origin, mirror.origin],
        [texts.newAge, <Age key="new" at={mirror.new_as_of} />],
        [texts.changesAge, <Age key="changes" at={mirror.changes_as_of} />],
        [texts.since, <DateTime key="since" value={mirror.since} />],
      ]}
    />
    <p class="soft">{texts.hint}</p>
  </Card>
);

const Age = ({ at }: { at: string | null }) =>
  at === null ? <span class="soft">{texts.notYet}</span> : <DateTime value={at} text={formatAge(Date.parse(at))} />;

const format = new Intl.RelativeTimeFormat('en-GB', { style: 'short' });
const units = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const;

/** The time since an instant, in the largest unit of which it has two: "90 min ago", "6 hr ago". */
function formatAge(ms: number): string {
  const seconds = Math.max(0, Math.round((Date.now() - ms) / 1000));
  const [unit, size] = units.find(([, each]) => seconds >= 2 * each) ?? (['second', 1] as const);
  return format.format(-Math.floor(seconds / size), unit);
}
