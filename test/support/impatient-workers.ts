import { readConfig } from '../../packages/service/cli/config.ts';
import { createLogger } from '../../packages/service/cli/log/logger.ts';
import { Workers } from '../../packages/service/cli/serving/workers.ts';
import { openReadyStore } from '../../packages/service/cli/store/store-session.ts';

/**
 * Runs two workers, each killed once its event loop is blocked for the given milliseconds; prints a
 * line when they serve.
 */
const config = readConfig();
await (await openReadyStore(config, { onConnectionError: () => undefined })).close();
const logger = createLogger({ LOG_LEVEL: 'info' });
await new Workers(config, logger, Number(process.argv[2])).start(2);
logger.info('serving');
