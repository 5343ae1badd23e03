import { Upload } from 'lucide';
import { importResults } from '../../../src/contract/operator/import.ts';
import { currentLocation } from '../../ui/location.tsx';
import { FilterField, FilterSelect } from '../parts/filter-field.tsx';
import { ListView } from '../parts/list-view.tsx';
import { itemOf } from '../parts/paths.ts';
import { useList } from '../parts/use-list.ts';
import { strings } from '../strings.ts';
import { importColumns } from './import-columns.tsx';
import { ImportPage } from './import-page.tsx';
import { runningPollMs } from './running-poll.ts';

const { imports: texts } = strings;

/** The history of imports, or the import of the address. */
export function ImportsPage() {
  const id = itemOf(currentLocation.value.path);
  return id === undefined ? <History /> : <ImportPage key={id} id={id} />;
}

function History() {
  const { query } = currentLocation.value;
  const filters = { tenant: query.get('tenant') ?? undefined, result: query.get('result') ?? undefined };
  const list = useList('listImports', filters, { everyMs: runningPollMs });
  return (
    <>
      <div class="toolbar">
        <FilterField name="tenant" label={strings.tenant} />
        <FilterSelect
          name="result"
          label={texts.result}
          options={importResults.map((value) => ({ value, label: texts.outcomes[value] }))}
        />
      </div>
      <ListView
        label={texts.title}
        list={list}
        columns={importColumns}
        keyOf={({ id }) => id}
        empty={{ icon: Upload, title: texts.none, text: texts.noneHint }}
      />
    </>
  );
}
