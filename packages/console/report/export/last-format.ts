import { signal } from '@preact/signals';
import { type ExportFormat, exportFormats } from './export-format.ts';

const key = 'subreport-export-format';

function remembered(): ExportFormat | undefined {
  try {
    const format = localStorage.getItem(key);
    return format !== null && Object.hasOwn(exportFormats, format) ? (format as ExportFormat) : undefined;
  } catch {
    return; // storage is blocked
  }
}

/** The format of the last export in this browser. */
export const lastFormat = signal(remembered());

export function rememberFormat(format: ExportFormat): void {
  lastFormat.value = format;
  try {
    localStorage.setItem(key, format);
  } catch {
    // storage is blocked: it is remembered until the page is closed
  }
}
