import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { hasCommands } from '../../../../test/drills/has-commands.ts';

// Prometheus evaluates each rule of deploy/ over series that must fire it, and over series beside
// them that must not.

const read = (file: string): string =>
  readFileSync(fileURLToPath(new URL(`../../../../deploy/${file}`, import.meta.url)), 'utf8');
const rules = read('prometheus-rules.yaml');
const alerts = [...rules.matchAll(/- alert: (\w+)/g)].map(([, name = '']) => name);
/** The file of rules with one alert only. */
const rulesOf = (alert: string): string => {
  const [head = '', ...each] = rules.split(/^(?= {6}- alert: )/m);
  return head + each.filter((rule) => rule.includes(`- alert: ${alert}\n`)).join('');
};
const folder = mkdtempSync(join(tmpdir(), 'subreport-rules-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Series with a value for each minute, in the notation of `promtool test rules`. */
type Series = Readonly<Record<string, string>>;

interface RuleCase {
  /** Minute at which the alert fires for `fires`, and not for `quiet`. */
  readonly minute: number;
  readonly fires: Series;
  readonly quiet: Series;
}

const target = 'job="subreport",instance="a:9464"';
const always = (value: number): string => `${value}x10000`;
const counting = (perMinute: number): string => `0+${perMinute}x10000`;
/** Simulated time begins at 0, so a time that was never is that of the begin. */
const never = always(0);

/** Series of one metric: with a value that fires the alert, and with one that does not. */
const gauge = (minute: number, series: string, fires: string, quiet: string): RuleCase => {
  const [name, labels] = series.split('{');
  const named = `${name}{${target}${labels === undefined ? '}' : `,${labels}`}`;
  return { minute, fires: { [named]: fires }, quiet: { [named]: quiet } };
};

const requests = (status: string, operation = 'listSubscriptions'): string =>
  `subreport_request_duration_seconds_count{${target},operation="${operation}",status_class="${status}"}`;
const durations = (le: string): string =>
  `subreport_request_duration_seconds_bucket{${target},operation="listSubscriptions",le="${le}"}`;
const tokens = (outcome: string): string =>
  `subreport_token_requests_total{${target},operation="issueToken",outcome="${outcome}"}`;
const disk = (space: string): string => `subreport_disk_bytes{${target},space="${space}"}`;
const days = 1_440;

const cases: Readonly<Record<string, readonly RuleCase[]>> = {
  SubreportDown: [
    gauge(10, 'up', always(0), always(1)),
    { minute: 10, fires: { 'up{job="another",instance="b:1"}': always(1) }, quiet: { [`up{${target}}`]: always(1) } },
  ],
  SubreportNotReady: [gauge(10, 'subreport_ready', always(0), always(1))],
  SubreportErrors: [
    {
      minute: 30,
      fires: { [requests('5xx')]: counting(2), [requests('2xx')]: counting(98) },
      quiet: {
        [requests('5xx')]: counting(1),
        [requests('2xx')]: counting(199),
        [requests('5xx', 'getReadiness')]: counting(50),
      },
    },
  ],
  SubreportSlow: [
    {
      minute: 30,
      fires: { [durations('1')]: counting(98), [durations('2.5')]: counting(100), [durations('+Inf')]: counting(100) },
      quiet: { [durations('1')]: counting(100), [durations('2.5')]: counting(100), [durations('+Inf')]: counting(100) },
    },
  ],
  SubreportOverloaded: [
    gauge(30, 'subreport_requests_refused_total{reason="overload"}', counting(1), always(7)),
    gauge(30, 'subreport_requests_refused_total{reason="overload"}', counting(1), always(0)),
  ],
  SubreportTokenFailures: [
    {
      minute: 40,
      fires: { [tokens('invalid_client')]: counting(3), [tokens('accepted')]: counting(7) },
      quiet: { [tokens('invalid_client')]: counting(1), [tokens('accepted')]: counting(9) },
    },
  ],
  SubreportEventLoopDelay: [gauge(10, 'subreport_event_loop_delay_seconds{percentile="99"}', always(0.3), always(0.1))],
  SubreportPoolWaits: [gauge(10, 'subreport_pool_waiting', always(1), always(0))],
  SubreportNotificationsLost: [gauge(10, 'subreport_change_mark_age_seconds', always(6), always(1))],
  SubreportWalGrows: [gauge(60, 'subreport_store_bytes{part="wal"}', counting(30_000_000), counting(10_000_000))],
  SubreportImportOverdue: [
    gauge(2 * days, 'subreport_import_last_success_timestamp_seconds', always(1), counting(60)),
    gauge(2 * days, 'subreport_import_last_success_timestamp_seconds', always(1), never),
  ],
  SubreportImportsFail: [
    gauge(20, 'subreport_imports_last_day{via="http",result="failed"}', always(1), always(0)),
    gauge(20, 'subreport_imports_last_day{via="command",result="interrupted"}', always(1), always(0)),
  ],
  SubreportDoctorFailed: [gauge(5, 'subreport_doctor_problems', always(1), always(0))],
  SubreportHistoryAhead: [gauge(60, 'subreport_history_ahead_seconds', always(7_200), always(0))],
  SubreportStorageBudget: [gauge(30, 'subreport_storage_budget_ratio', always(0.95), always(0.85))],
  SubreportKeyRotationOverdue: [
    gauge(2 * days, 'subreport_key_rotation_due_timestamp_seconds{purpose="access"}', always(60), counting(60)),
  ],
  SubreportCertificateExpires: [
    gauge(
      5,
      'subreport_certificate_expiry_timestamp_seconds{listener="public"}',
      always(13 * 86_400),
      always(16 * 86_400),
    ),
  ],
  SubreportLogLinesDropped: [gauge(20, 'subreport_log_lines_dropped_total', counting(1), always(5))],
  SubreportAuditEntriesLost: [gauge(20, 'subreport_audit_lost_entries_total', counting(1), always(5))],
  SubreportWorkersReplaced: [gauge(60, 'subreport_workers_replaced_total', counting(1), '0x29 1x10000')],
  SubreportDiskFull: [
    {
      minute: 20,
      fires: { [disk('free')]: always(9), [disk('total')]: always(100) },
      quiet: { [disk('free')]: always(11), [disk('total')]: always(100) },
    },
  ],
  SubreportBackupOverdue: [
    gauge(2 * days, 'subreport_backup_last_success_timestamp_seconds', never, always(12 * 3_600)),
    gauge(2 * days, 'subreport_backup_last_success_timestamp_seconds', always(3_600), counting(60)),
  ],
  SubreportDoctorOverdue: [gauge(9 * days, 'subreport_doctor_last_run_timestamp_seconds', never, always(2 * 86_400))],
  SubreportSweepOverdue: [gauge(180, 'subreport_history_sweeps_due', always(2), '0x60 2x30 0x10000')],
};

test('each rule has series that fire it, and series that do not', () => {
  expect(Object.keys(cases)).toEqual(alerts);
});

/** A test of `promtool`: whether an alert fires over some series. */
const testOf = (alert: string, minute: number, series: Series, isFiring: boolean) => ({
  interval: '1m',
  input_series: Object.entries(series).map(([name, values]) => ({
    series: name,
    values: values.replace(/x10000$/, `x${minute}`),
  })),
  promql_expr_test: [
    {
      // without the labels, which differ by rule
      expr: `count(ALERTS{alertname="${alert}",alertstate="firing"}) > bool 0 or vector(0)`,
      eval_time: `${minute}m`,
      exp_samples: [{ labels: '{}', value: Number(isFiring) }],
    },
  ],
});

/**
 * What `promtool` reports about rules that are evaluated so often, each alone; nothing if all are
 * as expected.
 */
function evaluate(interval: '1m' | '30m', chosen: (one: RuleCase) => boolean): string {
  const files = Object.entries(cases).flatMap(([alert, each]) => {
    const tests = each
      .filter(chosen)
      .flatMap(({ minute, fires, quiet }) => [testOf(alert, minute, fires, true), testOf(alert, minute, quiet, false)]);
    if (tests.length === 0) return [];
    const [file, rule] = [join(folder, `${interval}-${alert}.yaml`), join(folder, `${alert}.rules.yaml`)];
    writeFileSync(rule, rulesOf(alert));
    // JSON is YAML
    writeFileSync(file, JSON.stringify({ rule_files: [rule], evaluation_interval: interval, tests }));
    return [file];
  });
  const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', ...files], { encoding: 'utf8' });
  return status === 0 ? '' : stdout + stderr;
}

/** How each deployment writes when a job runs: minute, hour, and whether only on Sunday. */
const schedules: Readonly<Record<string, (job: string) => string>> = {
  'systemd/subreport-JOB.timer': () => '^OnCalendar=(?<day>Sun )?(?<hour>\\d+):(?<minute>\\d+)$',
  'kubernetes/subreport.yaml': (job) => `name: subreport-${job}$[^]*?schedule: '${cron}'$`,
  'helm/values.yaml': (job) => `^  ${job}: { schedule: '${cron}'`,
  'compose.yaml': (job) => `# +${cron} .* run --rm ${job}$`,
};
const cron = '(?<minute>\\d+) (?<hour>\\d+) \\* \\* (?:\\*|(?<day>0))';

/**
 * The ends of the last runs of a job, for each half hour of a month that begins with a first run on
 * Monday at 0:00. Every second run takes an hour longer than the others.
 */
function endsOf(file: string, job: string): string {
  const text = read(file.replace('JOB', job));
  const { day, hour, minute } = new RegExp(schedules[file]?.(job) ?? '', 'm').exec(text)?.groups ?? {};
  const starts = Array.from({ length: 31 }, (_, n) => n)
    .filter((n) => day === undefined || n % 7 === 6)
    .map((n, index) => (n * 24 + Number(hour)) * 3_600 + Number(minute) * 60 + (index % 2) * 3_600);
  expect(starts.every((start) => start >= 0)).toBe(true);
  const last = (now: number): number => Math.max(0, ...starts.filter((start) => start <= now));
  return Array.from({ length: 31 * 48 + 1 }, (_, n) => last(n * 1_800)).join(' ');
}

if (hasCommands('promtool')) {
  test('Prometheus fires each rule when it should, and only then', () => {
    expect(evaluate('1m', ({ minute }) => minute < days)).toBe('');
    expect(evaluate('30m', ({ minute }) => minute >= days)).toBe('');
  });

  test('the schedules of deploy/ keep every alert quiet for a month', () => {
    const metrics = { backup: 'subreport_backup_last_success', doctor: 'subreport_doctor_last_run' };
    const runs = Object.entries(metrics).map(([job, metric]) => {
      const [values = '', ...others] = new Set(Object.keys(schedules).map((file) => endsOf(file, job)));
      expect(others).toEqual([]);
      return { series: `${metric}_timestamp_seconds{${target}}`, values };
    });
    const [rule, file] = [join(folder, 'rules.yaml'), join(folder, 'month.yaml')];
    writeFileSync(rule, rules);
    const none = { labels: '{}', value: 0 };
    const expr = 'count(max_over_time(ALERTS{alertstate="firing"}[31d])) or vector(0)';
    const month = {
      interval: '30m',
      input_series: [{ series: `up{${target}}`, values: '1x1488' }, ...runs],
      promql_expr_test: [{ expr, eval_time: '31d', exp_samples: [none] }],
    };
    writeFileSync(file, JSON.stringify({ rule_files: [rule], evaluation_interval: '30m', tests: [month] }));
    const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', file], { encoding: 'utf8' });
    expect([status, stdout + stderr]).toEqual([0, expect.any(String)]);
  });
} else {
  console.warn('SKIPPED: the rules were not evaluated: install prometheus');
}
