import { fileURLToPath } from 'node:url';
import { drawFolders } from './draw-folders.ts';
import { readFolders } from './read-folders.ts';

/** The picture of ARCHITECTURE.md, an SVG: the folders of src/ and the imports between them. */
export function architecturePicture(): string {
  return drawFolders(readFolders(fileURLToPath(new URL('../../src', import.meta.url))));
}
