import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../tools/free-port.ts';
import type { DrilledService } from './drilled-service.ts';
import type { Stage } from './stage.ts';

export const readDeployed = (file: string): string =>
  readFileSync(new URL(`../../deploy/${file}`, import.meta.url), 'utf8');

/**
 * Rules or queries with shorter windows and waits, so that a drill takes a minute: 15 seconds for
 * windows of 5 and 10 minutes, a minute for one of 15, and 3 seconds for each wait. Thresholds and
 * windows of an hour stay.
 */
export const shortened = (text: string): string =>
  text
    .replaceAll(/\[(?:5|10)m\]/g, '[15s]')
    .replaceAll('[15m]', '[1m]')
    .replaceAll(/for: \d+[mh]/g, 'for: 3s');

/** An alert that Prometheus holds. */
export interface Alert {
  readonly state: 'pending' | 'firing';
  readonly labels: { readonly alertname: string; readonly instance?: string };
}

interface Rule {
  readonly name: string;
  readonly query: string;
}

/** A running Prometheus that evaluates the rules of `deploy/` every second. */
export interface Prometheus {
  readonly url: string;
  /** Changes what it scrapes every two seconds as the job `subreport`. */
  scrape(services: readonly DrilledService[]): void;
  alerts(): Promise<readonly Alert[]>;
  /** The expression of an alert's rule, with shortened windows. */
  ruleOf(alert: string): Promise<string>;
  /** The series that an instant query returns. */
  query(expression: string): Promise<readonly unknown[]>;
}

/** Starts Prometheus until the drill ends. */
export async function startPrometheus(stage: Stage): Promise<Prometheus> {
  const url = `http://127.0.0.1:${await freePort()}`;
  const targets = join(stage.folder, 'targets.json');
  const scrape = (services: readonly DrilledService[]): void => {
    const addresses = services.map(({ managementPort }) => `127.0.0.1:${managementPort}`);
    writeFileSync(`${targets}.new`, JSON.stringify([{ targets: addresses }]));
    renameSync(`${targets}.new`, targets); // Prometheus never reads half of it
  };
  scrape([]);
  writeFileSync(join(stage.folder, 'rules.yaml'), shortened(readDeployed('prometheus-rules.yaml')));
  const config = {
    global: { scrape_interval: '2s', evaluation_interval: '1s' },
    rule_files: ['rules.yaml'],
    scrape_configs: [{ job_name: 'subreport', file_sd_configs: [{ files: [targets], refresh_interval: '1s' }] }],
  };
  const file = join(stage.folder, 'prometheus.yaml');
  writeFileSync(file, JSON.stringify(config)); // JSON is YAML
  const options = [`--storage.tsdb.path=${join(stage.folder, 'tsdb')}`, `--web.listen-address=${new URL(url).host}`];
  const child = spawn('prometheus', [`--config.file=${file}`, ...options], { stdio: 'ignore' });
  stage.defer(async () => {
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
  const ask = async <T>(path: string): Promise<T> => {
    const response = await fetch(`${url}/api/v1/${path}`);
    if (response.status !== 200) throw new Error(`Prometheus must answer '${path}': ${await response.text()}`);
    return ((await response.json()) as { data: T }).data;
  };
  return {
    url,
    scrape,
    alerts: async () => (await ask<{ alerts: readonly Alert[] }>('alerts')).alerts,
    ruleOf: async (alert) => {
      const { groups } = await ask<{ groups: readonly { rules: readonly Rule[] }[] }>('rules');
      const rule = groups.flatMap(({ rules }) => rules).find(({ name }) => name === alert);
      if (rule === undefined) throw new Error(`Prometheus must have the rule ${alert}`);
      return rule.query;
    },
    query: async (expression) => {
      const path = `query?${new URLSearchParams({ query: expression })}`;
      return (await ask<{ result: readonly unknown[] }>(path)).result;
    },
  };
}
