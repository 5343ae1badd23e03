import { type Answer, Connection } from './connection.ts';
import type { MeasuredServer } from './start-server.ts';

/** What one connection sends: the first request, and after each answer the next one. */
export type RequestSource = (previous: Answer | undefined) => string;

/** What a server did under load. */
export interface Measurement {
  readonly perSecond: number;
  /**
   * CPU time of the server's process for each request, in microseconds; PostgreSQL's own is not in
   * it.
   */
  readonly cpuMicrosEach: number;
}

/** How one kind of load is made. */
export interface Load {
  readonly server: MeasuredServer;
  /**
   * What a connection sends before the measurement; its answer is the first that its source gets.
   */
  readonly prepare?: (connection: number) => string;
  readonly source: (connection: number) => RequestSource;
}

/**
 * Puts load on a server for so many milliseconds over so many connections, each of which sends its
 * next request when it has its answer.
 */
export async function measureLoad(
  { server, prepare, source }: Load,
  connections: number,
  milliseconds: number,
): Promise<Measurement> {
  const opened = await Promise.all(Array.from({ length: connections }, () => Connection.open(server.port)));
  try {
    const prepared = await Promise.all(
      opened.map(async (connection, index) => prepare && expectOk(await connection.send(prepare(index)))),
    );
    const cpuBefore = await server.cpuMicros();
    const start = performance.now();
    const counts = await Promise.all(
      opened.map((connection, index) => drive(connection, source(index), prepared[index], start + milliseconds)),
    );
    const seconds = (performance.now() - start) / 1000;
    const cpuMicros = (await server.cpuMicros()) - cpuBefore;
    const requests = counts.reduce((sum, count) => sum + count, 0);
    return { perSecond: requests / seconds, cpuMicrosEach: cpuMicros / requests };
  } finally {
    for (const connection of opened) connection.close();
  }
}

async function drive(
  connection: Connection,
  source: RequestSource,
  first: Answer | undefined,
  end: number,
): Promise<number> {
  let count = 0;
  for (let previous = first; performance.now() < end; count += 1) {
    previous = expectOk(await connection.send(source(previous)));
  }
  return count;
}

function expectOk(answer: Answer): Answer {
  if (answer.status !== 200)
    throw new Error(`Cannot measure: every answer must be 200: ${answer.status} ${answer.body}`);
  return answer;
}
