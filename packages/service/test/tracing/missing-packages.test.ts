import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const run = promisify(execFile);

/** Fails to find the packages of OpenTelemetry, as after `npm install subreport`. */
const hook = `data:text/javascript,${encodeURIComponent(`
import { registerHooks } from 'node:module';
registerHooks({
  resolve(specifier, context, next) {
    if (!specifier.startsWith('@opentelemetry/')) return next(specifier, context);
    throw Object.assign(new Error('Cannot find package ' + specifier), { code: 'ERR_MODULE_NOT_FOUND' });
  },
});`)}`;

const openTracing = async (endpoint: string | undefined): Promise<string> => {
  const url = new URL('../../cli/serving/open-tracing.ts', import.meta.url);
  const program = `
const { openTracing } = await import('${url}');
const settings = ${JSON.stringify({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_EXPORTER_OTLP_HEADERS: '' })};
console.log(await openTracing(settings, console).then(() => 'opened', String));`;
  return (await run(process.execPath, ['--import', hook, '--input-type=module', '--eval', program])).stdout.trim();
};

test('without the packages of OpenTelemetry, traces that are off need none, and traces that are on say what to install', async () => {
  expect(await openTracing(undefined)).toBe('opened');
  expect(await openTracing('http://127.0.0.1:4318')).toBe(
    'CommandError: Cannot record traces: the packages of OpenTelemetry must be installed: run the command in docs/operators/traces.md, or unset OTEL_EXPORTER_OTLP_ENDPOINT',
  );
});
