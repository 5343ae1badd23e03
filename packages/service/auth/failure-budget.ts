import { networkOf } from './network.ts';
import { createWindowCounter, type WindowCounter } from './window-counter.ts';

/** An attempt to authenticate a client with a secret that may have been chosen by a person. */
export interface Attempt {
  readonly clientId: string;
  readonly address: string;
}

/**
 * Limits guesses at chosen secrets: failed attempts per minute for each client and network, and
 * `networkFactor` times as many for a network over all clients. An attacker cannot lock the client
 * out elsewhere (RFC 6749 §2.3.1). Generated secrets need no limit: 256 random bits cannot be
 * guessed.
 */
export interface FailureBudget {
  /** Returns the seconds to wait if the budget of an attempt is used up, otherwise 0. */
  secondsToWait(attempt: Attempt): number | Promise<number>;
  count(attempt: Attempt): void | Promise<void>;
}

const windowMs = 60_000;
const networkFactor = 5;

/** Creates a budget over windows of a minute. */
export function createFailureBudget(perMinute: number, nowMs?: () => number): FailureBudget {
  const byClient = createWindowCounter(windowMs, nowMs);
  const byNetwork = createWindowCounter(windowMs, nowMs);
  const wait = (counter: WindowCounter, key: string, max: number): number => {
    const { count, msLeft } = counter.read(key);
    return count >= max ? Math.ceil(msLeft / 1000) : 0;
  };
  return {
    secondsToWait({ clientId, address }) {
      const network = networkOf(address);
      return Math.max(
        wait(byClient, `${network} ${clientId}`, perMinute),
        wait(byNetwork, network, perMinute * networkFactor),
      );
    },
    count({ clientId, address }) {
      const network = networkOf(address);
      byClient.add(`${network} ${clientId}`);
      byNetwork.add(network);
    },
  };
}
