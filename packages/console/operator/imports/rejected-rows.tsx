import type { RejectedRow } from '../../../contract/load.ts';
import { Button } from '../../ui/button.tsx';
import { Download } from '../../ui/icons.ts';
import { saveFile } from '../../ui/save-file.ts';
import { DataTable } from '../parts/data-table.tsx';
import { strings } from '../strings.ts';
import { parseRejectedRows } from './parse-rejected-rows.ts';

const { imports: texts } = strings;

interface RejectedRowsProps {
  /** Id of the import. */
  readonly id: string;
  /** The rejected rows as NDJSON. */
  readonly lines: string;
  /** Number of rows that were rejected, of which `lines` has the first ones. */
  readonly rejected: number;
}

/** Rows on the page; the file has all that the service keeps. */
const shownMax = 20;

/** The first rejected rows of an import, and all that the service keeps as a file. */
export function RejectedRows({ id, lines, rejected }: RejectedRowsProps) {
  const rows = parseRejectedRows(lines);
  const shown = rows.slice(0, shownMax);
  return (
    <div class="stack">
      <DataTable<RejectedRow>
        label={texts.rejectedTitle}
        columns={[
          { label: texts.line, cell: ({ line }) => texts.lineNumber(line) },
          { label: texts.field, cell: ({ errors }) => each(errors, ({ field }) => field || texts.wholeRow) },
          {
            label: texts.value,
            cell: ({ errors }) => each(errors, ({ value }) => <code>{value ?? strings.noValue}</code>),
          },
          { label: texts.rule, isWide: true, cell: ({ errors }) => each(errors, ({ rule }) => rule) },
        ]}
        items={shown}
        keyOf={({ line }) => String(line)}
      />
      <div class="actions">
        <Button icon={Download} onClick={() => saveFile(`rejected-${id}.ndjson`, 'application/x-ndjson', lines)}>
          {texts.download}
        </Button>
        <span class="soft">{texts.rejectedShown(shown.length, rows.length, rejected)}</span>
      </div>
    </div>
  );
}

const each = <T,>(items: readonly T[], draw: (item: T) => preact.ComponentChildren) =>
  items.map((item, index) => <div key={index}>{draw(item)}</div>);
