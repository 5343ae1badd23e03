import { saveFile } from '../../ui/save-file.ts';
import { type ExportFormat, exportFormats } from './export-format.ts';

/** Where an export is written. Nothing is kept unless the stream was closed. */
export interface Destination {
  /** The name of the file, which the person may have changed. */
  readonly name: string;
  readonly writable: WritableStream<Uint8Array<ArrayBuffer>>;
  /** Removes what an aborted export left behind. */
  discard(): Promise<void>;
}

/** Not in every browser, and not in the types of the DOM. */
type SavePicker = (options: {
  suggestedName: string;
  types: { accept: Record<string, string[]> }[];
}) => Promise<FileSystemFileHandle & { remove?: () => Promise<void> }>;

/**
 * Asks the person for a file and streams to it, where the browser can do that. Otherwise, the
 * browser holds the bytes until they are complete, and then downloads them. Call it from a click.
 * Returns `undefined` if the person chose no file.
 */
export async function chooseDestination(name: string, format: ExportFormat): Promise<Destination | undefined> {
  const { showSaveFilePicker } = window as { showSaveFilePicker?: SavePicker };
  if (showSaveFilePicker === undefined) return downloadDestination(name, format);
  const { mediaType, extension } = exportFormats[format];
  try {
    const types = [{ accept: { [mediaType]: [`.${extension}`] } }];
    const file = await showSaveFilePicker({ suggestedName: name, types });
    // the bytes go to a hidden copy, which replaces the file when it is closed
    const writable = await file.createWritable();
    return { name: file.name, writable, discard: async () => file.remove?.() };
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') return undefined;
    throw error;
  }
}

/** Parts this large become blobs, which a browser may keep on disk. */
const blobBytes = 8 * 2 ** 20;

/** Holds an export until it is complete, and then downloads it. */
function downloadDestination(name: string, format: ExportFormat): Destination {
  const blobs: Blob[] = [];
  let parts: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  const flush = (): void => {
    blobs.push(new Blob(parts));
    parts = [];
    bytes = 0;
  };
  const writable = new WritableStream<Uint8Array<ArrayBuffer>>({
    write(part) {
      parts.push(part);
      bytes += part.byteLength;
      if (bytes >= blobBytes) flush();
    },
    close() {
      flush();
      saveFile(name, exportFormats[format].mediaType, ...blobs);
    },
  });
  return { name, writable, discard: async () => undefined };
}
