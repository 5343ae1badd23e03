import { readConfig } from './config.ts';
import { createLogger } from './log/logger.ts';
import { serve } from './serve.ts';
import { demoConfig, prepareDemo } from './serving/demo.ts';
import { logStoreEvents, openReadyStore } from './store/store-session.ts';

interface DemoAccess {
  readonly base_url: string;
  readonly token_url: string;
  readonly client_id: string;
  readonly client_secret: string;
}

interface StartedService {
  readonly url: string;
  readonly demo: DemoAccess | undefined;
  /** Finishes the requests in progress, and closes the service and its store. */
  stop(): Promise<void>;
}

/**
 * Starts the service in this process: the entry of the package `subreport`. Takes the settings of
 * `docs/operators/settings.md`; the environment is ignored. With `demo`, it serves what `serve
 * --demo` does. Throws if a setting is invalid, the store cannot be opened or the port is taken.
 *
 * @example const { url, stop } = await startService({ PORT: '8081', DATA_DIR: './test-data' })
 */
export async function startService(
  settings: Readonly<Record<string, string>>,
  { demo: isDemo = false }: { readonly demo?: boolean } = {},
): Promise<StartedService> {
  const config = isDemo ? await demoConfig(readConfig({ ...settings })) : readConfig({ ...settings });
  const logger = createLogger(config);
  const store = await openReadyStore(config, logStoreEvents(logger));
  try {
    const demo = isDemo ? await prepareDemo(config, store) : undefined;
    const { app, management, drain } = await serve(config, store, logger);
    const stop = async (): Promise<void> => {
      drain();
      await Promise.all([app.close(), management?.close()]);
      await store.close();
    };
    return { url: config.publicUrl, demo, stop };
  } catch (error) {
    await store.close();
    throw error;
  }
}
