import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join, matchesGlob } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseEnv } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { buildProgram } from '../../packages/service/cli/command-line.ts';
import { readConfig, settings } from '../../packages/service/cli/config.ts';
import { requireSecureTransport } from '../../packages/service/cli/serving/announce.ts';
import { commandVariables } from '../../packages/terminal/environment.ts';
import { hasTools } from '../support/has-tools.ts';
import { unknownWords } from '../support/unknown-words.ts';

const root = fileURLToPath(new URL('../../deploy/', import.meta.url));
const read = (file: string): string => readFileSync(`${root}${file}`, 'utf8');
const silent = { write: () => undefined };

/** Variables that a deployment may set: settings, files of secrets, and the folder of caches. */
const variables = [
  ...Object.entries(settings).flatMap(([name, setting]) => ('secret' in setting ? [name, `${name}_FILE`] : [name])),
  'XDG_CACHE_HOME',
];

describe('the systemd units', () => {
  const units = globSync('systemd/**/*.{service,timer,conf}', { cwd: root });
  const lines = units.flatMap((unit) =>
    [...read(unit).matchAll(/^(?<key>[A-Za-z]+)=(?<value>.*)$/gm)].map(({ groups }) => ({
      unit,
      key: groups?.key ?? '',
      value: groups?.value ?? '',
    })),
  );
  // an empty value takes back those before
  const valuesOf = (key: string): string[] =>
    lines.filter((line) => line.key === key && line.value !== '').map(({ value }) => value);

  test('run commands of subreport that exist, with options that exist', async () => {
    const program = await buildProgram({ stdout: silent, stderr: silent });
    const starts = valuesOf('ExecStart').flatMap((value) => {
      const words = /\/opt\/subreport\/bin\/subreport ([^']+)/.exec(value)?.[1]?.split(' ');
      return words === undefined ? [] : [words];
    });
    const names = program.commands.map((command) => command.name());
    expect(starts.map(([name]) => name).toSorted()).toEqual(['backup', 'doctor', 'serve', 'sync']);
    expect(names).toEqual(expect.arrayContaining(starts.map(([name]) => name)));
    expect(starts.flatMap((words) => unknownWords(program, words))).toEqual([]);
  });

  test('set only variables that exist', () => {
    const names = valuesOf('Environment').flatMap((value) => value.split(' ').map((pair) => pair.split('=')[0]));
    expect(names.filter((name) => ![...variables, 'SQLITE_TMPDIR'].includes(name ?? ''))).toEqual([]);
    for (const file of globSync('systemd/*.env', { cwd: root })) {
      const { KEY_ENCRYPTION_SECRET_FILE: _file, ...environment } = parseEnv(read(file)) as NodeJS.ProcessEnv;
      expect(Object.keys(environment).filter((name) => !variables.includes(name))).toEqual([]);
      expect(() => readConfig(environment)).not.toThrow();
    }
  });

  test('give the service every credential that they load, and no others', () => {
    const loaded = valuesOf('LoadCredential').map((value) => value.split(':')[0]);
    const used = lines.flatMap(({ value }) => [...value.matchAll(/%d\/([\w-]+)/g)].map(([, name]) => name));
    expect(loaded.length).toBeGreaterThan(1);
    expect(used.toSorted()).toEqual(loaded.toSorted());
  });

  test('start the service again after everything but wrong settings, without an end', () => {
    const serve = read('systemd/subreport-serve.service');
    for (const line of ['StartLimitIntervalSec=0', 'Restart=always', 'RestartPreventExitStatus=2'])
      expect(serve).toContain(`\n${line}\n`);
  });

  test('have a service for each timer, and names to which the hardening applies', () => {
    const services = units.filter((unit) => unit.endsWith('.service')).map((unit) => basename(unit, '.service'));
    for (const timer of units.filter((unit) => unit.endsWith('.timer'))) {
      expect(services).toContain(basename(timer, '.timer'));
    }
    expect(services.filter((name) => !name.startsWith('subreport-'))).toEqual([]);
  });
});

interface Container {
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly volumeMounts: readonly { readonly mountPath: string }[];
}

describe('the container files', () => {
  const containerfile = read('Containerfile');
  const { services } = parse(read('compose.yaml')) as {
    services: Record<'subreport', { environment: Record<string, string>; secrets: string[]; command?: string[] }>;
  };
  const documents = parseAllDocuments(read('kubernetes/subreport.yaml')).map((document) => document.toJS());
  const pod = documents.find(({ kind }) => kind === 'Deployment').spec.template;
  const [container] = pod.spec.containers as Container[];

  test('set only variables that exist, to valid values', () => {
    const inImage = Object.fromEntries(
      [...containerfile.matchAll(/^(?:ENV| {3}) ([A-Z_]+)=(\S+)/gm)].map(([, name = '', value = '']) => [name, value]),
    );
    // /tmp is in memory, and an export of the past writes a sorted copy
    expect(inImage).toMatchObject({ HOST: '0.0.0.0', DATA_DIR: '/data', SQLITE_TMPDIR: '/data' });
    const inPod = Object.fromEntries(container?.env.map(({ name, value }) => [name, value]) ?? []);
    for (const { PATH: _path, LD_LIBRARY_PATH: _libraries, SQLITE_TMPDIR: _temporary, ...environment } of [
      inImage,
      services.subreport.environment,
      inPod,
    ]) {
      expect(Object.keys(environment).filter((name) => !variables.includes(name))).toEqual([]);
      const readable = Object.entries(environment).filter(([name]) => !name.endsWith('_FILE') || name === 'AUDIT_FILE');
      const here = readable.map(([name, value]) => [name, value.replaceAll(/\$\{\w+:-([^}]+)\}/g, '$1')]);
      // the image alone is started by nobody
      if (environment.PUBLIC_URL !== undefined)
        requireSecureTransport(readConfig({ ...inImage, ...Object.fromEntries(here) }));
    }
  });

  test('copy the tarball of the service alone, and start a file that it has', () => {
    const [, tarballs = ''] = /^COPY (\S+) \/tmp\/subreport\.tgz$/m.exec(containerfile) ?? [];
    const packed = ['subreport', 'subreport-cli', 'subreport-client', 'subreport-mcp'].map(
      (name) => `${name}-1.0.0.tgz`,
    );
    expect(packed.filter((name) => matchesGlob(name, tarballs))).toEqual(['subreport-1.0.0.tgz']);
    const [, started = ''] =
      /import "\/opt\/subreport\/lib\/node_modules\/subreport\/lib\/([^"]+)"/.exec(containerfile) ?? [];
    expect(existsSync(`${root}../packages/${started}`)).toBe(true);
    const script = read('image/try.sh');
    for (const [, line = ''] of containerfile.matchAll(/^(?:USER|VOLUME) (.+)$/gm))
      expect(`${read('../docs/operators/deployment.md')}${script}`).toContain(line.split(':')[0]);
  });

  test('run commands that exist', async () => {
    const program = await buildProgram({ stdout: silent, stderr: silent });
    const [, entry = ''] = /^ENTRYPOINT (.+)$/m.exec(containerfile) ?? [];
    const [, command = ''] = /^CMD (.+)$/m.exec(containerfile) ?? [];
    expect(JSON.parse(entry)).toEqual(['subreport']);
    const jobs = documents.filter(({ kind }) => kind === 'CronJob');
    const ofJobs = jobs.map(({ spec }) => spec.jobTemplate.spec.template.spec.containers[0].args);
    const ofServices = Object.values(services).flatMap(({ command: words }) => (words === undefined ? [] : [words]));
    expect([ofJobs, ofServices].map((each) => each.map(([name]) => name))).toEqual(Array(2).fill(['backup', 'doctor']));
    for (const words of [
      JSON.parse(command),
      (container as Container & { args: string[] }).args,
      ...ofJobs,
      ...ofServices,
    ]) {
      expect(program.commands.map((known) => known.name())).toContain(words[0]);
      expect(unknownWords(program, words)).toEqual([]);
    }
  });

  test.each([
    ['ready', 200, 0],
    ['not ready', 503, 1],
  ])('have a health check that answers for a service that is %s', async (_name, status, code) => {
    const [, check = ''] = /^HEALTHCHECK .*\n {2}CMD (.+)$/m.exec(containerfile) ?? [];
    const [, ...args] = JSON.parse(check) as string[];
    const server = createServer(({ url }, response) => response.writeHead(url === '/readyz' ? status : 404).end());
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const child = spawn(process.execPath, args, { env: { PORT: String(port) } });
    expect(await once(child, 'exit')).toEqual([code, null]);
    server.close();
  });

  test('use the Node.js version of the repository', () => {
    const version = readFileSync(`${root}../.node-version`, 'utf8').trim();
    expect(containerfile).toContain(`BASE=docker.io/library/node:${version}-`);
  });

  test('mount every secret that the service reads', () => {
    const paths = Object.entries(services.subreport.environment).filter(([name]) => name.endsWith('_FILE'));
    expect(paths.map(([, path]) => path)).toEqual(services.subreport.secrets.map((name) => `/run/secrets/${name}`));
    const mounts = container?.volumeMounts.map(({ mountPath }) => mountPath) ?? [];
    for (const { value } of container?.env.filter(({ name }) => name.endsWith('_FILE')) ?? []) {
      expect(mounts).toContain(value.slice(0, value.lastIndexOf('/')));
    }
  });

  test('select the pods of the Deployment in the Service and in the PodDisruptionBudget', () => {
    const { labels } = pod.metadata;
    expect(documents.find(({ kind }) => kind === 'Service').spec.selector).toEqual(labels);
    expect(documents.find(({ kind }) => kind === 'PodDisruptionBudget').spec.selector.matchLabels).toEqual(labels);
  });
});

describe('the Helm chart', () => {
  test('has at most 200 lines, and the version of the repository', () => {
    const files = globSync('helm/**/*.yaml', { cwd: root });
    const lines = files.map((file) => read(file).trimEnd().split('\n').length);
    expect(lines.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(200);
    const { version } = JSON.parse(readFileSync(`${root}../package.json`, 'utf8'));
    expect(parse(read('helm/Chart.yaml'))).toMatchObject({ version, appVersion: version });
    expect(parse(read('helm/values.yaml')).image).toBe(`registry.example.com/subreport:${version}`);
  });

  test.runIf(hasTools('helm'))('renders the manifest of Kubernetes, and passes its linter', () => {
    const helm = (...args: string[]) => execFileSync('helm', args, { cwd: root, encoding: 'utf8' });
    expect(helm('lint', '--strict', 'helm')).toContain('0 chart(s) failed');
    const byName = (text: string) =>
      Object.fromEntries(
        parseAllDocuments(text).map((document) => {
          const { kind, metadata } = document.toJS();
          return [`${kind} ${metadata.name}`, document.toJS()];
        }),
      );
    expect(byName(helm('template', 'subreport', 'helm'))).toEqual(byName(read('kubernetes/subreport.yaml')));
    const changed = ['--set', 'replicas=3', '--set', 'settings.LOG_LEVEL=warn', '--set', 'secretName=other'];
    const { 'Deployment reports': Deployment } = byName(helm('template', 'reports', 'helm', ...changed));
    expect(Deployment).toMatchObject({ metadata: { name: 'reports' }, spec: { replicas: 3 } });
    const [{ env }] = Deployment.spec.template.spec.containers;
    expect(env).toContainEqual({ name: 'LOG_LEVEL', value: 'warn' });
    expect(JSON.stringify(Deployment)).toContain('"secretName":"other"');
  });
});

test('the CronJob of a copy runs a command that exists, and tries again only after temporary failures', async () => {
  const program = await buildProgram({ stdout: silent, stderr: silent });
  const { spec } = parse(read('kubernetes/subreport-sync.yaml'));
  const { template, podFailurePolicy } = spec.jobTemplate.spec;
  const [container] = template.spec.containers;
  expect(unknownWords(program, container.args)).toEqual([]);
  const names = container.env.map(({ name }: { name: string }) => name);
  expect(names.filter((name: string) => name !== 'PGPASSWORD')).toEqual(commandVariables.slice(0, 3));
  expect(container.volumeMounts.map(({ name }: { name: string }) => name)).toEqual(
    template.spec.volumes.map(({ name }: { name: string }) => name),
  );
  const { containerName, values } = podFailurePolicy.rules[0].onExitCodes;
  expect([containerName, values]).toEqual([container.name, [1, 2]]);
});

describe.runIf(hasTools('systemd-analyze'))('systemd', () => {
  const page = (file: string) => readFileSync(`${root}../docs/${file}`, 'utf8');
  let folder: string;
  const analyze = (...args: string[]) => {
    const { stdout, stderr, status } = spawnSync('systemd-analyze', args, { encoding: 'utf8' });
    return { stdout, stderr, status };
  };
  // a machine on which the commands of the pages have installed the units
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'subreport-units-'));
    const units = join(folder, 'etc/systemd/system');
    for (const file of ['opt/subreport/bin/subreport', 'bin/kill']) {
      mkdirSync(join(folder, dirname(file)), { recursive: true });
      writeFileSync(join(folder, file), '#!/bin/sh\n', { mode: 0o755 });
    }
    mkdirSync(join(folder, 'usr/lib/systemd'), { recursive: true });
    cpSync('/usr/lib/systemd/system', join(folder, 'usr/lib/systemd/system'), { recursive: true });
    mkdirSync(units, { recursive: true });
    const [install = ''] = /^cp -r deploy.*$/m.exec(page('operators/deployment.md')) ?? [];
    const here = install.replace('/etc/systemd/system/', units).replaceAll('deploy/', root);
    execFileSync('bash', ['-c', here]);
    const [, name = '', text = ''] =
      /`\/etc\/systemd\/system\/(\S+)`:\n\n```ini\n(.*?)```/s.exec(page('readers/sync.md')) ?? [];
    mkdirSync(join(units, dirname(name)));
    writeFileSync(join(units, name), text);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  test('knows every key of the units, and starts them', () => {
    const units = ['serve.service', 'backup.timer', 'doctor.timer', 'sync@warehouse.timer', 'sync@exports.timer'];
    const names = units.map((name) => `subreport-${name}`);
    expect(analyze('verify', `--root=${folder}`, ...names)).toEqual({ stdout: '', stderr: '', status: 0 });
    const unit = join(folder, 'etc/systemd/system/subreport-sync@.service');
    writeFileSync(unit, readFileSync(unit, 'utf8').replace('Nice=', 'Niece='));
    expect(analyze('verify', `--root=${folder}`, ...names).stderr).toContain("Unknown key 'Niece'");
  });

  test('confines a copy as much as the service, as another user', () => {
    for (const name of ['subreport-serve.service', 'subreport-sync@warehouse.service']) {
      const { stdout } = analyze('security', '--offline=true', `--root=${folder}`, name);
      expect(stdout).toMatch(/Overall exposure level for \S+: 1\.\d OK/);
    }
    const drop = read('systemd/subreport-sync@.service.d/reader.conf');
    const [, user = ''] = /^User=(.*)$/m.exec(drop) ?? [];
    expect(read('systemd/subreport.sysusers')).toContain(`\nu ${user} - `);
  });

  test('has a next time for each schedule', () => {
    const schedules = [...page('readers/sync.md').matchAll(/^OnCalendar=(.+)$/gm)].map(([, line = '']) => line);
    expect(schedules).toHaveLength(1);
    for (const line of schedules) expect(analyze('calendar', line).stdout).toContain('Next elapse');
  });
});

test('deploy/nginx.conf is the site of the how-to guide', () => {
  const page = readFileSync(`${root}../docs/operators/run-behind-nginx.md`, 'utf8');
  expect(page).toContain(`\`\`\`nginx\n${read('nginx.conf')}\`\`\``);
});
