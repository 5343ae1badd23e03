import type { Logger } from 'pino';
import { CommandError } from '../../../terminal/error.ts';
import { packageVersion } from '../../../terminal/package-version.ts';
import { createThrottledLog } from '../../http/listener/throttled-log.ts';
import type { Config } from '../config.ts';
import { parsePairs } from '../settings/tracing-settings.ts';

/** Milliseconds between two log lines about a collector that cannot be reached. */
const faultLogMs = 60_000;

/**
 * Starts recording traces if a collector is configured; returns the function that sends the last
 * spans and stops. Without a collector, no module of OpenTelemetry is loaded. Throws `CommandError`
 * if they are not installed.
 */
export async function openTracing(config: Config, logger: Logger): Promise<() => Promise<void>> {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint } = config;
  if (endpoint === undefined) return async () => undefined;
  const { startTracing } = await import('../../tracing/start-tracing.ts').catch(explainMissing);
  const throttled = createThrottledLog(faultLogMs);
  return startTracing({
    endpoint,
    headers: parsePairs(config.OTEL_EXPORTER_OTLP_HEADERS) ?? {},
    attributes: {
      ...parsePairs(config.OTEL_RESOURCE_ATTRIBUTES),
      'service.name': config.OTEL_SERVICE_NAME,
      'service.version': packageVersion,
      'process.pid': process.pid,
    },
    sampler: config.OTEL_TRACES_SAMPLER,
    ratio: config.OTEL_TRACES_SAMPLER_ARG,
    onFault: (reason) => throttled((faults) => logger.warn({ reason, faults }, 'spans could not be exported')),
  });
}

/** Rethrows an error; the npm package comes without the packages that only traces need. */
function explainMissing(error: NodeJS.ErrnoException): never {
  if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
  throw new CommandError(
    'Cannot record traces: the packages of OpenTelemetry must be installed: run the command in docs/operators/traces.md, or unset OTEL_EXPORTER_OTLP_ENDPOINT',
    { cause: error },
  );
}
