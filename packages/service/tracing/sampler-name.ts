/** Values of `OTEL_TRACES_SAMPLER` in the specification of OpenTelemetry. */
export const samplerNames = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

/** Which traces are recorded. */
export type SamplerName = (typeof samplerNames)[number];
