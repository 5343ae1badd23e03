import { rememberedSignal } from '../../ui/remembered-signal.ts';
import { type ExportFormat, exportFormats } from './export-format.ts';

const formats = Object.keys(exportFormats) as ExportFormat[];

/** The format of the last export in this browser. */
export const lastFormat = rememberedSignal<ExportFormat | undefined>(
  'subreport-export-format',
  (text) => formats.find((format) => format === text),
  (format) => format ?? '',
);
