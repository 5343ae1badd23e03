import { importResults } from '../../../contract/operator/import.ts';
import { Upload } from '../../ui/icons.ts';
import { currentLocation } from '../../ui/location.tsx';
import { tenantFilter } from '../parts/filter-fields.tsx';
import { ListPage } from '../parts/list-page.tsx';
import { itemOf } from '../parts/paths.ts';
import { strings } from '../strings.ts';
import { importColumns } from './import-columns.tsx';
import { ImportPage } from './import-page.tsx';
import { runningPollMs } from './running-poll.ts';

const { imports: texts } = strings;

const resultOptions = importResults.map((value) => ({ value, label: texts.outcomes[value] }));

const filters = [tenantFilter, { name: 'result', label: texts.result, options: resultOptions }];

/** The history of imports, or the import of the address. */
export function ImportsPage() {
  const id = itemOf(currentLocation.value.path);
  if (id !== undefined) return <ImportPage key={id} id={id} />;
  return (
    <ListPage
      operation="listImports"
      title={texts.title}
      filters={filters}
      columns={importColumns}
      keyOf={(each) => each.id}
      everyMs={runningPollMs}
      empty={{ icon: Upload, ...texts }}
    />
  );
}
