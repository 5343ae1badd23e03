import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

const read = (file: string): string => readFileSync(new URL(`../../../../${file}`, import.meta.url), 'utf8');
const rules = read('deploy/prometheus-rules.yaml');
const runbook = read('docs/operators/runbook.md');
const alerts = [...rules.matchAll(/- alert: (\w+)/g)].map(([, name = '']) => name);

/**
 * The metrics of docs/operators/metrics.md, which a test compares with those of a running service.
 */
const metrics = [...read('docs/operators/metrics.md').matchAll(/^\| `(\w+)` \| (\w+) \|/gm)].flatMap(
  ([, name = '', type]) =>
    type === 'histogram' ? ['bucket', 'sum', 'count'].map((part) => `${name}_${part}`) : [name],
);
const metricsIn = (text: string): string[] => [...text.matchAll(/\b(?:subreport|process)_\w+/g)].map(([name]) => name);

test.each([
  ['deploy/prometheus-rules.yaml', metricsIn(rules.replaceAll(/^ *#.*$/gm, ''))],
  [
    'deploy/grafana-dashboard.json',
    (JSON.parse(read('deploy/grafana-dashboard.json')) as { panels: { targets: { expr: string }[] }[] }).panels
      .flatMap(({ targets }) => targets)
      .flatMap(({ expr }) => metricsIn(expr)),
  ],
  ['docs/operators/runbook.md', metricsIn(runbook)],
])('%s uses only metrics that the service exports', (_file, used) => {
  expect(used.length).toBeGreaterThan(0);
  expect(used.filter((name) => !metrics.includes(name))).toEqual([]);
});

test('the dashboard shows every metric, except the times of the last check and the last import', () => {
  const dashboard = read('deploy/grafana-dashboard.json');
  const shown = (name: string): boolean => dashboard.includes(name) || /_timestamp_seconds$|_sum$/.test(name);
  expect(metrics.filter((name) => !shown(name))).toEqual([]);
});

describe('docs/operators/runbook.md', () => {
  test('has a section for each alert, and for no other, to which the alert links', () => {
    const sections = [...runbook.matchAll(/^## (\w+)$/gm)].map(([, title]) => title);
    expect(sections).toEqual(alerts);
    const links = [...rules.matchAll(/runbook: docs\/operators\/runbook\.md#(\w+)/g)].map(([, anchor]) => anchor);
    expect(links).toEqual(alerts.map((name) => name.toLowerCase()));
  });

  test.each(alerts)('says for %s what to look at and what to do', (alert) => {
    const section = runbook.split(/^## /m).find((each) => each.startsWith(`${alert}\n`)) ?? '';
    expect(section).toMatch(/^- Look: .+[\s\S]*^- Do: .+/m);
  });
});
