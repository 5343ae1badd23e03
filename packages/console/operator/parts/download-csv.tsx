import { Button } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Download } from '../../ui/icons.ts';
import { announce, announceShown } from '../../ui/live-region.tsx';
import { saveFile } from '../../ui/save-file.ts';
import { strings } from '../strings.ts';
import { csvOf } from './csv-of.ts';
import { useAction } from './use-action.ts';
import { type Item, type ListId, readItems } from './use-list.ts';

interface DownloadCsvProps<Id extends ListId> {
  readonly id: Id;
  readonly query: Readonly<Record<string, string | undefined>>;
  /** Name of the file, without its extension. */
  readonly name: string;
  /** Whether the page shows an item; all by default. */
  readonly isShown?: (item: Item<Id>) => boolean;
}

/** Items of a file at most: more would be a request for each hundred of them, for minutes. */
const itemsMax = 20_000;

/** A button that saves all items of a list, with its filters, as CSV. */
export function DownloadCsv<Id extends ListId>({ id, query, name, isShown = () => true }: DownloadCsvProps<Id>) {
  const { run, isBusy, error } = useAction(async () => {
    const { items, hasMore } = await readItems(id, { query }, itemsMax);
    const saved = items.filter(isShown);
    saveFile(`${name}.csv`, 'text/csv', csvOf(saved));
    // the file does not say that it is cut
    (hasMore ? announceShown : announce)(strings.csv.saved(saved.length, hasMore));
  });
  return (
    <>
      <Button icon={Download} busy={isBusy} onClick={() => void run()}>
        CSV
      </Button>
      {error !== undefined && <ErrorNote error={error} />}
    </>
  );
}
