import { History } from 'lucide';
import { Card } from '../../ui/card.tsx';
import { Icon } from '../../ui/icon.tsx';
import { LoadedPart } from '../../ui/loaded-part.tsx';
import { Link } from '../../ui/location.tsx';
import { ChangeList } from '../changes/change-list.tsx';
import { describeChanges } from '../changes/describe-changes.ts';
import type { RecentChangesState } from '../changes/use-recent-changes.ts';
import { strings } from '../strings.ts';

const shownMax = 3;
const height = 160;

/** The newest changes since the last visit. */
export const RecentCard = ({ changes }: { readonly changes: RecentChangesState }) => (
  <Card
    title={strings.overview.recent}
    actions={
      <Link class="button quiet" href="/console/changes">
        {strings.overview.allChanges}
      </Link>
    }
  >
    <LoadedPart load={changes.load} height={height} isNoted>
      {(recent) => {
        const { title, hint } = describeChanges(recent);
        const sentences = (
          <>
            <p>{title}</p>
            {hint !== undefined && <p class="soft">{hint}</p>}
          </>
        );
        if (recent.changes.length === 0)
          return (
            <div class="recent-none">
              <Icon icon={History} size={28} />
              {sentences}
            </div>
          );
        return (
          <>
            {sentences}
            <ChangeList changes={recent.changes.slice(0, shownMax)} />
          </>
        );
      }}
    </LoadedPart>
  </Card>
);
