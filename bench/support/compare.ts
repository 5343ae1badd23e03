import { type Load, type LoadResult, runLoad } from './loader.ts';
import { median } from './median.ts';
import type { ServerProcess } from './server-process.ts';

/** One of the things that are compared. */
export interface Side extends Pick<Load, 'requests' | 'follow' | 'status'> {
  readonly name: string;
  readonly server: Pick<ServerProcess, 'port' | 'cpuSeconds'>;
}

/** What one round of one side gave. */
export interface RoundResult extends LoadResult {
  /**
   * Processor time of the server's own process for each request, in microseconds; a database's is
   * not in it.
   */
  readonly cpuUs: number;
}

/** How long to measure. */
export interface Rounds {
  readonly rounds: number;
  readonly seconds: number;
  readonly connections: number;
}

/** Medians of one side over all rounds. */
export interface Measured extends RoundResult {
  readonly name: string;
  readonly rounds: readonly RoundResult[];
}

const warmUpSeconds = 1.5;

/**
 * Measures all sides one after another, round by round, so that whatever else the machine does
 * meets all of them; the first round only warms up.
 */
export async function compareSides(
  sides: readonly Side[],
  { rounds, seconds, connections }: Rounds,
): Promise<readonly Measured[]> {
  const results = new Map<Side, RoundResult[]>(sides.map((side) => [side, []]));
  for (let round = 0; round <= rounds; round += 1) {
    const turn = round % 2 === 0 ? sides : sides.toReversed(); // nobody always follows the same one
    for (const side of turn) {
      const result = await measureRound(side, connections, round === 0 ? warmUpSeconds : seconds);
      if (round > 0) results.get(side)?.push(result);
    }
  }
  return sides.map((side) => {
    const all = results.get(side) ?? [];
    return {
      name: side.name,
      perSecond: median(all.map(({ perSecond }) => perSecond)),
      p50Ms: median(all.map(({ p50Ms }) => p50Ms)),
      p99Ms: median(all.map(({ p99Ms }) => p99Ms)),
      cpuUs: median(all.map(({ cpuUs }) => cpuUs)),
      rounds: all,
    };
  });
}

async function measureRound(side: Side, connections: number, seconds: number): Promise<RoundResult> {
  const { requests, follow, status, server } = side;
  const before = server.cpuSeconds() ?? Number.NaN;
  const result = await runLoad({ port: server.port, requests, follow, status, connections, seconds });
  const used = (server.cpuSeconds() ?? Number.NaN) - before;
  return { ...result, cpuUs: (used * 1e6) / (result.perSecond * seconds) };
}

/**
 * The ratio of two sides in one figure, as the median of the ratios of each round, with the least
 * and the greatest of them.
 */
export function ratioOf(
  first: Measured,
  second: Measured,
  figure: 'perSecond' | 'cpuUs',
): { median: number; least: number; greatest: number } {
  const ratios = first.rounds.map((round, index) => round[figure] / (second.rounds[index]?.[figure] ?? Number.NaN));
  return { median: median(ratios), least: Math.min(...ratios), greatest: Math.max(...ratios) };
}
