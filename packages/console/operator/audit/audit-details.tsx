import type { AuditEntry } from '../../../contract/operator/audit.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Popover } from '../../ui/popover.tsx';
import { DefinitionList } from '../parts/definition-list.tsx';
import { strings } from '../strings.ts';

const { audit: texts } = strings;

/** All members of an entry that the table leaves out. */
export const AuditDetails = ({ entry }: { entry: AuditEntry }) => (
  <Popover label="Show" name={texts.showOf(entry.id)} variant="quiet">
    {() => (
      <div class="audit-details">
        <DefinitionList
          values={{
            Entry: entry.id,
            [texts.action]: <code>{entry.action}</code>,
            'Actor id': entry.actor.id ?? strings.noValue,
            Address: entry.address ?? strings.noValue,
            'Correlation id':
              entry.correlation_id === null ? (
                strings.noValue
              ) : (
                <>
                  <code>{entry.correlation_id}</code>
                  <CopyButton text={entry.correlation_id} what="correlation id" />
                </>
              ),
            ...Object.fromEntries(
              Object.entries(entry.details).map(([name, value]) => [name, <code>{JSON.stringify(value)}</code>]),
            ),
          }}
        />
      </div>
    )}
  </Popover>
);
