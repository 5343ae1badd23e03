import { samplerNames } from '../../tracing/sampler-name.ts';
import { oneOf, type Setting, text, url } from './setting.ts';

/** Settings of traces, named as in the specification of OpenTelemetry. */
export const tracingSettings = {
  OTEL_EXPORTER_OTLP_ENDPOINT: url(
    ['http', 'https'],
    'http://127.0.0.1:4318',
    'Base URL of an OpenTelemetry collector that accepts OTLP over HTTP; if unset, traces are off (docs/operators/traces.md)',
  ),
  OTEL_EXPORTER_OTLP_HEADERS: pairs(
    'authorization=Bearer%20…',
    'Headers of requests to the collector, such as credentials',
    true,
  ),
  OTEL_SERVICE_NAME: text('subreport', 'a name, such as subreport-eu', 'Name of the service in traces'),
  OTEL_RESOURCE_ATTRIBUTES: pairs(
    'deployment.environment.name=production',
    'Further attributes of the service in traces',
  ),
  OTEL_TRACES_SAMPLER: oneOf(
    samplerNames,
    'parentbased_always_on',
    'Which traces are recorded; parentbased_ follows the decision of the client, if it sends one',
  ),
  OTEL_TRACES_SAMPLER_ARG: share(1, 'Share of the traces that traceidratio and parentbased_traceidratio record'),
} as const satisfies Record<string, Setting<unknown>>;

/** Names with percent-encoded values, as the variables of OpenTelemetry have them. */
function pairs(example: string, description: string, secret?: true): Setting<string> {
  return {
    read: (value) => (parsePairs(value) === undefined ? undefined : value),
    fallback: '',
    rule: `names and percent-encoded values separated by commas, such as ${example}`,
    description,
    ...(secret && { secret }),
  };
}

/** Parses names and values; `undefined` if one is malformed. */
export function parsePairs(value: string): Readonly<Record<string, string>> | undefined {
  const found = value === '' ? [] : value.split(',').map((pair) => /^\s*([^\s=]+)\s*=\s*(.*?)\s*$/.exec(pair));
  try {
    return Object.fromEntries(found.map((match) => [match?.[1] ?? '', decodeURIComponent(match?.[2] ?? '%')]));
  } catch {
    return undefined;
  }
}

function share(fallback: number, description: string): Setting<number> {
  return {
    read: (value) => (/^(?:0?\.\d{1,9}|[01](?:\.0+)?)$/.test(value) ? Number(value) : undefined),
    fallback,
    rule: 'a number from 0 to 1, such as 0.05',
    description,
  };
}
