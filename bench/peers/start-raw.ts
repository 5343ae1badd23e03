import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ServerProcess, startServer } from '../support/server-process.ts';

/** Headers that depend on the connection or the time rather than the content. */
const ofConnection = new Set(['connection', 'keep-alive', 'date', 'content-length', 'transfer-encoding']);

/** The headers of a response that depend on its content only. */
const headersOf = (answer: Response): Record<string, string> =>
  Object.fromEntries([...answer.headers].filter(([name]) => !ofConnection.has(name)));

/**
 * Starts the upper limit (`raw-http.ts`), which sends a prepared response, headers and body, to
 * every request.
 */
export async function startRaw(answer: Response, folder: string): Promise<ServerProcess> {
  const file = join(folder, 'answer.json');
  writeFileSync(file, JSON.stringify({ headers: headersOf(answer), body: await answer.text() }));
  return startServer('bench/peers/raw-http.ts', [], { ANSWER: file });
}
