import type { Setting } from '../../contract/operator-setting.ts';
import { runDoctor, showDoctor } from '../../operator/doctor.ts';
import type { AddRoute } from './operator-routes.ts';

/** What the process knows about itself. */
export interface ServiceState {
  /** Checks the store in another process, which stores the result. */
  readonly checkStore: () => Promise<void>;
  readonly settings: readonly Setting[];
}

/** Makes the function that adds `getDoctor`, `runDoctor` and `listSettings`. */
export const serviceRoutes =
  ({ checkStore, settings }: ServiceState) =>
  (add: AddRoute): void => {
    add('getDoctor', ({ context }) => showDoctor(context));
    add('runDoctor', ({ contextWithoutDeadline }) => runDoctor(contextWithoutDeadline(), checkStore));
    add('listSettings', async () => ({ data: settings, next: null }));
  };
