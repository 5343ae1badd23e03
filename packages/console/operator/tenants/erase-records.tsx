import { useState } from 'preact/hooks';
import { readIccid } from '../../../contract/read-iccid.ts';
import { Select } from '../../ui/field.tsx';
import { Destruction } from '../parts/danger-zone.tsx';
import { OperationDialog } from '../parts/operation-dialog.tsx';
import { strings } from '../strings.ts';
import { readIds } from './read-ids.ts';

const { erasure: texts } = strings.tenants;

interface EraseRecordsProps {
  readonly tenant: string;
  readonly onErased: () => void;
}

/** What records are chosen by. */
const ways = ['email', 'iccid', 'ids'] as const;
type Way = (typeof ways)[number];

const rows = {
  email: { email: { label: texts.ways.email, hint: texts.sourceHint, isRequired: true } },
  iccid: { iccid: { label: texts.ways.iccid, hint: texts.sourceHint, isRequired: true, read: readIccid } },
  ids: {
    ids: {
      label: texts.ways.ids,
      hint: 'At most 2,000, separated by spaces, commas or new lines. Remove them from the source of your imports first.',
      isRequired: true,
      isLong: true,
      read: readIds,
    },
  },
} as const;

/** Erases records of a subscriber, of a SIM or by their ids, once the name of the tenant is typed. */
export function EraseRecords({ tenant, onErased }: EraseRecordsProps) {
  const [way, setWay] = useState<Way>('email');
  const [result, setResult] = useState('');
  return (
    <Destruction
      permission="eraseSubscriptions"
      title={texts.title}
      text="The records are deleted for good. The change feed reports them as removed."
      dialog={(close) => (
        <OperationDialog
          operation="eraseSubscriptions"
          params={{ tenant }}
          title={texts.title}
          submit={(values) => submitOf(way, String(values[way]))}
          typed={tenant}
          rows={rows[way]}
          onDone={({ deleted, missing }) => {
            setResult(texts.done(deleted, missing));
            close();
            onErased();
          }}
          onClose={close}
        >
          <Select
            label="By"
            options={ways.map((each) => ({ value: each, label: texts.ways[each] }))}
            value={way}
            onChange={({ currentTarget }) => setWay(ways.find((each) => each === currentTarget.value) ?? 'ids')}
          />
        </OperationDialog>
      )}
    >
      <p role="status">{result}</p>
    </Destruction>
  );
}

/** Says what the button erases, once that is given. */
function submitOf(way: Way, text: string): string {
  if (text.trim() === '') return texts.title;
  if (way === 'ids') return texts.button(texts.count(readIds(text).length));
  return texts.button(texts.all(way === 'iccid' ? readIccid(text) : text.trim()));
}
