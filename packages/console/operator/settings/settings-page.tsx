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
  { label: texts.name, cell: ({ name }) => <code class="nowrap">{name}</code> },
  { label: texts.value, isWide: true, cell: (setting) => <SettingValue setting={setting} /> },
  { label: texts.origin, cell: ({ origin }) => <span class="nowrap">{texts.origins[origin]}</span> },
  { label: texts.meaning, isWide: true, cell: ({ description }) => description },
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
      <div class="toolbar">
        <div class="filter">
          <TextField
            label={texts.search}
            type="search"
            value={text}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
          />
        </div>
        <Checkbox
          label={texts.onlyChanged}
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
  return <span class="soft">{isSet ? texts.secret : texts.notSet}</span>;
}
