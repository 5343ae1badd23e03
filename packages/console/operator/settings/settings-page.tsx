import { useState } from 'preact/hooks';
import type { Setting } from '../../../contract/operator/setting.ts';
import { Checkbox, TextField } from '../../ui/field.tsx';
import { Settings } from '../../ui/icons.ts';
import type { Column } from '../parts/data-table.tsx';
import { ListView } from '../parts/list-view.tsx';
import { filterList, useList } from '../parts/use-list.ts';
import { strings } from '../strings.ts';

const { settings: texts } = strings;

const columns: readonly Column<Setting>[] = [
  { label: 'Setting', cell: ({ name }) => <code class="nowrap">{name}</code> },
  { label: 'Value', isWide: true, cell: (setting) => <SettingValue setting={setting} /> },
  { label: 'From', cell: ({ origin }) => <span class="nowrap">{texts.origins[origin]}</span> },
  { label: 'Meaning', isWide: true, cell: ({ description }) => description },
];

/** The settings in force, and where they come from. */
export function SettingsPage() {
  const list = useList('listSettings');
  const [text, setText] = useState('');
  const [onlyChanged, setOnlyChanged] = useState(false);
  const found = filterList(
    list,
    ({ name, description, origin }) =>
      `${name} ${description}`.toLowerCase().includes(text.trim().toLowerCase()) &&
      (!onlyChanged || origin !== 'default'),
  );
  return (
    <>
      <div class="toolbar row gap-3">
        <div class="filter">
          <TextField
            label="Search"
            type="search"
            value={text}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
          />
        </div>
        <Checkbox
          label="Only changed settings"
          checked={onlyChanged}
          onChange={({ currentTarget }) => setOnlyChanged(currentTarget.checked)}
        />
      </div>
      <ListView
        label={texts.title}
        list={found}
        columns={columns}
        keyOf={({ name }) => name}
        empty={{ icon: Settings, title: texts.none }}
      />
    </>
  );
}

function SettingValue({ setting: { value, is_set: isSet } }: { setting: Setting }) {
  if (value !== null && value !== '') return <code>{value}</code>;
  return <span class="soft">{isSet ? 'Set, not shown' : 'Not set'}</span>;
}
