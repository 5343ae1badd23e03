import { useRef } from 'preact/hooks';
import { workbookRecordsMax } from '../../../cli/workbook/workbook.ts';
import type { ExportQuery } from '../../../client/index.ts';
import { Checkbox } from '../../ui/field.tsx';
import { Download } from '../../ui/icons.ts';
import { useShortcuts } from '../../ui/keyboard.tsx';
import { moveFocus } from '../../ui/menu.tsx';
import { Popover } from '../../ui/popover.tsx';
import { zoneOfPages } from '../zone/local-days.ts';
import { type ExportFormat, exportFormats } from './export-format.ts';
import { startExport } from './export-store.ts';
import { exportStrings } from './export-strings.ts';
import { showExportTray } from './export-tray.tsx';
import { FieldChooser, fieldsText } from './field-chooser.tsx';
import { datesText, lastDates, withDates, workbookZone } from './last-dates.ts';

const text = exportStrings;

interface ExportMenuProps {
  /** The columns, as in a link, and how to choose others. */
  readonly fields: string | undefined;
  readonly onFields: (fields: string | undefined) => void;
  /** Exactly what is exported. */
  readonly query: ExportQuery;
  /** Number of records of the query, if it is known. */
  readonly totalCount: number | undefined;
  /** The filters and the order, in words. */
  readonly description: string;
}

/** Exports the whole report of the query in a format of the person's choice. */
export function ExportMenu({ query, totalCount, description, fields, onFields }: ExportMenuProps) {
  const root = useRef<HTMLDivElement>(null);
  useShortcuts([{ key: 'e', label: text.menu, run: () => root.current?.querySelector('button')?.click() }]);
  const isTooLarge = (format: ExportFormat): boolean => format === 'xlsx' && (totalCount ?? 0) > workbookRecordsMax;
  const start = (format: ExportFormat): void => {
    showExportTray();
    void startExport({ query: withDates(query, format), format, description });
  };
  return (
    <div ref={root} class="export-menu no-print">
      <Popover label={text.menu} icon={Download} kind="dialog" first="[role=menuitem]">
        {(close) => (
          <>
            <div role="menu" class="menu" tabIndex={-1} aria-label={text.menu} onKeyDown={moveFocus}>
              {(Object.keys(exportFormats) as ExportFormat[]).map((format) => (
                <button
                  key={format}
                  type="button"
                  role="menuitem"
                  class="menu-item export-format bare"
                  tabIndex={-1}
                  aria-disabled={isTooLarge(format) || undefined}
                  onClick={() => {
                    if (isTooLarge(format)) return;
                    close();
                    start(format);
                  }}
                >
                  <span class="medium">{text.formats[format].name}</span>
                  <span class="soft">
                    {isTooLarge(format)
                      ? text.workbookFull
                      : text.formats[format].hint + (format === 'xlsx' ? workbookZone() : '')}
                  </span>
                </button>
              ))}
            </div>
            {zoneOfPages() !== undefined && (
              <Checkbox
                label={datesText()}
                checked={lastDates.value === 'local'}
                onChange={({ currentTarget: { checked } }) => {
                  lastDates.value = checked ? 'local' : 'utc';
                }}
              />
            )}
            <details class="export-fields long">
              <summary>{fieldsText(fields)}</summary>
              <FieldChooser fields={fields} onChange={onFields} />
            </details>
          </>
        )}
      </Popover>
    </div>
  );
}
