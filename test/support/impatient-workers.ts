import { readConfig } from '../../src/cli/config.ts';
import { createLogger } from '../../src/cli/log/logger.ts';
import { Workers } from '../../src/cli/serving/workers.ts';
import { openReadyStore } from '../../src/cli/store/store-session.ts';

/**
 * Runs two workers, each killed once its event loop is blocked for the given milliseconds; prints a
 * line when they serve.
 */
const config = readConfig();
await (await openReadyStore(config, { onConnectionError: () => undefined })).close();
const logger = createLogger({ LOG_LEVEL: 'info', LOG_FORMAT: 'json' });
await new Workers(config, logger, Number(process.argv[2])).start(2);
logger.info('serving');
