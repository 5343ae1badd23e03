import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, linkSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { drawOne } from '../../../../test/support/draw.ts';
import { engines, type TestStore } from '../../../../test/support/engines.ts';
import { type CommandOptions, type CommandResult, runCommand } from '../../../../test/support/run-command.ts';
import { runHere } from '../../../../test/support/run-here.ts';
import { buildProgram, runCommandLine } from '../../cli/command-line.ts';
import { settings } from '../../cli/config.ts';
import { syntheticRows } from '../../import/synthetic-rows.ts';
import { findClientWithSecrets } from '../../storage/tables/client-secret.ts';

const drawn = drawOne(engines, import.meta.url);

const launcher = fileURLToPath(new URL('../../cli/subreport.mjs', import.meta.url));
const [row] = syntheticRows({ count: 1, seed: 1, until: 1_767_225_600 });
const good = JSON.stringify(row);
const lines = (...texts: string[]): string => texts.map((text) => `${text}\n`).join('');
/** An error message without a stack trace. */
const errorMessage = /^Cannot [^\n]+\n$/;

/** The words of each command that does something. */
const pathsOf = ({ commands }: Awaited<ReturnType<typeof buildProgram>>): string[][] =>
  commands.flatMap((command) =>
    command.commands.length === 0 ? [[command.name()]] : pathsOf(command).map((path) => [command.name(), ...path]),
  );

describe('wrong use of the command line', () => {
  test.each([
    [[], 'Usage: subreport'],
    [['sevre'], "error: unknown command 'sevre'\n(Did you mean serve?)"],
    [['serve', '--dmeo'], "error: unknown option '--dmeo'\n(Did you mean --demo?)"],
    [['tenant', 'create', 'Acme'], 'must be 1 to 63 of the characters a-z'],
    [['client', 'create', '--tenant', 't', '--grants', 'password'], 'client_credentials,refresh_token'],
    [['client', 'create', '--tenant', 't', '--external'], '--external requires --client-id'],
    [
      ['client', 'create', '--tenant', 't', '--external', '--secret-stdin'],
      "cannot be used with option '--secret-stdin'",
    ],
    [
      ['client', 'create', '--tenant', 't', '--external', '--grants', 'refresh_token'],
      "cannot be used with option '--grants <list>'",
    ],
    [
      ['client', 'rotate', '--client-id', 'c', '--overlap-hours', 'soon'],
      'a number of hours from 0 to 9999, such as 24',
    ],
    [['import', 'LICENSE', '--tenant', 't'], 'must end in .csv, .ndjson or .jsonl'],
    [['import', 'nofile', '--tenant', 't'], "Cannot read 'nofile': it must be a file that this user can read (ENOENT)"],
    [
      ['import', 'a.csv', '--tenant', 't', '--format', 'xml'],
      "error: option '--format <format>' argument 'xml' is invalid. Allowed choices are ndjson, csv.",
    ],
    [['import', 'a.csv'], "error: required option '--tenant <tenant>' not specified"],
    [['show', 'a', 'b'], "error: too many arguments for 'show'. Expected 1 argument but got 2: a, b."],
    [['imports', 'list', '--limit', '0'], "argument '0' is invalid. It must be an integer from 1 to 1000, such as 20"],
    [['list', '--auto-renew', 'constructor'], "argument 'constructor' is invalid. It must be one of true, false"],
    [['list', '--all', '--page', '2'], "error: option '--all' cannot be used with option '--page <n>'"],
    [['generate', '--subscriptions', 'many', '--tenant', 't'], 'an integer from 0 to 999999999, such as 1000'],
    [['generate', '--subscriptions', '5'], 'either --tenant or --output must be given'],
    [['generate', '--subscriptions', '5', '--until', 'noon', '--output', '-'], 'ISO 8601'],
  ])('%j exits with 2 and shows the correct use', async (args, said) => {
    const { code, stdout, stderr } = await runHere(args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(said);
    expect(stderr).not.toMatch(/^ +at /m);
  });

  test('invalid settings make every command exit with 2 and name all of them', async () => {
    const environment = { PORT: 'eighty', FIRST_PAGE: '2', SUBREPORT_PORT: '80', DATABASE_URL: 'mysql://u:hidden@h/d' };
    for (const args of [['serve'], ['migrate'], ['config'], ['tenant', 'list']]) {
      const { code, stderr } = await runHere(args, environment);
      expect(code).toBe(2);
      for (const name of Object.keys(environment)) expect(stderr).toContain(`Cannot use ${name}: it must be`);
      expect(stderr).toContain("did you mean 'PORT'?");
      expect(stderr).not.toContain('hidden');
    }
  });

  test('--help of a group of commands lists help with its commands', async () => {
    for (const name of ['client', 'tenant', 'imports']) {
      const { stdout } = await runHere([name, '--help']);
      expect(stdout).toMatch(/^Commands:\n(?: .*\n)* {2}help \[command\]/m);
      expect(stdout).not.toContain('Read reports:');
    }
  });

  test('--help of every command shows an example, below sentences of at most 100 columns', async () => {
    for (const path of pathsOf(await buildProgram(process))) {
      let text = '';
      const keep = { write: (more: string) => (text += more) };
      expect([path, await runCommandLine([...path, '--help'], { stdout: keep, stderr: keep })]).toEqual([path, 0]);
      expect([path, text]).toEqual([path, expect.stringMatching(/\nExamples?:\n {2}.*subreport /)]);
      expect([path, text]).toEqual([path, expect.not.stringMatching(/^\S.{100}/m)]);
      // rejected rows are NDJSON
      if (path[1] !== 'errors') expect([path, text]).toEqual([path, expect.stringContaining('--json')]);
    }
  });

  test('--version prints the version of the package', async () => {
    const { version } = JSON.parse(readFileSync(new URL('../../../../package.json', import.meta.url), 'utf8'));
    expect((await runCommand(['--version'])).stdout).toBe(`${version}\n`);
  });
});

test('a command in a wrong folder creates no database, and says where it looked', async () => {
  const DATA_DIR = join(tmpdir(), 'subreport-no-folder', 'data');
  const commands = 'tenant list, client list, keys list, audit, doctor, backup /tmp/a.db, restore --new-history';
  for (const command of [...commands.split(', '), 'generate --subscriptions 1 --tenant acme']) {
    const result = await runHere(command.split(' '), { DATA_DIR });
    const stderr = expect.stringContaining(`there is no subreport.db in '${DATA_DIR}'`);
    expect([command, result]).toEqual([command, { code: 1, stdout: '', stderr }]);
  }
  expect(existsSync(DATA_DIR)).toBe(false);
});

describe('config', () => {
  test('lists every setting with its value and origin, passwords masked', async () => {
    const environment = { PORT: '9000', DATABASE_URL: 'postgres://u:hidden@h/d?sslpassword=hidden' };
    const { code, stdout } = await runHere(['config', '--json'], environment);
    const shown = JSON.parse(stdout) as { name: string; value: string; origin: string }[];
    expect(code).toBe(0);
    expect(shown.map(({ name }) => name)).toEqual(Object.keys(settings));
    expect(shown.find(({ name }) => name === 'PORT')).toMatchObject({ value: '9000', origin: 'environment' });
    expect(shown.find(({ name }) => name === 'HOST')).toMatchObject({ value: '127.0.0.1', origin: 'default' });
    expect(stdout).not.toContain('hidden');
  });

  test('fits 100 columns', async () => {
    const lines = (await runHere(['config'])).stdout.split('\n');
    for (const name of Object.keys(settings))
      expect(lines).toContainEqual(expect.stringMatching(`^${name} .* (default|environment)$`));
    expect(lines.filter((line) => line.length > 100)).toEqual([]);
  });
});

describe.each(drawn)('commands on $engine', ({ engine, openTestStore }) => {
  let opened: TestStore;
  let folder: string;
  const run = (args: readonly string[], options: CommandOptions = {}): Promise<CommandResult> =>
    options.program === undefined
      ? runHere(args, { ...opened.environment, ...options.environment }, options.input)
      : runCommand(args, { ...options, environment: { ...opened.environment, ...options.environment } });
  const json = async (args: readonly string[], options?: CommandOptions) => {
    const { code, stdout, stderr } = await run([...args, '--json'], options);
    expect([code, stderr]).toEqual([0, '']);
    return JSON.parse(stdout);
  };
  const fileOf = (name: string, text: string): string => {
    const file = join(folder, name);
    writeFileSync(file, text);
    return file;
  };

  beforeAll(async () => {
    opened = await openTestStore();
    folder = mkdtempSync(join(tmpdir(), 'subreport-commands-'));
    for (const name of ['acme', 'globex']) await json(['tenant', 'create', name]);
  });
  afterAll(async () => {
    await opened.close();
    rmSync(folder, { recursive: true });
  });

  test('migrate lists the migrations applied, and then that there is nothing to do', async () => {
    expect(await json(['migrate'])).toEqual({ applied: [], current: expect.stringMatching(/^\d{4}-/) });
    expect((await run(['migrate'])).stdout).toMatch(/^Nothing to do: the schema is at \d{4}-/);
  });

  test('tenant create and list', async () => {
    expect(await json(['tenant', 'create', 'initech'])).toMatchObject({ tenant: 'initech', records: 0 });
    expect(await json(['tenant', 'create'])).toMatchObject({ tenant: expect.stringMatching(/^tenant-[0-9a-f]{12}$/) });
    const again = await run(['tenant', 'create', 'initech']);
    expect([again.code, again.stderr]).toEqual([1, expect.stringMatching(errorMessage)]);
    const tenants = (await json(['tenant', 'list'])) as { tenant: string }[];
    expect(tenants.map(({ tenant }) => tenant)).toEqual(expect.arrayContaining(['acme', 'globex', 'initech']));
    expect((await run(['tenant', 'list'])).stdout).toMatch(
      /^TENANT +CREATED +RECORDS +REVISION +LAST IMPORT +LAST GOOD IMPORT +STORAGE\n(.*\n)*acme /,
    );
  });

  test('client create prints a secret once, and list prints none', async () => {
    const created = await json(['client', 'create', '--tenant', 'acme']);
    expect(created).toEqual({ client_id: expect.any(String), client_secret: expect.stringMatching(/.{43,}/) });
    const listed = await run(['client', 'list', '--tenant', 'acme', '--json']);
    expect(listed.stdout).toContain(created.client_id);
    expect(listed.stdout).not.toContain(created.client_secret);
    expect((await run(['client', 'list', '--tenant', 'globex', '--json'])).stdout).toBe('[]\n');
  });

  test('client create names the next step, unless the client cannot read reports', async () => {
    const create = ['client', 'create', '--tenant', 'acme', '--client-id'];
    const url = { environment: { PUBLIC_URL: 'https://reports.example.com' } };
    expect((await run([...create, 'reader'], url)).stdout).toContain(
      'subreport login --url https://reports.example.com --client-id reader\n',
    );
    const writer = await run([...create, 'writer', '--scopes', 'subscription:write'], url);
    expect(writer.stdout).not.toContain('subreport login');
  });

  test('client create accepts the id, secret and grants of a migrated client', async () => {
    const secret = 'kept: since 2019, with "quotes" & +%';
    const moved = await json(
      [
        'client',
        'create',
        '--tenant',
        'acme',
        '--client-id',
        'old-one',
        '--secret-stdin',
        '--grants',
        'client_credentials',
      ],
      { input: `${secret}\n` },
    );
    expect(moved).toEqual({ client_id: 'old-one', client_secret: secret });
    const [client] = ((await json(['client', 'list'])) as { client_id: string }[]).filter(
      ({ client_id }) => client_id === 'old-one',
    );
    expect(client).toMatchObject({ tenant: 'acme', grants: ['client_credentials'], disabled_at: null });
    const again = await run(['client', 'create', '--tenant', 'acme', '--client-id', 'old-one']);
    expect([again.code, again.stderr]).toEqual([1, expect.stringMatching(errorMessage)]);
  });

  test.each([
    ['an empty secret', '', 2],
    ['a secret that is too short', 'fifteen letters', 1],
    ['a common secret', 'Password12345678', 1],
    ['a secret with its tenant in it', 'k3y-of-acme-9x7q-export', 1],
  ])('client create --secret-stdin rejects %s', async (_title, input, exitCode) => {
    const { code, stderr } = await run(['client', 'create', '--tenant', 'acme', '--secret-stdin'], { input });
    expect([code, stderr]).toEqual([exitCode, expect.stringMatching(errorMessage)]);
    if (input !== '') expect(stderr).not.toContain(input);
  });

  test('client rotate creates a new secret, and client disable locks the client out', async () => {
    const { client_id: id, client_secret: first } = await json(['client', 'create', '--tenant', 'globex']);
    const rotated = await json(['client', 'rotate', '--client-id', id]);
    expect(rotated).toMatchObject({ client_id: id });
    expect(rotated.client_secret).not.toBe(first);
    const foreign = await run(['client', 'disable', '--client-id', id, '--tenant', 'acme']);
    expect([foreign.code, foreign.stderr]).toEqual([2, expect.stringMatching(errorMessage)]);
    expect(await json(['client', 'disable', '--client-id', id])).toEqual({ client_id: id, disabled: true });
    for (const action of ['rotate', 'disable']) {
      const { code, stderr } = await run(['client', action, '--client-id', 'nobody']);
      expect([action, code, stderr]).toEqual([action, 1, expect.stringMatching(errorMessage)]);
    }
  });

  test('keys list and rotate', async () => {
    const listed = async () => (await json(['keys', 'list'])) as { purpose: string; kid: string; state: string }[];
    const first = await listed();
    expect(first).toEqual(
      ['access', 'refresh'].map((purpose) => expect.objectContaining({ purpose, state: 'current', encrypted: false })),
    );
    const next = await json(['keys', 'rotate']);
    expect(next).toMatchObject({ purpose: 'access', alg: 'ES256', state: 'next', ends_at: null });
    const again = await run(['keys', 'rotate']);
    expect([again.code, again.stderr]).toEqual([1, expect.stringMatching(errorMessage)]);
    expect(await json(['keys', 'rotate', '--compromised'])).toMatchObject({ purpose: 'access', state: 'current' });
    expect((await listed()).map(({ purpose, state }) => [purpose, state])).toEqual([
      ['access', 'current'],
      ['refresh', 'current'],
    ]);
    expect((await listed()).map(({ kid }) => kid)).not.toContain(first[0]?.kid);
    expect((await run(['keys', 'list'])).stdout).not.toMatch(/"d"|"k"/);
    expect((await run(['keys', 'rotate', '--now', '--compromised'])).code).toBe(2);
  });

  test('client create --external creates a client without a secret, and it cannot get one later', async () => {
    const create = ['client', 'create', '--tenant', 'acme', '--client-id', 'portal', '--external'];
    expect(await json(create)).toEqual({ client_id: 'portal' });
    expect((await findClientWithSecrets(opened.store, 'portal', 0))?.hashes).toEqual([]);
    const listed = (await json(['client', 'list', '--tenant', 'acme'])) as { client_id: string }[];
    expect(listed.find(({ client_id }) => client_id === 'portal')).toMatchObject({ grants: [], disabled_at: null });
    expect((await run(['client', 'list'])).stdout).toMatch(/^portal +- +acme +- /m);
    const rotate = ['client', 'rotate', '--client-id', 'portal'];
    for (const [args, exitCode] of [
      [create, 1] as const,
      [rotate, 1] as const,
      [create.with(5, 'with blank'), 2] as const,
    ]) {
      const { code, stderr } = await run(args);
      expect([code, stderr]).toEqual([exitCode, expect.stringMatching(errorMessage)]);
    }
    expect((await findClientWithSecrets(opened.store, 'portal', 0))?.hashes).toEqual([]);
    expect(await json(['client', 'disable', '--client-id', 'portal'])).toEqual({ client_id: 'portal', disabled: true });
  });

  test('an unknown tenant is reported with the nearest name', async () => {
    for (const args of [
      ['client', 'create'],
      ['import', fileOf('one.ndjson', lines(good))],
      ['generate', '--subscriptions', '1'],
    ]) {
      const { code, stderr } = await run([...args, '--tenant', 'acmee']);
      expect([code, stderr]).toEqual([1, expect.stringMatching(errorMessage)]);
      expect(stderr).toContain("did you mean 'acme'?");
      expect(stderr).toContain('create it with: subreport tenant create acmee');
    }
  });

  test('an unknown tenant that would get nothing is not to be created', async () => {
    for (const args of [
      ['tenant', 'delete', 'acmee', '--yes'],
      ['client', 'list', '--tenant', 'acmee'],
      ['subscription', 'delete', '--tenant', 'acmee', '--email', 'ada@example.com'],
    ]) {
      const { code, stderr } = await run(args);
      expect([args[0], code, stderr]).toEqual([args[0], 1, expect.stringMatching(errorMessage)]);
      expect(stderr).toContain("did you mean 'acme'?");
      expect(stderr).toContain('list the tenants with: subreport tenant list');
      expect(stderr).not.toContain('tenant create');
    }
  });

  describe('import', () => {
    test('reports a rejected row with line, field, value and rule, loads the valid ones, and exits with 1', async () => {
      await json(['tenant', 'create', 'bad']);
      const file = fileOf('bad.ndjson', lines(good, JSON.stringify({ ...row, iccid: '12' })));
      const { code, stdout, stderr } = await run(['import', file, '--tenant', 'bad']);
      expect(code).toBe(1);
      expect(stderr).toBe(
        'line 2: iccid must be 15 to 22 digits, such as 8944500102198304826: current value is "12"\n',
      );
      expect(stdout).toMatch(
        /^Tenant bad: loaded with rejects: 2 rows read in .* s: 1 inserted, 0 updated, 0 unchanged, 1 rejected\.\n$/,
      );
    });

    test('--strict loads nothing if one row is invalid, from a file and from standard input', async () => {
      await json(['tenant', 'create', 'strict']);
      const text = lines(good, '{}');
      for (const [file, options] of [
        [fileOf('strict.ndjson', text), {}],
        ['-', { input: text }],
      ] as const) {
        const args = ['import', file, '--tenant', 'strict', '--strict', '--format', 'ndjson', '--json'];
        const { code, stdout, stderr } = await run(args, options);
        expect([code, stderr]).toEqual([1, expect.stringMatching(errorMessage)]);
        expect(JSON.parse(stdout)).toMatchObject({ read: 2, accepted: 1, rejected: 1, inserted: 0 });
      }
      const right = ['import', '-', '--tenant', 'strict', '--strict', '--format', 'ndjson'];
      expect(await json(right, { input: lines(good) })).toMatchObject({ inserted: 1, rejected: 0 });
    });

    test('--dry-run loads nothing', async () => {
      await json(['tenant', 'create', 'dry']);
      const args = ['import', '-', '--format', 'ndjson', '--tenant', 'dry'];
      const options = { input: lines(good) };
      expect(await json([...args, '--dry-run'], options)).toMatchObject({ dry_run: true, accepted: 1, inserted: 0 });
      const { stdout } = await run([...args, '--dry-run'], options);
      const { email: _email, ...stored } = row ?? {};
      expect(stdout.split('\n').slice(1, 3)).toEqual([
        'The first rows, as they would be stored:',
        JSON.stringify(stored),
      ]);
      const loaded = await json(args, options);
      expect(loaded).toMatchObject({ dry_run: false, accepted: 1, inserted: 1 });
      expect(loaded).not.toHaveProperty('first_records');
    });

    test('--errors writes every rejected row to a separate file that only its user can read', async () => {
      const errors = join(folder, 'rejected.ndjson');
      const text = lines(...Array.from({ length: 50 }, (_, n) => `{"id":"${n}"}`));
      const args = ['import', '-', '--format', 'ndjson', '--tenant', 'acme', '--errors', errors];
      const { code, stderr, stdout } = await run(args, { input: text });
      expect(code).toBe(1);
      expect(stderr.match(/^line /gm)).toHaveLength(20);
      expect(stdout).toContain('50 rejected (20 of them shown; --errors FILE writes all)');
      const written = readFileSync(errors, 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line));
      expect(written).toHaveLength(50);
      expect(written[49]).toEqual({ line: 50, errors: expect.any(Array), raw: '{"id":"49"}' });
      expect(statSync(errors).mode & 0o777).toBe(0o600);
    });

    test('--errors refuses to write to the source under any of its names, and leaves it unchanged (T7)', async () => {
      const source = fileOf('precious.ndjson', lines(good, '{}'));
      const [hard, symbolic] = [join(folder, 'hard.ndjson'), join(folder, 'symbolic.ndjson')];
      linkSync(source, hard);
      symlinkSync(source, symbolic);
      for (const errors of [source, hard, symbolic]) {
        const { code, stderr } = await run(['import', source, '--tenant', 'acme', '--errors', errors]);
        expect([code, stderr]).toEqual([1, expect.stringMatching(errorMessage)]);
        expect(stderr).toContain('must not be the file that is imported');
      }
      expect(readFileSync(source, 'utf8')).toBe(lines(good, '{}'));
    });

    test.runIf(existsSync('/dev/full'))('--errors on a full disk exits with 1 and a message (T7)', async () => {
      const args = ['import', '-', '--format', 'ndjson', '--tenant', 'acme', '--errors', '/dev/full'];
      const { code, stderr } = await run(args, { input: lines('{}', good) });
      expect([code, stderr]).toEqual([1, expect.stringMatching(errorMessage)]);
      expect(stderr).toContain('ENOSPC');
    });

    test.each([
      ['a missing file', 2, ['import', '/no/such/file.csv'], 'ENOENT'],
      ['a folder', 2, ['import', '/tmp', '--format', 'csv'], 'EISDIR'],
      ['an unwritable --errors file', 1, ['import', '-', '--format', 'csv', '--errors', '/no/such/folder/x'], 'ENOENT'],
    ] as const)('of %s exits with %i and a message', async (_title, exitCode, args, reason) => {
      const { code, stderr } = await run([...args, '--tenant', 'acme']);
      expect([code, stderr]).toEqual([exitCode, expect.stringMatching(errorMessage)]);
      expect(stderr).toContain(reason);
    });
  });

  test('generate creates the same rows in a tenant and in a file', async () => {
    const file = join(folder, 'generated.ndjson');
    const args = ['generate', '--subscriptions', '300', '--seed', '9', '--until', '2026-01-01T00:00:00Z'];
    await json(['tenant', 'create', 'generated']);
    expect(await json([...args, '--tenant', 'generated'])).toMatchObject({ inserted: 300 });
    expect((await run([...args, '--output', file])).code).toBe(0);
    expect((await run([...args, '--output', '-'])).stdout).toBe(readFileSync(file, 'utf8'));
    expect(await json(['import', file, '--tenant', 'generated'])).toMatchObject({ inserted: 0, unchanged: 300 });
  });

  test.runIf(process.platform === 'linux')(
    'the launcher gives an import a Node with a small young generation',
    async () => {
      const importing = spawn(process.execPath, [launcher, 'import', '-', '--format', 'ndjson', '--tenant', 'acme'], {
        env: { ...process.env, ...opened.environment },
        stdio: ['pipe', 'pipe', 'inherit'],
      });
      const childrenOf = () => readFileSync(`/proc/${importing.pid}/task/${importing.pid}/children`, 'utf8').trim();
      await expect.poll(childrenOf).not.toBe('');
      const commandOf = () => readFileSync(`/proc/${childrenOf()}/cmdline`, 'utf8').split('\0').slice(0, 2);
      // a process that was forked a moment ago has no command line yet
      await expect.poll(commandOf).toEqual([process.execPath, '--max-semi-space-size=4']);
      importing.stdin.end(`${good}\n`);
      expect(await once(importing, 'exit')).toEqual([0, null]);
    },
  );

  test('the launcher runs under any Node from 20 on', async () => {
    const nodes = engine === 'sqlite' ? [process.execPath, '/usr/bin/node', '/usr/local/bin/node'] : [process.execPath];
    for (const node of nodes) {
      if (!statSync(node, { throwIfNoEntry: false })) continue;
      const { code, stdout } = await run(['tenant', 'list'], { program: [node, launcher] });
      expect([node, code, stdout]).toEqual([node, 0, expect.stringContaining('acme')]);
    }
  });
});
