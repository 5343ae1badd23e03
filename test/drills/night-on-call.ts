import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../tools/free-port.ts';
import { eventually } from '../support/eventually.ts';
import type { ScriptedDrill } from './drill.ts';
import type { DrilledService } from './drilled-service.ts';
import type { Stage } from './stage.ts';

const read = (file: string): string => readFileSync(new URL(`../../deploy/${file}`, import.meta.url), 'utf8');

/** The windows and waits of the rules, shortened so that a drill takes a minute. */
const shortened = (text: string): string =>
  text.replaceAll(/\[(?:5|10)m\]/g, '[15s]').replaceAll(/for: \d+m/g, 'for: 3s');

interface Panel {
  readonly title: string;
  readonly targets: readonly { readonly expr: string }[];
}

const { panels } = JSON.parse(read('grafana-dashboard.json')) as { panels: readonly Panel[] };

/** The panels that show nothing in this drill, and why. */
export const panelsWithoutData: Readonly<Record<string, string>> = {
  'Age of the oldest mirror': 'no tenant is a mirror',
};

const listPanels = (titles: readonly string[]): string =>
  titles.map((title) => `${title} (${panelsWithoutData[title] ?? 'for no known reason'})`).join(', ');

/** Prometheus with the rules of `deploy/`, scraping a service every second. */
async function startPrometheus(stage: Stage, service: DrilledService): Promise<string> {
  const port = await freePort();
  writeFileSync(join(stage.folder, 'rules.yaml'), shortened(read('prometheus-rules.yaml')));
  const config = {
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    rule_files: ['rules.yaml'],
    scrape_configs: [{ job_name: 'subreport', static_configs: [{ targets: [`127.0.0.1:${service.managementPort}`] }] }],
  };
  const file = join(stage.folder, 'prometheus.yaml');
  writeFileSync(file, JSON.stringify(config)); // JSON is YAML
  const options = [`--storage.tsdb.path=${join(stage.folder, 'tsdb')}`, `--web.listen-address=127.0.0.1:${port}`];
  const child = spawn('prometheus', [`--config.file=${file}`, ...options], { stdio: 'ignore' });
  stage.defer(async () => {
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
  return `http://127.0.0.1:${port}`;
}

/** Clients that send five reports a second each, until the returned function is called. */
function sendReports(service: DrilledService): () => Promise<void> {
  let isOver = false;
  const clients = Array.from({ length: 6 }, async () => {
    for (; !isOver; await sleep(200)) await service.report();
  });
  return async () => {
    isOver = true;
    await Promise.all(clients);
  };
}

interface Alert {
  readonly state: string;
  readonly labels: { readonly alertname: string };
}

async function firingAlerts(prometheus: string): Promise<string[]> {
  const response = await fetch(`${prometheus}/api/v1/alerts`);
  const { data } = (await response.json()) as { data: { alerts: Alert[] } };
  return data.alerts.filter(({ state }) => state === 'firing').map(({ labels }) => labels.alertname);
}

/** The titles of the panels of which a query returns no series. */
async function findPanelsWithoutData(prometheus: string): Promise<string[]> {
  const shown = await Promise.all(
    panels.map(async ({ targets }) => {
      const results = await Promise.all(targets.map(({ expr }) => query(prometheus, shortened(expr))));
      return results.every((series) => series.length > 0);
    }),
  );
  return panels.filter((_, index) => shown[index] === false).map(({ title }) => title);
}

/** The series that a query returns. */
async function query(prometheus: string, expression: string): Promise<readonly unknown[]> {
  const response = await fetch(`${prometheus}/api/v1/query?${new URLSearchParams({ query: expression })}`);
  if (response.status !== 200) throw new Error(`Prometheus must answer '${expression}': ${await response.text()}`);
  return ((await response.json()) as { data: { result: unknown[] } }).data.result;
}

const alertsCommand = `curl -s $PROMETHEUS/api/v1/alerts |
    jq -r '.data.alerts[] | select(.state == "firing") | "\\(.labels.alertname): \\(.annotations.summary)\\n  \\(.annotations.runbook)"'`;
const blockedCommand = `psql $DATABASE_URL -c "select pid, pg_blocking_pids(pid) as blocked_by, wait_event_type, left(query, 40) as query
    from pg_stat_activity where application_name = 'subreport' and state = 'active'"`;
const blockerCommand = `psql $DATABASE_URL -c "select pid, usename, application_name, state, query from pg_stat_activity
    where pid in (select unnest(pg_blocking_pids(pid)) from pg_stat_activity where application_name = 'subreport')"`;
const errorsQuery =
  'sum by (operation, status_class) (rate(subreport_request_duration_seconds_count{operation="listSubscriptions"}[15s]))';

export const nightOnCall: ScriptedDrill = {
  name: 'night-on-call',
  fault: 'a session locks the records and is forgotten; Prometheus evaluates the rules of deploy/',
  expected: `SubreportErrors fires; the runbook finds the session; after its end report 200 and no alert; panels without data: ${listPanels(Object.keys(panelsWithoutData))}`,
  needs: ['Linux', 'Prometheus'],
  async run(stage) {
    const place = await stage.postgres();
    const environment = { REQUEST_SECONDS_MAX: '2', DATABASE_POOL_SIZE: '2' };
    const service = await stage.serve(place, { environment });
    await service.logIn();
    const prometheus = await startPrometheus(stage, service);
    const stop = sendReports(service);
    stage.defer(stop);
    const shell = (command: string): Promise<string> =>
      stage.shell(command, {
        PROMETHEUS: prometheus,
        SERVICE: service.url,
        DATABASE_URL: place.environment.DATABASE_URL ?? '',
      });
    await service.load(stage.rows(2));
    await service.report('size=0'); // the dashboard shows rejected requests and loaded rows too
    const without = await eventually(async () => {
      const titles = await findPanelsWithoutData(prometheus);
      if (titles.join() !== Object.keys(panelsWithoutData).join()) throw new Error(`panels without data: ${titles}`);
      return titles;
    });
    await place.superuser.query('begin');
    await place.superuser.query('lock table subscription in access exclusive mode');
    const firing = await eventually(async () => {
      const names = await firingAlerts(prometheus);
      // how long a machine takes decides which others fire too
      if (!names.includes('SubreportErrors')) throw new Error(`SubreportErrors must fire: ${names}`);
      return 'SubreportErrors';
    });
    await shell(alertsCommand);
    await shell(`promtool query instant $PROMETHEUS '${errorsQuery}'`);
    await shell("promtool query instant $PROMETHEUS 'subreport_pool_connections'");
    await shell("promtool query instant $PROMETHEUS 'subreport_requests_waiting'");
    await shell(blockedCommand);
    const blocker = await shell(blockerCommand);
    const { rows } = await place.superuser.query('select pg_backend_pid() as pid');
    const isFound = blocker.includes(String(rows[0].pid));
    await shell(`psql $DATABASE_URL -c 'select pg_terminate_backend(${rows[0].pid})'`);
    const report = await service.until('200');
    await stop(); // on a slow machine, six clients may always wait for two connections
    await eventually(async () => {
      const names = await firingAlerts(prometheus);
      if (names.length > 0) throw new Error(`no alert must fire: ${names}`);
    });
    await shell(alertsCommand);
    await shell(`promtool query instant $PROMETHEUS '${errorsQuery}'`);
    await shell("curl -s -w '%{http_code}\\n' $SERVICE/readyz");
    return `${firing} fires; the runbook ${isFound ? 'finds' : 'does not find'} the session; after its end report ${report} and no alert; panels without data: ${listPanels(without)}`;
  },
};
