import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ServerProcess, startServer } from '../support/server-process.ts';

/** Headers that belong to one connection or one moment, and not to what was answered. */
const ofConnection = new Set(['connection', 'keep-alive', 'date', 'content-length', 'transfer-encoding']);

/**
 * Starts the limit (`raw-http.ts`): it sends the bytes of an answer, headers and body, to whoever
 * asks.
 */
export async function startRaw(answer: Response, folder: string): Promise<ServerProcess> {
  const file = join(folder, 'answer.json');
  const headers = Object.fromEntries([...answer.headers].filter(([name]) => !ofConnection.has(name)));
  writeFileSync(file, JSON.stringify({ headers, body: await answer.text() }));
  return startServer('bench/peers/raw-http.ts', [], { ANSWER: file });
}
