import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * Hash of the sources that form responses, and of the Node that compresses them: the same in all
 * processes of one build.
 */
export const build = hashSources('./', '../../report/', '../../storage/', '../../../contract/');

function hashSources(...folders: readonly string[]): string {
  const hashed = createHash('sha256').update(process.version);
  for (const folder of folders.map((path) => fileURLToPath(new URL(path, import.meta.url))))
    for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort())
      if (/(?<!\.test)\.(?:ts|js|sql)$/.test(file)) hashed.update(readFileSync(folder + file));
  return hashed.digest('base64url');
}
