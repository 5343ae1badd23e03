import type { RejectedRow } from '../../../contract/load.ts';
import { Button } from '../../ui/button.tsx';
import { Download } from '../../ui/icons.ts';
import { saveFile } from '../../ui/save-file.ts';
import { DataTable } from '../parts/data-table.tsx';
import { strings } from '../strings.ts';
import { mediaTypes } from './describe-file.ts';

const { imports: texts } = strings;

interface RejectedRowsProps {
  /** Id of the import. */
  readonly id: string;
  /** The first rejected rows. */
  readonly rows: readonly RejectedRow[];
  /** Number of rows that were rejected. */
  readonly rejected: number;
}

/** Rows on the page; the file has all that the service keeps. */
const shownMax = 20;

/** The first rejected rows of an import, and all that the service keeps as a file. */
export function RejectedRows({ id, rows, rejected }: RejectedRowsProps) {
  const shown = rows.slice(0, shownMax);
  return (
    <div class="stack">
      <DataTable<RejectedRow>
        label={texts.rejectedTitle}
        columns={[
          { label: 'Line', cell: ({ line }) => texts.lineNumber(line) },
          { label: texts.field, cell: ({ errors }) => each(errors, ({ field }) => field || 'the row') },
          {
            label: texts.value,
            cell: ({ errors }) => each(errors, ({ value }) => <code>{value ?? strings.noValue}</code>),
          },
          { label: 'Must be', isWide: true, cell: ({ errors }) => each(errors, ({ rule }) => rule) },
        ]}
        items={shown}
        keyOf={({ line }) => String(line)}
      />
      <div class="row gap-3">
        <Button icon={Download} onClick={() => saveFile(`rejected-${id}.ndjson`, mediaTypes.ndjson, linesOf(rows))}>
          Download rejected rows
        </Button>
        <span class="soft">{texts.rejectedShown(shown.length, rows.length, rejected)}</span>
      </div>
    </div>
  );
}

const linesOf = (rows: readonly RejectedRow[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join('');

const each = <T,>(items: readonly T[], draw: (item: T) => preact.ComponentChildren) =>
  items.map((item, index) => <div key={index}>{draw(item)}</div>);
