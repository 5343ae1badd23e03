import type { OperatorContext } from '../operator/perform.ts';
import type { Store } from '../storage/store.ts';
import { openCommandAudit } from './command-audit.ts';
import type { Config } from './config.ts';
import { describeFailure } from './describe-failure.ts';
import { osUser } from './os-user.ts';
import { nowSeconds, type StoreOpening, withStore } from './store-session.ts';

/** The context of an action that a command performs: the actor is the user of the machine. */
export const commandContext = (store: Store, config: Config): OperatorContext => ({
  store,
  now: nowSeconds,
  actor: { kind: 'command', user: osUser() },
  audit: openCommandAudit(store, config),
  onUnrecorded: (error) =>
    void process.stderr.write(
      `Cannot record the end of the action in the audit log: ${describeFailure(error)}; the action was done\n`,
    ),
});

/** Runs an operator's command with an open store, and always closes it. */
export const withOperator = <T>(
  config: Config,
  work: (context: OperatorContext) => Promise<T>,
  options?: StoreOpening,
): Promise<T> => withStore(config, (store) => work(commandContext(store, config)), options);
