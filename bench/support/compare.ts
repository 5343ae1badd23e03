import { type Load, type LoadResult, runLoad } from './loader.ts';
import { median } from './median.ts';
import type { ServerProcess } from './server-process.ts';

/** One of the compared implementations. */
export interface Side extends Pick<Load, 'requests' | 'follow' | 'status'> {
  readonly name: string;
  readonly server: Pick<ServerProcess, 'port' | 'cpuSeconds'>;
  /** CPU time of the database that the server uses, in seconds. */
  readonly databaseSeconds?: (() => number) | undefined;
}

/** The result of one round of one side. */
export interface RoundResult extends LoadResult {
  /** CPU time of the server process per request, in microseconds, without that of the database. */
  readonly cpuUs: number;
  /** The same with that of the database. */
  readonly totalUs: number;
}

/** How long to measure. */
export interface Rounds {
  readonly rounds: number;
  readonly seconds: number;
  readonly connections: number;
  /** Length of the first round, which is not counted. */
  readonly warmUpSeconds?: number;
}

/** Medians of one side over all rounds. */
export interface Measured extends RoundResult {
  readonly name: string;
  readonly rounds: readonly RoundResult[];
}

/**
 * Measures all sides in turn, round by round, so that other load on the machine affects all of
 * them; the first round is a warm-up.
 */
export async function compareSides(
  sides: readonly Side[],
  { rounds, seconds, connections, warmUpSeconds = 1.5 }: Rounds,
): Promise<readonly Measured[]> {
  const results = new Map<Side, RoundResult[]>(sides.map((side) => [side, []]));
  for (let round = 0; round <= rounds; round += 1) {
    // the order varies, so that no side always follows the same one
    const turn = round % 2 === 0 ? sides : sides.toReversed();
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
      totalUs: median(all.map(({ totalUs }) => totalUs)),
      rounds: all,
    };
  });
}

async function measureRound(side: Side, connections: number, seconds: number): Promise<RoundResult> {
  const { requests, follow, status, server, databaseSeconds = () => 0 } = side;
  const [before, databaseBefore] = [server.cpuSeconds() ?? Number.NaN, databaseSeconds()];
  const result = await runLoad({ port: server.port, requests, follow, status, connections, seconds });
  const used = (server.cpuSeconds() ?? Number.NaN) - before;
  const usedByDatabase = databaseSeconds() - databaseBefore;
  const toUs = 1e6 / (result.perSecond * seconds);
  return { ...result, cpuUs: used * toUs, totalUs: (used + usedByDatabase) * toUs };
}

/**
 * The ratio of two sides as the median of the ratios of the rounds, with the minimum and the
 * maximum.
 */
export function ratioOf(
  first: Measured,
  second: Measured,
  figure: 'perSecond' | 'cpuUs' | 'totalUs',
): { median: number; least: number; greatest: number } {
  const ratios = first.rounds.map((round, index) => round[figure] / (second.rounds[index]?.[figure] ?? Number.NaN));
  return { median: median(ratios), least: Math.min(...ratios), greatest: Math.max(...ratios) };
}
