import { durationText } from '../../../contract/instant.ts';
import type { TenantMirror } from '../../../contract/operator/tenant.ts';
import { Card } from '../../ui/card.tsx';
import { DateTime } from '../../ui/date-time.tsx';
import { DefinitionList } from '../parts/definition-list.tsx';
import { strings } from '../strings.ts';

const {
  tenants: { mirror: texts },
} = strings;

/** What a tenant mirrors, how old its records are, and what is not applied. A mirror has no other imports. */
export const MirrorCard = ({ mirror }: { mirror: TenantMirror }) => (
  <Card title={texts.title}>
    <DefinitionList
      rows={[
        [texts.origin, mirror.origin],
        [texts.newAge, <Age key="new" at={mirror.new_as_of} />],
        [texts.changesAge, <Age key="changes" at={mirror.changes_as_of} />],
        [texts.rejected, <Count key="rejected" count={mirror.rejected_records} text={texts.records} />],
        [texts.heldBack, <Count key="held" count={mirror.held_back_removals} text={texts.removals} />],
        [texts.unconfirmed, <Count key="unconfirmed" count={mirror.unconfirmed_removals} text={texts.removals} />],
        [texts.since, <DateTime key="since" value={mirror.since} />],
      ]}
    />
    {(mirror.held_back_removals ?? 0) > 0 && (
      <p class="warning-note">{texts.confirm(mirror.held_back_removals ?? 0)}</p>
    )}
    <p class="soft">{texts.hint}</p>
  </Card>
);

const Count = ({ count, text }: { count: number | null; text: (count: number) => string }) =>
  count === null ? <span class="soft">{texts.unknown}</span> : <span>{text(count)}</span>;

const Age = ({ at }: { at: string | null }) =>
  at === null ? (
    <span class="soft">{texts.notYet}</span>
  ) : (
    <DateTime value={at} text={texts.ago(durationText((Date.now() - Date.parse(at)) / 1000))} />
  );
