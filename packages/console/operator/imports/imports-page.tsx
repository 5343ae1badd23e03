import { importResults } from '../../../contract/operator/import.ts';
import { Upload } from '../../ui/icons.ts';
import { currentLocation } from '../../ui/location.tsx';
import { DownloadCsv } from '../parts/download-csv.tsx';
import { FilterBar } from '../parts/filter-bar.tsx';
import { tenantFilter, valueFilter } from '../parts/list-filter.tsx';
import { ListView } from '../parts/list-view.tsx';
import { itemOf } from '../parts/paths.ts';
import { useList } from '../parts/use-list.ts';
import { strings } from '../strings.ts';
import { importColumns } from './import-columns.tsx';
import { ImportPage } from './import-page.tsx';
import { runningPollMs } from './running-poll.ts';

const { imports: texts } = strings;

const resultOptions = importResults.map((value) => ({ value, label: texts.outcomes[value] }));

const filters = [tenantFilter, valueFilter({ name: 'result', label: texts.result, options: resultOptions })];

/** The history of imports, or the import of the address. */
export function ImportsPage() {
  const id = itemOf(currentLocation.value.path);
  return id === undefined ? <History /> : <ImportPage key={id} id={id} />;
}

function History() {
  const { query } = currentLocation.value;
  const wanted = { tenant: query.get('tenant') ?? undefined, result: query.get('result') ?? undefined };
  const list = useList('listImports', wanted, { everyMs: runningPollMs });
  return (
    <>
      <FilterBar filters={filters}>
        <DownloadCsv id="listImports" query={wanted} name="imports" />
      </FilterBar>
      <ListView
        label={texts.title}
        list={list}
        columns={importColumns}
        keyOf={({ id }) => id}
        empty={
          Object.values(wanted).some((value) => value !== undefined)
            ? { icon: Upload, title: texts.noneFound }
            : { icon: Upload, title: texts.none, text: texts.noneHint }
        }
      />
    </>
  );
}
