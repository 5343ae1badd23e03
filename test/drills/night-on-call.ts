import { eventually } from '../support/eventually.ts';
import type { Drill } from './drill.ts';
import { type Prometheus, readDeployed, shortened, startPrometheus } from './prometheus.ts';

interface Panel {
  readonly title: string;
  readonly targets: readonly { readonly expr: string }[];
}

const { panels } = JSON.parse(readDeployed('grafana-dashboard.json')) as { panels: readonly Panel[] };

/** The panels that show nothing in this drill, and why. */
export const panelsWithoutData: Readonly<Record<string, string>> = {};

const listPanels = (titles: readonly string[]): string =>
  titles.map((title) => `${title} (${panelsWithoutData[title] ?? 'for no known reason'})`).join(', ');

const firingAlerts = async (prometheus: Prometheus): Promise<string[]> =>
  (await prometheus.alerts()).filter(({ state }) => state === 'firing').map(({ labels }) => labels.alertname);

/** The titles of the panels of which a query returns no series. */
async function findPanelsWithoutData(prometheus: Prometheus): Promise<string[]> {
  const shown = await Promise.all(
    panels.map(async ({ targets }) => {
      const results = await Promise.all(targets.map(({ expr }) => prometheus.query(shortened(expr))));
      return results.every((series) => series.length > 0);
    }),
  );
  return panels.filter((_, index) => shown[index] === false).map(({ title }) => title);
}

const alertsCommand = `curl -s $PROMETHEUS/api/v1/alerts |
    jq -r '.data.alerts[] | select(.state == "firing") | "\\(.labels.alertname): \\(.annotations.summary)\\n  \\(.annotations.runbook)"'`;
const blockedCommand = `psql $DATABASE_URL -c "select pid, pg_blocking_pids(pid) as blocked_by, wait_event_type, left(query, 40) as query
    from pg_stat_activity where application_name = 'subreport' and state = 'active'"`;
const blockerCommand = `psql $DATABASE_URL -c "select pid, usename, application_name, state, query from pg_stat_activity
    where pid in (select unnest(pg_blocking_pids(pid)) from pg_stat_activity where application_name = 'subreport')"`;
const errorsQuery =
  'sum by (operation, status_class) (rate(subreport_request_duration_seconds_count{operation="listSubscriptions"}[15s]))';

export const nightOnCall: Drill = {
  name: 'night-on-call',
  fault: 'a session locks the records and is forgotten; Prometheus evaluates the rules of deploy/',
  expected: `SubreportErrors fires; the runbook finds the session; after its end report 200 and no alert; panels without data: ${listPanels(Object.keys(panelsWithoutData))}`,
  needs: ['Linux', 'Prometheus'],
  async run(stage) {
    const place = await stage.postgres();
    const environment = { REQUEST_SECONDS_MAX: '2', DATABASE_POOL_SIZE: '2' };
    const service = await stage.serve(place, { environment });
    await service.logIn();
    // otherwise their alerts fire all night
    for (const args of [['backup', '--record'], ['doctor']])
      await stage.succeed(args, { environment: place.environment });
    const prometheus = await startPrometheus(stage);
    prometheus.scrape([service]);
    const { stop } = service.keepReporting(6, 200);
    stage.defer(stop);
    const shell = (command: string): Promise<string> =>
      stage.shell(command, {
        PROMETHEUS: prometheus.url,
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
    const { rows } = await place.superuser.query('select pg_backend_pid() as pid');
    const found = await eventually(async () => {
      // between two statements, none waits
      if (!(await shell(blockerCommand)).includes(String(rows[0].pid))) throw new Error('the session must be found');
      return 'finds';
    });
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
    return `${firing} fires; the runbook ${found} the session; after its end report ${report} and no alert; panels without data: ${listPanels(without)}`;
  },
};
