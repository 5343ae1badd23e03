import type { History, Round } from './history.ts';

/** Runs a history; resolves to the error if it fails, `undefined` otherwise. */
export type Attempt = (history: History) => Promise<Error | undefined>;

/** The shortest failing history found, and its error. */
export interface Shrunk {
  readonly history: History;
  readonly error: Error;
}

/** Shortens a failing history while attempts are left: removes rounds, then faults and readers. */
export async function shrink(failing: Shrunk, attempt: Attempt, attemptsMax: number): Promise<Shrunk> {
  let best = failing;
  let left = attemptsMax;
  for (let improved = true; improved && left > 0; ) {
    improved = false;
    for (const history of candidates(best.history)) {
      if (left === 0) break;
      left -= 1;
      const error = await attempt(history);
      if (error === undefined) continue;
      best = { history, error };
      improved = true;
      break;
    }
  }
  return best;
}

/** Histories with something removed; those with most removed come first. */
function* candidates(history: History): Generator<History> {
  const { rounds } = history;
  const keep = (kept: readonly Round[]): History => ({ ...history, rounds: kept });
  for (let width = Math.floor(rounds.length / 2); width >= 1; width = Math.floor(width / 2)) {
    for (let start = 0; start + width <= rounds.length; start += width)
      yield keep([...rounds.slice(0, start), ...rounds.slice(start + width)]);
  }
  if (history.workers > 1) yield { ...history, workers: 1 };
  if (history.versions > 1) yield { ...history, versions: 1 };
  for (const name of ['reports', 'summaries'] as const)
    if (history[name].length > 0) yield { ...history, [name]: history[name].slice(1) };
  for (const [index, round] of rounds.entries()) {
    const replace = (simpler: Round): History => keep(rounds.map((each, place) => (place === index ? simpler : each)));
    if (round.readers.length > 0) yield replace({ ...round, readers: [] });
    for (const name of ['fault', 'rotate', 'sweep', 'backup', 'doctor', 'then'] as const) {
      const { [name]: removed, ...rest } = round;
      if (removed !== undefined) yield replace(rest as Round);
    }
    if (round.write?.twinRows !== undefined) {
      const { twinRows: _twinRows, ...write } = round.write;
      yield replace({ ...round, write });
    }
    if (round.write !== undefined && round.write.rows > 10)
      yield replace({ ...round, write: { ...round.write, rows: Math.floor(round.write.rows / 4) } });
  }
}
