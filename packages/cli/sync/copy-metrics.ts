/** Gauges about one copy, without their prefix, and what they mean. */
const gauges = {
  copy_read: 'Whether the copy, or the state of the webhook, was read: 1 or 0. If not, only this is known.',
  last_success_timestamp_seconds: 'When the copy was last found equal to the report; 0 if that is not known.',
  rows: 'Records of the copy.',
  revision: 'Revision of the report that the copy equals, or up to which changes were told.',
  report_revision: 'Current revision of the report; absent if the service did not respond.',
  pending_events: 'Events that a webhook has not accepted.',
  failed_tries: 'Failed tries of a webhook since its last success.',
  disabled: 'Whether a webhook has ended the deliveries with 410: 1 or 0.',
} as const;

/** What was read about a copy; what was not read is absent. */
export type CopyGauges = { -readonly [name in keyof typeof gauges]?: number };

/** The gauges in the text format of Prometheus, with the name of the copy as label. */
export const metricsText = (copy: string, values: CopyGauges): string =>
  Object.entries(values)
    .map(([name, value]) => {
      const metric = `subreport_sync_${name}`;
      const label = copy.replaceAll(/[\\"]/g, '\\$&').replaceAll('\n', '\\n');
      const help = gauges[name as keyof CopyGauges];
      return `# HELP ${metric} ${help}\n# TYPE ${metric} gauge\n${metric}{copy="${label}"} ${value}\n`;
    })
    .join('');

/** The gauges of a text that `metricsText` has returned. */
export const parseMetrics = (text: string): CopyGauges =>
  Object.fromEntries(
    [...text.matchAll(/^subreport_sync_(\w+)\{copy=.*\} (\d\S*)$/gm)].map(([, name, value]) => [name, Number(value)]),
  );
