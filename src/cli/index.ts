// The entry of the package `subreport` for programs that run the service in their own process.
export { readConfig } from './config.ts';
export { createLogger } from './logger.ts';
export { type RunningService, serve } from './serve.ts';
export { openReadyStore } from './store-session.ts';
